"""A figure as a value: what is drawn on paper, redrawn on the page, and downloaded as numbers."""

from dataclasses import dataclass
from typing import Literal

from ...averages import Value


@dataclass(frozen=True, slots=True)
class Point:
    """A mark; there is none where `y` is None, and no line through it."""

    x: float
    y: Value
    low: Value = None
    high: Value = None
    """The interval of `y`, where one is known."""
    label: str = ""
    """What is written beside it."""
    left: Value = None
    right: Value = None
    """The interval of `x`, where one is known."""


@dataclass(frozen=True, slots=True)
class Series:
    """Points that belong together, under one name in the legend."""

    title: str
    points: tuple[Point, ...]
    style: Literal["line", "marks", "level"] = "line"
    """`level` is a horizontal line at the first point, for what does not depend on `x`."""
    colour: str = ""
    """Series of one panel that have the same word here have the same colour; else each its own."""
    dashed: bool = False
    shade: Value = None
    """From 0 to 1 along a scale of colours, for series that have an order, as layers do."""
    faint: bool = False
    """Drawn thinly behind the others, and not in the legend."""


@dataclass(frozen=True, slots=True)
class Axis:
    """What is told along a side."""

    label: str
    log: bool = False
    ticks: tuple[float, ...] = ()
    """Where there are marks; chosen by whoever draws unless given."""
    low: Value = None
    high: Value = None
    """Where it begins and ends, unless the data say so."""


@dataclass(frozen=True, slots=True)
class Plot:
    """Series in a frame."""

    title: str
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    note: str = ""
    """A few words within the frame, such as a correlation."""


@dataclass(frozen=True, slots=True)
class Matrix:
    """A number for every pair of names, which are drawn in their order."""

    title: str
    names: tuple[str, ...]
    groups: tuple[str, ...]
    """What each name belongs to, such as a family; neighbours of one group are drawn as one."""
    values: tuple[tuple[Value, ...], ...]
    label: str
    """What the numbers are."""


@dataclass(frozen=True, slots=True)
class Figure:
    """Panels side by side under one caption."""

    name: str
    """Of its files: `loss-by-corpus-size`."""
    title: str
    caption: str
    panels: tuple[Plot | Matrix, ...]
