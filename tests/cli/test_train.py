"""`polyprune train` and `prune --recover`, as a user types them."""

import json
import signal
import subprocess
import sys
import time

import pytest

import polyprune as pp
from support.commands import answer, polyprune, refused

CONFIG = """
[model]
start = "{start}"
[corpus]
source = "{text}"
block = 24
[objective]
mlm = 1.0
[batch]
size = 4
micro_batch_size = 4
[[phases]]
steps = {steps}
train = "weights"
[saving]
every = 5
held_out_every = 5
trackers = []
"""


@pytest.fixture
def config(speaking, text, tmp_path):
    path = tmp_path / "run.toml"
    path.write_text(CONFIG.format(start=speaking, text=text, steps=6))
    for own in text.glob("??.txt"):
        own.with_suffix(".dev.txt").write_text(own.read_text(encoding="utf-8")[:80])
    return path


def test_a_config_becomes_a_model(config, tmp_path):
    results = answer("train", config, "--out", tmp_path / "run")
    assert results["steps"] == 6
    assert set(results["held_out"]) == set(results["dense"]) == {"en", "hi", "ru", "sw"}
    assert pp.load(tmp_path / "run" / "model").readout_kind.name == "masked-lm"
    again = answer("train", config, "--out", tmp_path / "run")
    assert again == results


def test_people_get_a_table(config, tmp_path):
    status, out, told = polyprune("train", config, "--out", tmp_path / "run", "--steps", "2")
    assert status == 0
    assert "Step 2: held-out loss" in told
    assert "sw" in out
    assert "after 2 steps" in out


def test_set_and_steps_change_the_config(config, tmp_path):
    options = ("--steps", 3, "--set", "batch.size=8", "--set", "corpus.languages=['sw']")
    results = answer("train", config, "--out", tmp_path / "run", *options)
    assert results["steps"] == 3
    assert list(results["held_out"]) == ["sw"]


def test_mistakes_change_nothing(config, tmp_path):
    config.write_text(config.read_text().replace("block", "blok"))
    assert "Did you mean corpus.block?" in refused(
        tmp_path, "train", config, "--out", tmp_path / "run"
    )
    assert "There is no file" in refused(
        tmp_path, "train", tmp_path / "none.toml", "--out", tmp_path / "run"
    )


def test_check_tells_all_mistakes_of_a_config(config):
    assert polyprune("check", config)[0] == 0
    config.write_text(config.read_text().replace("block", "blok").replace("mlm = 1.0", "mlm = -1"))
    status, _, told = polyprune("check", config)
    assert status == 2
    assert "2 mistakes" in told


@pytest.mark.slow
def test_another_config_in_the_same_folder_is_refused(config, tmp_path):
    answer("train", config, "--out", tmp_path / "run")
    told = refused(tmp_path, "train", config, "--out", tmp_path / "run", "--set", "seed=3")
    assert "seed: 0 there, 3 here" in told
    assert answer("train", config, "--out", tmp_path / "run", "--set", "seed=3", "--force")


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_saves_and_says_how_to_go_on(speaking, text, tmp_path, number):
    path = tmp_path / "long.toml"
    path.write_text(CONFIG.format(start=speaking, text=text, steps=100_000))
    command = [
        sys.executable,
        "-m",
        "polyprune",
        "train",
        str(path),
        "--out",
        str(tmp_path / "run"),
    ]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    while not (tmp_path / "run" / "checkpoints").is_dir() and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(number)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert "Stopped and saved after step" in told
    assert f"polyprune train {path} --out {tmp_path / 'run'}" in told
    log = (tmp_path / "run" / "log.jsonl").read_text().splitlines()
    steps = [json.loads(line)["step"] for line in log]
    assert steps == list(range(1, len(steps) + 1))
    saved = sorted((tmp_path / "run" / "checkpoints").iterdir())[-1].name
    assert saved == f"step-{len(steps):07}"


def test_prune_recovers_with_the_uncut_model_as_teacher(speaking, text, tmp_path):
    options = ("--corpus", text, "--sparsity", "0.5", "--sentences", 6, "--recover", 3)
    report = answer("prune", speaking, *options, "--out", tmp_path / "half")
    assert report["out"] == str(tmp_path / "half")
    small = pp.load(tmp_path / "half")
    assert small.num_parameters() == report["parameters"]
    log = (tmp_path / "half" / "training.jsonl").read_text().splitlines()
    assert [json.loads(line)["step"] for line in log] == [1, 2, 3]
    assert not (tmp_path / "half.recovery").exists()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--sparsity", "0.5", "--method", "magnitude"], "--recover trains on text"),
        (["--corpus", "text", "--setting", "non-shared"], "one size that all languages share"),
        (["--corpus", "text", "--elastic"], "one size that all languages share"),
    ],
)
def test_recovery_needs_text_and_one_size(speaking, tmp_path, options, told):
    command = ("prune", speaking, *options, "--recover", 3, "--out", tmp_path / "half")
    assert told in refused(tmp_path, *command)
