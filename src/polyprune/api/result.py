"""A result: what a verb found, for programs, for terminals and for notebooks."""

import json
import textwrap
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..reporting.tables.formats import cell_text
from ..reporting.tables.table import Table, TableCell, TableRow
from ..reporting.website.escape import escape_html

if TYPE_CHECKING:
    from ..model.network.gated_model import PolyprunePreTrainedModel

WIDTH = 80
"""The columns of sentences below tables."""


class Result(ABC):
    """What a verb returns: `as_dict()` for programs, `summary()` for people."""

    @abstractmethod
    def as_dict(self) -> dict[str, Any]:
        """What `--json` prints: only what JSON can hold."""

    @abstractmethod
    def summary(self) -> Iterator[Table | str]:
        """Tables and sentences, in the order in which they are read."""

    def as_source(self) -> str | dict[str, Any]:
        """What `polyprune.report` reads of it: a folder, or what `--json` prints."""
        return json.loads(json.dumps(self.as_dict()))

    def complaints(self) -> Iterator[str]:
        """What is wrong or missing, one sentence each; commands print them to stderr."""
        yield from ()

    @property
    def exit_status(self) -> int:
        """The exit status of a command with this result: 0 unless something is wrong."""
        return 0

    def __repr__(self) -> str:
        parts = (_as_text(part) if isinstance(part, Table) else part for part in self.summary())
        return "\n".join(parts)

    def _repr_html_(self) -> str:
        return "".join(
            _as_html(part) if isinstance(part, Table) else f"<p>{escape_html(part)}</p>"
            for part in self.summary()
        )


class ModelResult(Result):
    """A result that is a model: `.model`, which every verb takes, and `.save(folder)`."""

    model: "PolyprunePreTrainedModel"
    original: "PolyprunePreTrainedModel | None" = None
    """The model that it was cut from, where that is at hand."""

    def save(self, folder: str | Path, *, force: bool = False) -> Path:
        """Write the model's folder, whole or not at all, and return its path."""
        from ..storage import atomic_folder

        with atomic_folder(Path(folder), force=force) as new:
            self.model.save_pretrained(new)
        return Path(folder)


def wrapped(text: str) -> str:
    """Sentences in lines that are no wider than tables."""
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def make_table(columns: Sequence[str], rows: Iterable[Sequence[object]], title: str = "") -> Table:
    """A table of words and whole numbers."""
    lines = (TableRow(tuple(TableCell(text=str(cell)) for cell in row)) for row in rows)
    return Table(name="", title=title, columns=tuple(columns), rows=tuple(lines))


def _as_text(table: Table) -> str:
    """A table in columns, as a terminal shows it."""
    lines = [[" ".join(name.split()) for name in table.columns]]
    lines += [[cell_text(cell) for cell in row.cells] for row in table.rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    shown = [
        "  ".join(word.ljust(width) for word, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]
    shown.insert(1, "  ".join("─" * width for width in widths))
    return "\n".join([table.title, *shown] if table.title else shown)


def _as_html(table: Table) -> str:
    """A plain table, as notebooks show it."""
    head = "".join(f"<th>{escape_html(name)}</th>" for name in table.columns)
    rows = "".join(
        f"<tr>{''.join(f'<td>{escape_html(cell_text(cell))}</td>' for cell in row.cells)}</tr>"
        for row in table.rows
    )
    title = f"<caption>{escape_html(table.title)}</caption>" if table.title else ""
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
