"""Exported folders: keys and values of each engine's documented configuration, rows as the template writes them."""

from __future__ import annotations

import json
import os
import stat
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml
from click.testing import CliRunner

from envscaler.cli import main
from harness.errors import SettingError
from harness.messages import assistant, system, tool, user
from tests.small_corpus import write
from training.config import Kl, Model, Objective, RlConfig, Rollouts, SftConfig, SftData, Tasks
from training.export import folder as folders
from training.export import llamafactory, roll, verl
from training.export.tasks import serve_command, split
from training.presets import PAPER_RL, PAPER_SFT, RELEASED_RL
from training.sft.rows import rows
from training.template import ChatTemplate

VERL = {
    "data": "train_files val_files prompt_key return_raw_chat train_batch_size max_prompt_length max_response_length "
    "shuffle seed apply_chat_template_kwargs",
    "actor_rollout_ref.model": "path enable_gradient_checkpointing lora_rank lora_alpha",
    "actor_rollout_ref.actor": "ppo_mini_batch_size ppo_epochs use_dynamic_bsz ppo_max_token_len_per_gpu clip_ratio "
    "clip_ratio_low clip_ratio_high loss_agg_mode entropy_coeff use_kl_loss kl_loss_coef kl_loss_type optim",
    "actor_rollout_ref.actor.optim": "lr lr_scheduler_type weight_decay betas clip_grad lr_warmup_steps "
    "lr_warmup_steps_ratio",
    "actor_rollout_ref.rollout": "name mode n temperature top_p top_k seed tensor_model_parallel_size "
    "calculate_log_probs multi_turn agent",
    "actor_rollout_ref.rollout.multi_turn": "enable max_assistant_turns",
    "actor_rollout_ref.rollout.agent": "default_agent_loop agent_loop_config_path",
    "algorithm": "adv_estimator gamma use_kl_in_reward kl_penalty kl_ctrl",
    "algorithm.kl_ctrl": "type kl_coef",
    "trainer": "project_name experiment_name logger total_epochs total_training_steps save_freq test_freq "
    "val_before_train critic_warmup default_local_dir",
}
"""Keys of verl 0.9.1's `ppo_trainer` that we set; each of them is one of its own."""

LLAMAFACTORY = (
    "stage do_train model_name_or_path finetuning_type deepspeed dataset_dir dataset template enable_thinking "
    "mask_history cutoff_len max_samples preprocessing_num_workers overwrite_cache output_dir "
    "per_device_train_batch_size gradient_accumulation_steps learning_rate lr_scheduler_type warmup_ratio warmup_steps "
    "num_train_epochs max_steps weight_decay adam_beta2 max_grad_norm bf16 seed logging_steps save_steps report_to "
    "lora_rank lora_alpha lora_target lora_dropout"
)
"""Arguments of LLaMA-Factory 0.9.5 (its own, and those of transformers' trainer)."""

ROLL_SECTIONS = {"actor_train", "actor_infer", "reference", "train_env_manager", "val_env_manager", "custom_envs"}


@pytest.fixture
def config(shelf: Path) -> RlConfig:
    return replace(
        PAPER_RL, model=Model(path="Qwen/Qwen3-8B"), output="out", tasks=Tasks(corpus=str(shelf), prompts="own")
    )


