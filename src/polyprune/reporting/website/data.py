"""Results as the page carries them: every number once, in columns, by the numbers of names."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ...evaluation.tasks import TASKS
from ..figure import Axis, Figure, Matrix, Plot, Series
from ..results import Curve, Distances, Kept, Results, Score, Size, System, Value
from ..similarity import positions
from ..words import NO_FAMILY, family_of, name_of, task_title
from .escape import cleaned, plain, short

HUES = 8
"""Colours for families; the last is that of all others."""

SIZE_FIELDS = (
    "parameters", "layer_parameters", "bytes", "multiply_adds", "sentences_per_second",
    "gpu_sentences_per_second", "faster", "low", "high",
)  # fmt: skip


class Numbered:
    """Names by their numbers: each is written out once."""

    def __init__(self, names: Sequence[Any]) -> None:
        self.names = list(dict.fromkeys(names))
        self._of = {name: i for i, name in enumerate(self.names)}

    def __getitem__(self, name: Any) -> int:
        return self._of[name]


def page_data(results: Results, figures: Sequence[Figure]) -> dict[str, Any]:
    """All that the page draws, sorts and hands out."""
    systems, languages = Numbered(results.systems), Numbered(results.languages)
    tasks = Numbered(sorted((score.task for score in results.scores), key=_place))
    regimes = Numbered([score.regime for score in results.scores])
    hues = family_hues(results, figures)
    return {
        "title": cleaned(results.title),
        "systems": [_system(each) for each in systems.names],
        "languages": [[cleaned(code), cleaned(name_of(code)), family_of(code)] for code in
                      languages.names],
        "hues": hues,
        "tasks": [[cleaned(task), cleaned(task_title(results, task))] for task in tasks.names],
        "regimes": [cleaned(each) for each in regimes.names],
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
        "failures": [[cleaned(each.what), cleaned(each.why)] for each in results.failures],
        "about": plain(results.about),
        "figures": [figure_data(each) for each in figures],
    }  # fmt: skip


def _place(task: str) -> int:
    """The nine in the paper's order, then others as they come."""
    return [*TASKS, task].index(task)


def family_hues(results: Results, figures: Sequence[Figure]) -> dict[str, int]:
    """A colour for each family: its own for the largest, one together for all others."""
    named = [family_of(code) for code in results.languages]
    for figure in figures:
        for panel in figure.panels:
            if isinstance(panel, Matrix):
                named += panel.groups
    counted = Counter(cleaned(family) for family in named if family != NO_FAMILY)
    ranked = sorted(counted, key=lambda family: (-counted[family], family))
    hues = {family: min(i, HUES - 1) for i, family in enumerate(ranked)}
    return hues | ({NO_FAMILY: HUES - 1} if NO_FAMILY in named else {})


def _system(system: System) -> list[Any]:
    return [
        cleaned(system.name),
        cleaned(system.title),
        short(system.sparsity),
        cleaned(system.setting),
    ]


def _score(score: Score, languages: Numbered) -> dict[str, Any]:
    """One column a measure: first the mean, then languages."""
    names = list(
        dict.fromkeys([*score.mean, *(n for own in score.languages.values() for n in own)])
    )
    codes = sorted(score.languages, key=languages.__getitem__)
    return {
        "seed": score.seed,
        "failed": cleaned(score.failed),
        "names": [cleaned(name) for name in names],
        "mean": [_percent(score.mean.get(name)) for name in names],
        "l": [languages[code] for code in codes],
        "v": [[_percent(score.languages[code].get(name)) for code in codes] for name in names],
    }


def _percent(value: Value) -> int | float | None:
    known = short(value, 12)
    return None if known is None else short(round(known, 3))


def _size(size: Size) -> dict[str, Any]:
    known = {name: short(getattr(size, name), 10) for name in SIZE_FIELDS}
    return {name: value for name, value in known.items() if value is not None}


def _kept(kept: Kept, languages: Numbered) -> dict[str, Any]:
    return {
        "l": None if kept.language is None else languages[kept.language],
        "kept": [[*kept.kept.heads], [*kept.kept.units], kept.kept.rank],
        "whole": [[*kept.whole.heads], [*kept.whole.units], kept.whole.rank],
    }


def _distances(each: Distances, languages: Numbered) -> dict[str, Any]:
    """What is below the diagonal, row by row, and where each language is on a map of it."""
    rows = each.matrix
    return {
        "l": [languages[code] for code in each.languages],
        "m": [_percent(rows[i][j]) for i in range(len(rows)) for j in range(i)],
        "p": [[short(value, 4) for value in place] for place in positions(rows)],
    }


def _curve(curve: Curve, languages: Numbered) -> dict[str, Any]:
    return {
        "l": None if curve.language is None else languages[curve.language],
        "x": [step for step, _ in curve.points],
        "y": [short(loss) for _, loss in curve.points],
    }


def figure_data(figure: Figure) -> dict[str, Any]:
    """A figure with all its numbers."""
    return {
        "name": cleaned(figure.name),
        "title": cleaned(figure.title),
        "caption": cleaned(figure.caption),
        "panels": [_plot(p) if isinstance(p, Plot) else _matrix(p) for p in figure.panels],
    }


def _plot(plot: Plot) -> dict[str, Any]:
    return {
        "kind": "plot",
        "title": cleaned(plot.title),
        "x": _axis(plot.x),
        "y": _axis(plot.y),
        "note": cleaned(plot.note),
        "series": [_series(each) for each in plot.series],
    }


def _axis(axis: Axis) -> dict[str, Any]:
    return {
        "label": cleaned(axis.label),
        "log": axis.log,
        "ticks": [short(each) for each in axis.ticks],
        "low": short(axis.low),
        "high": short(axis.high),
    }


def _series(series: Series) -> dict[str, Any]:
    """In columns; those that say nothing are left out."""
    points = series.points
    columns: Mapping[str, list[Any]] = {
        "low": [short(each.low) for each in points],
        "high": [short(each.high) for each in points],
        "left": [short(each.left) for each in points],
        "right": [short(each.right) for each in points],
        "labels": [cleaned(each.label) for each in points],
    }
    return {
        "title": cleaned(series.title),
        "style": series.style,
        "colour": cleaned(series.colour),
        "dashed": series.dashed,
        "shade": short(series.shade),
        "faint": series.faint,
        "x": [short(each.x) for each in points],
        "y": [short(each.y) for each in points],
    } | {
        name: column for name, column in columns.items() if any(c not in (None, "") for c in column)
    }


def _matrix(matrix: Matrix) -> dict[str, Any]:
    return {
        "kind": "matrix",
        "title": cleaned(matrix.title),
        "names": [cleaned(each) for each in matrix.names],
        "groups": [cleaned(each) for each in matrix.groups],
        "label": cleaned(matrix.label),
        "values": [[short(value, 4) for value in row] for row in matrix.values],
    }
