"""Time calls in turns, so that disturbances affect all of them equally."""

import gc
import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import ConfigError

WARMUP = 3
"""Warm-up rounds, in which memory is allocated and libraries choose their kernels."""

SHORTEST = 0.005
"""The minimum seconds of a reading; a shorter call is repeated within one."""

MOST_REPEATED = 1000
"""The maximum number of repetitions of a call within a reading."""

Call = Callable[[], object]

Clock = Callable[[], float]
"""Returns the time in seconds."""


@dataclass(frozen=True, slots=True)
class TurnTimings:
    """The timings of several calls in turns."""

    seconds: np.ndarray
    """Seconds of each call in each round: (rounds, calls)."""
    singles: tuple[np.ndarray, ...]
    """The seconds of every single repetition, for each call."""


def in_turns(
    calls: Sequence[Call],
    rounds: Iterable[Any] | int,
    *,
    warmup: int = WARMUP,
    clock: Clock = time.perf_counter,
    seed: int = 0,
) -> np.ndarray:
    """Seconds of each call in each round: (rounds, calls).

    All are called in every round, in an order drawn anew, so that none always follows the same one.
    A call under 5 ms is repeated within its turn, as often as its warm-up says; without a warm-up
    every call is called once.
    """
    return take_turns(calls, rounds, warmup=warmup, clock=clock, seed=seed).seconds


def take_turns(
    calls: Sequence[Call],
    rounds: Iterable[Any] | int,
    *,
    warmup: int = WARMUP,
    clock: Clock = time.perf_counter,
    seed: int = 0,
    shortest: float = SHORTEST,
) -> TurnTimings:
    """Like `in_turns`, with the seconds of every repetition; `shortest` is a reading's minimum."""
    times = _warmed_up(calls, warmup, clock, shortest)
    singles: list[list[float]] = [[] for _ in calls]
    chance, rows = np.random.default_rng(seed), []
    with _without_collecting():
        for _ in range(rounds) if isinstance(rounds, int) else rounds:
            row = [0.0] * len(calls)
            for which in chance.permutation(len(calls)):
                taken = [time_call(calls[which], clock) for _ in range(times[which])]
                singles[which] += taken
                row[which] = sum(taken) / len(taken)
            rows.append(row)
    if not rows:
        raise ConfigError("Nothing was measured: there is one round or more.")
    return TurnTimings(np.array(rows), tuple(map(np.array, singles)))


def time_call(call: Call, clock: Clock = time.perf_counter) -> float:
    """Return the seconds that one call takes."""
    started = clock()
    call()
    return clock() - started


def _warmed_up(calls: Sequence[Call], warmup: int, clock: Clock, shortest: float) -> list[int]:
    """Warm each call up; return how often each is repeated within a reading."""
    taken = [shortest] * len(calls)
    for _ in range(warmup):
        for i, call in enumerate(calls):
            taken[i] = min(taken[i], time_call(call, clock))
    return [
        min(math.ceil(shortest / seconds), MOST_REPEATED) if seconds > 0 else MOST_REPEATED
        for seconds in taken
    ]


@contextmanager
def _without_collecting() -> Iterator[None]:
    """Disable garbage collection inside the block."""
    gc.collect()
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
