"""Which systems a figure compares, and by which scores."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ...averages import Value
from ...evaluation.metrics import average_flat
from ..display import task_title
from ..learned import is_learned
from ..results import DENSE, Results, System
from .figure import Axis, Series

FEW_SIZES, APART = 6, 8.0
"""Sizes that may have a tick each, and percent between them."""

PREFERRED_REGIMES = ("translate-train-all", "transfer")
"""The first is taken where both would do: it trains all languages alike."""

METRICS = {"f1": "F1"}
"""Titles of metrics that are not shown under their own names."""


@dataclass(frozen=True, slots=True)
class Quality:
    """One number per system, and what it is."""

    title: str
    regime: str
    values: Mapping[System, float]


def by_name(systems: Iterable[System]) -> dict[str, list[System]]:
    """Return the sizes of each system by its name, the least cut first."""
    found: dict[str, list[System]] = {}
    for system in dict.fromkeys(systems):
        found.setdefault(system.name, []).append(system)
    return {
        name: sorted(sizes, key=lambda each: each.sparsity or 0) for name, sizes in found.items()
    }


def sized_systems(systems: Iterable[System]) -> dict[str, list[System]]:
    """Return the systems that have several sizes, or all that have one if none has several."""
    sized = by_name(each for each in systems if each.sparsity is not None)
    several = {name: sizes for name, sizes in sized.items() if len(sizes) > 1}
    return several or sized


def references(results: Results, systems: Iterable[System]) -> list[System]:
    """Return what to show beside some cut systems: their baselines, and the dense model."""
    baselines = [found for each in systems if (found := results.baseline(each))]
    dense = [each for each in results.systems if each.name == DENSE and not each.sparsity]
    return list(dict.fromkeys((*baselines, *dense))) if baselines else []


def task_quality(results: Results, task: str, systems: Sequence[System]) -> Quality | None:
    """Return these systems' scores at a task, in the regime in which most of them were tried."""
    found = [_at_task(results, task, regime, systems) for regime in _regimes(results)]
    return max(found, key=lambda each: len(each.values)) if any(q.values for q in found) else None


def average_quality(results: Results, systems: Sequence[System]) -> Quality | None:
    """Return averages over the tasks that are learned and that all of these systems have."""
    found = [_average(results, regime, systems) for regime in _regimes(results)]
    return max((each for each in found if each), key=lambda each: len(each.values), default=None)


def scored_tasks(results: Results) -> list[str]:
    """Return all tasks that have scores, XNLI first, as it has most languages."""
    names = dict.fromkeys(score.task for score in results.scores)
    return sorted(names, key=lambda task: task != "xnli")


def sparsity_axis(label: str, series: Iterable[Series]) -> Axis:
    """Return an axis with a tick at every size, if they are few and far between."""
    lines = [each for each in series if each.style != "level"]
    sizes = sorted({round(point.x, 6) for each in lines for point in each.points})
    apart = all(b - a >= APART for a, b in pairwise(sizes))
    return Axis(label, ticks=tuple(sizes) if apart and len(sizes) <= FEW_SIZES else ())


def relative_loss(dense: Value, cut: Value) -> Value:
    """Return what is missing, in percent of what there was."""
    return 100 * (dense - cut) / dense if dense and cut is not None else None


def _at_task(results: Results, task: str, regime: str, systems: Sequence[System]) -> Quality:
    scores = {system: results.over_seeds(system, task, regime) for system in systems}
    known = {system: next(iter(own.items())) for system, own in scores.items() if own}
    metric = next((name for name, _ in known.values()), "")
    title = f"{task_title(results, task)}, {METRICS.get(metric, metric)} (%)"
    return Quality(title, regime, {system: value for system, (_, value) in known.items()})


def _average(results: Results, regime: str, systems: Sequence[System]) -> Quality | None:
    tasks = [task for task in scored_tasks(results) if is_learned(results, task, regime)]
    found = {s: {task: results.over_seeds(s, task, regime) for task in tasks} for s in systems}
    scores = {s: {task: own for task, own in each.items() if own} for s, each in found.items()}
    tried = {system: own for system, own in scores.items() if own}
    shared = [task for task in tasks if all(task in own for own in tried.values())]
    if not tried or not shared:
        return None
    if len(shared) == 1:
        return task_quality(results, shared[0], systems)
    values = {s: average_flat({task: own[task] for task in shared}) for s, own in tried.items()}
    return Quality(f"Average of {len(shared)} tasks (%)", regime, values)


def _regimes(results: Results) -> list[str]:
    there = {score.regime for score in results.scores}
    return [
        *(r for r in PREFERRED_REGIMES if r in there),
        *sorted(there - set(PREFERRED_REGIMES)),
    ] or [PREFERRED_REGIMES[0]]
