"""`polyprune.report`: results as tables, figures, one page, and a filled model card."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import Any

from ..errors import UnknownName
from ..progress import Progress
from ..reporting.display import system_title
from ..reporting.draw.canvas import FIGURE_FORMATS
from ..reporting.report import (
    TABLE_WRITERS,
    Report,
    report_on,
    write_figures,
    write_page,
    write_tables,
)
from ..reporting.results import Results
from ..reporting.tables.table import Table
from .requests.report import ReportRequest
from .result import WIDTH, Result
from .verb import verb


@dataclass(frozen=True, slots=True, repr=False)
class ReportResult(Result):
    """The tables and figures of some results, and what of them was written where."""

    report: Report
    written: dict[str, list[str]]
    """The paths of what was written: page, tables, figures, card."""
    form: str | None = None
    """`markdown`, `latex` or `csv`, if tables are wanted as such."""

    @property
    def results(self) -> Results:
        """The scoreboard behind all tables."""
        return self.report.results

    @property
    def tables(self) -> Sequence[Table]:
        """All tables, as values."""
        return self.report.tables

    def as_text(self, form: str) -> str:
        """All tables as `markdown`, `latex` or `csv`."""
        return "\n".join(TABLE_WRITERS[form](table) for table in self.tables)

    def as_dict(self) -> dict[str, Any]:
        """Every table with all that its cells hold, and what was written."""
        return self.report.as_dict() | {"written": self.written}

    def summary(self) -> Iterator[Table | str]:
        """The tables that sum up, or those asked for; or where things were written."""
        if self.form is not None:
            yield self.as_text(self.form)
            return
        if not self.written:
            shown = self.report.summary_tables or self.tables
            yield from shown
            if not shown:
                yield "These results make no table. Give `out` or `figures` to see them drawn."
            else:
                every = (*self.tables, *self.report.figures)
                others = [each.name for each in every if each not in shown]
                if others:
                    more = f"There are also {', '.join(others)}: see `only`, `figures`, `out`."
                    yield fill(more, WIDTH, break_on_hyphens=False)
        for what, paths in self.written.items():
            yield _where(what, [Path(path) for path in paths])

    def _repr_html_(self) -> str:
        return self.report.html()


@verb(ReportRequest)
def report(sources: str | Path | Any, request: ReportRequest, progress: Progress) -> ReportResult:
    """Make tables, figures and a page of results, and fill model cards with them.

    Sources are one or several of: what `evaluate`, `measure` or `study` returned, or print with
    --json; the folder of a study, a demo, a training run or an elastic model; a .jsonl file; or
    `paper`, the paper's own numbers. Nothing is written but what a place is given for.
    """
    _refuse_unknown(request)
    several = sources if isinstance(sources, list | tuple) else [sources]
    read = [_as_source(source) for source in several]
    found = report_on(read, request.study, beside_paper=request.beside_paper)
    if request.only is not None:
        found = found.only(request.only)
    written = {what: [str(path) for path in paths] for what, paths in _write(found, request)}
    return ReportResult(found, written, request.form)


def _as_source(source: Any) -> str | dict[str, Any]:
    """A path, or what a result would print."""
    return source.as_source() if isinstance(source, Result) else str(source)


def _refuse_unknown(request: ReportRequest) -> None:
    """Raise if a form or a format does not exist, before anything is read."""
    if request.form is not None and request.form not in TABLE_WRITERS:
        known = f"There are: {', '.join(TABLE_WRITERS)}."
        raise UnknownName("form of a table", request.form, TABLE_WRITERS, known)
    for form in request.formats:
        if form not in FIGURE_FORMATS:
            known = f"There are: {', '.join(FIGURE_FORMATS)}."
            raise UnknownName("format", form, FIGURE_FORMATS, known)


def _write(found: Report, request: Any) -> Iterator[tuple[str, list[Path]]]:
    """Write what a place is given for, and yield where it is."""
    force = request.force
    if request.out is not None:
        write_page(found, request.out, force=force)
        yield "page", [request.out]
    if request.tables is not None:
        yield "tables", write_tables(found, request.tables, force=force)
    if request.figures is not None:
        yield "figures", write_figures(found, request.figures, request.formats, force=force)
    if request.card is not None:
        from ..reporting.card import fill_card  # which needs torch, as nothing else here does

        fill_card(request.card, found.results, _system(found.results, request.system))
        yield "card", [request.card / "README.md"]


def _system(results: Results, name: str | None) -> Any:
    """The system of this name or title; None for the only one."""
    if name is None:
        return None
    known = {system_title(system): system for system in results.systems}
    known |= {system.name: system for system in reversed(results.systems)}
    if name not in known:
        there = f"These results have: {', '.join(dict.fromkeys(known))}."
        raise UnknownName("system", name, known, there)
    return known[name]


def _where(what: str, paths: list[Path]) -> str:
    """Where something was written to."""
    if not paths:
        return f"These results make no {what}."
    if len(paths) == 1:
        return f"Written: {paths[0]}"
    return f"Written: {len(paths)} files of {what} to {paths[0].parent}"
