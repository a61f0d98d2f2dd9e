"""Tables of all tasks side by side: the paper's Tables 1, 2 and 3."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ...evaluation.tasks import TASKS
from ..display import percent, task_title
from ..results import Results, System
from .cells import (
    AVERAGES,
    DENSE,
    Seeds,
    average,
    common_sparsity,
    mark_best,
    same_sparsity,
    score_cell,
    scores_by_seed,
)
from .paper_values import PaperValues
from .seeds import NOT_REPEATED, OVER_SEEDS, RepeatedTasks, repeated
from .table import Table, TableCell, TableRow

REGIMES = {
    "transfer": "Cross-lingual transfer: fine-tuned on English, tested in all languages",
    "translate-train-all": "Translate-train-all: fine-tuned on English and its translations",
}
"""What stands above the rows of a regime, in the order of the paper."""

FOUR = ("xnli", "udpos", "panx", "tydiqa")
"""The tasks of Tables 2 and 3."""

IMPROVED = ("l0-shared", "l0-non-shared", "l0-non-shared-distil")
"""The systems of Table 2."""

DYNAMIC = "-ds"
"""How the name of a system ends that is another with Dynamic Sparsification."""


@dataclass(frozen=True, slots=True)
class RowBlock:
    """Rows that stand together under a heading, and are compared with each other only."""

    heading: str
    regime: str
    systems: tuple[System, ...]
    tasks: tuple[str, ...]
    """Those that count in its averages; other columns have dashes."""
    size: float | None
    """The sparsity of those whose best is marked."""
    repeated: RepeatedTasks = NOT_REPEATED


@dataclass(frozen=True, slots=True)
class TableSpec:
    """What a table is made of."""

    name: str
    title: str
    tasks: tuple[str, ...]
    averages: tuple[str, ...]
    blocks: tuple[RowBlock, ...]
    caption: str = ""


def main_table(results: Results, quotes: PaperValues) -> Table | None:
    """A row a system and size, a column a task, and both averages (Table 1)."""
    regimes = scored_regimes(results)
    size = common_sparsity(score.system for score in results.scores)
    blocks = []
    for regime in regimes:
        own, systems = tasks_in_order(results, [regime]), _systems(results, regime)
        again = repeated(_by_task(_means(results), regime, system, own) for system in systems)
        blocks.append(RowBlock(regime_heading(regime, own), regime, systems, own, size, again))
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
    draft = TableSpec("main", "All tasks", tasks, averages, tuple(blocks), caption)
    return _fill(results, quotes, draft)


def improved_table(results: Results, quotes: PaperValues) -> Table | None:
    """Plain L0, improved L0, and that with distillation (Table 2)."""
    for regime in reversed(scored_regimes(results)):  # the paper's is translate-train-all
        known = [s for name in IMPROVED for s in _systems(results, regime, FOUR) if s.name == name]
        if len({each.name for each in known}) > 1:
            block = RowBlock(
                "", regime, tuple(known), _four(results, regime), common_sparsity(known)
            )
            title = "Improved L0"
            return _fill(results, quotes, _small("improved-l0", title, (block,)))
    return None


def dynamic_table(results: Results, quotes: PaperValues) -> Table | None:
    """Systems with and without Dynamic Sparsification, in the same size (Table 3)."""
    for regime in reversed(scored_regimes(results)):
        systems = _systems(results, regime, FOUR)
        blocks = [
            RowBlock(one.title, regime, (one, other), _four(results, regime), one.sparsity)
            for one in systems
            for other in systems
            if other.name == one.name + DYNAMIC and same_sparsity(one.sparsity, other.sparsity)
        ]
        if blocks:
            title = "With and without Dynamic Sparsification"
            return _fill(results, quotes, _small("dynamic", title, tuple(blocks)))
    return None


def scored_regimes(results: Results) -> list[str]:
    """Those that there are scores of, the paper's first."""
    found = dict.fromkeys(score.regime for score in results.scores)
    return [each for each in REGIMES if each in found] + [e for e in found if e not in REGIMES]


def regime_heading(regime: str, tasks: Iterable[str]) -> str:
    """What stands above its rows; nothing where nothing was fine-tuned."""
    tuned = (TASKS.get(task) for task in tasks)
    return REGIMES.get(regime, regime) if any(task and task.defaults for task in tuned) else ""


def tasks_in_order(results: Results, regimes: Iterable[str]) -> tuple[str, ...]:
    """The tasks that there are scores of, in the paper's order, then others."""
    regimes = set(regimes)
    found = dict.fromkeys(score.task for score in results.scores if score.regime in regimes)
    return (*(t for t in TASKS if t in found), *(t for t in found if t not in TASKS))


def system_cells(system: System) -> tuple[TableCell, TableCell]:
    """Its title and how much of it was cut, in percent."""
    cut = None if system.sparsity is None else round(100 * system.sparsity, 6)
    digits = 0 if cut is None or cut == round(cut) else 1
    return TableCell(text=system.title), TableCell((cut,), digits=digits)


