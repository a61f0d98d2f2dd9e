"""From scores to what stands in a cell: means over seeds, averages, and which one is best."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal
from statistics import fmean, stdev

from ...evaluation.metrics import average_flat, average_xtreme
from ..results import Score, Scores, System, Value, number, table_scores
from .table import TableCell

DENSE = "dense"
"""The name of the system that nothing was cut from."""

NEAR = 0.02
"""Sparsities that differ by no more than this are the same."""

Seeds = Mapping[int | None, Scores]
"""Scores of one thing, by the seed that they come from."""


def rounded(value: float, digits: int) -> Decimal:
    """As people round, halves up: 67.65 is 67.7 even where a float is a hair less."""
    exact = Decimal(repr(round(value, digits + 6)))
    return exact.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)


def scores_by_seed(
    scores: Iterable[Score],
) -> dict[tuple[str, System, str], dict[int | None, Score]]:
    """The scores of each regime, system and task."""
    found: dict[tuple[str, System, str], dict[int | None, Score]] = {}
    for score in scores:
        found.setdefault((score.regime, score.system, score.task), {})[score.seed] = score
    return found


def whole(seeds: Seeds) -> dict[int | None, dict[str, float]]:
    """What tables show of each seed, but for seeds that have no number."""
    found = {}
    for seed, scores in seeds.items():
        own = {name: number(value) for name, value in table_scores(scores).items()}
        known = {name: value for name, value in own.items() if value is not None}
        if own and len(known) == len(own):
            found[seed] = known
    return found


def over_seeds(seeds: Seeds) -> dict[str, float]:
    """The mean of each score; nothing where no seed has one."""
    known = list(whole(seeds).values())
    names = known[0] if known else ()
    return {name: fmean(each[name] for each in known if name in each) for name in names}


def score_cell(seeds: Seeds) -> TableCell:
    """The mean over seeds, with the deviation of its first number; a dash if there is none."""
    mean = over_seeds(seeds)
    first = next(iter(mean), "")
    known = [each[first] for each in whole(seeds).values() if first in each]
    spread = stdev(known) if len(known) > 1 else None
    return TableCell(tuple(mean.values()) or (None,), spread=spread)


Rule = Callable[[Mapping[str, Mapping[str, float]]], float]
AVERAGES: dict[str, Rule] = {"average": average_flat, "XTREME average": average_xtreme}
"""The paper's two rules, by the heading of their column."""


def average(tasks: Mapping[str, Seeds], rule: Rule) -> tuple[Value, Value]:
    """The average over tasks and its deviation; nothing if any task is missing.

    The deviation is that of the averages of single seeds, and only known if all tasks have all
    of them: tasks go up and down together, so that their own deviations do not tell.
    """
    means = {task: over_seeds(seeds) for task, seeds in tasks.items()}
    if not means or not all(means.values()):
        return None, None
    known = {task: whole(seeds) for task, seeds in tasks.items()}
    runs = {frozenset(each) for each in known.values()}
    spread = None
    if len(runs) == 1 and len(next(iter(runs))) > 1:
        own = [rule({task: known[task][seed] for task in known}) for seed in next(iter(runs))]
        spread = stdev(own)
    return rule(means), spread


def same_sparsity(one: float | None, other: float | None) -> bool:
    """Whether two systems were cut by the same, or neither in any size that is known."""
    if one is None or other is None:
        return one is other
    return abs(one - other) <= NEAR + 1e-9


def common_sparsity(systems: Iterable[System]) -> float | None:
    """The sparsity that most systems share, of equally many the least; the dense one aside."""
    cuts = Counter(each.sparsity for each in systems if each.sparsity and each.name != DENSE)
    return min(cuts, key=lambda cut: (-cuts[cut], cut), default=None)


def mark_best(
    systems: Sequence[System], grid: Sequence[Sequence[TableCell]], size: float | None
) -> list[list[TableCell]]:
    """A grid, a line a system, with the best of each column marked among systems of one size.

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
        known = {i: shown for i, shown in known.items() if shown}
        for i, shown in known.items():
            if len(known) > 1 and shown == max(known.values()):
                marked[i][column] = replace(grid[i][column], best=True)
    return marked


def rounded_values(cell: TableCell) -> tuple[Decimal, ...]:
    """The numbers of a cell as people see them; none if one is missing."""
    known = [value for value in map(number, cell.values) if value is not None]
    whole = len(known) == len(cell.values)
    return tuple(rounded(value, cell.digits) for value in known) if whole else ()
