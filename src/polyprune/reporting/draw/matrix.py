"""Draw a matrix as a heat map, with families along two sides."""

from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from ..display import NO_FAMILY
from ..figures.figure import Matrix
from .style import COLOURS, INK, NOTHING, QUIET, printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FEW = 25
"""The number of names that fit one column; more names get the whole page."""

MANY = 45
MORE_COLOURS = ("#F0E442", "#332288", "#882255", "#999933", "#44AA99", "#AA4499")
"""Colours by Paul Tol, used after those by Okabe and Ito."""


def matrix_size(panel: Matrix) -> tuple[float, float]:
    """Return the width and height of a matrix with its legend, in inches."""
    width = 3.3 if len(panel.names) <= FEW else 7.0
    entries = len(set(colours_of(panel.groups).values()))
    return width, width - 0.55 + 0.17 * -(-entries // _columns(panel))


def _columns(panel: Matrix) -> int:
    return 2 if len(panel.names) <= FEW else 4


def draw_matrix(panel: Matrix, frame: "Axes") -> None:
    """Draw the colours, names and families of a matrix."""
    import matplotlib
    from matplotlib.ticker import MaxNLocator

    n = len(panel.names)
    values = np.array([[np.nan if v is None else v for v in row] for row in panel.values], float)
    np.fill_diagonal(values, np.nan)  # nobody differs from themselves, which would set the scale
    colours = matplotlib.colormaps["cividis_r"].with_extremes(bad=NOTHING)
    image = frame.imshow(values, cmap=colours, extent=(0, n, n, 0), interpolation="none")
    side = max(0.025 * n, 0.35)
    frame.set_xlim(-1.4 * side, n)
    frame.set_ylim(n + 1.4 * side, 0)
    frame.grid(False)
    for spine in frame.spines.values():
        spine.set_visible(False)
    _draw_groups(panel, frame, side)
    _write_names(panel, frame)
    frame.set_title(printable(panel.title))
    bar = frame.figure.colorbar(image, ax=frame, shrink=0.6, aspect=30, pad=0.02)
    bar.set_label(printable(panel.label))
    bar.outline.set_visible(False)  # pyright: ignore[reportCallIssue]
    bar.locator = MaxNLocator(4)
    bar.update_ticks()


def colours_of(groups: tuple[str, ...]) -> dict[str, str]:
    """Return a colour for each of the largest groups; small groups share a grey."""
    counts = {group: groups.count(group) for group in dict.fromkeys(groups)}
    palette = (*COLOURS, *MORE_COLOURS)
    named = [group for group in counts if group != NO_FAMILY]
    if len(named) > len(palette):
        named = [group for group in named if counts[group] > 1]
    ranked = sorted(named, key=lambda group: -counts[group])
    shared = dict.fromkeys(counts, QUIET)
    return shared | dict(zip(ranked, palette, strict=False))


def _draw_groups(panel: Matrix, frame: "Axes", side: float) -> None:
    """Draw the groups as bars along two sides, white lines between them, and their legend."""
    from matplotlib.patches import Rectangle

    n, colours = len(panel.names), colours_of(panel.groups)
    start = 0
    for group, members in groupby(panel.groups):
        end = start + len(list(members))
        for x, y, w, h in (
            (-1.3 * side, start, side, end - start),
            (start, n + 0.3 * side, end - start, side),
        ):
            frame.add_patch(Rectangle((x, y), w, h, color=colours[group], linewidth=0))
        if start > 0:
            frame.plot([start, start], [0, n + 1.4 * side], color="white", linewidth=0.8)
            frame.plot([-1.4 * side, n], [start, start], color="white", linewidth=0.8)
        start = end
    handles = {colour: Rectangle((0, 0), 1, 1, color=colour) for colour in colours.values()}
    legend = frame.figure.legend(
        handles=list(handles.values()),
        labels=["x"] * len(handles),
        loc="outside lower center",
        ncols=_columns(panel),
        handlelength=1,
        handleheight=1,
    )
    for text, colour in zip(legend.get_texts(), handles, strict=True):
        text.set_text(_title(colour, colours))


def _title(colour: str, colours: dict[str, str]) -> str:
    """Return the legend's text for a colour."""
    own = [group for group, given in colours.items() if given == colour]
    return printable(own[0]) if len(own) == 1 else "other, or no family known"


def _write_names(panel: Matrix, frame: "Axes") -> None:
    """Write every name at its row and column; if many, alternately on both sides."""
    n = len(panel.names)
    ticks = {"which": "both", "length": 0, "pad": 1.5, "labelcolor": INK}
    size = 7.0 if n <= FEW else 6.0 if n <= MANY else 5.5
    for side, turned in ((frame.xaxis, 90 if n > FEW / 2 else 0), (frame.yaxis, 0)):
        _set_names(side, panel.names, 1 if n <= MANY else 2)
        side.set_tick_params(**ticks, labelsize=size, labelrotation=turned)
    frame.tick_params(
        which="minor", labelbottom=False, labelleft=False, labeltop=n > MANY, labelright=n > MANY
    )


def _set_names(side: Any, names: tuple[str, ...], step: int) -> None:
    places = [i + 0.5 for i in range(len(names))]
    words = [printable(name) for name in names]
    side.set_ticks(places[::step], words[::step])
    if step > 1:
        side.set_ticks(places[1::step], words[1::step], minor=True)
