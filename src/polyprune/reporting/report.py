"""A report: the tables and figures of some results, and the page, files and folders they go to."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..errors import UnknownName
from ..storage import atomic_file, refuse_to_overwrite
from .draw.canvas import FIGURE_FORMATS, draw_all
from .figures.figure import Figure
from .figures.languages import distances, held_out_loss
from .figures.layers import component_sparsity, layer_sparsity, layers_by_sparsity
from .figures.paper import paper_figures
from .figures.quality import by_sparsity, loss_by_corpus_size, quality_by_speed
from .figures.visibility import drop_empty_panels
from .read.sources import PAPER, read_results
from .results import Results
from .tables.claims import claims_table
from .tables.formats import TABLE_FORMATS
from .tables.languages import languages_table, losses_table, task_by_language
from .tables.layout import scored_regimes, tasks_in_order
from .tables.paper_values import split_from_paper
from .tables.sizes import sizes_table
from .tables.table import Table, TableCell
from .tables.tasks import dynamic_table, improved_table, main_table
from .tables.training import training_table, tuning_table
from .website import page

TABLE_WRITERS = {
    "markdown": TABLE_FORMATS["md"],
    "latex": TABLE_FORMATS["tex"],
    "csv": TABLE_FORMATS["csv"],
}
"""Formats of a table, by the names that people use."""

SUMMARY_TABLES = ("main", "improved-l0", "dynamic", "claims", "training", "sizes")
"""Tables that are printed unless others are requested: what a screen or two can hold."""


@dataclass(frozen=True, slots=True)
class Report:
    """Results with their tables and figures."""

    results: Results
    tables: Sequence[Table]
    figures: Sequence[Figure]

    def only(self, names: Iterable[str]) -> "Report":
        """Return the report with these tables and figures alone."""
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

    def without_paper(self) -> "Report":
        """Return the report without the paper's numbers beside its own."""
        return replace(self, tables=[each.without_paper() for each in self.tables])

    @property
    def summary_tables(self) -> list[Table]:
        """The tables that a screen or two can hold."""
        return [each for each in self.tables if each.name in SUMMARY_TABLES]

    def html(self) -> str:
        """Return the page, one HTML file."""
        return page(self.results, self.tables, self.figures)

    def as_dict(self) -> dict[str, Any]:
        """Return the report for JSON: every table with all that its cells hold."""
        return {
            "title": self.results.title,
            "tables": {each.name: _table(each) for each in self.tables},
            "figures": [each.name for each in self.figures],
            "failures": [{"what": f.what, "why": f.why} for f in self.results.failures],
        }


def report_on(
    sources: Sequence[str | Mapping[str, Any]],
    study: str | None = None,
    *,
    beside_paper: bool = True,
) -> Report:
    """Make a report of what some sources hold."""
    results = read_results(sources, study)
    report = report_of(results)
    if list(sources) == [PAPER]:  # whose figures show more than its tables
        report = replace(report, figures=paper_figures())
    return report if beside_paper else report.without_paper()


def report_of(results: Results) -> Report:
    """Make all tables and figures of some results, with the paper's numbers beside them."""
    own, _ = split_from_paper(results)
    return Report(own, tables(own), figures(own))


def tables(results: Results) -> list[Table]:
    """Make the paper's Tables 1, 2, 3 and 5, what each language lost, and sizes, if known."""
    results, paper = split_from_paper(results)
    found = [make(results, paper) for make in (main_table, improved_table, dynamic_table)]
    found += [make(results) for make in (claims_table, training_table, tuning_table)]
    for name in tasks_in_order(results, scored_regimes(results)):
        task = task_by_language(results, name)
        if task is not None:
            found += [languages_table(task, paper), losses_table(task)]
    found.append(sizes_table(results, paper))
    known = [table for table in found if table is not None]
    return _with_notes(known, results)


def figures(results: Results) -> list[Figure]:
    """Make the paper's figures and quality against speed, without panels that would be empty."""
    found = [
        loss_by_corpus_size(results),
        layer_sparsity(results),
        by_sparsity(results),
        component_sparsity(results),
        layers_by_sparsity(results),
        *distances(results),
        held_out_loss(results),
        quality_by_speed(results),
    ]
    return [figure for each in found if each and (figure := drop_empty_panels(each))]


def _with_notes(known: list[Table], results: Results) -> list[Table]:
    """Add what was left out and what failed as notes to the first table."""
    failed = (f"Failed: {each.what}: {_first_line(each.why)}" for each in results.failures)
    notes = (*results.notes, *failed)
    if not known or not notes:
        return known
    return [replace(known[0], notes=(*known[0].notes, *notes)), *known[1:]]


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "no reason known")


def write_page(report: Report, path: Path, *, force: bool = False) -> None:
    """Write the page, whole or not at all."""
    with atomic_file(path, force=force) as new:
        new.write_text(report.html(), encoding="utf-8")


def write_tables(report: Report, folder: Path, *, force: bool = False) -> list[Path]:
    """Write every table in every format."""
    files = {
        folder / f"{each.name}.{ending}": write(each)
        for each in report.tables
        for ending, write in TABLE_FORMATS.items()
    }
    return list(_written(files, force))


def write_figures(
    report: Report, folder: Path, formats: Sequence[str] = FIGURE_FORMATS, *, force: bool = False
) -> list[Path]:
    """Draw every figure in every format."""
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
        "notes": list(table.all_notes),
    }


def _cell(cell: TableCell) -> dict[str, Any]:
    """Return what a cell holds, without empty fields."""
    found: dict[str, Any] = {
        "text": cell.text,
        "values": list(cell.values),
        "spread": cell.spread,
        "best": cell.best or None,
        "faint": cell.faint or None,
        "paper": list(cell.paper),
        "failed": cell.failed,
    }
    return {name: value for name, value in found.items() if value not in ("", [], None)}
