"""What a study has come to: a line a score in `results.jsonl`, and the tables made of them."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from ..evaluation.metrics import average_flat, average_xtreme
from ..evaluation.tasks import find_task
from ..reporting.results import table_scores
from ..storage import atomic_file
from ..training.run_config import Run
from .cell_store import CellStore
from .study_cells import CellGraph, ScoredCell, setting_of
from .study_config import Study

Line = dict[str, Any]
BySeed = dict[Any, Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class Row:
    """What a row of a table is of."""

    system: str
    title: str
    setting: str
    sparsity: float | None
    trained: bool = True
    """Or the model that all start from, which has no seed before it is fine-tuned."""


@dataclass(frozen=True, slots=True)
class Outline:
    """The rows of all tables, and the columns of each regime's."""

    study: str
    rows: tuple[Row, ...]
    columns: dict[str, tuple[str, ...]]


def outline_of(study: Study, graph: CellGraph, runs: Mapping[str, Run]) -> Outline:
    """The tables that a study will fill."""
    rows = tuple(
        Row(
            system.name,
            system.called,
            setting_of(runs.get(system.name)),
            size,
            trained=system.config is not None,
        )
        for system in study.systems
        for size in system.sizes or (None,)
        if any(each.system == system.name for each in graph.scores)
    )
    columns = {
        regime: tuple(dict.fromkeys(s.task for s in graph.scores if s.regime == regime))
        for regime in dict.fromkeys(each.regime for each in graph.scores)
    }
    order = list(dict.fromkeys(plan.task.name for plan in study.tasks))
    return Outline(
        study.name,
        rows,
        {regime: tuple(sorted(tasks, key=order.index)) for regime, tasks in columns.items()},
    )


@dataclass(frozen=True, slots=True)
class Lines:
    """What has come of a study, each list a file of its own."""

    scores: list[Line]
    """`results.jsonl`; one that failed has `failed`, which says why, instead of numbers."""
    sizes: list[Line]
    """`sizes.jsonl`: size, speed and what is kept, a line a system and size."""
    curves: list[Line]
    """`curves.jsonl`: held-out losses over training, a line a trained model."""

    def write(self, folder: Path, study: str) -> None:
        """Replace a study's lines in the files of a folder."""
        for name in ("scores", "sizes", "curves"):
            file = "results" if name == "scores" else name
            write_lines(folder / f"{file}.jsonl", getattr(self, name), study)


def lines_of(
    graph: CellGraph, outline: Outline, store: CellStore, facts: Mapping[str, Any]
) -> Lines:
    """A line for every score that is done or failed, every size and speed, every training."""
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
            head = {"study": outline.study, **_row(rows[key])}
            sizes.append(head | record["result"] | {"address": address, **facts})
    return Lines(scores, sizes, list(_curves(graph, outline, store)))


def _why(graph: CellGraph, store: CellStore, address: str) -> str:
    """Why a cell has no result: it failed, or one that it is built on did; else nothing."""
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
            row = _row(first[cell.about["system"]]) | size
            yield {"study": outline.study, **row, "curve": curve, "address": address}


def _line(
    study: str, row: Row, scored: ScoredCell, record: Line, facts: Mapping[str, Any], why: str
) -> Line:
    result = {"mean": None, "languages": {}} if why else record["result"]
    return {
        "study": study,
        **_row(row),
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


def _row(row: Row) -> Line:
    return {
        "system": row.system,
        "title": row.title,
        "setting": row.setting,
        "sparsity": row.sparsity,
    }


def read_lines(path: Path) -> list[Line]:
    """The lines of a file, but for those that are no JSON objects; none if there is no file."""
    lines = []
    for text in path.read_text(encoding="utf-8").splitlines() if path.is_file() else ():
        try:
            line = json.loads(text)
        except ValueError:
            continue
        if isinstance(line, dict):
            lines.append(line)
    return lines


def write_lines(path: Path, lines: Sequence[Line], study: str) -> None:
    """Replace a study's lines in a file, and leave those of other studies."""
    others = [line for line in read_lines(path) if line.get("study") != study]
    with atomic_file(path, force=True) as new:
        text = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in [*others, *lines])
        new.write_text(text, encoding="utf-8")


