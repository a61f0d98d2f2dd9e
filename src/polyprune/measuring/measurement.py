"""Measure several models side by side: speed, latency, memory, best batch sizes."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import ConfigError
from ..model.footprint import encoder_multiply_adds
from ..model.network.shape import EncoderShape
from ..progress import SILENT, Progress
from .batch_search import BestBatch, find_best
from .calls import Precision, Runnable
from .memory import Loader, MemoryUse, peak_memory
from .noise import Noise, monitor_noise
from .speed import SpeedResult, compare_speed
from .turns import Clock
from .workload import TokenBatch, Workload

SINGLE_CALLS = 100
"""The minimum number of single-sentence calls: enough for the 95th percentile."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A model to measure."""

    name: str
    loader: Loader
    shape: EncoderShape | None
    """The encoder's shape; None if it is unknown, then there is no ideal speedup."""


@dataclass(frozen=True, slots=True)
class MeasureConfig:
    """The options of a measurement."""

    workload: Workload
    batch: int = 1
    rounds: int = 30
    threads: int = 1
    memory: int | None = None
    """The memory budget for the best batch size, in bytes; None to skip that search."""
    precision: Precision = "float32"

    @property
    def single_rounds(self) -> int:
        """The number of rounds of single sentences."""
        return max(self.rounds, -(-SINGLE_CALLS // len(self.workload.batches(1))))


@dataclass(frozen=True, slots=True)
class ModelMeasurement:
    """The measurements of one model."""

    speed: SpeedResult
    """The speed at the requested batch size."""
    latency: SpeedResult
    """The speed on single sentences."""
    memory: MemoryUse
    ideal: float | None
    """How many times fewer multiply–adds it has than the first model."""
    best: BestBatch | None = None
    """Its best batch size within the memory budget."""
    at_best: SpeedResult | None = None
    """The speed at its best batch size, relative to the first model at its best."""


@dataclass(frozen=True, slots=True)
class MeasurementReport:
    """The measurements of all models in the order given, and the noise."""

    models: dict[str, ModelMeasurement]
    noise: Noise


def measure(
    entries: Sequence[Entry],
    config: MeasureConfig,
    *,
    progress: Progress = SILENT,
    clock: Clock = time.perf_counter,
) -> MeasurementReport:
    """Measure models side by side; the caller decides what to do about noise."""
    if not entries:
        raise ConfigError("There are no models to measure. Give one or more.")
    batches = config.workload.batches(config.batch)
    with progress.stage("Measuring memory", len(entries)):
        memory = {
            each.name: peak_memory(
                each.loader, _longest(batches), threads=config.threads, precision=config.precision
            )
            for each in progress.track("", entries)
        }
    best = _search(entries, config, progress)
    for each in entries:
        each.loader.prepare()
    runners = {each.name: each.loader() for each in entries}
    race = _Benchmark(runners, config, progress, clock)
    with monitor_noise() as watched:
        latency = race.run(config.workload.batches(1), config.single_rounds, "latency")
        speed = latency if config.batch == 1 else race.run(batches, config.rounds, "speed")
        at_best = race.at_best(best) if best else {}
    found = {
        each.name: ModelMeasurement(
            speed=speed[each.name],
            latency=latency[each.name],
            memory=memory[each.name],
            ideal=ideal(entries[0], each, batches),
            best=best.get(each.name),
            at_best=at_best.get(each.name),
        )
        for each in entries
    }
    noise = watched.noise([*speed.values(), *latency.values(), *at_best.values()])
    return MeasurementReport(found, noise)


def ideal(first: Entry, own: Entry, batches: Sequence[TokenBatch]) -> float | None:
    """Return the speedup if only multiply–adds took time."""
    if first.shape is None or own.shape is None:
        return None
    return _multiply_adds(first.shape, batches) / _multiply_adds(own.shape, batches)


@dataclass(frozen=True, slots=True)
class _Benchmark:
    """Loaded models and the options to compare them with."""

    runners: dict[str, Runnable]
    config: MeasureConfig
    progress: Progress
    clock: Clock

    def run(self, batches, rounds: int, what: str) -> dict[str, SpeedResult]:
        """Time all models on these batches, or each on its own."""
        with self.progress.stage(f"Measuring {what}", rounds):
            return compare_speed(
                self.runners,
                batches,
                rounds=rounds,
                progress=self.progress,
                clock=self.clock,
                precision=self.config.precision,
            )

    def at_best(self, best: dict[str, BestBatch]) -> dict[str, SpeedResult]:
        """Time each model at its own best batch size."""
        batches = {
            name: self.config.workload.batches(found.best.batch) for name, found in best.items()
        }
        return self.run(batches, self.config.rounds, "speed at the best batch")


def _search(
    entries: Sequence[Entry], config: MeasureConfig, progress: Progress
) -> dict[str, BestBatch]:
    if config.memory is None:
        return {}
    with progress.stage("Finding batch sizes", len(entries)):
        return {
            each.name: find_best(
                each.loader,
                config.workload,
                config.memory,
                threads=config.threads,
                precision=config.precision,
            )
            for each in progress.track("", entries)
        }


def _longest(batches: Sequence[TokenBatch]) -> TokenBatch:
    return max(batches, key=lambda batch: batch.ids.shape[1])


def _multiply_adds(shape: EncoderShape, batches: Sequence[TokenBatch]) -> int:
    """Return the encoder's multiply–adds, including padding."""
    return max(
        1,
        sum(len(batch) * encoder_multiply_adds(shape, batch.ids.shape[1]) for batch in batches),
    )
