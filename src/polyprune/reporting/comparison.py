"""A claim against its results: the difference of two systems over the same seeds and languages."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from ..averages import Value
from ..estimates import Interval, mean_interval
from ..evaluation.task_names import TASK_NAMES
from .learned import is_learned
from .results import Claim, Results, Score, System, main_score, table_scores
from .significance import LEVEL, effect_size, holm, signed_rank_test, t_test

Differences = Mapping[int | None, Mapping[str, float]]
"""The differences of a task by seed and language."""

HOLDS, FAILS, UNDECIDED, UNTESTED = "holds", "fails", "undecided", "not tested"


@dataclass(frozen=True, slots=True)
class Comparison:
    """What the results say about a claim."""

    claim: Claim
    tasks: tuple[str, ...] = ()
    """The tasks whose mean is compared."""
    seeds: int = 0
    languages: int = 0
    difference: Interval | None = None
    """The mean difference in points, with its 95 % interval over seeds."""
    effect: Value = None
    """The difference in its standard deviations over seeds."""
    p_seeds: Value = None
    """Paired t-test over seeds, of means over languages."""
    p_languages: Value = None
    """Wilcoxon's signed-rank test over languages, of means over seeds."""
    p: Value = None
    """The larger of both, corrected for the number of claims (Holm)."""

    @property
    def verdict(self) -> str:
        """Whether the claim holds, fails, is undecided or was not tested.

        It holds, or fails, only if neither seeds nor languages leave doubts.
        """
        if self.difference is None:
            return UNTESTED
        if self.p is None or self.p >= LEVEL:
            return UNDECIDED
        return HOLDS if self.difference.mean + self.claim.margin > 0 else FAILS


def compare_all(results: Results) -> list[Comparison]:
    """Return what the results say about each of their claims."""
    found = [_compare(results, claim) for claim in results.claims]
    corrected = holm([_larger(each.p_seeds, each.p_languages) for each in found])
    return [replace(each, p=p) for each, p in zip(found, corrected, strict=True)]


def _larger(one: Value, other: Value) -> Value:
    """Return the larger of two numbers; None if one is missing."""
    return None if one is None or other is None else max(one, other)


def _compare(results: Results, claim: Claim) -> Comparison:
    better, worse = (_system(results, side) for side in (claim.better, claim.worse))
    if better is None or worse is None:
        return Comparison(claim)
    tasks = _repeated(
        {
            task: _differences(results, (better, worse), task, claim.regime)
            for task in _tasks(results, claim)
        }
    )
    seeds = _over_seeds(tasks.values())
    if not seeds:
        return Comparison(claim)
    languages = _over_languages(tasks.values())
    return Comparison(
        claim,
        tuple(tasks),
        len(seeds),
        len(languages),
        mean_interval(seeds),
        effect_size(seeds),
        # A margin moves what counts as no difference.
        t_test([each + claim.margin for each in seeds]),
        signed_rank_test([each + claim.margin for each in languages]),
    )


def _system(results: Results, side: tuple[str, float | None]) -> System | None:
    return next((each for each in results.systems if (each.name, each.sparsity) == side), None)


def _tasks(results: Results, claim: Claim) -> Iterable[str]:
    found = dict.fromkeys(each.task for each in results.scores if each.regime == claim.regime)
    wanted = found if claim.tasks is None else claim.tasks
    return [task for task in found if task in wanted and is_learned(results, task, claim.regime)]


def _differences(
    results: Results, systems: tuple[System, System], task: str, regime: str
) -> Differences:
    """Return the differences of a task, over the seeds and the languages that both systems have."""
    one, other = (results.runs(system, task, regime) for system in systems)
    tuned = task not in TASK_NAMES or TASK_NAMES[task].fine_tuned
    if not tuned and len(one) == 1 < len(other):  # whatever the seed, it finds the same sentences
        one = dict.fromkeys(other, next(iter(one.values())))
    if not tuned and len(other) == 1 < len(one):
        other = dict.fromkeys(one, next(iter(other.values())))
    found = {seed: _by_language(one[seed], other[seed]) for seed in one if seed in other}
    return {seed: own for seed, own in found.items() if own}


def _by_language(one: Score, other: Score) -> dict[str, float]:
    mine, theirs = (
        {code: main_score(table_scores(scores)) for code, scores in each.languages.items()}
        for each in (one, other)
    )
    return {
        code: value - beside
        for code, value in mine.items()
        if value is not None and (beside := theirs.get(code)) is not None
    }


def _repeated(tasks: Mapping[str, Differences]) -> dict[str, Differences]:
    """Return the tasks that were repeated most often: an average needs the same seeds of each."""
    most = max(map(len, tasks.values()), default=0)
    return {task: own for task, own in tasks.items() if own and len(own) == most}


def _over_seeds(tasks: Iterable[Differences]) -> list[float]:
    """Return each seed's mean over tasks of the mean over languages."""
    several = list(tasks)
    common = [seed for seed in (several[0] if several else ()) if all(seed in t for t in several)]
    return [fmean(fmean(task[seed].values()) for task in several) for seed in common]


def _over_languages(tasks: Iterable[Differences]) -> list[float]:
    """Return each language's mean over its tasks of the mean over seeds."""
    found: dict[str, list[float]] = {}
    for task in tasks:
        for code in dict.fromkeys(code for own in task.values() for code in own):
            found.setdefault(code, []).append(
                fmean(own[code] for own in task.values() if code in own)
            )
    return [fmean(each) for each in found.values()]


def count_verdicts(found: Sequence[Comparison]) -> str:
    """Return how many claims hold, fail and are undecided, in a sentence."""
    verdicts = [each.verdict for each in found]
    words = {HOLDS: "holds/hold", FAILS: "fails/fail", UNDECIDED: "is/are undecided"}
    if UNTESTED in verdicts:
        words[UNTESTED] = "was/were not tested"
    counts = {verdict: verdicts.count(verdict) for verdict in words}
    told = ", ".join(f"{n} {_numbered(words[verdict], n)}" for verdict, n in counts.items())
    return f"Of {len(verdicts)} {_numbered('claim/claims', len(verdicts))}, {told}."


def _numbered(words: str, number: int) -> str:
    """Return words in singular or plural: `is/are undecided`."""
    first, _, rest = words.partition(" ")
    return " ".join(filter(None, (first.split("/")[number != 1], rest)))
