"""Find the run that a folder holds, when its files were written, and how fast it is."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import CheckpointError
from .run_paths import RunPaths

STRETCH = 30.0
"""The speed is measured over at least this many seconds; one slow step must not decide it."""


@dataclass(frozen=True, slots=True, order=True)
class Timestamp:
    """A step, and the time at which it was done."""

    seconds: float
    step: int


@dataclass(frozen=True, slots=True)
class RunLocation:
    """The files of a run, and when they were written."""

    name: str
    folder: Path
    record: dict[str, Any]
    """`run.json`; empty if only the log was kept."""
    log: Path
    finished: bool
    runs_done: int = 0

    @property
    def begun(self) -> float | None:
        """When the run started, if that is known."""
        return modified_at(RunPaths(self.folder).record)

    @property
    def last_written(self) -> float | None:
        """When any of its files was last written."""
        paths = RunPaths(self.folder)
        files = (paths.record, paths.dense, paths.targets, paths.held_out, paths.prepared)
        looked = [*files, paths.checkpoints, paths.model, self.log]
        return max(
            (when for path in looked if (when := modified_at(path)) is not None), default=None
        )

    @property
    def marks(self) -> list[Timestamp]:
        """The steps whose times are known from files: the start, and the checkpoints."""
        paths = RunPaths(self.folder)
        first = modified_at(paths.dense) or self.begun
        marks = [] if first is None else [Timestamp(first, 0)]
        for path in paths.checkpoints.glob("step-*"):
            step, when = re.fullmatch(r"step-(\d+)", path.name), modified_at(path)
            if step and when is not None:
                marks.append(Timestamp(when, int(step[1])))
        return marks


def recent_speed(marks: Sequence[Timestamp]) -> float | None:
    """Return the recent steps per second; None before there are two timestamps.

    Recent, because a run may have been stopped for a night in between.
    """
    if not marks:
        return None
    last = max(marks, key=lambda mark: (mark.step, mark.seconds))
    before = sorted(mark for mark in marks if mark.step < last.step and mark < last)
    if not before:
        return None
    long_ago = [mark for mark in before if last.seconds - mark.seconds >= STRETCH]
    since = long_ago[-1] if long_ago else before[0]
    passed = last.seconds - since.seconds
    return (last.step - since.step) / passed if passed > 0 else None


def find_run(folder: Path) -> RunLocation | None:
    """Find the run of `train`, `finetune`, `prune --recover` or a study's cell, if any."""
    recovering = folder.with_name(f"{folder.name}.recovery") / "run"
    for place in (folder, folder / "run", recovering):
        found = _run_in(place, folder.name) or _tuning_in(place, folder.name)
        if found is not None:
            return found
    recovered = folder / "training.jsonl"
    if recovered.is_file():
        return RunLocation(folder.name, folder, {}, recovered, finished=True)
    return None


def _run_in(folder: Path, name: str) -> RunLocation | None:
    paths = RunPaths(folder)
    record = read_json(paths.record, damaged="Start the run again with `force`.")
    if not {"phases", "corpus", "gating"} <= record.keys():
        return None
    finished = (paths.model / "config.json").is_file()
    return RunLocation(name, folder, record, paths.log, finished)


def _tuning_in(folder: Path, name: str) -> RunLocation | None:
    """Find the latest trial of a fine-tuning; finished trials keep only their log."""
    if not (folder / "tuning.json").is_file():
        return None
    tried = [path for path in folder.glob("lr-*-epochs-*-seed-*") if path.is_dir()]
    if not tried:
        return RunLocation(name, folder, {}, RunPaths(folder).log, finished=False)
    last = max(tried, key=lambda path: (RunPaths(path).record.is_file(), modified_at(path) or 0))
    done = sum(not RunPaths(path).record.is_file() for path in tried)
    called = f"{name}, {last.name}"
    going = _run_in(last, called)
    if going is not None:
        return RunLocation(called, last, going.record, going.log, False, done)
    return RunLocation(called, last, {}, RunPaths(last).log, _is_tuned(folder), done)


def _is_tuned(folder: Path) -> bool:
    """Return whether all trials are done: their examples are then deleted."""
    models = [folder / "model", *folder.glob("seed-*")]
    has_model = any((path / "config.json").is_file() for path in models)
    return has_model and not (folder / "examples.arrow").is_file()


def read_json(path: Path, damaged: str = "") -> dict[str, Any]:
    """Read a JSON object; return an empty dict if there is no file, raise if it is damaged."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError:
        return {}
    except ValueError as error:
        if damaged:
            raise CheckpointError(f"{path} is damaged: it is not JSON. {damaged}") from error
        return {}
    return found if isinstance(found, dict) else {}


def modified_at(path: Path) -> float | None:
    """Return when a path was last modified; None if it does not exist."""
    try:
        return path.stat().st_mtime
    except OSError:
        return None
