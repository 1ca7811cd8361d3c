"""Settings for accelerate, for one machine with eight GPUs; `envscaler train launch` starts a run with one of them."""
