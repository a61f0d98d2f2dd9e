"""Names beside lines instead of a legend: each where it covers least.

Every line may have its name at any of its points, in any of some directions, near or farther away;
names are placed one after the other, each where it hides the fewest marks, lines and other names.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

import numpy as np

DIRECTIONS = [(1, 0), (0.8, 0.8), (0.8, -0.8), (0, 1), (0, -1), (-0.8, 0.8), (-0.8, -0.8), (-1, 0)]
DISTANCES = (9, 18, 30, 44, 60)
"""In points, from a mark to the nearest edge of its name."""
NEAR = 18
"""Beyond this a thin line leads from the name to its mark."""


@dataclass(frozen=True)
class Named:
    """A line's name, and where its points are in the panel."""

    text: str
    colour: str
    points: np.ndarray
    """(points, 2), as drawn: x and y in data."""
    ends: np.ndarray
    """(points, 2): where the interval of each begins and ends, in x."""


def place_names(panel: Any, named: Sequence[Named]) -> None:
    """Write all names into a panel whose limits are final."""
    figure = panel.figure
    figure.canvas.draw()
    pixel = figure.dpi / 72
    lines = [panel.transData.transform(each.points) for each in named]
    ink = np.concatenate([_dotted(line) for line in [*lines, *_bars(panel, named)]])
    marks = np.concatenate(lines)
    border, taken = panel.get_window_extent(), []
    # Short lines have few places to choose from: they choose first.
    for i in sorted(range(len(named)), key=lambda i: len(lines[i])):
        size = _size(panel, named[i].text)
        best = min(
            (_cost(box, ink, marks, taken, border) + 0.4 * away + 3 * (len(lines[i]) - 1 - at), n)
            for n, (at, away, box) in enumerate(_places(lines[i], size, pixel))
        )
        at, away, box = list(_places(lines[i], size, pixel))[best[1]]
        taken.append(box)
        _write(panel, named[i], at, box, away > NEAR)


def _bars(panel: Any, named: Sequence[Named]) -> list[np.ndarray]:
    """Every interval as a line."""
    return [
        panel.transData.transform([(x, y) for x in ends])
        for each in named
        for (_, y), ends in zip(each.points, each.ends, strict=True)
    ]


def _places(line: np.ndarray, size: np.ndarray, pixel: float):
    """Where a name could be: which point, how far away, and its box as (x0, y0, x1, y1)."""
    for at, away, direction in product(range(len(line)), DISTANCES, DIRECTIONS):
        towards = np.array(direction)
        middle = line[at] + towards * (away * pixel) + np.sign(towards) * size / 2
        yield at, away, np.concatenate([middle - size / 2, middle + size / 2])


def _cost(box: np.ndarray, ink: np.ndarray, marks: np.ndarray, taken: list, border: Any) -> float:
    outside = sum(np.maximum(0, [border.x0 - box[0], box[2] - border.x1 - 4, border.y0 - box[1], box[3] - border.y1 - 4]))  # noqa: E501  # fmt: skip
    names = sum(bool((box[:2] < own[2:] + 3).all() and (own[:2] - 3 < box[2:]).all()) for own in taken)  # noqa: E501  # fmt: skip
    return 3 * _within(ink, box, 2) + 60 * _within(marks, box, 7) + 1000 * names + 20 * outside


def _within(points: np.ndarray, box: np.ndarray, margin: float) -> int:
    return int(((points > box[:2] - margin) & (points < box[2:] + margin)).all(1).sum())


def _dotted(line: np.ndarray) -> np.ndarray:
    """A line as points five pixels apart."""
    parts = [line[:1]]
    for start, end in pairwise(line):
        steps = max(2, int(np.hypot(*(end - start)) / 5))
        parts.append(start + np.linspace(0, 1, steps)[:, None] * (end - start))
    return np.concatenate(parts)


def _size(panel: Any, text: str) -> np.ndarray:
    drawn = panel.text(0, 0, text, fontsize=8, linespacing=1.0)
    box = drawn.get_window_extent()
    drawn.remove()
    return np.array([box.width, box.height])


def _write(panel: Any, named: Named, at: int, box: np.ndarray, far: bool) -> None:
    place = panel.transData.inverted().transform((box[:2] + box[2:]) / 2)
    lead = {"arrowstyle": "-", "color": named.colour, "linewidth": 0.5, "shrinkB": 4}
    panel.annotate(
        named.text, xy=named.points[at], xytext=place, ha="center", va="center", fontsize=8,
        color=named.colour, linespacing=1.0, arrowprops=lead if far else None, zorder=5,
    )  # fmt: skip
