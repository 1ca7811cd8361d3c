"""Reinforcement learning: episodes in token form, and a trainer that learns from them."""
