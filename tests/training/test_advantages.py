"""Advantages against loops that follow the formulas word by word."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from training.advantages import advantages, equal_groups, kl_estimate, no_signal, returns, shaped, whiten  # noqa: E402

Rows = list[list[float]]


def naive_returns(rewards: list[float], mask: Rows, kl: Rows | None, beta: float, gamma: float) -> Rows:
    found = []
    for row, reward in enumerate(rewards):
        length = len(mask[row])
        sampled = [t for t in range(length) if mask[row][t]]
        running, values = 0.0, [0.0] * length
        for t in reversed(range(length)):
            own = 0.0
            if mask[row][t]:
                own = (reward if t == sampled[-1] else 0.0) - (beta * kl[row][t] if kl else 0.0)
            running = own + gamma * running
            values[t] = running
        found.append(values)
    return found


def naive_whiten(values: Rows, mask: Rows, less: int) -> Rows:
    counted = [v for vs, ms in zip(values, mask, strict=True) for v, m in zip(vs, ms, strict=True) if m]
    mean = sum(counted) / len(counted)
    variance = sum((v - mean) ** 2 for v in counted) / (len(counted) - less)
    return [
        [(v - mean) / math.sqrt(max(variance, 1e-8)) if m else 0.0 for v, m in zip(vs, ms, strict=True)]
        for vs, ms in zip(values, mask, strict=True)
    ]


def naive(
    algorithm: str, rewards: list[float], mask: Rows, kl: Rows | None, beta: float, n: int, gamma: float = 1.0
) -> Rows:
    """Each algorithm as docs/training.md writes it."""
    outcomes = list(rewards)
    for start in range(0, len(rewards), n):
        group = [r for r in rewards[start : start + n] if not math.isnan(r)]
        mean = sum(group) / len(group)
        std = math.sqrt(sum((r - mean) ** 2 for r in group) / (len(group) - 1))
        for i in range(start, start + n):
            if algorithm == "reinforce_pp_baseline":
                outcomes[i] = rewards[i] - mean
            elif algorithm == "released":
                outcomes[i] = 0.0 if std < 1e-6 else (rewards[i] - mean) / (std + 1e-6)
            elif algorithm == "grpo":
                outcomes[i] = (rewards[i] - mean) / (std + 1e-4)
    outcomes = [0.0 if math.isnan(value) else value for value in outcomes]
    if algorithm == "grpo":
        return [[outcome if m else 0.0 for m in ms] for outcome, ms in zip(outcomes, mask, strict=True)]
    return naive_whiten(naive_returns(outcomes, mask, kl, beta, gamma), mask, int(algorithm == "released"))


def batch(seed: int = 0, rows: int = 8, length: int = 13) -> tuple[list[float], Rows, Rows]:
    """Rewards, masks with holes and padding, and KL that is wild where nothing was sampled."""
    generator = torch.Generator().manual_seed(seed)
    rewards = torch.randint(0, 3, (rows,), generator=generator).float() / 2
    mask = (torch.rand(rows, length, generator=generator) < 0.6).float()
    mask[:, 0] = 1
    for row in range(rows):
        mask[row, length - row % 4 :] = 0
    kl = torch.randn(rows, length, generator=generator) * torch.where(mask > 0, 0.3, 100.0)
    return rewards.tolist(), mask.tolist(), kl.tolist()


@pytest.mark.parametrize("algorithm", ["reinforce_pp", "reinforce_pp_baseline", "released", "grpo"])
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("beta", [0.0, 0.1])
@pytest.mark.parametrize("gamma", [1.0, 0.9])
def test_an_algorithm_equals_its_formula(algorithm: Any, seed: int, beta: float, gamma: float) -> None:
    rewards, mask, kl = batch(seed)
    found = advantages(
        algorithm,
        shaped(algorithm, torch.tensor(rewards), 4),
        torch.tensor(mask),
        kl=torch.tensor(kl) if beta else None,
        beta=beta,
        gamma=gamma,
    )
    wanted = torch.tensor(naive(algorithm, rewards, mask, kl if beta else None, beta, 4, gamma))
    assert (found - wanted).abs().max() < 1e-5


def test_the_outcome_reaches_every_sampled_token_across_tool_spans() -> None:
    mask = torch.tensor([[1, 0, 1], [1, 1, 0]])
    assert returns(torch.tensor([1.0, 0.5]), mask).tolist() == [[1.0, 1.0, 1.0], [0.5, 0.5, 0.0]]


def test_the_kl_of_tokens_that_were_not_sampled_counts_nothing_but_they_discount() -> None:
    mask, kl = torch.tensor([[1, 0, 0, 1]]), torch.ones(1, 4)
    found = returns(torch.zeros(1), mask, kl, beta=1.0, gamma=0.9)
    assert found[0, 0].item() == pytest.approx(-1.729)


@pytest.mark.parametrize("gamma", [1.0, 0.9])
def test_wild_values_under_the_mask_do_not_leak(gamma: float) -> None:
    mask = torch.tensor([[1, 0, 1, 0]])
    kl = torch.tensor([[0.5, math.inf, 0.5, math.nan]])
    found = returns(torch.ones(1), mask, kl, beta=0.1, gamma=gamma)
    assert found.isfinite().all()


@pytest.mark.parametrize("algorithm", ["reinforce_pp", "reinforce_pp_baseline", "released", "grpo"])
def test_a_trajectory_that_does_not_count_moves_nothing(algorithm: Any) -> None:
    rewards, mask, _ = batch()
    rewards[1] = math.nan
    mask[1] = [0.0] * len(mask[1])
    found = advantages(algorithm, shaped(algorithm, torch.tensor(rewards), 4), torch.tensor(mask))
    assert found[1].abs().sum() == 0
    assert (found - torch.tensor(naive(algorithm, rewards, mask, None, 0.0, 4))).abs().max() < 1e-5


def test_whitening_counts_the_tokens_of_all_ranks() -> None:
    values, mask = torch.randn(6, 5), (torch.rand(6, 5) < 0.7).float()
    parts = [(values[:3], mask[:3]), (values[3:], mask[3:])]

    def total_with(other: Callable[[Any], Any]) -> Any:
        return lambda value: value + other(value)

    # Each rank adds what the other one would have sent: sums first, squares about the common mean second.
    whole = whiten(values, mask)
    found = []
    for (mine, my_mask), (theirs, their_mask) in (parts, parts[::-1]):
        mean = (values * mask).sum() / mask.sum()
        sent = iter(
            [
                torch.stack([their_mask.sum(), (theirs * their_mask).sum()]),
                ((theirs - mean).square() * their_mask).sum(),
            ]
        )
        found.append(whiten(mine, my_mask, total=total_with(lambda value, sent=sent: next(sent))))
    assert torch.allclose(torch.cat(found), whole, atol=1e-6)


def test_advantages_are_cut_where_a_bound_is_set() -> None:
    rewards, mask, _ = batch()
    found = advantages("released", shaped("released", torch.tensor(rewards), 4), torch.tensor(mask), bound=0.2)
    assert found.abs().max().item() == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("estimator", "formula"),
    [("k1", lambda d: d), ("k2", lambda d: d * d / 2), ("k3", lambda d: math.exp(-d) + d - 1)],
)
def test_kl_estimators(estimator: str, formula: Callable[[float], float]) -> None:
    policy, reference = torch.tensor([[-1.0, -2.0]]), torch.tensor([[-1.5, -1.0]])
    assert kl_estimate(policy, reference, estimator)[0].tolist() == pytest.approx([formula(0.5), formula(-1.0)])


def test_a_wild_kl_is_cut_to_ten() -> None:
    assert kl_estimate(torch.tensor([[50.0]]), torch.zeros(1, 1), "k1").item() == 10.0


@pytest.mark.parametrize("algorithm", ["reinforce_pp", "reinforce_pp_baseline", "released", "grpo"])
@pytest.mark.parametrize(
    ("rewards", "none"),
    [([0.7] * 6, True), ([1.0, math.nan, 1.0] * 2, True), ([math.nan] * 6, True), ([0.7, 0.7, 0.701] * 2, False)],
)
def test_a_batch_of_equal_rewards_has_no_signal(algorithm: Any, rewards: list[float], none: bool) -> None:
    assert no_signal(algorithm, torch.tensor(rewards), 3) is none


@pytest.mark.parametrize(
    ("algorithm", "none"),
    [("reinforce_pp", False), ("reinforce_pp_baseline", True), ("released", True), ("grpo", True)],
)
def test_groups_that_differ_only_from_each_other_say_something_to_who_compares_them(algorithm: Any, none: bool) -> None:
    rewards = torch.tensor([0.7, 0.7, 0.7, 0.0, 0.0, math.nan])
    assert no_signal(algorithm, rewards, 3) is none
    if algorithm != "reinforce_pp":
        # What would have been learned otherwise: the noise of the KL, blown up to the size of a signal.
        assert shaped(algorithm, rewards, 3).nan_to_num(0.0).abs().max() < 1e-3


def test_the_share_of_groups_in_which_all_earn_the_same() -> None:
    rewards = torch.tensor([1.0, 1.0, 0.0, 1.0, 0.3, math.nan, math.nan, math.nan])
    assert equal_groups(rewards, 2) == 0.75
