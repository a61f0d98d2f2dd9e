"""A report: the tables and figures of some results, and the page, files and folders they go to."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import UnknownName
from ..storage import atomic_file, refuse_to_overwrite
from .all_figures import figures
from .all_tables import tables
from .draw.canvas import FORMATS, draw_all
from .figures.figure import Figure
from .figures.paper import paper_figures
from .read.sources import PAPER, read_results
from .results import Results
from .tables.formats import FORMATS as ENDINGS
from .tables.table import Table, TableCell
from .website import page

TABLE_WRITERS = {"markdown": ENDINGS["md"], "latex": ENDINGS["tex"], "csv": ENDINGS["csv"]}
"""Forms of a table, by what people call them."""

SUMMARY_TABLES = ("main", "improved-l0", "dynamic", "sizes")
"""Tables that are printed unless others are asked for: what a screen or two can hold."""


@dataclass(frozen=True, slots=True)
class Report:
    """Results, and what they are shown as."""

    results: Results
    tables: Sequence[Table]
    figures: Sequence[Figure]

    def only(self, names: Iterable[str]) -> "Report":
        """With these tables and figures alone."""
        known = [each.name for each in (*self.tables, *self.figures)]
        wanted = list(names)
        for name in wanted:
            if name not in known:
                there = f"These results have: {', '.join(known) or 'none'}."
                raise UnknownName("table or figure", name, known, there)
        return Report(
            self.results,
            [each for each in self.tables if each.name in wanted],
            [each for each in self.figures if each.name in wanted],
        )

    def html(self) -> str:
        """The page."""
        return page(self.results, self.tables, self.figures)

    def as_dict(self) -> dict[str, Any]:
        """For JSON: every table with all that its cells hold."""
        return {
            "title": self.results.title,
            "tables": {each.name: _table(each) for each in self.tables},
            "figures": [each.name for each in self.figures],
            "failures": [{"what": f.what, "why": f.why} for f in self.results.failures],
        }


def report_on(
    sources: Sequence[str], study: str | None = None, *, beside_paper: bool = True
) -> Report:
    """All tables and figures of what some sources hold."""
    results = read_results(sources, study)
    if list(sources) == [PAPER]:  # whose figures are of more than its tables
        return Report(results, tables(results), paper_figures())
    return report_of(results, beside_paper=beside_paper)


def report_of(results: Results, *, beside_paper: bool = True) -> Report:
    """All tables and figures of some results."""
    return Report(results, tables(results, beside_paper=beside_paper), figures(results))


def write_page(report: Report, path: Path, *, force: bool = False) -> None:
    """Write the page, whole or not at all."""
    with atomic_file(path, force=force) as new:
        new.write_text(report.html(), encoding="utf-8")


def write_tables(report: Report, folder: Path, *, force: bool = False) -> list[Path]:
    """Every table in every form."""
    files = {
        folder / f"{each.name}.{ending}": write(each)
        for each in report.tables
        for ending, write in ENDINGS.items()
    }
    return list(_written(files, force))


def write_figures(
    report: Report, folder: Path, formats: Sequence[str] = FORMATS, *, force: bool = False
) -> list[Path]:
    """Every figure in every format."""
    for each in report.figures:
        for form in formats:
            refuse_to_overwrite(folder / f"{each.name}.{form}", force=force, kind="file")
    return draw_all(report.figures, folder, formats)


def _written(files: Mapping[Path, str], force: bool) -> Iterator[Path]:
    for path in files:  # all, before the first is written
        refuse_to_overwrite(path, force=force, kind="file")
    for path, text in files.items():
        with atomic_file(path, force=True) as new:
            new.write_text(text, encoding="utf-8")
        yield path


def _table(table: Table) -> dict[str, Any]:
    return {
        "title": table.title,
        "columns": list(table.columns),
        "rows": [
            {"group": row.group, "cells": [_cell(cell) for cell in row.cells]} for row in table.rows
        ],
        "notes": list(table.notes),
    }


def _cell(cell: TableCell) -> dict[str, Any]:
    """What a cell holds, without what it does not."""
    found: dict[str, Any] = {
        "text": cell.text,
        "values": list(cell.values),
        "spread": cell.spread,
        "best": cell.best or None,
        "paper": list(cell.paper),
        "failed": cell.failed,
    }
    return {name: value for name, value in found.items() if value not in ("", [], None)}
