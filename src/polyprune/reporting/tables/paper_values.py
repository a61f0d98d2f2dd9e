"""The paper's numbers for the same cell of a table, and the known errors of its print."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache

from ...averages import Scores
from ..read.paper import paper_results, read_paper
from ..results import Results, Score, System
from .cells import same_sparsity

IN_BRACKETS = "In brackets: the paper's numbers, of XLM-R base on XTREME."

Touched = Iterable[tuple[str, str]]
"""Pairs (system name, column) of the cells that hold numbers of the paper."""


@dataclass(frozen=True, slots=True)
class PaperValues:
    """The paper's scores, to be shown beside others."""

    scores: Mapping[tuple[str, str, str], tuple[Score, ...]]
    """The scores of all sizes, by the system's name, the task and the regime."""
    own: bool = False
    """Whether the results are the paper's themselves, so that nothing stands beside them."""

    def find(self, system: System, task: str, regime: str) -> Score | None:
        """Return the paper's score of the same system in the same size, or None."""
        known = self.scores.get((system.name, task, regime), ())
        fits = (each for each in known if same_sparsity(each.system.sparsity, system.sparsity))
        return next(fits, None)

    def mean(self, system: System, task: str, regime: str) -> Scores:
        """Return the paper's scores of a task, or an empty mapping."""
        found = self.find(system, task, regime)
        return {} if found is None else found.mean

    def language(self, system: System, task: str, regime: str, code: str) -> Scores:
        """Return the paper's scores of one language of a task, or an empty mapping."""
        found = self.find(system, task, regime)
        return {} if found is None else found.languages.get(code, {})

    def notes(self, table: str, touched: Touched) -> tuple[str, ...]:
        """Return the notes below a table in which these cells hold the paper's numbers."""
        touched = set(touched)
        if not touched:
            return ()
        wrong = tuple(_sentence(error) for error in _errors(table, touched))
        return wrong if self.own else (IN_BRACKETS, *wrong)


def split_from_paper(results: Results) -> tuple[Results, PaperValues]:
    """Return the results without the paper's scores, and the paper's scores to put beside them.

    The paper has systems of the same names: where both were read together, its scores would be
    taken for another seed of them. The paper's own results have nothing beside them.
    """
    # Not by title or command, which whoever merges or renames results may have changed.
    paper = paper_results().scores
    others = tuple(score for score in results.scores if score not in paper)
    if results.scores and not others:
        return results, PaperValues({}, own=True)
    return replace(results, scores=others), PaperValues(_paper())


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
