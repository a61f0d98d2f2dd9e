"""What all tables of scores share: the order of rows and columns, headings and notes."""

from collections.abc import Iterable, Sequence

from ...evaluation.task_names import TASK_NAMES
from ..display import percent, task_title
from ..learned import dense_score
from ..results import DENSE, Results, System
from .paper_values import PaperValues
from .table import TableCell

REGIME_HEADINGS = {
    "transfer": "Cross-lingual transfer: fine-tuned on English, tested in all languages",
    "translate-train-all": "Translate-train-all: fine-tuned on English and its translations",
}
"""The heading above the rows of a regime, in the order of the paper."""


def scored_regimes(results: Results) -> list[str]:
    """Return the regimes that have scores, the paper's first."""
    found = dict.fromkeys(score.regime for score in results.scores)
    return [each for each in REGIME_HEADINGS if each in found] + [
        e for e in found if e not in REGIME_HEADINGS
    ]


def regime_heading(regime: str, tasks: Iterable[str]) -> str:
    """Return the heading above a regime's rows; an empty one if no task is fine-tuned."""
    tuned = any(task in TASK_NAMES and TASK_NAMES[task].fine_tuned for task in tasks)
    return REGIME_HEADINGS.get(regime, regime) if tuned else ""


def tasks_in_order(results: Results, regimes: Iterable[str]) -> tuple[str, ...]:
    """Return the tasks that have scores, in the paper's order, then others."""
    regimes = set(regimes)
    found = dict.fromkeys(score.task for score in results.scores if score.regime in regimes)
    return (*(t for t in TASK_NAMES if t in found), *(t for t in found if t not in TASK_NAMES))


def row_order(systems: Iterable[System]) -> tuple[System, ...]:
    """Return each system once: the dense one, then others as named, with their sizes together."""
    found = tuple(dict.fromkeys(systems))
    names = list(dict.fromkeys(each.name for each in found))
    return tuple(
        sorted(found, key=lambda s: (s.name != DENSE, names.index(s.name), s.sparsity or 0.0))
    )


def system_cells(system: System) -> tuple[TableCell, TableCell]:
    """Return a system's title and how much of it was cut, in percent."""
    cut = None if system.sparsity is None else round(100 * system.sparsity, 6)
    digits = 0 if cut is None or cut == round(cut) else 1
    return TableCell(text=system.title), TableCell((cut,), digits=digits)


def bold_note(
    sizes: Iterable[float | None], grid: Iterable[Sequence[TableCell]]
) -> tuple[str, ...]:
    """Return the note that explains bold numbers, if there are any."""
    if not any(cell.best for line in grid for cell in line):
        return ()
    known = {percent(size) for size in sizes}
    which = f"those of which {known.pop()} is cut" if len(known) == 1 else "each size"
    return (f"Bold: the best of {which}.",)


def spread_note(grid: Iterable[Sequence[TableCell]]) -> tuple[str, ...]:
    """Return the note that explains spreads, if there are any."""
    several = any(cell.spread is not None for line in grid for cell in line)
    return ("±: the standard deviation over seeds, where there are several.",) if several else ()


def faint_note(results: Results, regime: str, tasks: Iterable[str]) -> tuple[str, ...]:
    """Return why numbers are faint: which tasks do not count, and what a guess would have."""
    found = [score for task in tasks if (score := dense_score(results, task, regime))]
    if not found:
        return ()
    where = REGIME_HEADINGS.get(regime, regime).partition(":")[0].lower()
    told = "; ".join(
        f"{task_title(results, each.task)} {each.dense:.1f}, a guess {each.guess:.1f}"
        for each in found
    )
    return (
        f"In italics, and in no average: what the dense model has not learned ({where}): {told}.",
    )


def paper_cells(
    paper: PaperValues, system: System, columns: Sequence[str], line: Sequence[TableCell]
) -> set[tuple[str, str]]:
    """Return the columns of a row that hold numbers of the paper, with the system's name."""
    return {
        (system.name, column)
        for column, cell in zip(columns, line, strict=True)
        if any(value is not None for value in (cell.values if paper.own else cell.paper))
    }
