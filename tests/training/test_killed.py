"""Kill -9, at any moment, any number of times."""

import multiprocessing
import random
from pathlib import Path

import pytest

from support.processes import work
from support.runs import tiny_run, weights

KILLS = 20


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
        process.join(moments.uniform(0.4, 2.4))
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
