"""Mine: which task texts rely on an environment worth building, and which environment that is.

Filters and the two questions follow the paper's first stage (docs of the release, section 1.1); the words are ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from msgspec import Struct
from msgspec.structs import replace

from envscaler.skelbuilder.records import Judged, Score10, TaskText, Text, Topic
from envscaler.synthesis.answers import Unusable, answer_of
from envscaler.synthesis.ask import Prompt


@dataclass(frozen=True, slots=True, kw_only=True)
class TextRules:
    """Which task texts are taken."""

    language: str = "en"
    """`en`: mostly ASCII letters; `any`: no test."""
    least_words: int = 6
    most_words: int = 400


_MODAL = re.compile(
    r"\b(image|images|photo|photos|picture|pictures|screenshot|video|videos|audio|sound|speech|clip|recording|song)\b",
    re.IGNORECASE,
)
_OUTSIDE = re.compile(r"https?:|www\.|\S+@\S+\.\S|\.com\b", re.IGNORECASE)
_ENGLISH_SHARE = 0.9


def filtered(texts: Iterable[TaskText], rules: TextRules) -> list[TaskText]:
    """The texts, each kept or rejected with its reason; of equal ones (case, space and signs aside) the first."""
    seen: dict[str, str] = {}
    result = []
    for task in texts:
        reason = _unfit(task.text, rules)
        if reason is None:
            first = seen.setdefault(" ".join(re.findall(r"\w+", task.text.casefold())), task.id)
            reason = None if first == task.id else f"repeats {first}"
        result.append(task if reason is None else replace(task, status="rejected", reason=reason))
    return result


def _unfit(text: str, rules: TextRules) -> str | None:
    words = len(text.split())
    if words < rules.least_words:
        return "too short"
    if words > rules.most_words:
        return "too long"
    letters = [sign for sign in text if sign.isalpha()]
    if rules.language == "en" and sum(sign.isascii() for sign in letters) < _ENGLISH_SHARE * len(letters):
        return "other language"
    if not letters:
        return "no words"
    if _MODAL.search(text):
        return "other modality"
    if _OUTSIDE.search(text):
        return "refers to an outside address"
    return None


class Judgement(Struct):
    """The answer to the first question."""

    analysis: str
    domain_specific: bool
    stateful: bool
    reads: bool
    writes: bool


JUDGE = """\
You sort requests that people send to software assistants. For one request, decide what a system must be like that \
could carry it out. Answer four questions with true or false:
- domain_specific: does it need the records of one particular kind of organisation or service (a clinic, a warehouse, \
a course office), not general knowledge, pure calculation, writing, or a web search?
- stateful: do these records live on from one request to the next, so that what is done today is still there tomorrow?
- reads: must something be looked up in the records to carry it out?
- writes: does carrying it out create, change or remove a record?
Judge what the request needs, not how it is worded. A request that only asks for information does not write.
Answer with one JSON object and nothing else:
{"analysis": "two sentences", "domain_specific": true, "stateful": true, "reads": true, "writes": true}"""


def judge_prompt(task: TaskText) -> Prompt[Judgement]:
    """Ask whether a task relies on a domain-specific, stateful environment, both read and written."""
    return Prompt(
        stage="judge",
        item=task.id,
        role="planner",
        system=JUDGE,
        user=f"The request:\n{task.text}",
        parse=lambda text: answer_of(text, Judgement),
        form=Judgement,
    )


def judged(task: TaskText, said: Judgement) -> Judged:
    """The verdict: all four must hold."""
    lacking = [name for name in ("domain_specific", "stateful", "reads", "writes") if not getattr(said, name)]
    reason = f"not {', '.join(lacking)}" if lacking else ""
    return Judged(task_id=task.id, status="rejected" if lacking else "kept", reason=reason)


class TopicAnswer(Struct):
    """The answer to the second question."""

    analysis: str
    title: Text
    introduction: Text
    usefulness: Score10
    modelability: Score10


TOPIC = """\
You design practice environments for software assistants. An environment is the back office of one kind of \
organisation or service, as a program: records, rules, and operations on them. From one example request, name the \
environment in which such requests are daily work. Choose a middle scope: not one form of one office, not a whole \
industry. Everything in it must fit into a single program with a few tables; it has no network, no files, no devices.
Give:
- title: a noun phrase of three to eight words;
- introduction: exactly three sentences: what the place is and keeps, who works with it and what they do, and what \
constrains their work. Do not mention the example request or anybody in it;
- usefulness, 1 to 10: how common and valuable such work is;
- modelability, 1 to 10: how faithfully one program with state and rules can stand for it (1: needs judgement of \
texts, sensors or the open world; 10: records and rules only).
Answer with one JSON object and nothing else:
{"analysis": "two sentences", "title": "…", "introduction": "…", "usefulness": 8, "modelability": 9}"""


def topic_prompt(task: TaskText) -> Prompt[TopicAnswer]:
    """Ask which environment a task implies."""
    return Prompt(
        stage="topic",
        item=task.id,
        role="planner",
        system=TOPIC,
        user=f"The example request:\n{task.text}",
        parse=_topic_answer,
        form=TopicAnswer,
    )


def _topic_answer(text: str) -> TopicAnswer:
    said = answer_of(text, TopicAnswer)
    if len(said.introduction.split()) < 15:
        raise Unusable("introduction is too short: three full sentences were asked for", "wrong")
    return said


def topic(task: TaskText, said: TopicAnswer) -> Topic:
    """The topic as a record."""
    return Topic(
        task_id=task.id,
        task=task.text,
        title=said.title.strip(),
        introduction=said.introduction.strip(),
        usefulness=said.usefulness,
        modelability=said.modelability,
    )
