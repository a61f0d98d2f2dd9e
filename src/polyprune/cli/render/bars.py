"""Bars, curves and columns of text for a terminal."""

from collections.abc import Sequence
from itertools import pairwise

from rich.cells import cell_len
from rich.text import Text

from ...averages import Value, mean

NOTHING = "–"
STEPS = "▁▂▃▄▅▆▇█"
PARTS = " ▏▎▍▌▋▊▉"
TICK = "│"


def clean(name: object) -> str:
    """What files say, without anything that moves the cursor or ends a line."""
    return "".join(letter if letter.isprintable() else "·" for letter in str(name))


def line(*parts: str | tuple[str, str] | Text) -> Text:
    """A line of text that is cut off rather than wrapped; brackets in names are only brackets."""
    return Text.assemble(*parts, no_wrap=True, overflow="ellipsis")


def fitted(text: str, width: int, right: bool = False) -> str:
    """A text in exactly so many cells, cut off where it is longer."""
    found = Text(clean(text), no_wrap=True)
    found.truncate(max(0, width), overflow="ellipsis")
    space = " " * (width - cell_len(found.plain))
    return space + found.plain if right else found.plain + space


def shown(value: Value, form: str = ".3f") -> str:
    """A number, or a dash."""
    return NOTHING if value is None else f"{value:{form}}"


def bar(share: Value, width: int, style: str, tick: Value = None) -> Text:
    """A bar that fills a share of a width, with a tick at another; none for what is no number."""
    eighths = round(8 * width * min(1.0, max(0.0, share or 0.0)))
    whole, rest = divmod(eighths, 8)
    cells = ("█" * whole + (PARTS[rest] if rest else "")).ljust(width)[:width]
    found = Text(cells, style=style)
    if tick is None or not width:
        return found
    place = min(width - 1, int(width * min(1.0, max(0.0, tick))))
    covered = f"bold on {style}" if place < whole else "bold"
    return Text.assemble(found[:place], (TICK, covered), found[place + 1 :])


def curve(values: Sequence[Value], width: int) -> str:
    """Values from left to right as steps between the least and the most; gaps where none is."""
    points = _thinned(values, width)
    known = [value for value in points if value is not None]
    if not known:
        return ""
    low, high = min(known), max(known)
    span = (high - low) or 1.0
    return "".join(
        " " if value is None else STEPS[min(7, int(8 * (value - low) / span))] for value in points
    )


def _thinned(values: Sequence[Value], width: int) -> list[Value]:
    """At most so many: means of stretches."""
    if len(values) <= width:
        return list(values)
    bounds = [i * len(values) // width for i in range(width + 1)] if width > 0 else []
    return [mean(values[start:end]) for start, end in pairwise(bounds)]


def columns(cells: Sequence[Text], many: int, gap: int = 2) -> list[Text]:
    """Cells of one width in so many columns, filled from top to bottom, left to right."""
    rows = -(-len(cells) // many)
    space = Text(" " * gap)
    return [line(*_joined(cells[row::rows], space)) for row in range(rows)]


def _joined(parts: Sequence[Text], between: Text) -> list[Text]:
    found: list[Text] = []
    for part in parts:
        found += [between, part] if found else [part]
    return found


def ago(seconds: float) -> str:
    """12 min: as exact as one cares for."""
    for size, unit in ((86400, "days"), (3600, "h"), (60, "min")):
        if seconds >= (2 * size if unit == "days" else size):
            return f"{int(seconds // size)} {unit}"
    return f"{int(seconds)} s"
