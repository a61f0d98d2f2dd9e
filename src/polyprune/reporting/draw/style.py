"""The style of figures: colours for colour-blind readers too, marks and dashes for grey paper."""

from dataclasses import dataclass
from typing import Any

import matplotlib

from ..figures.figure import Figure, Plot, Series
from ..figures.visibility import colour_key, colour_keys
from ..results import DENSE

INK, QUIET, LINE, NOTHING = "#1b1f23", "#6a737d", "#d5d9dd", "#e9ecef"

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Colours by Okabe and Ito, without yellow, which is hard to see on paper."""

MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES: tuple[Any, ...] = ("-", (0, (2.8, 1.4)), (0, (1.2, 1.2)), (0, (5, 1.2, 1.2, 1.2)))
"""Four dashes for six colours, so that only the thirteenth series repeats a pair."""

SETTINGS: Any = {
    "font.family": "DejaVu Sans",  # comes with matplotlib: the same everywhere
    "font.size": 8,
    "axes.titlesize": 8.5,
    "axes.labelsize": 8,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "legend.fontsize": 7.5,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": QUIET,
    "xtick.color": QUIET,
    "ytick.color": QUIET,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": LINE,
    "grid.linewidth": 0.4,
    "lines.linewidth": 1.3,
    "lines.markersize": 4,
    "legend.frameon": False,
    "legend.handlelength": 2.6,
    "legend.columnspacing": 1.0,
    "figure.facecolor": "white",
    "savefig.dpi": 200,
    "svg.fonttype": "none",  # text stays text
    "pdf.fonttype": 42,
    "svg.hashsalt": "polyprune",  # the same figure is the same file
    "text.parse_math": False,  # names are data: a dollar is a dollar
    "axes.formatter.use_mathtext": False,
}


@dataclass(frozen=True, slots=True)
class SeriesStyle:
    """The colour, mark and dash of a series."""

    colour: Any
    mark: str
    dash: Any


@dataclass(frozen=True, slots=True)
class FigureStyle:
    """The styles of all series of a figure: the same key has the same colour in every panel."""

    keys: tuple[str, ...]
    shades: tuple[float, ...]
    dashed_means: bool
    """Whether dashes carry a meaning, so that they cannot distinguish systems as well."""

    @classmethod
    def of(cls, figure: Figure, keys: tuple[str, ...] = ()) -> "FigureStyle":
        """Collect the keys of a figure's colours, after those that are given."""
        keys = tuple(dict.fromkeys((*keys, *colour_keys(figure))))
        every = [s for panel in figure.panels if isinstance(panel, Plot) for s in panel.series]
        shades = sorted({s.shade for s in every if s.shade is not None})
        return cls(keys, tuple(shades), any(series.dashed for series in every))

    def style_of(self, series: Series) -> SeriesStyle:
        """Return the style of one series."""
        if series.faint:
            return SeriesStyle(QUIET, "", "-")
        if series.shade is not None:
            # Not to its end, where yellow is lost on paper.
            colour = matplotlib.colormaps["viridis"](0.9 * min(max(series.shade, 0.0), 1.0))
            return SeriesStyle(colour, MARKS[self.shades.index(series.shade) % len(MARKS)], "-")
        if colour_key(series) == DENSE:
            return SeriesStyle(INK, "*", (0, (4, 2)) if series.style == "level" else "-")
        i = self.keys.index(colour_key(series))
        if self.dashed_means:
            dash = DASHES[1] if series.dashed else "-"
        else:
            dash = DASHES[i % len(DASHES)]
        return SeriesStyle(COLOURS[i % len(COLOURS)], MARKS[i % len(MARKS)], dash)


def printable(text: str) -> str:
    """Return text in one line, without characters that have no shape."""
    return "".join(letter for letter in " ".join(text.split()) if letter.isprintable())
