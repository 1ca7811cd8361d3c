"""Advantages of REINFORCE++ and its relatives: torch only, no trainer.

Shapes: B trajectories of T tokens, padded; those of one task stand side by side in groups of n. `mask` is 1 on tokens
that the policy sampled, 0 on prompts, tools, users, padding, and on every token of a trajectory that does not count. A
reward of NaN says that a trajectory does not count. With m the mask and N its sum over the whole batch:

    token reward   r_t = m_t * (R * [t is the last sampled token] - beta * kl_t)
    return         G_t = r_t + gamma * G_(t+1), through masked tokens, not reset at them
    whitening      W(G)_t = m_t * (G_t - mu) / sqrt(max(var, 1e-8)), mu and var over the N tokens of the batch

    reinforce_pp             R as it is; W(G)
    reinforce_pp_baseline    R minus the mean of its group; W(G)
    released                 (R - mean) / std of its group, 0 where std < 1e-6; W(G) with N - 1 in the variance
    grpo                     (R - mean) / (std + 1e-4) of its group at every sampled token; no returns, no whitening

The first two are OpenRLHF's `reinforce` and `reinforce_baseline`, the third what the paper's released configuration
runs on ROLL, the last TRL's (docs of training, section 4).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

    from training.config import Algorithm

KL_BOUND = 10.0
"""Size to which a token's KL estimate is cut before it enters the reward (OpenRLHF)."""

SAME = 1e-6
"""Difference below which rewards are equal: they have four digits, and float32 has seven."""

Total = Callable[["Tensor"], "Tensor"]
"""Sums a tensor over all ranks."""


def alone(value: Tensor) -> Tensor:
    """The total of one process."""
    return value


def kl_estimate(log_policy: Tensor, log_reference: Tensor, estimator: str) -> Tensor:
    """The KL penalty of each token, (B, T), by one of three estimators, cut to +-10.

    Args:
        estimator: `k1`: d; `k2`: d^2 / 2; `k3`: exp(-d) + d - 1; with d = log_policy - log_reference.
    Raises:
        ValueError: If there is no such estimator.
    """
    d = log_policy - log_reference
    match estimator:
        case "k1":
            kl = d
        case "k2":
            kl = d.square() / 2
        case "k3":
            kl = (-d).exp() + d - 1
        case _:
            raise ValueError(f"estimator={estimator}: one of k1, k2, k3")
    return kl.clamp(-KL_BOUND, KL_BOUND)


def group_centred(rewards: Tensor, n: int, *, divide: bool = False, unbiased: bool = True) -> Tensor:
    """Rewards (B,) minus the mean of their group of n; divided by its standard deviation if asked.

    NaN rewards are in no mean and stay NaN. A group with a deviation below 1e-6, or with a single reward, gives 0.
    """
    import torch

    groups = rewards.view(-1, n)
    centred = groups - groups.nanmean(dim=1, keepdim=True)
    if divide:
        count = (~groups.isnan()).sum(dim=1, keepdim=True)
        squares = centred.square().nansum(dim=1, keepdim=True)
        std = (squares / (count - int(unbiased)).clamp(min=1)).sqrt()
        centred = torch.where(std < 1e-6, centred * 0, centred / (std + 1e-6))
    return centred.reshape(-1)


def returns(outcomes: Tensor, mask: Tensor, kl: Tensor | None = None, beta: float = 0.0, gamma: float = 1.0) -> Tensor:
    """Discounted sums of token rewards, (B, T): the outcome reaches every sampled token before it.

    Args:
        outcomes: (B,). NaN counts as 0; such rows are masked.
        kl: (B, T) estimates; those of masked tokens do not count.
    """
    import torch

    rewards = torch.zeros_like(mask, dtype=torch.float32)
    if kl is not None:
        rewards = rewards - beta * kl * mask
    positions = torch.arange(mask.size(1), device=mask.device)
    last = (mask * (positions + 1)).argmax(dim=1, keepdim=True)
    at_last = mask.float().gather(1, last) * outcomes.nan_to_num(0.0).unsqueeze(1)
    # Masked positions may hold NaN (0 * inf); they are no reward.
    rewards = torch.where(mask.bool(), rewards, torch.zeros_like(rewards)).scatter_add(1, last, at_last)
    if gamma == 1.0:
        return rewards.flip(1).cumsum(1).flip(1)
    summed, running = torch.empty_like(rewards), torch.zeros_like(rewards[:, 0])
    for t in range(mask.size(1) - 1, -1, -1):
        running = rewards[:, t] + gamma * running
        summed[:, t] = running
    return summed


def whiten(values: Tensor, mask: Tensor, *, bessel: bool = False, total: Total = alone) -> Tensor:
    """Values (B, T) with mean 0 and variance 1 over the masked tokens of all ranks; 0 elsewhere."""
    import torch

    mask = mask.to(values.dtype)
    sums = total(torch.stack([mask.sum(), (values * mask).sum()]))
    count, mean = sums[0], sums[1] / sums[0].clamp(min=1)
    squares = total(((values - mean).square() * mask).sum())
    variance = squares / (count - int(bessel)).clamp(min=1)
    return mask * (values - mean) / variance.clamp(min=1e-8).sqrt()


def shaped(algorithm: Algorithm, rewards: Tensor, n: int) -> Tensor:
    """What each trajectory's last sampled token is rewarded with, (B,), from the rewards of all ranks."""
    match algorithm:
        case "reinforce_pp":
            return rewards
        case "reinforce_pp_baseline":
            return group_centred(rewards, n)
        case "released":
            return group_centred(rewards, n, divide=True)
        case "grpo":
            groups = rewards.view(-1, n)
            centred = groups - groups.nanmean(dim=1, keepdim=True)
            count = (~groups.isnan()).sum(dim=1, keepdim=True)
            std = (centred.square().nansum(dim=1, keepdim=True) / (count - 1).clamp(min=1)).sqrt()
            return (centred / (std + 1e-4)).reshape(-1)
    raise ValueError(f"algorithm={algorithm}: unknown")


def advantages(
    algorithm: Algorithm,
    outcomes: Tensor,
    mask: Tensor,
    *,
    kl: Tensor | None = None,
    beta: float = 0.0,
    gamma: float = 1.0,
    bound: float = 0.0,
    total: Total = alone,
) -> Tensor:
    """Advantages of this rank's tokens, (B, T), 0 where nothing was sampled.

    Args:
        outcomes: This rank's part of `shaped`, (B,).
        mask: (B, T).
        kl: (B, T), where the KL penalty is part of the reward.
        bound: Size to which advantages are cut in the end; 0: not at all.
        total: Sums over ranks: whitening is over the whole batch.
    """
    if algorithm == "grpo":
        found = outcomes.nan_to_num(0.0).unsqueeze(1) * mask
    else:
        found = whiten(returns(outcomes, mask, kl, beta, gamma), mask, bessel=algorithm == "released", total=total)
    return found.clamp(-bound, bound) if bound else found


def no_signal(algorithm: Algorithm, rewards: Tensor, n: int) -> bool:
    """Whether the rewards of all ranks say nothing: whitening would then only amplify the noise of the KL penalty.

    That is so where all are the same, NaN apart; and where an algorithm compares within groups, if all of each are.
    """
    return equal_groups(rewards, len(rewards) if algorithm == "reinforce_pp" else n) == 1.0


def equal_groups(rewards: Tensor, n: int) -> float:
    """Share of the groups of n whose rewards, NaN apart, are all the same."""
    spread = group_centred(rewards, n).nan_to_num(0.0).abs().view(-1, n).amax(dim=1)
    return float((spread < SAME).float().mean())
