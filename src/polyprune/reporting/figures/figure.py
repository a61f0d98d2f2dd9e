"""A figure as a value: what is drawn on paper, redrawn on the page, and downloaded as numbers."""

from dataclasses import dataclass
from typing import Literal

from ...averages import Value


@dataclass(frozen=True, slots=True)
class Point:
    """A mark in a plot; without `y` there is no mark, and a gap in the line."""

    x: float
    y: Value
    low: Value = None
    high: Value = None
    """The interval of `y`, where one is known."""
    label: str = ""
    """The text beside the mark."""
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
    """The key of its colour: series with the same key share a colour. Empty: its title."""
    dashed: bool = False
    shade: Value = None
    """From 0 to 1 along a scale of colours, for series that have an order, as layers do."""
    faint: bool = False
    """Drawn thinly behind the others, and not in the legend."""


@dataclass(frozen=True, slots=True)
class Axis:
    """The label, scale and ticks of one side of a plot."""

    label: str
    log: bool = False
    ticks: tuple[float, ...] = ()
    """The places of ticks; chosen automatically if empty."""
    low: Value = None
    high: Value = None
    """The ends of the axis; chosen from the data if None."""


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
    """The group of each name, such as a family; neighbours of one group share a bar."""
    values: tuple[tuple[Value, ...], ...]
    label: str
    """The label of the numbers."""


@dataclass(frozen=True, slots=True)
class Figure:
    """Panels side by side under one caption."""

    name: str
    """The name of its files: `loss-by-corpus-size`."""
    title: str
    caption: str
    panels: tuple[Plot | Matrix, ...]