def test_verl_gets_the_papers_numbers_under_its_own_names(config: RlConfig, tmp_path: Path) -> None:
    verl.export(config, split(config, 1), tmp_path / "out")
    table = yaml.safe_load((tmp_path / "out" / "verl.yaml").read_text())
    assert table.pop("hydra") == {"searchpath": ["pkg://verl.trainer.config"]}
    assert table.pop("defaults") == ["ppo_trainer", "_self_"]
    sections = {name for name in table if name != "actor_rollout_ref"} | {
        f"actor_rollout_ref.{name}" for name in table["actor_rollout_ref"]
    }
    assert sections <= set(VERL)
    for place in VERL:
        section: Any = table
        for name in place.split("."):
            section = section[name]
        assert set(section) <= set(VERL[place].split()), place
    actor, rollout = table["actor_rollout_ref"]["actor"], table["actor_rollout_ref"]["rollout"]
    assert (table["data"]["train_batch_size"], rollout["n"], actor["ppo_mini_batch_size"]) == (64, 8, 64)
    assert table["data"]["max_prompt_length"] + table["data"]["max_response_length"] == 32_768
    assert rollout["multi_turn"] == {"enable": True, "max_assistant_turns": 40}
    algorithm = table["algorithm"]
    assert algorithm["adv_estimator"] == "reinforce_plus_plus"
    assert (algorithm["use_kl_in_reward"], algorithm["kl_penalty"]) == (True, "kl")
    assert algorithm["kl_ctrl"] == {"type": "fixed", "kl_coef": 0.1}
    assert (actor["use_kl_loss"], actor["kl_loss_coef"]) == (False, 0.0)
    assert (actor["optim"]["lr"], actor["optim"]["lr_warmup_steps"]) == (1e-6, 10)
    assert table["trainer"]["total_training_steps"] == 200


def test_verl_rows_name_their_agent_loop_and_their_sample(config: RlConfig, tmp_path: Path) -> None:
    found = split(config, 1)
    verl.export(config, found, tmp_path / "out")
    train = pq.read_table(tmp_path / "out" / "train.parquet").to_pylist()
    held = pq.read_table(tmp_path / "out" / "validation.parquet").to_pylist()
    names = [row["extra_info"]["sample_id"] for row in train + held]
    assert sorted(names) == [f"shelf-task_{number}" for number in (1, 2, 3, 4)]
    assert len(held) == 1
    for index, row in enumerate(train):
        assert (row["data_source"], row["agent_name"], row["ability"]) == ("envscaler", "envscaler", "shelf")
        assert row["extra_info"]["index"] == index
        assert [message["role"] for message in row["prompt"]] == ["system", "user"]
        assert row["reward_model"] == {"style": "rule", "ground_truth": ""}
    loops = yaml.safe_load((tmp_path / "out" / "agent_loops.yaml").read_text())
    assert loops == [
        {
            "name": "envscaler",
            "_target_": "verl_agent_loop.EnvScalerAgentLoop",
            "url": "http://127.0.0.1:8765",
            "tokens_per_step": 4096,
            "mask_truncated": False,
        }
    ]
    for name in ("serve.sh", "train.sh"):
        assert (tmp_path / "out" / name).stat().st_mode & stat.S_IXUSR
    serve = (tmp_path / "out" / "serve.sh").read_text()
    assert "--max-steps 40 --truncated zero_reward" in serve
    assert "-T level=isolated" in serve


