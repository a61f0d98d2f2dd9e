"""A table as a value: the same for the terminal, Markdown, LaTeX, CSV and the page."""

from dataclasses import dataclass, field

from ..results import Value


@dataclass(frozen=True, slots=True)
class TableCell:
    """What stands in one place: words, or one number or two, with what is to be said of them."""

    values: tuple[Value, ...] = ()
    """One, or of answers F1 and exact match; None is shown as a dash."""
    text: str = ""
    """Shown where there are no values."""
    spread: Value = None
    """The deviation over seeds."""
    best: bool = False
    """Whether nothing comparable is better."""
    paper: tuple[Value, ...] = ()
    """What the paper has there."""
    failed: str = ""
    """Why there is no number, where something was tried."""
    digits: int = 1


@dataclass(frozen=True, slots=True)
class TableRow:
    """A line, named by its first cell."""

    cells: tuple[TableCell, ...]
    group: str = ""
    """Lines of one group stand together under it, as those of a regime do."""


@dataclass(frozen=True, slots=True)
class Table:
    """Named columns and rows."""

    name: str
    """Of its files: `main`."""
    title: str
    columns: tuple[str, ...]
    rows: tuple[TableRow, ...]
    caption: str = ""
    notes: tuple[str, ...] = field(default=())
    """Below it: what is known to be wrong in what is quoted."""
    naming: int = 1
    """How many columns say what a row is of, and are repeated wherever a table is broken."""
