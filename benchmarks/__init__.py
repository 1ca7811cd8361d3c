"""What is measured: one module per benchmark with its samples, protocols, score columns and artifacts."""
