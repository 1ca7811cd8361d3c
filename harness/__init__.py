"""The engine: episodes, rollouts, users, protocols, isolation, and the bridge to Inspect.

Imports nothing of ours. `harness.inspect_bridge` alone imports Inspect; RL's hot loop needs none of it.
"""
