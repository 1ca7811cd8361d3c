"""Supervised fine-tuning: trajectories to rows, rows to tokens, tokens to a checkpoint."""
