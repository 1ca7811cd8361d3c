"""A demonstration on the CPU: a small model made here, trained here, and scored by the harness (docs/training.md)."""
