"""The inspection as an Inspect task: the same corpus and the same answers, the same figures."""

from __future__ import annotations

from pathlib import Path

import pytest
from inspect_ai import eval as inspect_eval
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.model import get_model

from envscaler._registry import environment_quality
from envscaler.environments import EnvironmentRecord
from envscaler.scenarios import Corpus, write_unpacked
from envscaler.skelbuilder.assemble import assemble
from tests.envscaler.skelbuilder.author.domains import DOMAINS, Domain
from tests.envscaler.skelbuilder.author.record import RECORDING
from tests.envscaler.skelbuilder.author.writing import CLASS, config, operations, rules, words


def environment(domain: Domain) -> EnvironmentRecord:
    """An environment as the recorded run made it."""
    from envscaler.skelbuilder.program import class_name_of, env_id_of

    class_name = class_name_of(domain.title)
    parts = [code for _, _, code in operations(domain).values()]
    batches = ["\n\n".join(parts[at : at + 6]) for at in range(0, len(parts), 6)]
    return EnvironmentRecord(
        id=env_id_of(domain.title, set()),
        title=domain.title,
        class_name=class_name,
        description=domain.introduction,
        rules=tuple(rules(domain)),
        source=assemble(class_name, [words(domain, CLASS), *batches]),
        released={"init_config_list": [config(domain)]},
    )


def test_recorded_models_inspect_a_corpus_to_the_recorded_figures(tmp_path: Path) -> None:
    marina = environment(DOMAINS[1])
    write_unpacked(Corpus({marina.id: marina}, {}), tmp_path / "corpus")
    (log,) = inspect_eval(
        environment_quality(corpus=str(tmp_path / "corpus")),
        model=get_model("reference/recorded", recording=str(RECORDING)),
        log_dir=str(tmp_path / "logs"),
        display="none",
        log_realtime=False,
    )
    assert log.status == "success", log.error
    assert log.samples is not None
    (sample,) = log.samples
    assert sample.error is None, sample.error
    assert sample.scores is not None
    (score,) = sample.scores.values()
    assert isinstance(score.value, dict)
    assert score.value["kept"] == score.value["gate"] == 1.0
    assert score.value["pass_rate"] == pytest.approx(98 / 99)
    assert score.metadata is not None
    assert score.metadata["lost"] == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"corpus": "nowhere"}, "nowhere"),
        ({"environments": "clinic_schedulling"}, "did you mean 'clinic_scheduling'"),
        ({"counting": "kind"}, "counting=kind: unknown; one of strict, release"),
    ],
)
def test_bad_parameters_are_one_sentence(arguments: dict[str, str], message: str) -> None:
    with pytest.raises(PrerequisiteError) as error:
        environment_quality(**arguments)  # type: ignore[arg-type]
    assert message in str(error.value.message)
