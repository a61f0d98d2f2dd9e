"""The batch size at which a model is fastest within a memory budget.

The paper compares models in two ways: all at the same batch size, and each at its best, because a
smaller model leaves room for larger batches.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

import torch

from ..errors import ConfigError
from .calls import Precision
from .memory import Loader, MemoryGauge, in_child
from .turns import Clock, time_call
from .workload import Workload

GAIN = 0.02
"""The speedup that doubling the batch size must bring, in sentences per second."""

PATIENCE = 2
"""The number of doublings in a row that may bring less."""

LARGEST = 4096
"""The largest batch size that is tried."""

READINGS = 5
"""Readings per batch size, of which the fastest counts; the best size is measured again in turns.
"""


@dataclass(frozen=True, slots=True)
class BatchTrial:
    """A batch size that was tried."""

    batch: int
    sentences_per_second: float
    peak_bytes: int


@dataclass(frozen=True, slots=True)
class BestBatch:
    """The best batch size, all trials, and the reason why no larger one was tried."""

    best: BatchTrial
    trials: tuple[BatchTrial, ...]
    stopped: str
    """`memory`, `speed` or `largest`."""


def best_batch(attempt: Callable[[int], BatchTrial | None], memory: int) -> BestBatch:
    """Double the batch size until memory is full, or two doublings bring less than 2 % each.

    `attempt` measures a size, or says None if there is no memory for it. A size that would be
    beyond the budget, by what the two before took, is not tried. Of sizes equally fast within 2 %,
    the smallest is best.
    """
    trials: list[BatchTrial] = []
    idle, size, stopped = 0, 1, "largest"
    while size <= LARGEST:
        trial = attempt(size) if _expected(trials) <= memory else None
        if trial is None or trial.peak_bytes > memory:
            if not trials:
                _refuse(trial, memory)
            stopped = "memory"
            break
        fastest = max((each.sentences_per_second for each in trials), default=0.0)
        idle = 0 if trial.sentences_per_second > fastest * (1 + GAIN) else idle + 1
        trials.append(trial)
        if idle == PATIENCE:
            stopped = "speed"
            break
        size *= 2
    fastest = max(each.sentences_per_second for each in trials)
    best = next(each for each in trials if each.sentences_per_second * (1 + GAIN) >= fastest)
    return BestBatch(best, tuple(trials), stopped)


def find_best(
    loader: Loader, workload: Workload, memory: int, *, threads: int, precision: Precision
) -> BestBatch:
    """Search for the best batch size of a model in a child process."""
    return in_child(_search, loader, workload, memory, threads, precision)


def _search(
    loader: Loader,
    workload: Workload,
    memory: int,
    threads: int,
    precision: Precision,
    clock: Clock = time.perf_counter,
) -> BestBatch:
    gauge = MemoryGauge(loader, threads, precision)

    def attempt(size: int) -> BatchTrial | None:
        batches = workload.batches(size)
        longest = max(batches, key=lambda batch: batch.ids.shape[1])
        calls = [gauge.call(batch) for batch in batches]
        try:
            peak = gauge.peak(gauge.call(longest))
        except torch.cuda.OutOfMemoryError:
            return None
        if peak > memory:
            return BatchTrial(size, 0.0, peak)
        passes = [sum(time_call(call, clock) for call in calls) for _ in range(READINGS)]
        return BatchTrial(size, sum(map(len, batches)) / min(passes), peak)

    return best_batch(attempt, memory)


def _expected(trials: list[BatchTrial]) -> int:
    """Extrapolate the memory of the next batch size."""
    if len(trials) < 2:
        return 0
    before, last = trials[-2].peak_bytes, trials[-1].peak_bytes
    return last + 2 * max(0, last - before)


def _refuse(trial: BatchTrial | None, memory: int) -> None:
    needed = "more than there is" if trial is None else f"{trial.peak_bytes / 1e6:,.0f} MB"
    raise ConfigError(
        f"One sentence at a time takes {needed}, and `memory` allows {memory / 1e6:,.0f} MB. "
        "Allow more, or choose fewer `tokens`."
    )
