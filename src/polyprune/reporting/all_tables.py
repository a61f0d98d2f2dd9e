"""Which tables there are to show of some results."""

from dataclasses import replace

from .results import Failure, Results
from .tables.languages import languages_table, losses_table, task_by_language
from .tables.paper_values import split_from_paper
from .tables.sizes import sizes_table
from .tables.table import Table
from .tables.tasks import dynamic_table, improved_table, main_table, scored_regimes, tasks_in_order


def tables(results: Results, *, beside_paper: bool = True) -> list[Table]:
    """The paper's Tables 1, 2, 3 and 5, what each language lost, and sizes, as far as known."""
    results, quotes = split_from_paper(results, beside_paper)
    found = [make(results, quotes) for make in (main_table, improved_table, dynamic_table)]
    for name in tasks_in_order(results, scored_regimes(results)):
        task = task_by_language(results, name)
        if task is not None:
            found += [languages_table(task, quotes), losses_table(task)]
    found.append(sizes_table(results, quotes))
    known = [table for table in found if table is not None]
    return _with_failures(known, results.failures)


def _with_failures(known: list[Table], failures: tuple[Failure, ...]) -> list[Table]:
    """What failed is told below the first table, which has dashes there."""
    if not known or not failures:
        return known
    notes = tuple(f"Failed: {each.what}: {_first_line(each.why)}" for each in failures)
    return [replace(known[0], notes=(*known[0].notes, *notes)), *known[1:]]


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "no reason known")
