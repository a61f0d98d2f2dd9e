"""The results of a study: the lines of its files, and the report that is made of them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..jsonl import read_objects
from ..reporting.read.lines import parse_results
from ..reporting.report import Report, report_of, write_page
from ..reporting.tables.formats import as_markdown
from ..storage import atomic_file
from ..training.run_config import Run
from .cell_store import CellStore
from .study_cells import CellGraph, ScoredCell, setting_of
from .study_config import Study

Line = dict[str, Any]


@dataclass(frozen=True, slots=True)
class OutlineRow:
    """A system of a study in one size: what a row of its tables shows."""

    system: str
    title: str
    setting: str
    sparsity: float | None

    def record(self) -> Line:
        """Return the row as the lines of results begin."""
        return {
            "system": self.system,
            "title": self.title,
            "setting": self.setting,
            "sparsity": self.sparsity,
        }


@dataclass(frozen=True, slots=True)
class Outline:
    """The name of a study, and the rows of its tables."""

    study: str
    rows: tuple[OutlineRow, ...]


def outline_of(study: Study, graph: CellGraph, runs: Mapping[str, Run]) -> Outline:
    """Return the rows that a study will fill: every size of every system that is scored."""
    scored = {each.system for each in graph.scores}
    rows = (
        OutlineRow(system.name, system.called, setting_of(runs.get(system.name)), size)
        for system in study.systems
        for size in system.sizes or (None,)
        if system.name in scored
    )
    return Outline(study.name, tuple(rows))


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines of a study's results; each list is a file of its own."""

    scores: list[Line]
    """`results.jsonl`; a score that failed has `failed`, the reason, instead of numbers."""
    sizes: list[Line]
    """`sizes.jsonl`: size, speed and what is kept, one line per system and size."""
    curves: list[Line]
    """`curves.jsonl`: held-out losses over training, one line per trained model."""

    def write(self, folder: Path, study: str) -> None:
        """Replace a study's lines in the files of a folder."""
        for name in ("scores", "sizes", "curves"):
            file = "results" if name == "scores" else name
            write_lines(folder / f"{file}.jsonl", getattr(self, name), study)


def lines_of(
    graph: CellGraph, outline: Outline, store: CellStore, facts: Mapping[str, Any]
) -> Lines:
    """Return a line for every score that is done or failed, every size, every training."""
    rows = {(row.system, row.sparsity): row for row in outline.rows}
    scores = []
    for each in graph.scores:
        record, row = store.record(each.address), rows[each.system, each.size]
        why = "" if record.get("status") == "done" else _why(graph, store, each.address)
        if record.get("status") == "done" or why:
            scores.append(_line(outline.study, row, each, record, facts, why))
    sizes = []
    for key, address in graph.speeds.items():
        record = store.record(address)
        if record.get("status") == "done":
            head = {"study": outline.study, **rows[key].record()}
            sizes.append(head | record["result"] | {"address": address, **facts})
    return Lines(scores, sizes, list(_curves(graph, outline, store)))


def _why(graph: CellGraph, store: CellStore, address: str) -> str:
    """Return why a cell has no result: it failed, or a cell that it needs did; else nothing."""
    record = store.record(address)
    if record.get("status") == "failed":
        return str(record.get("error") or "failed")
    return next(
        (why for need in graph.cells[address].needs if (why := _why(graph, store, need))), ""
    )


def _curves(graph: CellGraph, outline: Outline, store: CellStore) -> Iterator[Line]:
    first = {row.system: row for row in reversed(outline.rows)}
    for address, cell in graph.cells.items():
        curve = store.record(address).get("result", {}).get("curve")
        if cell.kind == "model" and curve and cell.about["system"] in first:
            size = {"sparsity": cell.about["size"], "seed": cell.about["seed"]}
            row = first[cell.about["system"]].record() | size
            yield {"study": outline.study, **row, "curve": curve, "address": address}


def _line(
    study: str,
    row: OutlineRow,
    scored: ScoredCell,
    record: Line,
    facts: Mapping[str, Any],
    why: str,
) -> Line:
    result = {"mean": None, "languages": {}} if why else record["result"]
    return {
        "study": study,
        **row.record(),
        "task": scored.task,
        "regime": scored.regime,
        "seed": scored.seed,
        "mean": result["mean"],
        "languages": {code: each["scores"] for code, each in result["languages"].items()},
        **({"failed": why} if why else {}),
        "address": scored.address,
        "seconds": record.get("seconds"),
        **facts,
    }


def write_lines(path: Path, lines: Sequence[Line], study: str) -> None:
    """Replace a study's lines in a file, and leave those of other studies."""
    others = [line for line in read_objects(path) if line.get("study") != study]
    with atomic_file(path, force=True) as new:
        text = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in [*others, *lines])
        new.write_text(text, encoding="utf-8")


def write_report(lines: Lines, study: str, out: Path) -> Report:
    """Write a study's page and its tables; return its report without the paper's numbers.

    The page has the paper's numbers in brackets. Elsewhere they would mislead at a glance: they
    come from another model and other data.
    """
    report = report_of(parse_results([*lines.scores, *lines.sizes, *lines.curves], study))
    write_page(report, out / "page.html", force=True)
    own = report.without_paper()
    with atomic_file(out / "tables.md", force=True) as path:
        path.write_text("\n".join(map(as_markdown, own.summary_tables)), encoding="utf-8")
    return own
