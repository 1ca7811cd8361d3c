"""REINFORCE++ on TRL: its GRPO trainer with our episodes, our advantages, and the KL penalty in the reward.

TRL gives distribution, engines, checkpoints and the clipped loss. Four of its methods are overridden or called that are
private to it; `PRIVATE` names them and a test holds them, so that an upgrade cannot break them silently.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from harness.errors import EnvScalerError
from training.advantages import advantages, equal_groups, kl_estimate, no_signal, shaped
from training.config import RlConfig
from training.rl.rollouts import Clock, Engine, Rollout

if TYPE_CHECKING:
    import torch
    from trl import GRPOTrainer

PRIVATE = (
    "_calculate_rewards",
    "_generate_and_score_completions",
    "_compute_loss",
    "_get_per_token_logps_and_entropies",
    "_generate_single_turn",
    "_generate",
    "_metrics",
    "_prepare_inputs",
)
"""Names of TRL 1.16 that we depend on."""


class TooManyFaults(EnvScalerError):
    """More environments failed in one step than the run allows."""


Play = Callable[[Sequence[str], Engine], tuple[list[Rollout], Clock]]
"""Plays one episode for each sample id, in order."""


def trainer_class() -> type[GRPOTrainer]:
    """The trainer, made when TRL is there."""
    import torch
    from trl import GRPOTrainer

    class Reinforce(GRPOTrainer):  # type: ignore[misc]
        """GRPOTrainer with the project's episodes and advantages.

        Args:
            run: The configuration.
            play: Plays episodes.
        """

        beta: float
        """TRL's KL coefficient."""

        def __init__(self, *, run: RlConfig, play: Play, **arguments: Any) -> None:
            self.run = run
            self.play = play
            self.skip_update = False
            self._played: list[Rollout] = []
            super().__init__(reward_funcs=[outcome], rollout_func=_rollout, **arguments)

        def _calculate_rewards(self, inputs: Any, *rest: Any) -> torch.Tensor:
            """The outcomes of the episodes just played, of all ranks, (B, 1); NaN where one does not count."""
            rewards = [torch.nan if rollout.reward is None else rollout.reward for rollout in self._played]
            local = torch.tensor(rewards, dtype=torch.float32, device=self.accelerator.device)
            self._outcomes = self.accelerator.gather(local)
            return self._outcomes.unsqueeze(1)

        def _generate_and_score_completions(self, inputs: Any) -> dict[str, Any]:
            output: dict[str, Any] = super()._generate_and_score_completions(inputs)
            mask = output["completion_mask"] * output["tool_mask"]
            self.skip_update = no_signal(self.run.objective.algorithm, self._outcomes, self.run.rollouts.per_task)
            output["advantages"] = self._advantages(output, mask)
            self._note_rollouts(output["advantages"], mask)
            return output

        def _advantages(self, output: dict[str, Any], mask: torch.Tensor) -> torch.Tensor:
            """(B, T) advantages in place of TRL's (B,)."""
            objective, n = self.run.objective, self.run.rollouts.per_task
            kl = None
            if "ref_per_token_logps" in output:
                log_policy = output.get("old_per_token_logps")
                if log_policy is None:
                    log_policy = self._log_probabilities(output)
                estimate = kl_estimate(log_policy, output["ref_per_token_logps"], objective.kl.estimator)
                self._note("kl_to_start", self._mean(estimate, mask))
                kl = estimate if objective.kl.where == "reward" else None
            if self.skip_update:
                return torch.zeros_like(mask, dtype=torch.float32)
            rows, rank = mask.size(0), self.accelerator.process_index
            outcomes = shaped(objective.algorithm, self._outcomes, n)[rank * rows : (rank + 1) * rows]
            found = advantages(
                objective.algorithm,
                outcomes,
                mask,
                kl=kl,
                beta=objective.kl.coefficient,
                gamma=objective.discount,
                bound=objective.advantage_clip,
                total=lambda value: self.accelerator.reduce(value, reduction="sum"),
            )
            if objective.mean == "sequence":
                # The loss divides by all sequences; those that do not count must not weigh as zeros.
                counted = (~self._outcomes.isnan()).sum().clamp(min=1)
                found = found * (len(self._outcomes) / counted)
            return found

        def _log_probabilities(self, output: dict[str, Any]) -> torch.Tensor:
            """Of the sampled tokens under the policy that sampled them; TRL leaves them out when it is on-policy."""
            ids = torch.cat([output["prompt_ids"], output["completion_ids"]], dim=1)
            attention = torch.cat([output["prompt_mask"], output["completion_mask"]], dim=1)
            with torch.no_grad():
                found, _, _ = self._get_per_token_logps_and_entropies(
                    self.model,
                    ids,
                    attention,
                    output["completion_ids"].size(1),
                    batch_size=self.args.per_device_train_batch_size,
                )
            return found

        def _compute_loss(self, model: Any, inputs: Any) -> torch.Tensor:
            """TRL's loss; without its own KL term where the KL is in the reward already."""
            beta = self.beta
            if self.run.objective.kl.where != "loss":
                self.beta = 0.0
            try:
                return super()._compute_loss(model, inputs)
            finally:
                self.beta = beta

        def engine(self, contexts: list[list[int]]) -> tuple[list[list[int]], list[list[float]] | None]:
            """Sample one reply for each context. All ranks call it equally often: it gathers sharded weights."""
            found: tuple[list[list[int]], list[list[float]] | None]
            found = self._generate_single_turn(contexts, None, {}, num_generations=1)
            return found

        def _busy(self, working: bool) -> bool:
            """Whether any rank still plays."""
            flag = torch.tensor(float(working), device=self.accelerator.device)
            return bool(self.accelerator.reduce(flag, reduction="sum") > 0)

        def episodes(self, chosen: Sequence[str]) -> list[Rollout]:
            """Play a step's episodes on this rank, in time with the others."""
            alone = self.accelerator.num_processes == 1

            def engine(contexts: list[list[int]]) -> tuple[list[list[int]], list[list[float]] | None]:
                if not alone:
                    self._busy(True)
                return self.engine(contexts)

            started = time.perf_counter()
            self._played, clock = self.play(chosen, engine)
            while not alone and self._busy(False):
                self.engine([[self.processing_class.eos_token_id]])
            self._note("time/rollouts", time.perf_counter() - started)
            for part in ("generation", "environment", "user", "tokens"):
                self._note(f"time/{part}", getattr(clock, part))
            self._check_faults()
            return self._played

        def _check_faults(self) -> None:
            faults = sum(rollout.fault for rollout in self._played)
            share = self._average(faults / len(self._played))
            if share > self.run.rollouts.max_fault_share:
                told = next((r.trajectory.outcome.fault for r in self._played if r.fault and r.trajectory.outcome), "")
                raise TooManyFaults(
                    f"{100 * share:.0f} % of the environments failed in step {self.state.global_step + 1}, more than "
                    f"rollouts.max_fault_share allows; e.g. {told}"
                )

        def _note_rollouts(self, found: torch.Tensor, mask: torch.Tensor) -> None:
            played = self._played
            self._note("advantage_size", self._mean(found.abs(), mask))
            outcomes = self._outcomes
            self._note("counted_share", float((~outcomes.isnan()).float().mean()))
            counts = {
                "faults": sum(rollout.fault for rollout in played),
                "truncated": sum(rollout.truncated for rollout in played),
            }
            for name, count in counts.items():
                self._note(name, round(self._average(float(count)) * self.accelerator.num_processes))
            self._note("episodes", len(outcomes))
            self._note("skipped_updates", self.skip_update)
            self._note("clipped_share", self._average(sum(rollout.clipped for rollout in played) / len(played)))
            self._note("equal_groups", equal_groups(outcomes, self.run.rollouts.per_task))
            self._note("steps", self._average(sum(r.trajectory.steps for r in played) / len(played)))
            solved = [
                r.trajectory.outcome.score.success
                for r in played
                if r.trajectory.outcome and r.trajectory.outcome.score
            ]
            self._note("success", self._average(sum(solved) / max(1, len(solved))))

        def _mean(self, values: torch.Tensor, mask: torch.Tensor) -> float:
            """Mean over the sampled tokens of all ranks."""
            sums = self.accelerator.reduce(torch.stack([(values * mask).sum(), mask.sum().float()]), reduction="sum")
            return float(sums[0] / sums[1].clamp(min=1))

        def _average(self, value: float) -> float:
            """Mean over ranks."""
            tensor = torch.tensor(value, dtype=torch.float32, device=self.accelerator.device)
            return float(self.accelerator.reduce(tensor, reduction="mean"))

        def _note(self, name: str, value: float) -> None:
            self._metrics["train" if self.model.training else "eval"][name].append(float(value))

    return Reinforce


def outcome(**_: Any) -> list[float]:
    """Names the reward in TRL's tables; the trainer reads outcomes from the episodes themselves."""
    raise AssertionError("outcomes are read from the episodes")


def _rollout(prompts: list[str], trainer: Any) -> dict[str, Any]:
    """TRL's rollout function: prompts are sample ids, repeated for each rollout of a task."""
    played: list[Rollout] = trainer.episodes(prompts)
    end = trainer.processing_class.eos_token_id
    # An episode in which the policy never spoke has no tokens; a masked one stands in, so that shapes hold.
    streams = [rollout.stream for rollout in played]
    counts = [rollout.reward is not None for rollout in played]
    output: dict[str, Any] = {
        "prompt_ids": [stream.prompt or [end] for stream in streams],
        "completion_ids": [stream.ids or [end] for stream in streams],
        "env_mask": [
            (stream.mask if counted else [0] * len(stream.ids)) or [0]
            for stream, counted in zip(streams, counts, strict=True)
        ],
        "logprobs": None,
    }
    if trainer.use_vllm:
        output["logprobs"] = [stream.logprobs or [0.0] for stream in streams]
    return output
