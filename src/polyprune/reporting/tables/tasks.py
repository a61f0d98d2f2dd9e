"""Tables of all tasks side by side: the paper's Tables 1, 2 and 3."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..display import task_title
from ..learned import is_learned
from ..results import Results, System
from .cells import (
    AVERAGES,
    Seeds,
    average,
    common_sparsity,
    mark_best,
    same_sparsity,
    score_cell,
)
from .layout import (
    REGIME_HEADINGS,
    bold_note,
    faint_note,
    paper_cells,
    regime_heading,
    row_order,
    scored_regimes,
    spread_note,
    system_cells,
    tasks_in_order,
)
from .paper_values import PaperValues
from .seeds import NOT_REPEATED, OVER_SEEDS, RepeatedTasks, repeated
from .table import Table, TableCell, TableRow

FOUR = ("xnli", "udpos", "panx", "tydiqa")
"""The tasks of Tables 2 and 3."""

IMPROVED = ("l0-shared", "l0-non-shared", "l0-non-shared-distil")
"""The systems of Table 2."""

DYNAMIC = "-ds"
"""The ending of a system's name if it is another one with Dynamic Sparsification."""


@dataclass(frozen=True, slots=True)
class RowBlock:
    """Rows that stand together under a heading, and are compared with each other only."""

    heading: str
    regime: str
    systems: tuple[System, ...]
    tasks: tuple[str, ...]
    """The tasks that it has; other columns have dashes."""
    counted: tuple[str, ...]
    """The tasks that count in its averages."""
    size: float | None
    """The sparsity of the systems whose best is marked."""
    repeated: RepeatedTasks = NOT_REPEATED


@dataclass(frozen=True, slots=True)
class TableSpec:
    """The columns of a table, and the blocks of rows that fill it."""

    name: str
    title: str
    tasks: tuple[str, ...]
    averages: tuple[str, ...]
    blocks: tuple[RowBlock, ...]
    caption: str = ""


def main_table(results: Results, paper: PaperValues) -> Table | None:
    """One row per system and size, one column per task, and both averages (Table 1)."""
    regimes = scored_regimes(results)
    size = common_sparsity(score.system for score in results.scores)
    blocks = tuple(_regime_block(results, regime, size) for regime in regimes)
    tasks = tasks_in_order(results, regimes)
    answers = any("exact" in score.mean for score in results.scores)
    rules = list(AVERAGES) if answers else list(AVERAGES)[:1]
    caption = ""
    if answers and len(tasks) > 1:
        caption = (
            "Answers are F1/EM. The average takes all numbers, F1 and EM apart; XTREME's takes "
            "tasks, of F1 and EM their mean."
        )
    averages = tuple(rules) if len(tasks) > 1 else ()
    again = {task_title(results, task) for block in blocks for task in block.repeated.tasks}
    if again:
        averages = (*averages, OVER_SEEDS)
        which = ", ".join(task_title(results, t) for t in tasks if task_title(results, t) in again)
        caption = f"{caption} Over seeds: the average of what all seeds have ({which}).".strip()
    spec = TableSpec("main", "All tasks", tasks, averages, blocks, caption)
    return _fill(results, paper, spec)


def improved_table(results: Results, paper: PaperValues) -> Table | None:
    """Plain L0, improved L0, and improved L0 with distillation (Table 2)."""
    for regime in reversed(scored_regimes(results)):  # the paper's is translate-train-all
        known = [s for name in IMPROVED for s in _systems(results, regime, FOUR) if s.name == name]
        if len({each.name for each in known}) > 1:
            four, size = _four(results, regime), common_sparsity(known)
            block = RowBlock("", regime, tuple(known), four, _counted(results, regime, four), size)
            return _fill(results, paper, _small_table("improved-l0", "Improved L0", (block,)))
    return None


def dynamic_table(results: Results, paper: PaperValues) -> Table | None:
    """Systems with and without Dynamic Sparsification, in the same size (Table 3)."""
    for regime in reversed(scored_regimes(results)):
        systems = _systems(results, regime, FOUR)
        four = _four(results, regime)
        counted = _counted(results, regime, four)
        blocks = [
            RowBlock(one.title, regime, (one, other), four, counted, one.sparsity)
            for one in systems
            for other in systems
            if other.name == one.name + DYNAMIC and same_sparsity(one.sparsity, other.sparsity)
        ]
        if blocks:
            title = "With and without Dynamic Sparsification"
            return _fill(results, paper, _small_table("dynamic", title, tuple(blocks)))
    return None


