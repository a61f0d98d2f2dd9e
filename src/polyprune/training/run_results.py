"""What a run has come to, read from its folder."""

import json
from pathlib import Path
from typing import Any

from .run_log import read_log
from .run_paths import RunPaths


def summarize_run(out: Path) -> dict[str, Any]:
    """Where the model is, how long it was trained, and its held-out losses beside dense ones."""
    places = RunPaths(out)
    log = read_log(places.log)
    measured = [entry for entry in log if entry["held_out"]]
    return {
        "out": str(places.model),
        "steps": log[-1]["step"] if log else 0,
        "losses": log[-1]["losses"] if log else {},
        "held_out": measured[-1]["held_out"] if measured else {},
        "dense": dense_losses(out),
    }


def dense_losses(out: Path) -> dict[str, float]:
    """The held-out losses of the model that training started from, where it is comparable."""
    path = RunPaths(out).dense
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def held_out_curve(out: Path) -> list[dict[str, Any]]:
    """The held-out losses of every step at which they were taken."""
    log = read_log(RunPaths(out).log)
    return [
        {"step": entry["step"], "held_out": entry["held_out"]} for entry in log if entry["held_out"]
    ]
