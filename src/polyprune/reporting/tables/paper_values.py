"""What the paper has in the same place, and what is known to be wrong in its print."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache

from ..read.paper import paper_results, read_paper
from ..results import Results, Score, Scores, System
from .cells import same_sparsity

IN_BRACKETS = "In brackets: the paper's numbers, of XLM-R base on XTREME."

Touched = Iterable[tuple[str, str]]
"""The names of systems and columns that numbers of the paper stand in."""


@dataclass(frozen=True, slots=True)
class PaperValues:
    """The paper beside other results, or nothing."""

    scores: Mapping[tuple[str, str, str], tuple[Score, ...]]
    """Of all sizes, by the system's name, task and regime."""
    own: bool = False
    """Whether the results are the paper's themselves, so that there is nothing to put beside."""

    def find(self, system: System, task: str, regime: str) -> Score | None:
        """What the paper has for the same system in the same size."""
        known = self.scores.get((system.name, task, regime), ())
        fits = (each for each in known if same_sparsity(each.system.sparsity, system.sparsity))
        return next(fits, None)

    def of(self, system: System, task: str, regime: str) -> Scores:
        """Its mean over languages, or no scores."""
        found = self.find(system, task, regime)
        return {} if found is None else found.mean

    def of_language(self, system: System, task: str, regime: str, code: str) -> Scores:
        """What it has for one language, or no scores."""
        found = self.find(system, task, regime)
        return {} if found is None else found.languages.get(code, {})

    def notes(self, table: str, touched: Touched) -> tuple[str, ...]:
        """What is to be said below a table in which these numbers are the paper's."""
        touched = set(touched)
        if not touched:
            return ()
        wrong = tuple(_sentence(error) for error in _errors(table, touched))
        return wrong if self.own else (IN_BRACKETS, *wrong)


def split_from_paper(results: Results, beside_paper: bool = True) -> tuple[Results, PaperValues]:
    """Results, and what to put beside them: nothing if they are the paper's own, or not wanted.

    Of results that were read together with the paper's the paper's scores are left out: it has
    systems of the same names, and would be taken for another seed of them.
    """
    # Not by title or command, which whoever merges or renames results may have changed.
    paper = paper_results().scores
    others = tuple(score for score in results.scores if score not in paper)
    if results.scores and not others:
        return results, PaperValues({}, own=True)
    return replace(results, scores=others), PaperValues(_paper() if beside_paper else {})


@cache
def _paper() -> Mapping[tuple[str, str, str], tuple[Score, ...]]:
    found: dict[tuple[str, str, str], tuple[Score, ...]] = {}
    for score in paper_results().scores:
        key = (score.system.name, score.task, score.regime)
        found[key] = (*found.get(key, ()), score)
    return found


def _errors(table: str, touched: set[tuple[str, str]]) -> Iterable[Mapping]:
    for error in read_paper()["error"]:
        if table in error.get("tables", ()) and any(
            name in error.get("systems", (name,)) and column in error.get("columns", (column,))
            for name, column in touched
        ):
            yield error


def _sentence(error: Mapping) -> str:
    return f"{error['where']}. Printed: {error['printed']}. Rather: {error['meant']}."
