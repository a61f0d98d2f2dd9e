"""The results of a study: the lines of its files, and the report that is made of them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..evaluation.task_names import find_task_name
from ..jsonl import read_objects
from ..reporting.read.lines import parse_results
from ..reporting.report import Report, report_of, write_page
from ..reporting.tables.formats import as_markdown
from ..storage import atomic_file
from ..training.run_config import Run
from .cell_store import CellStore
from .study_cells import CellGraph, FinishedRun, ScoredCell, setting_of
from .study_config import Study
from .study_parts import ClaimConfig

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
    claims: tuple[Line, ...] = ()
    """What is claimed, and sentences about all results: the lines of `claims.jsonl`."""


def outline_of(
    study: Study, graph: CellGraph, runs: Mapping[str, Run], notes: Sequence[str] = ()
) -> Outline:
    """Return the rows that a study will fill: every size of every system that is scored."""
    scored = {each.system for each in graph.scores}
    rows = (
        OutlineRow(system.name, system.called, setting_of(runs.get(system.name)), size)
        for system in study.systems
        for size in system.sizes or (None,)
        if system.name in scored
    )
    head = {"study": study.name}
    claims = [head | line for claim in study.claims for line in _claim_lines(study, claim)]
    told = [head | {"note": note} for note in notes]
    return Outline(study.name, tuple(rows), (*claims, *told))


def _claim_lines(study: Study, claim: ClaimConfig) -> Iterator[Line]:
    """Yield a claim once for every regime in which it is tested."""
    tasks = None if claim.tasks is None else [find_task_name(name) for name in claim.tasks]
    sides = (study.claimed(side) for side in (claim.better, claim.worse))
    better, worse = ({"system": name, "sparsity": size} for name, size in sides)
    for regime in claim.regimes or study.regimes:
        if regime in study.regimes:
            yield {
                "claim": claim.title,
                "better": better,
                "worse": worse,
                "regime": regime,
                "tasks": tasks,
                "margin": claim.margin,
                "paper": claim.paper,
            }


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines of a study's results; each list is a file of its own."""

    scores: list[Line]
    """`results.jsonl`; a score that failed has `failed`, the reason, instead of numbers."""
    sizes: list[Line]
    """`sizes.jsonl`: size, speed and what is kept, one line per system and size."""
    curves: list[Line]
    """`curves.jsonl`: tokens and held-out losses of training, one line per trained model."""
    claims: Sequence[Line] = ()
    """`claims.jsonl`: what is tested, and what is to be said about all results."""

    def write(self, folder: Path, study: str) -> None:
        """Replace a study's lines in the files of a folder."""
        for name in ("scores", "sizes", "curves", "claims"):
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
            tuning = _tuning(graph, store, each.address)
            scores.append(_line(outline.study, row, each, record, {**facts, **tuning}, why))
    sizes = []
    for key, address in graph.speeds.items():
        record = store.record(address)
        if record.get("status") == "done":
            head = {"study": outline.study, **rows[key].record()}
            sizes.append(head | record["result"] | {"address": address, **facts})
    return Lines(scores, sizes, list(_curves(graph, outline, store)), outline.claims)


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
        result = store.record(address).get("result", {})
        if cell.kind == "model" and "curve" in result and cell.about["system"] in first:
            size = {"sparsity": cell.about["size"], "seed": cell.about["seed"]}
            row = first[cell.about["system"]].record() | size
            known = {**training_amount(cell.payload), "curve": result["curve"]}
            yield {"study": outline.study, **row, **known, "address": address}


def training_amount(run: Run | FinishedRun) -> Line:
    """Return how much a run trains: steps, examples and tokens; no tokens if it reads lines."""
    run = run.run if isinstance(run, FinishedRun) else run
    examples = run.steps * run.batch.size
    tokens = None if run.objective.by_line else examples * run.corpus.block
    return {"steps": run.steps, "examples": examples, "tokens": tokens}


def _tuning(graph: CellGraph, store: CellStore, address: str) -> Line:
    """Return how the model of a score was fine-tuned."""
    for need in graph.cells[address].needs:
        if graph.cells[need].kind == "tuned":
            found = store.record(need).get("result", {})
            wanted = ("learning_rate", "epochs", "dev", "tried")
            return {"tuning": {name: found.get(name) for name in wanted}}
    return {}


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
        **({"failed": why} if why else {"baseline": result.get("baseline")}),
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
    known = [*lines.scores, *lines.sizes, *lines.curves, *lines.claims]
    report = report_of(parse_results(known, study))
    write_page(report, out / "page.html", force=True)
    own = report.without_paper()
    with atomic_file(out / "tables.md", force=True) as path:
        path.write_text("\n".join(map(as_markdown, own.summary_tables)), encoding="utf-8")
    return own
