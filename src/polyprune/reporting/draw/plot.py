"""Draw the series of a panel in a frame, and the legend below all frames."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..figures.figure import Axis, Figure, Plot, Point, Series
from ..figures.visibility import is_visible
from .style import QUIET, FigureStyle, SeriesStyle, printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

LETTER, HANDLE, LEGEND_LINE = 0.052, 0.5, 0.17
"""The inches of a letter, of the line sample before it, and of a line of the legend."""


def draw_plot(panel: Plot, frame: "Axes", styles: FigureStyle) -> None:
    """Draw a panel into its frame."""
    for series in sorted(panel.series, key=lambda each: not each.faint):
        _draw_series(series, panel, frame, styles.style_of(series))
    if any(point.label for series in panel.series for point in series.points):
        frame.margins(0.09)  # room for what is written beside the outermost marks
    frame.set_title("\n".join(printable(each) for each in (panel.title, panel.note) if each))
    frame.set_xlabel(printable(panel.x.label))
    frame.set_ylabel(printable(panel.y.label))
    frame.set_xscale("log" if panel.x.log else "linear")
    frame.set_yscale("log" if panel.y.log else "linear")
    _set_axis(panel.x, frame.xaxis, frame.set_xlim)
    _set_axis(panel.y, frame.yaxis, frame.set_ylim)


def share_sides(figure: Figure, frames: Sequence["Axes"], columns: int) -> None:
    """Give frames with the same axis one scale, labelled at the outer frames only."""
    plots = [panel for panel in figure.panels if isinstance(panel, Plot)]
    used = frames[: len(plots)]
    if len(plots) < 2:
        return
    if len({panel.y.label for panel in plots}) == 1:
        for i, frame in enumerate(used[1:], 1):
            frame.sharey(used[0])
            frame.set_ylabel(frame.get_ylabel() if i % columns == 0 else "")
        used[0].autoscale_view(scalex=False)
        _set_axis(plots[0].y, used[0].yaxis, used[0].set_ylim)
    if len({panel.x for panel in plots}) == 1:
        for frame in used[:-columns]:
            frame.set_xlabel("")


def draw_legend(figure: Figure, canvas: "Canvas", styles: FigureStyle) -> None:
    """Draw the legend below everything, where it covers nothing."""
    entries = legend_of(figure)
    if not entries:
        return
    legend = canvas.legend(
        handles=[_handle(series, styles.style_of(series)) for series in entries],
        # Names that begin with an underscore would be left out: they are put in afterwards.
        labels=["x"] * len(entries),
        loc="outside lower center",
        ncols=_columns(entries, canvas.get_figwidth()),
    )
    for text, series in zip(legend.get_texts(), entries, strict=True):
        text.set_text(printable(series.title))


def legend_of(figure: Figure) -> list[Series]:
    """Return each style and name once, except names that are the title of their frame."""
    found: dict[tuple, Series] = {}
    for panel in figure.panels:
        if isinstance(panel, Plot):
            for each in panel.series:
                if not each.faint and each.title != panel.title:
                    key = (each.title, each.colour, each.dashed, each.shade)
                    found.setdefault(key, each)
    entries = list(found.values())
    return entries if len(entries) > 1 or any(each.title for each in entries) else []


def legend_height(figure: Figure, width: float) -> float:
    """Return the height of the legend in inches."""
    entries = legend_of(figure)
    return LEGEND_LINE * -(-len(entries) // _columns(entries, width)) if entries else 0.0


def _columns(entries: list[Series], width: float) -> int:
    longest = max(len(printable(each.title)) for each in entries)
    fit = max(1, min(len(entries), int(width / (longest * LETTER + HANDLE))))
    rows = -(-len(entries) // fit)
    return -(-len(entries) // rows)


def _handle(series: Series, style: SeriesStyle) -> Any:
    from matplotlib.lines import Line2D

    if series.style == "level":
        return Line2D([], [], color=style.colour, linestyle=style.dash, linewidth=1)
    joined = series.style == "line" and len(series.points) > 1
    dash = style.dash if joined else "none"
    mark = _mark(series, style)
    return Line2D([], [], color=style.colour, marker=style.mark, linestyle=dash, **mark)


def _mark(series: Series, style: SeriesStyle) -> dict[str, Any]:
    """Return the style of marks: hollow on dashed lines, whose dashes are easily overlooked."""
    if series.dashed:
        return {"markerfacecolor": "white", "markeredgecolor": style.colour, "markeredgewidth": 0.9}
    return {"markeredgecolor": "white", "markeredgewidth": 0.4}


def _draw_series(series: Series, panel: Plot, frame: "Axes", style: SeriesStyle) -> None:
    known = [point for point in series.points if is_visible(point, panel)]
    if series.style == "level":
        if known and known[0].y is not None:
            frame.axhline(
                known[0].y, color=style.colour, linestyle=style.dash, linewidth=1, zorder=1.5
            )
        return
    nan = float("nan")
    # A gap where there is no number: neither a mark nor a line across.
    ys = [point.y if is_visible(point, panel) else nan for point in series.points]
    frame.plot(
        [point.x for point in series.points],
        [nan if y is None else y for y in ys],
        color=style.colour,
        marker=style.mark,
        markersize=6.5 if style.mark == "*" else None,
        **_mark(series, style),
        linestyle=style.dash if series.style == "line" else "none",
        linewidth=0.5 if series.faint else None,
        alpha=0.5 if series.faint else None,
        clip_on=False,
        zorder=2 if series.faint else 3,
    )
    _draw_intervals(known, frame, style)


def _draw_intervals(points: list[Point], frame: "Axes", style: SeriesStyle) -> None:
    for point in points:
        if point.y is None:
            continue
        if point.low is not None and point.high is not None:
            frame.vlines(point.x, point.low, point.high, color=style.colour, linewidth=0.8)
        if point.left is not None and point.right is not None:
            frame.hlines(point.y, point.left, point.right, color=style.colour, linewidth=0.8)


def _set_axis(axis: Axis, side: Any, limit: Any) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter

    if axis.log:
        side.set_minor_formatter(NullFormatter())
    if axis.ticks:
        side.set_ticks(axis.ticks)
    elif not axis.log:
        side.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    side.set_major_formatter(FuncFormatter(lambda value, _: _number(value)))
    if axis.low is not None or axis.high is not None:
        limit(axis.low, axis.high)
    side.set_tick_params(color=QUIET)


def _number(value: float) -> str:
    """Format a number for an axis: `12k` rather than a power of ten."""
    if abs(value) >= 1e6:
        return f"{value / 1e6:g}M"
    if abs(value) >= 1e4:
        return f"{value / 1e3:g}k"
    return f"{value:g}".replace("-", "−")
