"""Which tasks the dense model has learned: only they say something about what was cut from it."""

from dataclasses import dataclass

from ..averages import Value, mean
from ..estimates import mean_interval
from .results import DENSE, Results, System, main_score, table_scores

MARGIN = 5.0
"""By how many points the dense model must be above a guess, at the lower end of the interval."""


@dataclass(frozen=True, slots=True)
class DenseScore:
    """How the dense model does at a task beside a guess that needs no model."""

    task: str
    regime: str
    dense: float
    guess: float
    above: float
    """By how much it is above the guess: the lower end of the 95 % interval over languages."""

    @property
    def learned(self) -> bool:
        """Whether it is clearly better than a guess."""
        return self.above >= MARGIN


def dense_score(results: Results, task: str, regime: str) -> DenseScore | None:
    """Return how the dense model does at a task; None if that or the guess is unknown."""
    system = _dense(results)
    if system is None:
        return None
    own = results.by_language(system, task, regime)
    guessed = _guesses(results, system, task, regime)
    known = {
        code: (score, guess)
        for code, score in own.items()
        if score is not None and (guess := guessed.get(code)) is not None
    }
    if not known:
        return None
    found = mean_interval([score - guess for score, guess in known.values()])
    above = found.mean if found.low is None else found.low
    dense, guess = (mean(each) for each in zip(*known.values(), strict=True))
    return DenseScore(task, regime, dense or 0.0, guess or 0.0, above)


def is_learned(results: Results, task: str, regime: str) -> bool:
    """Return whether a task counts: the dense model has learned it, or nobody knows."""
    found = dense_score(results, task, regime)
    return found is None or found.learned


def _dense(results: Results) -> System | None:
    return next((each for each in results.systems if each.name == DENSE), None)


def _guesses(results: Results, system: System, task: str, regime: str) -> dict[str, Value]:
    runs = results.runs(system, task, regime).values()
    return {
        code: main_score(table_scores(scores))
        for run in runs
        for code, scores in run.baseline.items()
    }
