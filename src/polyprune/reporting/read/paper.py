"""The numbers that the paper prints, as results like any others."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from ...averages import Scores
from ..results import Results, Score, System, SystemSize

LEFT_OUT = {"table", "regime", "system", "title", "setting", "sparsity", "average"}
"""The keys of a row that are not scores."""


@cache
def read_paper() -> Mapping[str, Any]:
    """Read the bundled file of the paper's numbers."""
    path = files("polyprune.bundled").joinpath("paper_results.toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))


def paper_results() -> Results:
    """Return the scores of the paper's tables, and the sizes and speeds of its figure."""
    paper = read_paper()
    scores: dict[tuple, Score] = {}
    for row in paper["score"]:
        for task in (name for name in row if name not in LEFT_OUT):
            score = Score(paper_system(row), task, _scores(task, row[task]), regime=row["regime"])
            # Tables 2 and 3 repeat rows of Table 1 under other titles.
            scores.setdefault((row["system"], row.get("sparsity"), task, row["regime"]), score)
    for row in paper["languages"]:
        system = paper_system(row)
        own = {code: {"accuracy": float(value)} for code, value in row["scores"].items()}
        average = {"accuracy": float(row["average"])}
        key = (system.name, system.sparsity, row["task"], row["regime"])
        scores[key] = Score(system, row["task"], average, own, row["regime"])
    for row in paper["by_sparsity"]:
        if row["quantity"] == "xnli":
            for sparsity, value in row.get("points", ()):
                score = Score(
                    System(row["system"], row["title"], sparsity),
                    "xnli",
                    {"accuracy": float(value)},
                    regime="translate-train-all",
                )
                scores.setdefault((row["system"], sparsity, "xnli", score.regime), score)
    return Results(
        title=paper["title"],
        scores=tuple(scores.values()),
        sizes=tuple(_sizes(paper)),
        about={"model": "XLM-R base", "command": "polyprune report paper"},
    )


def paper_system(row: Mapping[str, Any]) -> System:
    """Return the system of a row."""
    return System(row["system"], row["title"], row.get("sparsity"), row.get("setting", ""))


def _scores(task: str, value: Any) -> Scores:
    if isinstance(value, list):
        return {"f1": float(value[0]), "exact": float(value[1])}
    name = "accuracy" if task in ("xnli", "pawsx", "tatoeba") else "f1"
    return {name: float(value)}


def _sizes(paper: Mapping[str, Any]) -> list[SystemSize]:
    """Return parameters and throughput, with the speed relative to the dense model."""
    found: dict[tuple[str, str, float | None], dict[str, float]] = {}
    for row in paper["by_sparsity"]:
        points = [(None, row["level"])] if "level" in row else row["points"]
        for sparsity, value in points:
            own = found.setdefault((row["system"], row["title"], sparsity), {})
            own[row["quantity"]] = float(value)
    dense = next(own for (name, _, _), own in found.items() if name == "dense")
    return [
        SystemSize(
            System(name, title, sparsity),
            parameters=1e6 * own["parameters"],
            sentences_per_second=own["cpu_sentences_per_second"],
            gpu_sentences_per_second=own["gpu_sentences_per_second"],
            faster=own["cpu_sentences_per_second"] / dense["cpu_sentences_per_second"],
        )
        for (name, title, sparsity), own in found.items()
    ]
