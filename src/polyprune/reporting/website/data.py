"""Results as the page carries them: every number once, in columns, by the numbers of names."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ...evaluation.tasks import TASKS
from ..display import NO_FAMILY, language_family, language_name, task_title
from ..figures.figure import Axis, Figure, Matrix, Plot, Series
from ..results import Curve, Distances, KeptComponents, Results, Score, System, SystemSize, Value
from ..similarity import positions
from .escape import json_value, round_for_page, visible_text

HUES = 8
"""Colours for families; the last is that of all others."""

SIZE_FIELDS = (
    "parameters",
    "layer_parameters",
    "bytes",
    "multiply_adds",
    "sentences_per_second",
    "gpu_sentences_per_second",
    "faster",
    "low",
    "high",
)


class NameIndex:
    """Names by their numbers: each is written out once."""

    def __init__(self, names: Sequence[Any]) -> None:
        self.names = list(dict.fromkeys(names))
        self._of = {name: i for i, name in enumerate(self.names)}

    def __getitem__(self, name: Any) -> int:
        return self._of[name]


def page_data(results: Results, figures: Sequence[Figure]) -> dict[str, Any]:
    """All that the page draws, sorts and hands out."""
    systems, languages = NameIndex(results.systems), NameIndex(results.languages)
    tasks = NameIndex(sorted((score.task for score in results.scores), key=_place))
    regimes = NameIndex([score.regime for score in results.scores])
    hues = family_hues(results, figures)
    return {
        "title": visible_text(results.title),
        "systems": [_system(each) for each in systems.names],
        "languages": [
            [visible_text(code), visible_text(language_name(code)), language_family(code)]
            for code in languages.names
        ],
        "hues": hues,
        "tasks": [
            [visible_text(task), visible_text(task_title(results, task))] for task in tasks.names
        ],
        "regimes": [visible_text(each) for each in regimes.names],
        "scores": [
            {"s": systems[each.system], "t": tasks[each.task], "r": regimes[each.regime]}
            | _score(each, languages)
            for each in results.scores
        ],
        "sizes": [{"s": systems[each.system]} | _size(each) for each in results.sizes],
        "kept": [{"s": systems[each.system]} | _kept(each, languages) for each in results.kept],
        "distances": [
            {"s": systems[each.system]} | _distances(each, languages) for each in results.distances
        ],
        "curves": [
            {"s": systems[each.system]} | _curve(each, languages) for each in results.curves
        ],
        "failures": [
            [visible_text(each.what), visible_text(each.why)] for each in results.failures
        ],
        "about": json_value(results.about),
        "figures": [figure_data(each) for each in figures],
    }


def _place(task: str) -> int:
    """The nine in the paper's order, then others as they come."""
    return [*TASKS, task].index(task)


def family_hues(results: Results, figures: Sequence[Figure]) -> dict[str, int]:
    """A colour for each family: its own for the largest, one together for all others."""
    named = [language_family(code) for code in results.languages]
    for figure in figures:
        for panel in figure.panels:
            if isinstance(panel, Matrix):
                named += panel.groups
    counted = Counter(visible_text(family) for family in named if family != NO_FAMILY)
    ranked = sorted(counted, key=lambda family: (-counted[family], family))
    hues = {family: min(i, HUES - 1) for i, family in enumerate(ranked)}
    return hues | ({NO_FAMILY: HUES - 1} if NO_FAMILY in named else {})


def _system(system: System) -> list[Any]:
    return [
        visible_text(system.name),
        visible_text(system.title),
        round_for_page(system.sparsity),
        visible_text(system.setting),
    ]


