"""EnvScaler episodes for verl (0.9.1 or later): an agent loop that plays them on an environment server.

Token in, token out: what the policy sampled is kept as sampled; tools and users are masked.
"""

import asyncio
from uuid import uuid4

from envscaler_client import Client
from verl.experimental.agent_loop.agent_loop import AgentLoopBase, AgentLoopOutput, register
from verl.utils.profiler import simple_timer


@register("envscaler")
class EnvScalerAgentLoop(AgentLoopBase):
    """Plays the scenario of a row.

    Args:
        url: The environment server.
        tokens_per_step: Most tokens of one reply.
        mask_truncated: Learn nothing from episodes that a limit ended.
    """

    def __init__(self, *args, url, tokens_per_step, mask_truncated=False, **kwargs):
        super().__init__(*args, **kwargs)
        self.client = Client(url)
        self.tokens_per_step = tokens_per_step
        self.mask_truncated = mask_truncated

    async def run(self, sampling_params, **kwargs):
        """One episode, from reset to reward."""
        metrics = {"generate_sequences": 0.0, "tool_calls": 0.0}
        told = await self._server(metrics, self.client.reset, kwargs["extra_info"]["sample_id"])
        try:
            return await self._play(told, sampling_params, metrics)
        finally:
            await asyncio.to_thread(self.client.close, told["episode_id"])

    async def _play(self, told, sampling_params, metrics):
        room, request_id = self.rollout_config.response_length, uuid4().hex
        history, tools = list(told["messages"]), told["tools"]
        prompt = await self.ct_build_initial_tokens(history, tools=tools)
        tokens, mask, logprobs, replies = list(prompt), [], None, 0
        while not told["done"]:
            if told["needs"] != "agent":
                raise RuntimeError("an episode waits for its user: start the server with --user MODEL")
            if len(mask) >= room:
                record = await self._server(metrics, self.client.score, told["episode_id"], "context_full")
                told = {**told, "done": True, "outcome": record["outcome"]}
                break
            most = min(self.tokens_per_step, room - len(mask))
            with simple_timer("generate_sequences", metrics):
                output = await self.server_manager.generate(
                    request_id=request_id,
                    prompt_ids=tokens,
                    sampling_params={**sampling_params, "max_tokens": most},
                )
            if output.log_probs and logprobs is None:
                logprobs = [0.0] * len(mask)
            merged, mask, logprobs = await self.ct_merge_assistant_token(
                tokens, output.token_ids, mask, logprobs, assistant_logprobs=output.log_probs or None
            )
            tokens, replies = merged.token_ids, replies + 1
            text = self.tokenizer.decode(output.token_ids, skip_special_tokens=True)
            cut = not output.token_ids or output.token_ids[-1] != self.tokenizer.eos_token_id
            told = await self._server(
                metrics,
                self.client.step,
                told["episode_id"],
                replies,
                text=text,
                finish_reason="length" if cut else None,
            )
            if not told["done"]:
                before = [*history, {"role": "assistant", "content": text}]
                history = [*before, *told["messages"]]
                merged, mask, logprobs = await self.ct_merge_context_msg(
                    before, history, tokens, mask, logprobs, tools=tools
                )
                tokens = merged.token_ids
        return self._output(prompt, tokens, mask, logprobs, told["outcome"], replies, metrics)

    def _output(self, prompt, tokens, mask, logprobs, outcome, replies, metrics):
        score = outcome["score"]
        truncated = outcome["stop_reason"] in ("step_limit", "context_full")
        if score is None or (truncated and self.mask_truncated):
            # Without a score, as after a fault, nothing is said about the policy: no token of it is learned from.
            mask = [0] * len(mask)
        room, response = self.rollout_config.response_length, tokens[len(tokens) - len(mask) :]
        return AgentLoopOutput(
            prompt_ids=prompt,
            response_ids=response[:room],
            response_mask=mask[:room],
            response_logprobs=None if logprobs is None else logprobs[:room],
            reward_score=0.0 if score is None else score["value"],
            num_turns=2 * replies,
            metrics=metrics,
            extra_fields={"stop_reason": outcome["stop_reason"], "fault": outcome["fault"] or ""},
        )

    async def _server(self, metrics, ask, *args, **kwargs):
        with simple_timer("tool_calls", metrics):
            return await asyncio.to_thread(ask, *args, **kwargs)
