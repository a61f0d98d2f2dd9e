"""A table as a value: the same for the terminal, Markdown, LaTeX, CSV and the page."""

from dataclasses import dataclass, replace

from ...averages import Value


@dataclass(frozen=True, slots=True)
class TableCell:
    """Text, or one number or two with their spread, the paper's numbers and why one is missing."""

    values: tuple[Value, ...] = ()
    """One number, or F1 and exact match of answers; None is shown as a dash."""
    text: str = ""
    """Shown if there are no values."""
    spread: Value = None
    """The standard deviation over seeds."""
    best: bool = False
    """Whether nothing comparable is better."""
    paper: tuple[Value, ...] = ()
    """The paper's numbers for the same cell."""
    failed: str = ""
    """Why there is no number, if something was tried."""
    digits: int = 1
    faint: bool = False
    """Whether it is shown only, and does not count in averages."""


@dataclass(frozen=True, slots=True)
class TableRow:
    """A line, named by its first cell."""

    cells: tuple[TableCell, ...]
    group: str = ""
    """Rows of one group stand together under this heading, as those of a regime do."""


@dataclass(frozen=True, slots=True)
class Table:
    """Named columns and rows."""

    name: str
    """The name of its files: `main`."""
    title: str
    columns: tuple[str, ...]
    rows: tuple[TableRow, ...]
    caption: str = ""
    notes: tuple[str, ...] = ()
    """Sentences below the table."""
    naming: int = 1
    """How many columns say what a row shows, and are repeated wherever a table is broken."""
    paper_notes: tuple[str, ...] = ()
    """Sentences about the paper's numbers, below the other notes."""

    @property
    def all_notes(self) -> tuple[str, ...]:
        """The notes, and those about the paper's numbers."""
        return (*self.notes, *self.paper_notes)

    def without_paper(self) -> "Table":
        """Return the table without the paper's numbers beside its own and the notes on them."""
        if not any(cell.paper for row in self.rows for cell in row.cells):
            return self
        rows = (
            replace(row, cells=tuple(replace(cell, paper=()) for cell in row.cells))
            for row in self.rows
        )
        return replace(self, rows=tuple(rows), paper_notes=())
