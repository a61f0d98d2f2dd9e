"""Models side by side on the clock: in turns, warmed up, ratios with an interval."""

import gc
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..errors import ConfigError
from ..model.axes import Int
from ..model.modeling_polyprune import PolyprunePreTrainedModel

WARMUP = 3
"""Rounds before those that count: memory is asked for and libraries choose their kernels."""

DRAWS = 2000
"""Of a bootstrap."""

Clock = Callable[[], float]
"""Says what time it is, in seconds."""


@dataclass(frozen=True, slots=True)
class Speed:
    """How fast a model is, and how many times faster than the first."""

    sentences_per_second: float
    ratio: float
    low: float
    """Of the 95 % interval of the ratio."""
    high: float


def compare(
    models: Mapping[str, PolyprunePreTrainedModel],
    batch: Int[Tensor, "batch seq"],
    *,
    rounds: int = 30,
    watch: Callable[[str, Iterable[Any]], Iterable[Any]] = lambda _, things: things,
    clock: Clock = time.perf_counter,
) -> dict[str, Speed]:
    """The speed of each model on a batch of token ids, beside the first of them.

    How many threads torch uses is the caller's to choose, and to write down.
    """
    if not models:
        raise ConfigError("There are no models to compare. Give one or more.")
    calls = [_call(model, batch) for model in models.values()]
    with _for_use(models.values()):
        seconds = in_turns(calls, watch("speed", range(rounds)), clock=clock)
    medians = np.median(seconds, axis=0)
    return {
        name: Speed(len(batch) / float(median), *ratio)
        for name, median, ratio in zip(models, medians, ratios(seconds), strict=True)
    }


def in_turns(
    calls: Sequence[Callable[[], object]],
    rounds: Iterable[Any],
    *,
    warmup: int = WARMUP,
    clock: Clock = time.perf_counter,
) -> np.ndarray:
    """Seconds of each call in each round: (rounds, calls).

    All are called in every round, so that whatever else the machine does meets them alike, and each
    round begins with another, so that none always follows the same one.
    """
    for _ in range(warmup):
        for call in calls:
            call()
    rows = []
    with _without_collecting():
        for i, _ in enumerate(rounds):
            row = [0.0] * len(calls)
            for place in range(len(calls)):
                which = (i + place) % len(calls)
                row[which] = seconds_of(calls[which], clock)
            rows.append(row)
    if not rows:
        raise ConfigError("Nothing was measured: there is one round or more.")
    return np.array(rows)


def ratios(seconds: np.ndarray) -> list[tuple[float, float, float]]:
    """How many times faster than the first each call is, with the ends of a 95 % interval.

    Rounds are drawn whole: what slowed one call of a round down slowed the others down too.
    """
    rounds = len(seconds)
    draws = np.random.default_rng(0).integers(0, rounds, (DRAWS, rounds))
    medians = np.median(seconds[draws], axis=1)  # (draws, rounds, calls) -> (draws, calls)
    low, high = np.percentile(medians[:, :1] / medians, [2.5, 97.5], axis=0)
    middle = np.median(seconds, axis=0)
    return [
        (float(a), float(b), float(c))
        for a, b, c in zip(middle[0] / middle, low, high, strict=True)
    ]


def seconds_of(call: Callable[[], object], clock: Clock = time.perf_counter) -> float:
    """That one call takes."""
    started = clock()
    call()
    return clock() - started


def _call(model: PolyprunePreTrainedModel, batch: Tensor) -> Callable[[], object]:
    there = batch.to(model.device)

    def run() -> None:
        with torch.inference_mode():
            model(there)
        if there.is_cuda:  # which only queues what it is asked for
            torch.cuda.synchronize(there.device)

    return run


@contextmanager
def _for_use(models: Iterable[PolyprunePreTrainedModel]) -> Iterator[None]:
    """Without dropout, for as long as they are measured."""
    before = [(model, model.training) for model in models]
    for model, _ in before:
        model.eval()
    try:
        yield
    finally:
        for model, training in before:
            model.train(training)


@contextmanager
def _without_collecting() -> Iterator[None]:
    """No garbage is collected within a measurement."""
    gc.collect()
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
