"""The results of a run, read from its folder."""

import json
from pathlib import Path
from typing import Any

from ..jsonl import read_log
from .convergence import gate_convergence
from .run_location import read_json
from .run_paths import RunPaths


def summarize_run(out: Path) -> dict[str, Any]:
    """Return the number of steps, held-out losses of what was written, and dense ones."""
    paths = RunPaths(out)
    log = read_log(paths.log)
    written = _written_step(paths)
    measured = [
        entry for entry in log if entry["held_out"] and entry["step"] <= (written or entry["step"])
    ]
    return {
        "steps": log[-1]["step"] if log else 0,
        "losses": log[-1]["losses"] if log else {},
        "held_out": measured[-1]["held_out"] if measured else {},
        "dense": dense_losses(out),
        "gates": gate_convergence(log),
    }


def _written_step(paths: RunPaths) -> int | None:
    """Return the step whose model was written: the last, or the best if the run asked for it."""
    history = read_json(paths.model / "config.json").get("polyprune") or {}
    trainings = history.get("trainings")
    return trainings[-1]["steps"] if trainings else None


def dense_losses(out: Path) -> dict[str, float]:
    """Return the held-out losses of the dense starting model, if they are comparable."""
    path = RunPaths(out).dense
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def losses_before(out: Path) -> dict[str, float]:
    """Return the held-out losses before the first step, where that could have been kept."""
    path = RunPaths(out).before
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def held_out_curve(out: Path) -> list[dict[str, Any]]:
    """Return the held-out losses of every step that measured them."""
    log = read_log(RunPaths(out).log)
    return [
        {"step": entry["step"], "held_out": entry["held_out"]} for entry in log if entry["held_out"]
    ]
