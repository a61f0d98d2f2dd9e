"""Write labels beside marks, where there is room for them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import dist
from statistics import fmean, pstdev
from typing import TYPE_CHECKING, Any

from ..figures.figure import Plot, Point, Series
from ..figures.visibility import is_visible
from .style import FigureStyle, printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE = 6.5
"""The font size of labels, in points."""

MOST = 40
"""The number of labels that fit a frame; of more, only the outermost `FEW` are written."""

FEW = 14
GAP, PIECE = 3.0, 3.0
"""The distance in points between a mark and its label, and between the checked places of a line."""

SIDES = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))
"""The sides of a mark on which its label may stand, the best first."""


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle on paper, in points."""

    left: float
    low: float
    right: float
    high: float

    def meets(self, other: "Box") -> bool:
        """Tell whether two boxes overlap."""
        apart = self.right <= other.left or other.right <= self.left
        return not (apart or self.high <= other.low or other.high <= self.low)

    def within(self, other: "Box") -> bool:
        """Tell whether the box is inside another."""
        inside = self.left >= other.left and self.right <= other.right
        return inside and self.low >= other.low and self.high <= other.high


def write_labels(panel: Plot, frame: "Axes", styles: FigureStyle) -> None:
    """Write labels, outermost marks first; a label that would cover something is left out."""
    labelled = [
        (point, series)
        for series in panel.series
        for point in series.points
        if is_visible(point, panel) and point.label
    ]
    places = {id(point): _place(point, frame) for point, _ in labelled}
    marks = [box for series in panel.series for box in _drawn(series, panel, frame)]
    ranked = _outermost(labelled, places)
    window = frame.get_window_extent()
    scale = 72 / frame.figure.dpi
    edge = Box(*(scale * float(each) for each in (window.x0, window.y0, window.x1, window.y1)))
    taken: list[Box] = []
    for point, series in ranked if len(ranked) <= MOST else ranked[:FEW]:
        text = printable(point.label)
        sides = SIDES[:1] if series.faint else SIDES
        found = _free(places[id(point)], text, [*marks, *taken], edge, sides)
        if found:
            box, (dx, dy) = found
            taken.append(box)
            _write(frame, point, text, (dx, dy), styles.style_of(series).colour)


def _drawn(series: Series, panel: Plot, frame: "Axes") -> Iterator[Box]:
    """Yield the boxes that labels must not cover: marks, intervals and pieces of lines."""
    if series.style == "level" or series.faint:
        return
    places = [(p, _place(p, frame)) for p in series.points if is_visible(p, panel)]
    for point, place in places:
        yield _around(*place, 2.5)
        if point.left is not None and point.right is not None:
            ends = [_place(replace(point, x=x), frame) for x in (point.left, point.right)]
            yield Box(ends[0][0], place[1] - 0.5, ends[1][0], place[1] + 0.5)
    if series.style == "line":
        for (_, a), (_, b) in pairwise(places):
            pieces = max(1, round(dist(a, b) / PIECE))
            for i in range(1, pieces):
                x, y = (s + (t - s) * i / pieces for s, t in zip(a, b, strict=True))
                yield _around(x, y, 0.5)


def _outermost(
    labelled: list[tuple[Point, Series]], places: dict[int, tuple[float, float]]
) -> list[tuple[Point, Series]]:
    """Sort labelled points by their distance from the middle, the farthest first."""
    if not labelled:
        return []
    xs, ys = zip(*(places[id(point)] for point, _ in labelled), strict=True)
    x, y, wide, high = fmean(xs), fmean(ys), pstdev(xs) or 1, pstdev(ys) or 1

    def inner(each: tuple[Point, Series]) -> float:
        a, b = places[id(each[0])]
        return -(((a - x) / wide) ** 2) - ((b - y) / high) ** 2

    return sorted(labelled, key=inner)


def _free(
    place: tuple[float, float],
    text: str,
    taken: list[Box],
    edge: Box,
    sides: Sequence[tuple[int, int]],
) -> tuple[Box, tuple[float, float]] | None:
    """Return the box and offset of a label on the first free side; None if no side is free."""
    wide, high = 0.62 * SIZE * len(text), SIZE
    for across, up in sides:
        dx = across * (GAP + wide / 2)
        dy = up * (GAP + high / 2)
        x, y = place[0] + dx, place[1] + dy
        box = Box(x - wide / 2, y - high / 2, x + wide / 2, y + high / 2)
        if box.within(edge) and not any(box.meets(other) for other in taken):
            return box, (dx, dy)
    return None


def _write(
    frame: "Axes", point: Point, text: str, offset: tuple[float, float], colour: Any
) -> None:
    frame.annotate(
        text,
        (point.x, point.y),
        xytext=offset,
        textcoords="offset points",
        ha="center",
        va="center_baseline",
        fontsize=SIZE,
        color=colour,
        annotation_clip=False,
    ).set_in_layout(False)


def _place(point: Point, frame: "Axes") -> tuple[float, float]:
    """Return the place of a mark on paper, in points."""
    x, y = frame.transData.transform((point.x, point.y or 0.0)) * 72 / frame.figure.dpi
    return float(x), float(y)


def _around(x: float, y: float, radius: float) -> Box:
    return Box(x - radius, y - radius, x + radius, y + radius)
