"""The cells of tables: means over seeds, averages over tasks, and which one is best."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal

from ...averages import Scores, Value, complete_scores, mean_over_seeds, number, spread
from ...evaluation.metrics import average_flat, average_xtreme
from ..results import DENSE, System, table_scores
from .table import TableCell

NEAR = 0.02
"""Sparsities that differ by no more than this are the same."""

Seeds = Mapping[int | None, Scores]
"""Scores by seed."""


def rounded(value: float, digits: int) -> Decimal:
    """Round halves up, as people do: 67.65 is 67.7 even if the float is a little less."""
    exact = Decimal(repr(round(value, digits + 6)))
    return exact.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)


def complete_seeds(seeds: Seeds) -> dict[int | None, dict[str, float]]:
    """Return what tables show of each seed, leaving out seeds that lack a number."""
    shown = {seed: complete_scores(table_scores(scores)) for seed, scores in seeds.items()}
    return {seed: scores for seed, scores in shown.items() if scores}


def score_cell(seeds: Seeds) -> TableCell:
    """Return a cell with the mean over seeds and the spread of its first number, or a dash."""
    known = complete_seeds(seeds).values()
    mean = mean_over_seeds(known)
    first = next(iter(mean), "")
    return TableCell(
        tuple(mean.values()) or (None,), spread=spread(each.get(first) for each in known)
    )


Rule = Callable[[Mapping[str, Mapping[str, float]]], float]
AVERAGES: dict[str, Rule] = {"average": average_flat, "XTREME average": average_xtreme}
"""The paper's two rules, by the heading of their column."""


def average(tasks: Mapping[str, Seeds], rule: Rule) -> tuple[Value, Value]:
    """Return the average over tasks and its spread; nothing if any task is missing.

    The spread is that of the averages of single seeds, and only known if all tasks have all
    seeds: tasks go up and down together, so that their own spreads do not tell.
    """
    known = {task: complete_seeds(seeds) for task, seeds in tasks.items()}
    if not known or not all(known.values()):
        return None, None
    means = {task: mean_over_seeds(seeds.values()) for task, seeds in known.items()}
    seeds = next(iter(known.values()))
    if any(own.keys() != seeds.keys() for own in known.values()):
        return rule(means), None
    return rule(means), spread(rule({task: known[task][seed] for task in known}) for seed in seeds)


def same_sparsity(one: float | None, other: float | None) -> bool:
    """Tell whether two sparsities are about the same, or both unknown."""
    if one is None or other is None:
        return one is other
    return abs(one - other) <= NEAR + 1e-9


def common_sparsity(systems: Iterable[System]) -> float | None:
    """Return the sparsity that most cut systems share; the least of equally common ones."""
    cuts = Counter(each.sparsity for each in systems if each.sparsity and each.name != DENSE)
    return min(cuts, key=lambda cut: (-cuts[cut], cut), default=None)


def mark_best(
    systems: Sequence[System], grid: Sequence[Sequence[TableCell]], size: float | None
) -> list[list[TableCell]]:
    """Mark the best of each column among systems of one size, in a grid of one line per system.

    Numbers that look equal are equally good; one alone is not the best of anything. Of F1 and
    exact match the first decides, the second where that is equal.
    """
    fair = [
        i
        for i, each in enumerate(systems)
        if size is not None and each.name != DENSE and same_sparsity(each.sparsity, size)
    ]
    marked = [list(line) for line in grid]
    for column in range(len(grid[0]) if grid else 0):
        known = {i: rounded_values(grid[i][column]) for i in fair}
        known = {i: shown for i, shown in known.items() if shown and not grid[i][column].faint}
        for i, shown in known.items():
            if len(known) > 1 and shown == max(known.values()):
                marked[i][column] = replace(grid[i][column], best=True)
    return marked


def rounded_values(cell: TableCell) -> tuple[Decimal, ...]:
    """Return a cell's numbers as they are shown; an empty tuple if one is missing."""
    known = [value for value in map(number, cell.values) if value is not None]
    whole = len(known) == len(cell.values)
    return tuple(rounded(value, cell.digits) for value in known) if whole else ()
