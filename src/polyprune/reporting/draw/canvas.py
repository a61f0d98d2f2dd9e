"""Draw figures into files: SVG and PDF whose text stays text, and PNG."""

import importlib.util
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import ConfigError
from ...storage import atomic_file
from ..figures.figure import Figure, Matrix, Plot
from ..figures.visibility import colour_keys, drop_empty_panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

FIGURE_FORMATS = ("svg", "pdf", "png")
COLUMN, PAGE = 3.3, 7.0
"""The width of one column and of two in a paper, in inches."""

MANY = 6
"""A legend with more names than this does not fit one column."""

METADATA: dict[str, dict[str, Any]] = {
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
    "png": {"Software": None},
}
"""No dates, so that the same figure is the same file."""


def draw_all(
    figures: Sequence[Figure], folder: Path, formats: Sequence[str] = FIGURE_FORMATS
) -> list[Path]:
    """Write all figures, with each system in the same colour everywhere."""
    keys = tuple(dict.fromkeys(key for figure in figures for key in colour_keys(figure)))
    return [path for figure in figures for path in draw(figure, folder, formats, keys)]


def draw(
    figure: Figure,
    folder: Path,
    formats: Sequence[str] = FIGURE_FORMATS,
    keys: tuple[str, ...] = (),
) -> list[Path]:
    """Write `<name>.svg`, `.pdf` and `.png` into the folder; nothing where nothing can be seen.

    `keys` are the colour keys of all figures, in their order; see `Series.colour`.
    """
    need_matplotlib()
    unknown = [each for each in formats if each not in FIGURE_FORMATS]
    if unknown:
        raise ConfigError(
            f"Figures cannot be written as {unknown[0]!r}. There are: {', '.join(FIGURE_FORMATS)}."
        )
    seen = drop_empty_panels(figure)
    if seen is None:
        return []
    import matplotlib

    from .style import SETTINGS

    folder.mkdir(parents=True, exist_ok=True)
    written = []
    with matplotlib.rc_context(SETTINGS), warnings.catch_warnings():
        # A name in a script that the font has not stands in the vector files all the same.
        warnings.filterwarnings("ignore", r"Glyph .* missing from font")
        canvas = _canvas(seen, keys)
        for form in formats:
            path = folder / f"{figure.name}.{form}"
            with atomic_file(path, force=True) as new:
                canvas.savefig(new, format=form, metadata=METADATA[form])
            written.append(path)
    return written


def need_matplotlib() -> None:
    """Raise unless figures can be drawn."""
    if importlib.util.find_spec("matplotlib") is None:
        raise ConfigError(
            "Figures need matplotlib, which is not installed: "
            'pip install "polyprune[report]". Tables and the page do without.'
        )


def _canvas(figure: Figure, keys: tuple[str, ...]) -> "Canvas":
    """Draw a figure on a canvas."""
    from matplotlib.figure import Figure as Canvas

    from .matrix import draw_matrix
    from .plot import draw_legend, draw_plot, share_sides
    from .point_labels import write_labels
    from .style import FigureStyle

    styles = FigureStyle.of(figure, keys)
    width, height, columns = _size(figure)
    rows = -(-len(figure.panels) // columns)
    canvas = Canvas(figsize=(width, height), layout="constrained")
    frames = canvas.subplots(rows, columns, squeeze=False).flatten()
    for panel, frame in zip(figure.panels, frames, strict=False):
        if isinstance(panel, Matrix):
            draw_matrix(panel, frame)
        else:
            draw_plot(panel, frame, styles)
    for frame in frames[len(figure.panels) :]:
        frame.remove()
    share_sides(figure, list(frames), columns)
    draw_legend(figure, canvas, styles)
    # Where marks are on the paper is known only when everything else has its place.
    canvas.draw_without_rendering()
    canvas.set_layout_engine("none")
    for panel, frame in zip(figure.panels, frames, strict=False):
        if isinstance(panel, Plot):
            write_labels(panel, frame, styles)
    return canvas


def _size(figure: Figure) -> tuple[float, float, int]:
    """Return the width and height in inches, and the number of panels in a row."""
    from .matrix import matrix_size
    from .plot import legend_height, legend_of

    count = len(figure.panels)
    matrices = [panel for panel in figure.panels if isinstance(panel, Matrix)]
    if matrices:
        width, height = matrix_size(matrices[0])
        return (width, height, 1) if count == 1 else (PAGE, height * -(-count // 2), 2)
    plots = [panel for panel in figure.panels if isinstance(panel, Plot)]
    named = any(p.label for panel in plots for s in panel.series for p in s.points)
    columns = count if count <= (3 if named else 4) else 2 if count == 4 else 3
    width = COLUMN if count == 1 and len(legend_of(figure)) <= MANY else PAGE
    panel = {1: 2.4, 2: 2.4, 3: 2.0, 4: 1.9}[columns]
    return width, panel * -(-count // columns) + legend_height(figure, width), columns