def row_order(systems: Iterable[System]) -> tuple[System, ...]:
    """Each once: the dense one, then others as they are named, their sizes together."""
    found = tuple(dict.fromkeys(systems))
    names = list(dict.fromkeys(each.name for each in found))
    return tuple(
        sorted(found, key=lambda s: (s.name != DENSE, names.index(s.name), s.sparsity or 0.0))
    )


def bold_note(
    sizes: Iterable[float | None], grid: Iterable[Sequence[TableCell]]
) -> tuple[str, ...]:
    """What bold means, if anything is."""
    if not any(cell.best for line in grid for cell in line):
        return ()
    known = {percent(size) for size in sizes}
    which = f"those of which {known.pop()} is cut" if len(known) == 1 else "each size"
    return (f"Bold: the best of {which}.",)


def spread_note(grid: Iterable[Sequence[TableCell]]) -> tuple[str, ...]:
    """What a deviation is of, if there is one."""
    several = any(cell.spread is not None for line in grid for cell in line)
    return ("±: the standard deviation over seeds, where there are several.",) if several else ()


def _small(name: str, title: str, blocks: tuple[RowBlock, ...]) -> TableSpec:
    tasks = blocks[0].tasks
    averages = ("XTREME average",) if len(tasks) > 1 else ()
    regime = REGIMES.get(blocks[0].regime, blocks[0].regime).partition(":")[0]
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


def _fill(results: Results, quotes: PaperValues, draft: TableSpec) -> Table | None:
    """The table of a draft, or None if it would have no rows."""
    means, failed = _means(results), _failed(results)
    rows, cells, touched = [], [], set()
    columns = (*draft.tasks, *draft.averages)
    for block in draft.blocks:
        grid = [
            _with_reasons(_line(means, quotes, draft, block, system), draft, block, system, failed)
            for system in block.systems
        ]
        grid = mark_best(block.systems, grid, block.size)
        for system, line in zip(block.systems, grid, strict=True):
            rows.append(TableRow((*system_cells(system), *line), block.heading))
            touched |= paper_cells(quotes, system, columns, line)
        cells += grid
    if not rows:
        return None
    bold = bold_note((block.size for block in draft.blocks), cells)
    return Table(
        draft.name,
        draft.title,
        ("system", "cut %", *(task_title(results, t) for t in draft.tasks), *draft.averages),
        tuple(rows),
        draft.caption,
        (*bold, *spread_note(cells), *quotes.notes(draft.name, touched)),
        naming=2,
    )


Means = Mapping[tuple[str, System, str], Seeds]
"""Of each regime, system and task."""


def _means(results: Results) -> Means:
    found = scores_by_seed(results.scores)
    return {key: {seed: s.mean for seed, s in own.items()} for key, own in found.items()}


def _failed(results: Results) -> dict[tuple[str, System, str], str]:
    return {(s.regime, s.system, s.task): s.failed for s in results.scores if s.failed}


def _with_reasons(
    line: Sequence[TableCell],
    draft: TableSpec,
    block: RowBlock,
    system: System,
    failed: Mapping[tuple[str, System, str], str],
) -> list[TableCell]:
    """Cells without a number say why, where it was tried."""
    why = dict(enumerate(failed.get((block.regime, system, task), "") for task in draft.tasks))
    return [
        replace(cell, failed=why.get(i, "")) if cell.values == (None,) else cell
        for i, cell in enumerate(line)
    ]


def _by_task(means: Means, regime: str, system: System, tasks: Iterable[str]) -> dict[str, Seeds]:
    return {task: means.get((regime, system, task), {}) for task in tasks}


def paper_cells(
    quotes: PaperValues, system: System, columns: Sequence[str], line: Sequence[TableCell]
) -> set[tuple[str, str]]:
    """Where a row has numbers of the paper: beside its own, or as its own."""
    return {
        (system.name, column)
        for column, cell in zip(columns, line, strict=True)
        if any(value is not None for value in (cell.values if quotes.own else cell.paper))
    }


def _line(
    means: Means, quotes: PaperValues, draft: TableSpec, block: RowBlock, system: System
) -> list[TableCell]:
    own = _by_task(means, block.regime, system, block.tasks)
    paper: dict[str, Seeds] = {
        task: {None: quotes.of(system, task, block.regime)} for task in block.tasks
    }
    line = []
    for task in draft.tasks:
        quoted = score_cell(paper.get(task, {})).values
        cell = score_cell(own.get(task, {}))
        line.append(cell if quoted == (None,) else replace(cell, paper=quoted))
    for name in draft.averages:
        if name == OVER_SEEDS:
            line.append(block.repeated.cell(system, own))
            continue
        value, spread = average(own, AVERAGES[name])
        printed, _ = average(paper, AVERAGES[name])
        line.append(TableCell((value,), spread=spread, paper=() if printed is None else (printed,)))
    return line
