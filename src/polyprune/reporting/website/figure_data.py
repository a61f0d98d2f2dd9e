"""Figures as the page carries them: every series in columns."""

from collections.abc import Mapping
from typing import Any

from ..figures.figure import Axis, Figure, Matrix, Plot, Series
from .escape import round_for_page, visible_text


def figure_data(figure: Figure) -> dict[str, Any]:
    """Return a figure with all its numbers."""
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
    """Return a series in columns, without empty ones."""
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
