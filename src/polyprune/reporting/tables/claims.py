"""The table of claims: each with its difference, how sure that is, and the verdict."""

from ...averages import Value
from ..comparison import Comparison, compare_all, count_verdicts
from ..display import MISSING, task_title
from ..results import Results
from ..significance import LEVEL
from .layout import REGIME_HEADINGS
from .table import Table, TableCell, TableRow

COLUMNS = (
    "claim", "verdict", "difference", "at least", "at most", "effect", "p over seeds",
    "p over languages", "p of both, corrected", "the paper says", "compared",
)  # fmt: skip


def claims_table(results: Results) -> Table | None:
    """Show what the results say about their claims; None if they have none."""
    found = compare_all(results)
    if not found:
        return None
    margins = any(each.claim.margin for each in found)
    caption = (
        "Difference: points of the mean over languages and tasks, with its 95 % interval over "
        "seeds; effect: the same in standard deviations. p: paired t-test over seeds, Wilcoxon's "
        "signed-rank test over languages; the larger of both is corrected by Holm's rule for "
        f"the number of claims, {len(found)}, and decides at {LEVEL:g}."
    )
    if margins:
        caption += " A claim with a margin is tested against the margin, not against 0."
    return Table(
        "claims",
        "Claims",
        COLUMNS,
        tuple(_row(results, each) for each in found),
        caption,
        (count_verdicts(found),),
    )


def _row(results: Results, found: Comparison) -> TableRow:
    claim, difference = found.claim, found.difference
    points = "point" if claim.margin == 1 else "points"
    margin = f" (at most {claim.margin:g} {points})" if claim.margin else ""
    numbers = (None, None, None) if difference is None else _bounds(found)
    cells = (
        TableCell(text=f"{claim.title}{margin}"),
        TableCell(text=found.verdict),
        *(TableCell((value,), digits=2) for value in (*numbers, found.effect)),
        *(TableCell((p,), digits=4) for p in (found.p_seeds, found.p_languages, found.p)),
        TableCell(text={True: "yes", False: "no"}.get(claim.paper, MISSING)),  # pyright: ignore[reportArgumentType, reportCallIssue]
        TableCell(text=_compared(results, found)),
    )
    return TableRow(cells, REGIME_HEADINGS.get(claim.regime, claim.regime).partition(":")[0])


def _bounds(found: Comparison) -> tuple[Value, Value, Value]:
    difference = found.difference
    assert difference is not None
    return difference.mean, difference.low, difference.high


def _compared(results: Results, found: Comparison) -> str:
    if found.difference is None:
        return "nothing that both have been scored on"
    tasks = ", ".join(task_title(results, task) for task in found.tasks)
    seeds = "1 seed" if found.seeds == 1 else f"{found.seeds} seeds"
    return f"{tasks}; {seeds}, {found.languages} languages"
