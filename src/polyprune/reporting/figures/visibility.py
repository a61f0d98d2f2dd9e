"""What is visible in a figure: marks with two finite numbers that fit on their axes."""

import math
from dataclasses import replace

from ...averages import Value
from ..results import DENSE
from .figure import Axis, Figure, Matrix, Plot, Point, Series


def drop_empty_panels(figure: Figure) -> Figure | None:
    """Return the figure without empty panels and series; None if nothing is left."""
    panels = [each for panel in figure.panels if (each := _panel(panel))]
    return replace(figure, panels=tuple(panels)) if panels else None


def colour_keys(figure: Figure) -> list[str]:
    """Return the keys that have a colour of their own, in order; the dense model has ink."""
    every = [s for panel in figure.panels if isinstance(panel, Plot) for s in panel.series]
    words = [colour_key(each) for each in every if each.shade is None and not each.faint]
    return list(dict.fromkeys(word for word in words if word != DENSE))


def colour_key(series: Series) -> str:
    """Return the key of a series' colour: series with the same key look alike."""
    return series.colour or series.title


def is_visible(point: Point, plot: Plot) -> bool:
    """Tell whether a point makes a mark."""
    return _fits(point.x, plot.x) and _fits(point.y, plot.y)


def _fits(value: Value, axis: Axis) -> bool:
    return value is not None and math.isfinite(value) and (value > 0 or not axis.log)


def _panel(panel: Plot | Matrix) -> Plot | Matrix | None:
    if isinstance(panel, Matrix):
        known = any(v is not None and math.isfinite(v) for row in panel.values for v in row)
        return panel if known else None
    series = tuple(each for each in panel.series if _something(each, panel))
    # A horizontal level means nothing without a line to compare it with.
    return replace(panel, series=series) if any(s.style != "level" for s in series) else None


def _something(series: Series, plot: Plot) -> bool:
    return any(is_visible(point, plot) for point in series.points)