def _score(score: Score, languages: NameIndex) -> dict[str, Any]:
    """One column a measure: first the mean, then languages."""
    names = list(
        dict.fromkeys([*score.mean, *(n for own in score.languages.values() for n in own)])
    )
    codes = sorted(score.languages, key=languages.__getitem__)
    return {
        "seed": score.seed,
        "failed": visible_text(score.failed),
        "names": [visible_text(name) for name in names],
        "mean": [_percent(score.mean.get(name)) for name in names],
        "l": [languages[code] for code in codes],
        "v": [[_percent(score.languages[code].get(name)) for code in codes] for name in names],
    }


def _percent(value: Value) -> int | float | None:
    known = round_for_page(value, 12)
    return None if known is None else round_for_page(round(known, 3))


def _size(size: SystemSize) -> dict[str, Any]:
    known = {name: round_for_page(getattr(size, name), 10) for name in SIZE_FIELDS}
    return {name: value for name, value in known.items() if value is not None}


def _kept(kept: KeptComponents, languages: NameIndex) -> dict[str, Any]:
    return {
        "l": None if kept.language is None else languages[kept.language],
        "kept": [[*kept.kept.heads], [*kept.kept.units], kept.kept.rank],
        "whole": [[*kept.whole.heads], [*kept.whole.units], kept.whole.rank],
    }


def _distances(each: Distances, languages: NameIndex) -> dict[str, Any]:
    """What is below the diagonal, row by row, and where each language is on a map of it."""
    rows = each.matrix
    return {
        "l": [languages[code] for code in each.languages],
        "m": [_percent(rows[i][j]) for i in range(len(rows)) for j in range(i)],
        "p": [[round_for_page(value, 4) for value in place] for place in positions(rows)],
    }


def _curve(curve: Curve, languages: NameIndex) -> dict[str, Any]:
    return {
        "l": None if curve.language is None else languages[curve.language],
        "x": [step for step, _ in curve.points],
        "y": [round_for_page(loss) for _, loss in curve.points],
    }


def figure_data(figure: Figure) -> dict[str, Any]:
    """A figure with all its numbers."""
    return {
        "name": visible_text(figure.name),
        "title": visible_text(figure.title),
        "caption": visible_text(figure.caption),
        "panels": [_plot(p) if isinstance(p, Plot) else _matrix(p) for p in figure.panels],
    }


def _plot(plot: Plot) -> dict[str, Any]:
    return {
        "kind": "plot",
        "title": visible_text(plot.title),
        "x": _axis(plot.x),
        "y": _axis(plot.y),
        "note": visible_text(plot.note),
        "series": [_series(each) for each in plot.series],
    }


def _axis(axis: Axis) -> dict[str, Any]:
    return {
        "label": visible_text(axis.label),
        "log": axis.log,
        "ticks": [round_for_page(each) for each in axis.ticks],
        "low": round_for_page(axis.low),
        "high": round_for_page(axis.high),
    }


def _series(series: Series) -> dict[str, Any]:
    """In columns; those that say nothing are left out."""
    points = series.points
    columns: Mapping[str, list[Any]] = {
        "low": [round_for_page(each.low) for each in points],
        "high": [round_for_page(each.high) for each in points],
        "left": [round_for_page(each.left) for each in points],
        "right": [round_for_page(each.right) for each in points],
        "labels": [visible_text(each.label) for each in points],
    }
    return {
        "title": visible_text(series.title),
        "style": series.style,
        "colour": visible_text(series.colour),
        "dashed": series.dashed,
        "shade": round_for_page(series.shade),
        "faint": series.faint,
        "x": [round_for_page(each.x) for each in points],
        "y": [round_for_page(each.y) for each in points],
    } | {
        name: column for name, column in columns.items() if any(c not in (None, "") for c in column)
    }


def _matrix(matrix: Matrix) -> dict[str, Any]:
    return {
        "kind": "matrix",
        "title": visible_text(matrix.title),
        "names": [visible_text(each) for each in matrix.names],
        "groups": [visible_text(each) for each in matrix.groups],
        "label": visible_text(matrix.label),
        "values": [[round_for_page(value, 4) for value in row] for row in matrix.values],
    }
