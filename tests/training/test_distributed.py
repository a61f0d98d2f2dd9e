"""Several processes are one: same data, same global batch, same losses."""

import json
import multiprocessing
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from polyprune.config import make_run
from support.commands import polyprune
from support.processes import Launcher, accelerate, free_port, sharded, torchrun
from support.runs import tiny_run, train

CONFIG = """
[model]
start = "{start}"
dropout = 0.0
[corpus]
source = "{text}"
block = 24
held_out = 4
window = 3
lanes = 4
[objective]
mlm = 1.0
[batch]
size = 8
micro_batch_size = 2
[[phases]]
steps = 6
learning_rate = 0.01
warmup = 2
[saving]
every = 2
held_out_every = 3
trackers = []
"""

GATED = """
[gating]
kind = "learned"
setting = "non-shared"
common = 3.0
[penalties]
kind = "exact"
diversity = 1.0
"""

LAUNCHERS = pytest.mark.parametrize(
    "launcher", [torchrun, accelerate], ids=["torchrun", "accelerate"]
)


@pytest.fixture
def config(speaking, text, tmp_path) -> Path:
    tiny_run(speaking, text)  # for the held-out text
    path = tmp_path / "run.toml"
    path.write_text(CONFIG.format(start=speaking, text=text))
    return path


def launched(config: Path, out: Path, launcher: tuple[str, ...]) -> subprocess.CompletedProcess:
    """Run a config as its users do on several devices."""
    command = [sys.executable, *launcher, "-m", "polyprune", "train", str(config)]
    return subprocess.run(
        [*command, "--out", str(out)],
        capture_output=True,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )


def by_one(config: Path, out: Path) -> list[dict]:
    """The log of a run in this process."""
    status, _, error = polyprune("train", config, "--out", out)
    assert status == 0, error
    return log(out)


def by_two(config: Path, out: Path, launcher: Launcher) -> list[dict]:
    """The log of a run in two processes."""
    done = launched(config, out, launcher(2))
    assert done.returncode == 0, done.stderr[-3000:]
    return log(out)


def log(out: Path) -> list[dict]:
    return [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]


@pytest.mark.slow
@LAUNCHERS
@pytest.mark.parametrize("gating", ["", GATED], ids=["plain", "gated"])
def test_two_processes_have_the_losses_of_one(config, tmp_path, launcher, gating):
    config.write_text(config.read_text() + gating)
    one = by_one(config, tmp_path / "one")
    two = by_two(config, tmp_path / "two", launcher)
    assert {line["processes"] for line in one} == {1}
    assert {line["processes"] for line in two} == {2}
    assert [line["step"] for line in two] == [1, 2, 3, 4, 5, 6]
    for a, b in zip(one, two, strict=True):
        assert a["tokens"] == b["tokens"]
        assert b["losses"] == pytest.approx(a["losses"], rel=1e-4)
        assert b["held_out"] == pytest.approx(a["held_out"], rel=1e-4)
    first, second = (
        load_file(tmp_path / n / "model" / "model.safetensors") for n in ("one", "two")
    )
    for name, tensor in first.items():
        torch.testing.assert_close(second[name], tensor, rtol=1e-3, atol=1e-4)


@pytest.mark.slow
@LAUNCHERS
def test_a_run_may_go_on_with_another_number_of_processes(config, tmp_path, launcher):
    straight = by_one(config, tmp_path / "straight")
    stopped = train(make_run(tomllib.loads(config.read_text())), tmp_path / "run")
    for _ in range(3):  # the last checkpoint is that of step 3, with a held-out loss
        next(stopped)
    stopped.close()
    broken = by_two(config, tmp_path / "run", launcher)
    assert [line["processes"] for line in broken] == [1, 1, 1, 2, 2, 2]
    for a, b in zip(straight, broken, strict=True):
        assert b["losses"] == pytest.approx(a["losses"], rel=1e-4)


@pytest.mark.slow
def test_sharded_models_train_save_and_go_on(speaking, tmp_path):
    """By torch itself: Accelerate does not shard on CPUs."""
    processes = multiprocessing.get_context("spawn")
    port = free_port()
    both = [
        processes.Process(target=sharded, args=(rank, speaking, tmp_path / "run", port))
        for rank in (0, 1)
    ]
    for process in both:
        process.start()
    for process in both:
        process.join()
    assert [process.exitcode for process in both] == [0, 0]


@pytest.mark.slow
def test_sharding_where_there_is_none_is_refused(config, tmp_path):
    done = launched(config, tmp_path / "run", accelerate(2, "--use_fsdp"))
    assert done.returncode != 0
    assert "launch without --use_fsdp" in done.stderr
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_one_process_where_more_were_asked_for_says_so(config, tmp_path):
    """Without MPI, `--cpu` starts one process, whatever the number."""
    done = launched(config, tmp_path / "run", accelerate(2, "--cpu"))
    assert done.returncode == 0, done.stderr[-3000:]
    assert "One process trains, though more were asked for" in done.stderr
    assert "torchrun --nproc-per-node 2" in done.stderr
