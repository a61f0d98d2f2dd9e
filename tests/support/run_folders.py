"""Folders as runs leave them, written by hand, so that every moment of a run can be looked at."""

import json
import os
from pathlib import Path

NOW = 2_000_000_000.0


def record(steps=(10, 30), **changes) -> dict:
    phases = [{"steps": steps[0], "train": "gates", "name": ""}]
    phases += [{"steps": each, "train": "all", "name": "joint"} for each in steps[1:]]
    return {
        "phases": phases,
        "model": {"start": "sprout"},
        "corpus": {"source": "sample"},
        "objective": {"mlm": 1.0, "labels": 0.0},
        "gating": {"kind": "l0", "setting": "non-shared", "sparsity": 0.5},
    } | changes


def entry(step: int, loss=3.0, held_out=None, **changes) -> dict:
    return {
        "step": step,
        "phase": "joint",
        "losses": {"mlm": loss, "sparsity": 0.5, "total": loss},
        "tokens": 100,
        "density": 0.5,
        "expected_density": 0.6,
        "held_out": held_out or {},
        "sizes": {"en": 0.5} if held_out else {},
    } | changes


def write_run(folder: Path, entries=(), dense=None, begun=100.0, last=1.0, **changes) -> Path:
    """A run that began so many seconds ago and wrote its log's last line so many seconds ago."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "run.json").write_text(json.dumps(record(**changes)))
    touch(folder / "run.json", begun)
    if dense is not None:
        (folder / "dense.json").write_text(json.dumps(dense))
        touch(folder / "dense.json", begun)
    if entries:
        add(folder / "log.jsonl", entries, last)
    return folder


def add(log: Path, entries, last=1.0, end="\n") -> None:
    with log.open("a") as file:
        file.write("\n".join(json.dumps(each) for each in entries) + end)
    touch(log, last)


def touch(path: Path, ago: float) -> None:
    os.utime(path, (NOW - ago, NOW - ago))
