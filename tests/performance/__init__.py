"""Speed, measured as CPU-time ratios in one run: `make bench` prints every figure beside the number to hold."""
