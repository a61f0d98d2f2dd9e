"""How systems were trained and fine-tuned: whether they are treated alike."""

from collections.abc import Sequence

from ...averages import Value, mean, spread
from ..display import task_title
from ..results import Results, System, Training
from .layout import row_order, scored_regimes, system_cells, tasks_in_order
from .table import Table, TableCell, TableRow

COLUMNS = (
    "system", "cut %", "seeds", "steps", "tokens, K", "held-out loss", "last quarter",
    "still learning",
)  # fmt: skip

FLAT = 0.02
"""A held-out loss that falls by no more than this in the last quarter of training is flat."""


def training_table(results: Results) -> Table | None:
    """Show how many tokens each system saw, its held-out loss, and whether it still fell."""
    if not results.trainings:
        return None
    systems = row_order(each.system for each in results.trainings)
    own = {s: [each for each in results.trainings if each.system == s] for s in systems}
    return Table(
        "training",
        "Training",
        COLUMNS,
        tuple(TableRow((*system_cells(s), *_cells(own[s]))) for s in systems),
        "Held-out loss is the mean over languages and seeds. Last quarter: by how much it changed "
        f"in the last quarter of the steps; a system that lost more than {FLAT} still learns.",
        (unequal_training(results),),
        naming=2,
    )


def _cells(runs: Sequence[Training]) -> tuple[TableCell, ...]:
    first = runs[0]
    losses = [each.losses[-1][1] if each.losses else None for each in runs]
    change = mean(last_quarter(each) for each in runs)
    tokens = None if first.tokens is None else first.tokens / 1000
    learning = "" if change is None else "yes" if change < -FLAT else "no"
    return (
        TableCell((float(len(runs)),), digits=0),
        TableCell((float(first.steps),), digits=0),
        TableCell((tokens,), digits=0),
        TableCell((mean(losses),), spread=spread(losses), digits=3),
        TableCell((change,), digits=3),
        TableCell(text=learning),
    )


def last_quarter(training: Training) -> Value:
    """Return the change of the held-out loss in the last quarter of training; None if unknown."""
    known = [(step, loss) for step, loss in training.losses if loss is not None]
    middle = [(step, loss) for step, loss in known if 2 * step >= training.steps]
    if len(middle) < 2:
        return None
    _, before = min(middle[:-1], key=lambda each: abs(each[0] - 0.75 * training.steps))
    return middle[-1][1] - before


def unequal_training(results: Results) -> str:
    """Return whether all systems were trained on as many tokens, in a sentence."""
    trained = {each.system.name: each.tokens or each.examples for each in results.trainings}
    titles = {each.name: each.title for each in results.systems}
    seen = {name: trained.get(name, 0) for name in dict.fromkeys(s.name for s in results.systems)}
    known = [amount for amount in seen.values() if amount]
    usual = max(known, key=known.count, default=0)
    others = [f"{titles[name]} ({_amount(n)})" for name, n in seen.items() if n != usual]
    if not others:
        return "All systems were trained on as many tokens."
    return f"Not trained alike: {', '.join(others)}; all others {_amount(usual)}."


def _amount(tokens: int) -> str:
    return f"{tokens:,} tokens" if tokens else "not trained"


def tuning_table(results: Results) -> Table | None:
    """Show the learning rates and epochs that were chosen on dev, if there was a choice."""
    chosen = [each for each in results.scores if each.chosen is not None]
    if not chosen:
        return None
    rows, regimes = [], scored_regimes(results)
    tasks = [t for t in tasks_in_order(results, regimes) if any(s.task == t for s in chosen)]
    for regime in regimes:
        for system in row_order(each.system for each in chosen if each.regime == regime):
            cells = (_chosen(results, system, task, regime) for task in tasks)
            rows.append(TableRow((*system_cells(system), *cells), regime))
    return Table(
        "tuning",
        "Learning rates and epochs chosen on dev",
        ("system", "cut %", *(task_title(results, task) for task in tasks)),
        tuple(rows),
        "Of each seed, in their order.",
        naming=2,
    )


def _chosen(results: Results, system: System, task: str, regime: str) -> TableCell:
    runs = results.runs(system, task, regime).values()
    found = [f"{each.chosen[0]:g}×{each.chosen[1]}" for each in runs if each.chosen]
    return TableCell(text=", ".join(found))