def summarize(outline: Outline, scores: Iterable[Line], sizes: Iterable[Line]) -> dict[str, Any]:
    """The tables as one object: a block a regime, a row a system and size, and sizes with speeds.

    What is missing, has no labels or is no number is None.
    """
    found: dict[tuple, BySeed] = {}
    for line in scores:
        if line.get("study") == outline.study and _is_whole(line.get("mean")):
            key = (line["regime"], line["system"], line["sparsity"], line["task"])
            found.setdefault(key, {})[line["seed"]] = {
                name: value
                for name, value in table_scores(line["mean"]).items()
                if value is not None
            }
    blocks = {}
    for regime, tasks in outline.columns.items():
        table = [
            {t: found.get((regime, row.system, row.sparsity, t)) for t in tasks}
            for row in outline.rows
        ]
        repeated = _repeated(table)
        blocks[regime] = [
            _row(row)
            | _summary(own)
            | {
                "over_seeds": _average_over_seeds(
                    own if row.trained else _for_all_seeds(own, repeated), repeated
                )
            }
            for row, own in zip(outline.rows, table, strict=True)
        ]
    own = {(row.system, row.sparsity) for row in outline.rows}
    kept = [s for s in sizes if s.get("study") == outline.study]
    return {
        "study": outline.study,
        "regimes": blocks,
        "sizes": [line for line in kept if (line["system"], line["sparsity"]) in own],
    }


def _is_whole(mean: Any) -> bool:
    return bool(mean) and all(math.isfinite(value) for value in mean.values())


def _repeated(table: Sequence[Mapping[str, BySeed | None]]) -> dict[str, list[Any]]:
    """The tasks that were done with every seed there is, by some system or other; the seeds."""
    known = [(task, own) for row in table for task, own in row.items() if own]
    seeds = sorted({seed for _, own in known for seed in own})
    return {task: seeds for task, own in known if len(own) == len(seeds) > 1}


def _for_all_seeds(
    tasks: Mapping[str, BySeed | None], repeated: Mapping[str, list[Any]]
) -> dict[str, BySeed | None]:
    """What no seed touches, as embeddings of the uncut model: scored once, the same with all."""
    return {
        task: dict.fromkeys(repeated[task], next(iter(own.values())))
        if own and task in repeated and len(own) == 1 and find_task(task).defaults is None
        else own
        for task, own in tasks.items()
    }


def _summary(tasks: Mapping[str, BySeed | None]) -> dict[str, Any]:
    """Mean and spread over seeds of each task, and the averages where none is missing."""
    cells = {
        task: None if seeds is None else _over_seeds(list(seeds.values()))
        for task, seeds in tasks.items()
    }
    means = {task: cell["mean"] for task, cell in cells.items() if cell is not None}
    whole = bool(cells) and len(means) == len(cells)
    return {
        "tasks": cells,
        "average_flat": average_flat(means) if whole else None,
        "average_xtreme": average_xtreme(means) if whole else None,
    }


def _average_over_seeds(
    tasks: Mapping[str, BySeed | None], repeated: Mapping[str, list[Any]]
) -> dict[str, Any] | None:
    """The average of the repeated tasks, and how much it varies from seed to seed.

    Tasks go up and down together with a model: their own spreads do not tell how much this one is.
    """
    averages = []
    for seed in next(iter(repeated.values()), []):
        own = {}
        for task in repeated:
            scores = tasks[task] or {}
            if seed not in scores:
                return None
            own[task] = scores[seed]
        averages.append(average_flat(own))
    if not averages:
        return None
    return {"mean": fmean(averages), "spread": stdev(averages), "tasks": list(repeated)}


def _over_seeds(seeds: Sequence[Mapping[str, float]]) -> dict[str, Any]:
    names = list(seeds[0])
    several = len(seeds) > 1
    return {
        "mean": {name: fmean(seed[name] for seed in seeds) for name in names},
        "spread": {n: stdev(seed[n] for seed in seeds) for n in names} if several else None,
        "seeds": len(seeds),
    }
