"""EnvScaler episodes as a gem environment, for ROLL: texts in, texts out, played on an environment server."""

import json
import random

import gem
from envscaler_client import Client
from gem import Env

CALLING = (
    "\n\nThese are your tools, one JSON schema a line:\n{tools}\n\n"
    'To call one, write <tool_call>{{"name": NAME, "arguments": {{...}}}}</tool_call>, name and arguments as JSON.'
)


class EnvScalerEnv(Env):
    """One scenario after another, chosen by the seed of a reset.

    Args:
        url: The environment server.
        samples: File with one sample id a line.
    """

    def __init__(self, url, samples, **_):
        self.client = Client(url)
        with open(samples) as file:
            self.samples = [line.strip() for line in file if line.strip()]
        self.episode_id = None
        self.move = 0

    def reset(self, seed=None):
        """Start the scenario of a seed: all rollouts of a group get the same one."""
        super().reset(seed)
        self.close()
        told = self.client.reset(random.Random(seed).choice(self.samples))
        self.episode_id, self.move = told["episode_id"], 0
        tools = "\n".join(json.dumps(tool["function"], ensure_ascii=False) for tool in told["tools"])
        system, *others = told["messages"]
        first = system["content"] + CALLING.format(tools=tools)
        return "\n\n".join([first, *(message["content"] for message in others)]), {"env_instruction": ""}

    def step(self, action):
        """Give the policy's reply; what tools or the user say comes back."""
        self.move += 1
        told = self.client.step(self.episode_id, self.move, text=action)
        if told["needs"] == "user":
            raise RuntimeError("an episode waits for its user: start the server with --user MODEL")
        outcome = told.get("outcome") or {}
        observation = "\n".join(message["content"] for message in told["messages"])
        truncated = outcome.get("stop_reason") in ("step_limit", "context_full")
        reward = told["reward"] or 0.0
        metrics = {"success": reward == 1.0, "fault": bool(outcome.get("fault"))}
        return observation, reward, told["done"], truncated, {"metrics": metrics}

    def close(self):
        """Free the episode, if there is one."""
        if self.episode_id is not None:
            self.client.close(self.episode_id)
            self.episode_id = None


gem.register("envscaler", entry_point="roll_gem_env:EnvScalerEnv")
