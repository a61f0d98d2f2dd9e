"""How figures look: colours that everybody can tell apart, marks and dashes for paper without."""

from dataclasses import dataclass
from typing import Any

import matplotlib

from ..figures.figure import Figure, Plot, Series
from ..figures.visibility import colour_key, colour_keys
from ..results import DENSE

INK, QUIET, LINE, NOTHING = "#1b1f23", "#6a737d", "#d5d9dd", "#e9ecef"

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Okabe and Ito's, but for yellow, which paper does not show."""

MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES: tuple[Any, ...] = ("-", (0, (2.8, 1.4)), (0, (1.2, 1.2)), (0, (5, 1.2, 1.2, 1.2)))
"""As many as six colours do not go into evenly, so that what looks alike is far apart."""

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
    """Of a series."""

    colour: Any
    mark: str
    dash: Any


@dataclass(frozen=True, slots=True)
class FigureStyle:
    """Of all series of a figure: the same word is the same colour in every panel."""

    words: tuple[str, ...]
    shades: tuple[float, ...]
    dashed_means: bool
    """Whether dashes tell something, so that they cannot tell systems apart as well."""

    @classmethod
    def of(cls, figure: Figure, words: tuple[str, ...] = ()) -> "FigureStyle":
        """Words as given, then those of the figure in the order in which they come."""
        words = tuple(dict.fromkeys((*words, *colour_keys(figure))))
        every = [s for panel in figure.panels if isinstance(panel, Plot) for s in panel.series]
        shades = sorted({s.shade for s in every if s.shade is not None})
        return cls(words, tuple(shades), any(series.dashed for series in every))

    def look(self, series: Series) -> SeriesStyle:
        """How to draw one."""
        if series.faint:
            return SeriesStyle(QUIET, "", "-")
        if series.shade is not None:
            # Not to its end, where yellow is lost on paper.
            colour = matplotlib.colormaps["viridis"](0.9 * min(max(series.shade, 0.0), 1.0))
            return SeriesStyle(colour, MARKS[self.shades.index(series.shade) % len(MARKS)], "-")
        if colour_key(series) == DENSE:
            return SeriesStyle(INK, "*", (0, (4, 2)) if series.style == "level" else "-")
        i = self.words.index(colour_key(series))
        if self.dashed_means:
            dash = DASHES[1] if series.dashed else "-"
        else:
            dash = DASHES[i % len(DASHES)]
        return SeriesStyle(COLOURS[i % len(COLOURS)], MARKS[i % len(MARKS)], dash)


def printable(words: str) -> str:
    """In one line, without what has no shape."""
    return "".join(letter for letter in " ".join(words.split()) if letter.isprintable())
