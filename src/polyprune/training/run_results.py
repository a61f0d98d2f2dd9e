"""The results of a run, read from its folder."""

import json
from pathlib import Path
from typing import Any

from ..jsonl import read_log
from .run_paths import RunPaths


def summarize_run(out: Path) -> dict[str, Any]:
    """Return the model's path, its number of steps, and held-out losses beside dense ones."""
    paths = RunPaths(out)
    log = read_log(paths.log)
    measured = [entry for entry in log if entry["held_out"]]
    return {
        "out": str(paths.model),
        "steps": log[-1]["step"] if log else 0,
        "losses": log[-1]["losses"] if log else {},
        "held_out": measured[-1]["held_out"] if measured else {},
        "dense": dense_losses(out),
    }


def dense_losses(out: Path) -> dict[str, float]:
    """Return the held-out losses of the dense starting model, if they are comparable."""
    path = RunPaths(out).dense
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def held_out_curve(out: Path) -> list[dict[str, Any]]:
    """Return the held-out losses of every step that measured them."""
    log = read_log(RunPaths(out).log)
    return [
        {"step": entry["step"], "held_out": entry["held_out"]} for entry in log if entry["held_out"]
    ]