def _regime_block(results: Results, regime: str, size: float | None) -> RowBlock:
    tasks, systems = tasks_in_order(results, [regime]), _systems(results, regime)
    counted = _counted(results, regime, tasks)
    again = repeated(_by_task(results, regime, system, counted) for system in systems)
    return RowBlock(regime_heading(regime, tasks), regime, systems, tasks, counted, size, again)


def _counted(results: Results, regime: str, tasks: Sequence[str]) -> tuple[str, ...]:
    return tuple(task for task in tasks if is_learned(results, task, regime))


def _small_table(name: str, title: str, blocks: tuple[RowBlock, ...]) -> TableSpec:
    tasks = blocks[0].tasks
    averages = ("XTREME average",) if len(tasks) > 1 else ()
    regime = REGIME_HEADINGS.get(blocks[0].regime, blocks[0].regime).partition(":")[0]
    return TableSpec(name, title, tasks, averages, blocks, f"{regime}.")


def _systems(
    results: Results, regime: str, tasks: Sequence[str] | None = None
) -> tuple[System, ...]:
    return row_order(
        score.system
        for score in results.scores
        if score.regime == regime and (tasks is None or score.task in tasks)
    )


def _four(results: Results, regime: str) -> tuple[str, ...]:
    return tuple(task for task in tasks_in_order(results, [regime]) if task in FOUR)


def _fill(results: Results, paper: PaperValues, spec: TableSpec) -> Table | None:
    """Return the table of a spec, or None if it would have no rows."""
    rows, cells, quoted = [], [], set()
    columns = (*spec.tasks, *spec.averages)
    for block in spec.blocks:
        grid = [_line(results, paper, spec, block, system) for system in block.systems]
        grid = mark_best(block.systems, grid, block.size)
        for system, line in zip(block.systems, grid, strict=True):
            rows.append(TableRow((*system_cells(system), *line), block.heading))
            quoted |= paper_cells(paper, system, columns, line)
        cells += grid
    if not rows:
        return None
    return Table(
        spec.name,
        spec.title,
        ("system", "cut %", *(task_title(results, t) for t in spec.tasks), *spec.averages),
        tuple(rows),
        spec.caption,
        (
            *bold_note((block.size for block in spec.blocks), cells),
            *spread_note(cells),
            *dict.fromkeys(note for block in spec.blocks for note in _faint(results, block)),
        ),
        naming=2,
        paper_notes=(*paper.notes(spec.name, quoted), *_same_tasks(cells)),
    )


def _faint(results: Results, block: RowBlock) -> tuple[str, ...]:
    left = [task for task in block.tasks if task not in block.counted]
    return faint_note(results, block.regime, left)


def _same_tasks(cells: Sequence[Sequence[TableCell]]) -> tuple[str, ...]:
    """Return what the paper's averages are of, where they are not those that it prints."""
    faint = any(cell.faint for line in cells for cell in line)
    quoted = any(cell.paper for line in cells for cell in line)
    return ("The paper's averages are of the same tasks as ours.",) if faint and quoted else ()


def _by_task(
    results: Results, regime: str, system: System, tasks: Sequence[str]
) -> dict[str, Seeds]:
    """Return a system's scores by seed for each task: the means over languages."""
    runs = {task: results.runs(system, task, regime) for task in tasks}
    return {task: {seed: each.mean for seed, each in own.items()} for task, own in runs.items()}


def _line(
    results: Results, paper: PaperValues, spec: TableSpec, block: RowBlock, system: System
) -> list[TableCell]:
    own = _by_task(results, block.regime, system, block.tasks)
    printed: dict[str, Seeds] = {
        task: {None: paper.mean(system, task, block.regime)} for task in block.tasks
    }
    line = []
    for task in spec.tasks:
        cell, theirs = (score_cell(scores.get(task, {})) for scores in (own, printed))
        if cell.values == (None,):
            cell = replace(cell, failed=_reason(results, system, task, block.regime))
        cell = replace(cell, faint=task in block.tasks and task not in block.counted)
        line.append(cell if theirs.values == (None,) else replace(cell, paper=theirs.values))
    own, printed = ({t: each[t] for t in block.counted} for each in (own, printed))
    for name in spec.averages:
        if name == OVER_SEEDS:
            line.append(block.repeated.cell(system, own))
            continue
        value, spread = average(own, AVERAGES[name])
        theirs, _ = average(printed, AVERAGES[name])
        line.append(TableCell((value,), spread=spread, paper=() if theirs is None else (theirs,)))
    return line


def _reason(results: Results, system: System, task: str, regime: str) -> str:
    """Return why a score is missing, if an attempt at it failed."""
    runs = results.runs(system, task, regime).values()
    return next((each.failed for each in reversed(runs) if each.failed), "")
