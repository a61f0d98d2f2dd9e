"""Which systems a figure compares, and by which scores."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean

from ...evaluation.metrics import average_flat
from ..display import task_title
from ..results import Results, System, Value, dense_of, main_score, number, table_scores
from .figure import Axis, Series

DENSE = "dense"
HALF = 0.5
"""The sparsity at which systems are compared, if they have several."""

FEW_SIZES, APART = 6, 8.0
"""Sizes that may have a tick each, and percent between them."""

REGIMES = ("translate-train-all", "transfer")
"""The first is taken where both would do: there all languages are trained alike."""


@dataclass(frozen=True, slots=True)
class Quality:
    """One number a system, and what it is."""

    title: str
    regime: str
    values: Mapping[System, float]


def uncut(results: Results, system: System) -> System | None:
    """What a system is compared with: the dense model, which has nothing beside it."""
    named = next((each for each in results.systems if each.name == DENSE), None)
    found = named or dense_of(results, system)
    return None if found == system else found


def is_cut(results: Results, system: System) -> bool:
    """Whether something was taken away."""
    return uncut(results, system) is not None


def nearest_to_half(systems: Iterable[System]) -> list[System]:
    """One system a name: the size nearest to 50 %, or the only one."""
    return [min(sizes, key=_from_half) for sizes in by_name(systems).values()]


def by_name(systems: Iterable[System]) -> dict[str, list[System]]:
    """All sizes of each, those first of which least was cut."""
    found: dict[str, list[System]] = {}
    for system in dict.fromkeys(systems):
        found.setdefault(system.name, []).append(system)
    return {
        name: sorted(sizes, key=lambda each: each.sparsity or 0) for name, sizes in found.items()
    }


def sized_systems(systems: Iterable[System]) -> dict[str, list[System]]:
    """Those that have several, or all that have one where none has several."""
    sized = by_name(each for each in systems if each.sparsity is not None)
    several = {name: sizes for name, sizes in sized.items() if len(sizes) > 1}
    return several or sized


def by_language(results: Results, task: str, regime: str) -> dict[System, dict[str, float]]:
    """The score of each system in each language, the mean over seeds."""
    found: dict[System, dict[str, list[float]]] = {}
    for score in results.scores:
        if (score.task, score.regime) == (task, regime):
            for code, scores in score.languages.items():
                value = number(main_score(scores))
                if value is not None:
                    found.setdefault(score.system, {}).setdefault(code, []).append(value)
    return {
        system: {code: fmean(seeds) for code, seeds in languages.items()}
        for system, languages in found.items()
    }


def task_quality(results: Results, task: str, systems: Sequence[System]) -> Quality | None:
    """What these have at one task, in the regime in which most of them were tried."""
    best = max(_regimes(results), key=lambda regime: _tried(results, regime, task, systems))
    scores = over_seeds(results, best)
    own = {system: scores[system][task] for system in systems if task in scores.get(system, {})}
    if not own:
        return None
    metric = next(iter(next(iter(own.values()))))
    values = {system: next(iter(numbers.values())) for system, numbers in own.items()}
    return Quality(f"{task_title(results, task)}, {METRICS.get(metric, metric)} (%)", best, values)


METRICS = {"f1": "F1"}
"""What is not called by its own name."""


def average_quality(results: Results, systems: Sequence[System]) -> Quality | None:
    """Their averages over the tasks that all of them have: those of other tasks do not compare."""
    found = [_average(results, regime, systems) for regime in _regimes(results)]
    return max((each for each in found if each), key=lambda each: len(each.values), default=None)


def over_seeds(results: Results, regime: str) -> dict[System, dict[str, dict[str, float]]]:
    """Scores that tables show, by system and task, the mean over seeds; only whole ones."""
    found: dict[System, dict[str, list[dict[str, float]]]] = {}
    for score in results.scores:
        given = {name: number(value) for name, value in table_scores(score.mean).items()}
        known = {name: value for name, value in given.items() if value is not None}
        if score.regime == regime and known and len(known) == len(given):
            found.setdefault(score.system, {}).setdefault(score.task, []).append(known)
    return {
        system: {task: _mean(seeds) for task, seeds in tasks.items()}
        for system, tasks in found.items()
    }


def _average(results: Results, regime: str, systems: Sequence[System]) -> Quality | None:
    scores = over_seeds(results, regime)
    tried = [system for system in systems if system in scores]
    shared = [task for task in scored_tasks(results) if all(task in scores[s] for s in tried)]
    if not tried or not shared:
        return None
    if len(shared) == 1:
        return task_quality(results, shared[0], systems)
    values = {s: average_flat({task: scores[s][task] for task in shared}) for s in tried}
    return Quality(f"Average of {len(shared)} tasks (%)", regime, values)


def scored_tasks(results: Results) -> list[str]:
    """All tasks that something was scored at, XNLI first, as it has most languages."""
    names = dict.fromkeys(score.task for score in results.scores)
    return sorted(names, key=lambda task: task != "xnli")


def _regimes(results: Results) -> list[str]:
    there = {score.regime for score in results.scores}
    return [*(r for r in REGIMES if r in there), *sorted(there - set(REGIMES))] or [REGIMES[0]]


def _tried(results: Results, regime: str, task: str, systems: Sequence[System]) -> int:
    scores = over_seeds(results, regime)
    return sum(task in scores.get(system, {}) for system in systems)


def _mean(seeds: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {name: fmean(each[name] for each in seeds if name in each) for name in seeds[0]}


def _from_half(system: System) -> float:
    return abs((HALF if system.sparsity is None else system.sparsity) - HALF)


def sparsity_axis(label: str, series: Iterable[Series]) -> Axis:
    """With a tick at every size, if there are few and far between."""
    lines = [each for each in series if each.style != "level"]
    sizes = sorted({round(point.x, 6) for each in lines for point in each.points})
    apart = all(b - a >= APART for a, b in pairwise(sizes))
    return Axis(label, ticks=tuple(sizes) if apart and len(sizes) <= FEW_SIZES else ())


def relative_loss(dense: Value, cut: Value) -> Value:
    """What is missing, in percent of what there was."""
    return 100 * (dense - cut) / dense if dense and cut is not None else None