def test_the_serve_command_is_one_that_the_server_takes(config: RlConfig, tmp_path: Path) -> None:
    verl.export(config, split(config, 1), tmp_path / "out")
    line = (tmp_path / "out" / "serve.sh").read_text().splitlines()[-1]
    # A port that is no port: every other option is read before it is refused.
    words = line.replace("--port 8765", "--port 99999").split()[1:]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 2
    assert "99999" in result.output


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        (RELEASED_RL.objective, "objective.algorithm=released: verl has none like it"),
        (replace(PAPER_RL.objective, advantage_clip=0.2), "objective.advantage_clip"),
        (replace(PAPER_RL.objective, discount=0.9), "objective.discount"),
    ],
)
def test_verl_refuses_what_it_cannot_do(config: RlConfig, changed: Objective, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=sentence):
        verl.export(replace(config, objective=changed), split(config, 1), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_roll_gets_what_the_release_runs(config: RlConfig, tmp_path: Path) -> None:
    released = replace(RELEASED_RL, model=config.model, tasks=config.tasks, output="out")
    found = split(released, 1)
    roll.export(released, found, tmp_path / "out")
    table = yaml.safe_load((tmp_path / "out" / "roll.yaml").read_text())
    assert set(table) >= ROLL_SECTIONS
    wanted = {
        "max_steps": 201,
        "save_steps": 50,
        "eval_steps": 5,
        "seed": 42,
        "sequence_length": 32_000,
        "max_actions_per_traj": 40,
        "max_tokens_per_step": 4_096,
        "rollout_batch_size": 512,
        "val_batch_size": 128,
        "adv_estimator": "reinforce",
        "whiten_advantages": True,
        "advantage_clip": 0.2,
        "ppo_epochs": 1,
        "entropy_loss_coef": 0,
        "max_grad_norm": 1.0,
        "reward_normalization": {"grouping": "traj_group_id", "method": "mean_std"},
        "loss_agg_mode": "seq-mean-token-mean",
        "init_kl_coef": 0.0,
        "add_token_level_kl": False,
        "use_kl_loss": False,
    }
    assert {key: table[key] for key in wanted} == wanted
    arguments = table["actor_train"]["training_args"]
    assert (arguments["learning_rate"], arguments["warmup_steps"]) == (1e-6, 10)
    assert (arguments["lr_scheduler_type"], arguments["gradient_accumulation_steps"]) == ("cosine", 64)
    sampling = table["actor_infer"]["generating_args"]
    assert (sampling["temperature"], sampling["top_p"], sampling["top_k"]) == (0.99, 0.99, 100)
    manager = table["train_env_manager"]
    assert (manager["num_env_groups"], manager["group_size"], manager["format_penalty"]) == (64, 8, 0)
    assert set(manager["tags"]) <= set(table["custom_envs"])
    lines = (tmp_path / "out" / "train.txt").read_text().split()
    assert lines == [sample.id for sample in found.train]


def test_rolls_kl_coefficient_has_an_effect_where_one_is_asked_for(config: RlConfig) -> None:
    table = roll.configuration(config)
    assert (table["init_kl_coef"], table["add_token_level_kl"], table["kl_penalty"]) == (0.1, True, "kl")
    loss = replace(config, objective=Objective(algorithm="grpo", kl=Kl(coefficient=0.1, where="loss", estimator="k3")))
    table = roll.configuration(loss)
    assert (table["add_token_level_kl"], table["use_kl_loss"], table["kl_loss_coef"]) == (False, True, 0.1)
    with pytest.raises(SettingError, match=r"rollouts\.truncated=mask"):
        roll.configuration(replace(config, rollouts=replace(config.rollouts, truncated="mask")))


CALLS = [("count", {"name": "jam"})], [("put", {"name": "honey", "number": 2})]
MESSAGES = [
    system("Be brief."),
    user("How much jam?"),
    {**assistant("", CALLS[0]), "reasoning_content": "I look."},
    tool("{'data': 2}", "call_0"),
    {**assistant("", CALLS[1]), "reasoning_content": "I put."},
    tool("{'message': 'Done.'}", "call_1"),
    {**assistant("Task Completed"), "reasoning_content": "All done."},
]
TOOLS = [{"type": "function", "function": {"name": "count", "parameters": {"type": "object", "properties": {}}}}]


def trajectories(path: Path, *more: list[Any]) -> Path:
    records = [{"sample_id": "a", "messages": messages, "tools": TOOLS} for messages in (MESSAGES, *more)]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.fixture
def sft(tmp_path: Path) -> SftConfig:
    file = trajectories(tmp_path / "trajectories.jsonl", [user("a"), user("b"), assistant("c")])
    data = SftData(trajectories=(str(file),), min_reward=None)
    return replace(PAPER_SFT, model=Model(path="Qwen/Qwen3-4B"), output="out", data=data)


def test_llamafactory_rows_are_what_the_stock_template_writes(sft: SftConfig, tokenizer: Any, tmp_path: Path) -> None:
    done = llamafactory.export(sft, tokenizer, tmp_path / "out")
    assert (done.rows, done.without_pairs, done.too_long) == (3, 1, 0)
    written = [json.loads(line) for line in (tmp_path / "out" / "envscaler.jsonl").read_text().splitlines()]
    template = ChatTemplate(tokenizer)
    expected = [template.text(row.messages, row.tools, prompt=False) for row in rows(sft.data.trajectories, sft.data)]
    assert [chatml(record) for record in written] == expected[:3]
    assert "<tools>" in written[0]["system"]
    assert [record["output"].startswith("<think>\n") for record in written] == [True] * 3
    assert written[2]["output"] == "<think>\nAll done.\n</think>\n\nTask Completed"
    assert "<think>" not in json.dumps(written[2]["history"]), "past reasoning is not in the history"
    assert written[1]["instruction"] == "<tool_response>\n{'data': 2}\n</tool_response>"


def chatml(record: dict[str, Any]) -> str:
    """A row as the engine's qwen3 template writes it."""
    text = f"<|im_start|>system\n{record['system']}<|im_end|>\n"
    for said, answer in [*record["history"], (record["instruction"], record["output"])]:
        text += f"<|im_start|>user\n{said}<|im_end|>\n<|im_start|>assistant\n{answer}<|im_end|>\n"
    return text


def test_llamafactory_gets_the_papers_settings(sft: SftConfig, tokenizer: Any, tmp_path: Path) -> None:
    llamafactory.export(sft, tokenizer, tmp_path / "out", devices=8)
    table = yaml.safe_load((tmp_path / "out" / "sft.yaml").read_text())
    assert set(table) <= set(LLAMAFACTORY.split())
    wanted = {
        "stage": "sft",
        "finetuning_type": "full",
        "template": "qwen3",
        "mask_history": True,
        "cutoff_len": 32_768,
        "per_device_train_batch_size": 1,
        "gradient_accumulation_steps": 32,
        "learning_rate": 1e-6,
        "num_train_epochs": 3.0,
        "lr_scheduler_type": "cosine",
        "warmup_ratio": 0.1,
        "bf16": True,
        "enable_thinking": True,
    }
    assert {key: table[key] for key in wanted} == wanted
    info = json.loads((tmp_path / "out" / "dataset_info.json").read_text())[table["dataset"]]
    assert (tmp_path / "out" / info["file_name"]).is_file()
    assert info["formatting"] == "alpaca"
    assert set(info["columns"]) == {"prompt", "query", "response", "system", "history"}
    row = json.loads((tmp_path / "out" / info["file_name"]).read_text().splitlines()[0])
    assert set(row) == set(info["columns"].values())
    assert json.loads((tmp_path / "out" / table["deepspeed"]).read_text())["zero_optimization"]["stage"] == 3


def test_long_rows_are_left_out_and_counted(sft: SftConfig, tokenizer: Any, tmp_path: Path) -> None:
    template = ChatTemplate(tokenizer)
    lengths = [
        len(template.ids(template.text(row.messages, row.tools, prompt=False)))
        for row in rows(sft.data.trajectories, sft.data)
    ]
    short = replace(sft, data=replace(sft.data, max_tokens=sorted(lengths)[-1] - 1))
    done = llamafactory.export(short, tokenizer, tmp_path / "out")
    assert (done.rows, done.too_long) == (2, 1)
    with pytest.raises(SettingError, match="no row is left"):
        llamafactory.export(replace(sft, data=replace(sft.data, max_tokens=3)), tokenizer, tmp_path / "none")
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("text", ["", "<|im_start|>user\nx<|im_end|>\n", "before<|im_start|>user\nx<|im_end|>\n"])
def test_what_is_no_pair_is_none(text: str) -> None:
    assert llamafactory.pairs(text) is None


def test_words_of_the_markup_inside_a_text_are_not_taken_apart() -> None:
    text = "<|im_start|>user\nsay <|im_end|>\n please<|im_end|>\n<|im_start|>assistant\nx<|im_end|>\n"
    assert llamafactory.pairs(text) is None


def test_an_export_never_writes_over_a_folder(config: RlConfig, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("x")
    with pytest.raises(SettingError, match="not an empty folder"):
        verl.export(config, split(config, 1), tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine.txt"]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_the_held_out_are_chosen_by_the_seed(config: RlConfig) -> None:
    one, again = split(config, 2), split(config, 2)
    assert [sample.id for sample in one.validation] == [sample.id for sample in again.validation]
    assert not {sample.id for sample in one.train} & {sample.id for sample in one.validation}
    with pytest.raises(SettingError, match="validation=4: must be above 0 and below the 4"):
        split(config, 4)


def test_conversations_name_who_plays_the_user(shelf: Path, tmp_path: Path) -> None:
    config = RlConfig(
        model=Model(path="m"),
        tasks=Tasks(corpus=str(shelf), setting="conversation"),
        rollouts=replace(Rollouts(), user="scripted"),
    )
    verl.export(config, split(config, 1), tmp_path / "out")
    assert "--user reference/scripted_user" in (tmp_path / "out" / "serve.sh").read_text()


def test_a_corpus_of_any_name_is_found_from_the_folder_of_the_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    name = 'my corpus $(touch made) "it\'s"'
    write(tmp_path / name, scenarios=2)
    config = RlConfig(model=Model(path="m"), tasks=Tasks(corpus=name))
    verl.export(config, split(config, 1), tmp_path / "out")
    (tmp_path / "bin").mkdir()
    folders.script(tmp_path / "bin" / "envscaler", 'printf "%s\\n" "$@"')
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    done = subprocess.run(
        [tmp_path / "out" / "serve.sh"], env={"PATH": path}, capture_output=True, text=True, check=True
    )
    assert f"corpus={tmp_path / name}" in done.stdout.splitlines()
    assert not (tmp_path / "out" / "made").exists()


@pytest.mark.parametrize(
    ("engine", "option"), [("verl", "--devices"), ("roll", "--devices"), ("llamafactory", "--validation")]
)
def test_an_option_of_another_engine_is_refused(engine: str, option: str, tmp_path: Path) -> None:
    words = ["train", "export", "--engine", engine, "--model", "m", "--to", str(tmp_path / "out"), option, "2"]
    result = CliRunner().invoke(main, words)
    assert (result.exit_code, result.output) == (2, f"envscaler: {option}: says nothing to {engine}\n")
    assert not (tmp_path / "out").exists()


def test_the_command_writes_a_folder_and_tells_what_is_in_it(shelf: Path, tmp_path: Path) -> None:
    words = ["train", "export", "--engine", "verl", "--model", "m", "--to", str(tmp_path / "out"), "--validation", "1"]
    result = CliRunner().invoke(main, [*words, "--set", f"tasks.corpus={shelf}"])
    assert result.exit_code == 0, result.output
    assert result.output.strip() == f"{tmp_path / 'out'}: 3 scenarios to train on, 1 held out"
    result = CliRunner().invoke(main, ["train", "export", "--engine", "roll", "--to", str(tmp_path / "x")])
    assert (result.exit_code, "model.path is missing" in result.output) == (2, True)


def test_a_user_model_is_named_as_the_server_wants_it(config: RlConfig) -> None:
    talks = replace(config, tasks=replace(config.tasks, setting="conversation"))
    there = replace(talks, rollouts=replace(talks.rollouts, user="gpt-4.1"))
    assert serve_command(there).endswith("--user openai/gpt-4.1")
    here = replace(talks, rollouts=replace(talks.rollouts, user="mine", user_url="http://127.0.0.1:9/v1"))
    command = serve_command(here)
    assert command.startswith("env OPENAI_BASE_URL=http://127.0.0.1:9/v1 OPENAI_API_KEY=none envscaler serve ")
    assert command.endswith("--user openai/mine")
