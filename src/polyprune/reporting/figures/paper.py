"""The paper's figures, from the numbers that it prints."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...averages import Value
from ..read.paper import paper_results, paper_system, read_paper
from ..results import Results, System
from .figure import Figure
from .layers import components_figure, layers_by_sparsity_figure, layers_figure
from .quality import by_sparsity, losses_figure, quality_by_speed
from .visibility import drop_empty_panels

DEPTH = 12
"""The number of layers of XLM-R base."""

KINDS = {"rank": "ranks", "heads": "heads", "units": "units"}


def paper_figures() -> list[Figure]:
    """Draw the paper's figures again, except its distances, whose numbers cannot be read off."""
    paper = read_paper()
    found = [
        losses_figure(_losses(paper), "XNLI", "translate-train-all"),
        layers_figure(_layers(paper, "heads"), _layers(paper, "units")),
        by_sparsity(_in_sizes()),
        components_figure({title: _components(paper, kind) for kind, title in KINDS.items()}),
        layers_by_sparsity_figure([_by_layer(paper)]),
        quality_by_speed(_in_sizes()),
    ]
    return [figure for each in found if each and (figure := drop_empty_panels(each))]


def _losses(paper: Mapping[str, Any]) -> dict[System, dict[str, Value]]:
    return {
        paper_system(row): {code: float(loss) for code, _, loss in row["points"]}
        for row in paper["loss_by_size"]
    }


def _layers(paper: Mapping[str, Any], kind: str) -> dict[System, list[Value]]:
    return {
        paper_system(row): [float(value) for value in row["percent"]]
        for row in paper["layer_sparsity"]
        if row["kind"] == kind
    }


def _in_sizes() -> Results:
    """Return the paper's results of systems with several sizes, and of the dense model."""
    results = paper_results()
    names = {size.system.name for size in results.sizes}
    return replace(
        results, scores=tuple(score for score in results.scores if score.system.name in names)
    )


def _components(paper: Mapping[str, Any], kind: str) -> dict[System, list[tuple[float, Value]]]:
    return {
        paper_system(row): _floats(row["points"])
        for row in paper["component_sparsity"]
        if row["kind"] == kind
    }


def _by_layer(
    paper: Mapping[str, Any],
) -> tuple[str, dict[int, Sequence[tuple[float, Value]]], int]:
    rows = paper["layer_by_sparsity"]
    return rows[0]["title"], {row["layer"]: _floats(row["points"]) for row in rows}, DEPTH


def _floats(points: Sequence[Sequence[float]]) -> list[tuple[float, Value]]:
    return [(float(x), float(y)) for x, y in points]
