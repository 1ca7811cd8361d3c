"""The engine without a model: the batch driver, a step inside Inspect, and what an import costs."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from typing import Any

from inspect_ai import Epochs, Task
from inspect_ai import eval as run_eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    Model,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    execute_tools,
    get_model,
    modelapi,
)
from inspect_ai.scorer import Score, Target, accuracy, scorer
from inspect_ai.solver import Generate, TaskState, solver
from inspect_ai.tool import ToolCall, ToolChoice, ToolDef, ToolInfo, ToolParams

from benchmarks.registry import loaded
from envscaler._registry import scenarios
from harness.case import Case
from harness.episode import AgentTurn
from harness.messages import Message, assistant
from harness.rollout import play_batch
from tests.performance.measure import Row, at_least, at_most, cpu_seconds

ENVIRONMENT = "hotel_front_desk"


def measure() -> list[Row]:
    return [_batch_driver(), _import(), *_inspect()]


def _batch_driver() -> Row:
    """Episodes of the oracle on bundled scenarios, 64 at once; judging is part of an episode."""
    ready = loaded("scenarios", "strict", level="trusted")
    cases = [sample.case() for sample in ready.samples] * 4
    steps = 0

    def work() -> None:
        nonlocal steps

        def generate(turns: list[AgentTurn]) -> list[Message]:
            # An agent is known by its conversation so far: it has spoken as often as it holds assistant messages.
            return [_next(turn, by_prompt) for turn in turns]

        by_prompt = {_prompt(case): case for case in cases}
        steps = sum(played.trajectory.steps for played in play_batch(cases, ready.protocol, generate, at_once=64))

    seconds = cpu_seconds(work, repeat=3)
    return at_least("batch driver, trusted, no model", steps / seconds, 3000, "steps/s of CPU")


def _prompt(case: Case) -> tuple[str, str]:
    return str(case.brief.system), case.brief.turns[0].text


def _next(turn: AgentTurn, by_prompt: dict[tuple[str, str], Case]) -> Message:
    case = by_prompt[turn.messages[0]["content"], turn.messages[1]["content"]]
    spoken = sum(message["role"] == "assistant" for message in turn.messages)
    script = case.oracle or ()
    return script[spoken] if spoken < len(script) else assistant("Task Completed")


def _import() -> Row:
    """CPU time that `import harness.episode` adds to a bare interpreter."""
    code = (
        "import time; start = time.process_time(); import harness.episode; print((time.process_time() - start) * 1000)"
    )
    times = [
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
        for _ in range(5)
    ]
    return at_most("import harness.episode", min(times), 150, "ms of CPU")


def _inspect() -> list[Row]:
    """Our solver and scorer against the shortest loop that Inspect users write, same tools, calls and model."""
    ready = loaded("scenarios", "paper", environments=ENVIRONMENT, level="trusted", prompts="own")
    cases = {sample.id: sample.case() for sample in ready.samples}
    steps = sum(len(case.oracle or ()) + 1 for case in cases.values()) * ready.protocol.runs
    scripted = _scripted_model(cases)
    ours, bare = scenarios(environments=ENVIRONMENT, level="trusted"), _bare(cases, ready.protocol.runs)
    with tempfile.TemporaryDirectory() as folder:
        # The first evaluation pays for imports; all are measured after it.
        _run(bare, scripted, folder)
        alone = 1000 * _run(bare, scripted, folder) / steps
        same = 1000 * _run(ours, scripted, folder) / steps
        aware = 1000 * _run(ours, "reference/oracle", folder) / steps
    what = "CPU of a step inside Inspect / in a bare Inspect loop"
    return [
        at_most(f"{what}, any provider ({same:.1f} / {alone:.1f} ms)", same / alone, 1.3, "x"),
        at_most(f"{what}, providers of ours ({aware:.1f} / {alone:.1f} ms)", aware / alone, 1.3, "x"),
    ]


def _run(task: Task, model: Model | str, folder: str) -> float:
    logs: list[Any] = []

    def work() -> None:
        logs[:] = run_eval(task, model=model, log_dir=folder, display="none", log_realtime=False)

    seconds = cpu_seconds(work, repeat=2)
    assert logs[0].status == "success"
    assert not any(sample.error for sample in logs[0].samples)
    return seconds


def _bare(cases: dict[str, Case], runs: int) -> Task:
    """Generate, execute_tools, repeat: real environments behind Inspect's own tools, the same calls."""

    @solver
    def loop() -> Any:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            case = cases[str(state.sample_id)]
            environment = case.open()

            def tool(name: str) -> Any:
                async def execute(**kwargs: Any) -> str:
                    return environment.call(name, kwargs).text

                return execute

            tools = [
                ToolDef(
                    tool(spec.name),
                    name=spec.name,
                    description=spec.description,
                    parameters=ToolParams.model_validate({k: v for k, v in spec.parameters.items() if k != "type"}),
                )
                for spec in environment.tools
            ]
            model = get_model()
            state.messages = [
                ChatMessageSystem(content=str(case.brief.system)),
                ChatMessageUser(content=case.brief.turns[0].text),
            ]
            while True:
                state.output = await model.generate(state.messages, tools=tools)
                state.messages.append(state.output.message)
                if not state.output.message.tool_calls:
                    return state
                messages, _ = await execute_tools(state.messages, tools)
                state.messages.extend(messages)

        return solve

    @scorer(metrics=[accuracy()])
    def done() -> Any:
        async def score(state: TaskState, target: Target) -> Score:
            return Score(value=1.0)

        return score

    dataset = MemoryDataset([Sample(id=name, input=name) for name in cases])
    return Task(dataset=dataset, solver=loop(), scorer=done(), epochs=Epochs(runs, "mean"))


def _scripted_model(cases: dict[str, Case]) -> Model:
    """The oracle's calls from a model that, like any, is told nothing of our episodes."""
    by_task = {case.brief.turns[0].text: case for case in cases.values()}

    @modelapi(name="scripted")
    class Scripted(ModelAPI):
        async def generate(
            self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
        ) -> ModelOutput:
            script = by_task[next(m.text for m in input if m.role == "user")].oracle or ()
            spoken = sum(message.role == "assistant" for message in input)
            if spoken < len(script):
                function = script[spoken]["tool_calls"][0]["function"]
                made = ToolCall(f"c{spoken}", function["name"], json.loads(function["arguments"]))
                said = ChatMessageAssistant(content="", tool_calls=[made], source="generate")
            else:
                said = ChatMessageAssistant(content="Task Completed", source="generate")
            choice = ChatCompletionChoice(message=said, stop_reason="stop")
            return ModelOutput(model="scripted", choices=[choice], usage=ModelUsage())

    return get_model("scripted/model")
