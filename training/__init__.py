"""Trajectories become checkpoints: SFT and REINFORCE++."""
