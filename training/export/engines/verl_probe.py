"""Does the installed verl carry a reward through what tools say? Run it once before training; exits with 1 if not.

REINFORCE++ of some versions restarts the return at every masked token, so that only the last turn of an episode is
told how it ended.
"""

import sys
from types import SimpleNamespace

import torch
from verl.trainer.ppo.core_algos import compute_reinforce_plus_plus_outcome_advantage

_, returns = compute_reinforce_plus_plus_outcome_advantage(
    token_level_rewards=torch.tensor([[0.0, 0.0, 1.0]]),
    response_mask=torch.tensor([[1.0, 0.0, 1.0]]),
    config=SimpleNamespace(gamma=1.0),
)
found = [round(value, 6) for value in returns[0].tolist()]
if found != [1.0, 0.0, 1.0]:
    sys.exit(f"this verl loses the outcome before tool results: returns {found}, expected [1.0, 0.0, 1.0]; update it")
print("the outcome reaches every turn")
