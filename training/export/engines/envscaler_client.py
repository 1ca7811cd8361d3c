"""Client of an EnvScaler environment server, for engines: standard library only, safe to copy anywhere.

    client = Client("http://127.0.0.1:8765")
    told = client.reset("library_circulation-task_3")
    told = client.step(told["episode_id"], told["move"] + 1, text="...the model's reply...")
    record = client.score(told["episode_id"])

Every move carries its number, so a lost answer is asked for again and nothing is executed twice.
"""

import json
import os
import time
import urllib.error
import urllib.request


class ServerError(Exception):
    """The server refused a request, or could not be reached."""


class Client:
    """One environment server.

    Args:
        url: Where it listens.
        token: If it asks for one; by default that of the variable ENVSCALER_TOKEN.
        timeout: Seconds for one answer.
        patience: Seconds to go on asking a server that is full or cannot be reached.
    """

    def __init__(self, url, token=None, timeout=300.0, patience=600.0):
        self.url = url.rstrip("/")
        self.token = token or os.environ.get("ENVSCALER_TOKEN")
        self.timeout = timeout
        self.patience = patience

    def reset(self, sample_id, run=1, model=""):
        """Start an episode: `episode_id, move, needs, messages, tools, done, reward`."""
        return self._ask("/reset", {"sample_id": sample_id, "run": run, "model": model})

    def step(self, episode_id, move, text=None, message=None, user=None, finish_reason=None):
        """Make a move: the agent's raw text or message, or the user's raw text; what is new comes back."""
        given = {"text": text, "message": message, "user": user, "finish_reason": finish_reason}
        body = {"episode_id": episode_id, "move": move}
        return self._ask("/step", {**body, **{key: value for key, value in given.items() if value is not None}})

    def score(self, episode_id, stop_reason="recording_ended"):
        """Trajectory and outcome; an episode that is not over is ended first."""
        return self._ask("/score", {"episode_id": episode_id, "stop_reason": stop_reason})

    def close(self, episode_id):
        """Free the episode."""
        return self._ask("/close", {"episode_id": episode_id})

    def _ask(self, path, body):
        headers = {"Content-Type": "application/json"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        deadline, pause = time.monotonic() + self.patience, 0.5
        while True:
            request = urllib.request.Request(self.url + path, json.dumps(body).encode(), headers)
            try:
                with urllib.request.urlopen(request, timeout=self.timeout) as response:
                    return json.load(response)
            except urllib.error.HTTPError as error:
                sentence = error.read().decode(errors="replace")
                if error.code not in (429, 502, 503) or time.monotonic() > deadline:
                    raise ServerError(f"{path}: {error.code}: {sentence}") from error
            except OSError as error:
                # A reset whose answer was lost left an episode behind; the server closes it when it is idle.
                if time.monotonic() > deadline:
                    raise ServerError(f"{self.url}: {error}") from error
            time.sleep(pause)
            pause = min(2 * pause, 10.0)
