"""Runs so small that a test can do several of them."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from polyprune.config import make_run
from polyprune.progress import Silent, Stopped
from polyprune.training import run as training_run
from polyprune.training.loop import StepReport
from polyprune.training.run_config import Run
from polyprune.training.text_material import TextMaterial


def train(run: Run, out: Path, **options) -> Iterator[StepReport]:
    """Train on the text that a run names."""
    return training_run.train(run, out, material=TextMaterial.of, **options)


def tiny_run(start: Path, text: Path, **changes) -> Run:
    """Masked words in four languages, dropout and all; sections are replaced by `changes`."""
    for path in text.glob("??.txt"):
        held_out = path.read_text(encoding="utf-8").splitlines()[:4]
        path.with_suffix(".dev.txt").write_text("\n".join(held_out), encoding="utf-8")
    table = {
        "model": {"start": str(start), "dropout": 0.1},
        "corpus": {"source": str(text), "block": 24, "held_out": 4, "window": 3},
        "objective": {"mlm": 1.0},
        "batch": {"size": 8, "micro_batch_size": 3},
        "phases": [{"steps": 6, "learning_rate": 0.01, "warmup": 2}],
        "saving": {"every": 2, "held_out_every": 3, "trackers": []},
    }
    return make_run(table | changes)


def finished(run: Run, out: Path, stops: Iterable[int] = ()) -> list[StepReport]:
    """The reports of a run, interrupted after these steps and started again each time."""
    reports: list[StepReport] = []
    for last in stops:
        # Asked after a step is done, before it is reported.
        stop = Silent(lambda last=last: len(reports) + 1 == last)
        stopped = train(run, out, progress=stop)
        with pytest.raises(Stopped, match=f"after step {last} of"):
            reports.extend(stopped)
    return reports + list(train(run, out))


def weights(out: Path) -> bytes:
    return (out / "model" / "model.safetensors").read_bytes()
