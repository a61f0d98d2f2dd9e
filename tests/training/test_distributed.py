"""Several processes are one: same data, same global batch, same losses."""

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from support.processes import sharded
from support.runs import tiny_run

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
[penalties]
sparsity = 8.0
diversity = 1.0
"""


@pytest.fixture
def config(speaking, text, tmp_path) -> Path:
    tiny_run(speaking, text)  # for the held-out text
    path = tmp_path / "run.toml"
    path.write_text(CONFIG.format(start=speaking, text=text))
    return path


def launched(config: Path, out: Path, processes: int, *options: str) -> None:
    """Run a config as its users do on several devices."""
    command = [sys.executable, "-m", "accelerate.commands.launch", *(options or ("--cpu",))]
    command += ["--num_processes", str(processes), "--num_machines", "1"]
    command += ["-m", "polyprune", "train", str(config), "--out", str(out)]
    free = {"MASTER_PORT": str(20000 + os.getpid() % 20000), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | free)
    assert done.returncode == 0, done.stderr[-3000:]


def log(out: Path) -> list[dict]:
    return [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]


@pytest.mark.slow
@pytest.mark.parametrize("gating", ["", GATED], ids=["plain", "gated"])
def test_two_processes_have_the_losses_of_one(config, tmp_path, gating):
    config.write_text(config.read_text() + gating)
    launched(config, tmp_path / "one", 1)
    launched(config, tmp_path / "two", 2)
    one, two = log(tmp_path / "one"), log(tmp_path / "two")
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
def test_a_run_may_go_on_with_another_number_of_processes(config, tmp_path):
    launched(config, tmp_path / "straight", 1)
    stopped = subprocess.Popen(
        [sys.executable, "-m", "polyprune", "train", str(config), "--out", str(tmp_path / "run")],
        stderr=subprocess.PIPE,
        text=True,
    )
    path = tmp_path / "run" / "log.jsonl"
    while stopped.poll() is None and not path.is_file():
        time.sleep(0.01)
    stopped.send_signal(signal.SIGTERM)
    _, told = stopped.communicate()
    if stopped.returncode:  # not yet finished when it was told to stop
        assert stopped.returncode == 128 + signal.SIGTERM, told
        assert "To go on, give the same command: polyprune train" in told
    launched(config, tmp_path / "run", 2)
    straight, broken = log(tmp_path / "straight"), log(tmp_path / "run")
    for a, b in zip(straight, broken, strict=True):
        assert b["losses"] == pytest.approx(a["losses"], rel=1e-4)


@pytest.mark.slow
def test_sharded_models_train_save_and_go_on(speaking, tmp_path):
    """By torch itself: Accelerate does not shard on CPUs."""
    processes = multiprocessing.get_context("spawn")
    port = 20000 + os.getpid() % 20000
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
    command = [sys.executable, "-m", "accelerate.commands.launch", "--use_fsdp", "--num_processes"]
    command += ["2", "-m", "polyprune", "train", str(config), "--out", str(tmp_path / "run")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode != 0
    assert "launch with --cpu" in done.stderr
    assert not (tmp_path / "run").exists()
