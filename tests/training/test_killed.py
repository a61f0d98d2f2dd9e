"""Kill -9, at any moment, any number of times."""

import multiprocessing
import random
from pathlib import Path

import pytest
import torch
from training import tiny_run, weights

from polyprune.training.run import train

KILLS = 20


def work(start: Path, text: Path, out: Path) -> None:
    """A run as a process of its own."""
    torch.set_num_threads(1)
    saving = {"every": 7, "held_out_every": 50, "trackers": ["tensorboard"]}
    phases = [{"steps": 1500, "learning_rate": 0.002}]
    for _ in train(tiny_run(start, text, saving=saving, phases=phases), out):
        pass


@pytest.mark.slow
def test_a_run_that_is_killed_twenty_times_ends_like_one_that_was_not(speaking, text, tmp_path):
    processes = multiprocessing.get_context("forkserver")
    processes.set_forkserver_preload(["polyprune.training.run", "torch.utils.tensorboard"])
    tiny_run(speaking, text)
    out, moments = tmp_path / "killed", random.Random(1)
    survived = []
    for _ in range(KILLS):
        process = processes.Process(target=work, args=(speaking, text, out))
        process.start()
        process.join(moments.uniform(0.5, 4))
        assert process.exitcode is None, "finished, or failed, before it could be killed"
        process.kill()
        process.join()
        log = out / "log.jsonl"
        survived.append(log.read_text().count("\n") if log.is_file() else 0)
    for folder in (out, tmp_path / "straight"):
        process = processes.Process(target=work, args=(speaking, text, folder))
        process.start()
        process.join()
        assert process.exitcode == 0
    assert len(set(survived)) > KILLS // 2, "the kills came at much the same moment"
    assert weights(out) == weights(tmp_path / "straight")
    # A line is a step: its losses, and the checksum of what it read.
    assert (out / "log.jsonl").read_text() == (tmp_path / "straight" / "log.jsonl").read_text()
    assert _tracked(out) == list(range(1, 1501))


def _tracked(out: Path) -> list[int]:
    """The steps in TensorBoard's files, as it shows them."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(
        str(out / "tracking" / "training"), size_guidance={"scalars": 0}, purge_orphaned_data=True
    )
    events.Reload()
    return [event.step for event in events.Scalars("loss/mlm")]
