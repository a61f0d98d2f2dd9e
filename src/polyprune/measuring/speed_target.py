"""Prune to a requested speed: select by the latency table, measure, correct, select again."""

import math
import time
from dataclasses import asdict, dataclass, replace
from typing import Any

from ..errors import ConfigError
from ..model.network.components import shape_kept
from ..model.network.gated_model import PolyprunePreTrainedModel
from ..model.network.shape import EncoderShape
from ..progress import SILENT, Progress
from ..pruning.ranker import Ranker
from ..pruning.selection.budgets import Budget, Time
from ..pruning.selection.latency import LatencyTable
from ..pruning.selection.selection import SelectedRow, Selection
from .calls import timed_call
from .latency_timing import BatchShape, EncoderFactory, cached_table
from .noise import monitor_noise
from .speed import SpeedResult, compare_speed
from .turns import Clock, time_call

TRIES = 6
CLOSE = 0.02
"""The tolerated relative difference between measured and requested speed."""

SECONDS, ROUNDS = 20.0, (10, 40)
"""The target seconds of a try, and the range of rounds."""


@dataclass(frozen=True, slots=True)
class SpeedGoal:
    """A requested speedup over the unpruned model, or seconds per batch."""

    speedup: float | None = None
    seconds: float | None = None

    def __post_init__(self):
        if (self.speedup is None) == (self.seconds is None):
            raise ConfigError("Ask for a speed-up or for a latency, not for both.")
        if self.speedup is not None and not 1 <= self.speedup < 1e4:
            raise ConfigError(f"A speed-up is a number from 1, such as 2, not {self.speedup:g}.")
        if self.seconds is not None and not 0 < self.seconds < 1e4:
            raise ConfigError(f"A latency is a time such as 10ms, not {self.seconds:g} s.")

    def seconds_for(self, dense: float) -> float:
        """Return the seconds that a batch may take, given those of the unpruned model."""
        return self.seconds if self.seconds is not None else dense / (self.speedup or 1.0)


@dataclass(frozen=True, slots=True)
class MeasuredSelection(Selection):
    """A selection, and its measured speed beside the unpruned model."""

    goal: SpeedGoal
    batch: BatchShape
    timed: SelectedRow
    """The row of gates that was timed."""
    threads: int | None
    before: float
    """Seconds per batch of the unpruned model."""
    after: float
    """Seconds per batch of the selected shape."""
    speedup: float
    low: float
    high: float
    tries: int
    noise: dict[str, Any]

    @property
    def binds(self) -> tuple[str, ...]:
        """Which limits bind: `time`, `parameters`, or both."""
        return self.timed.binds

    def row(self, name: str) -> "MeasuredSelection":
        """The row of one language, with what was measured."""
        own = Selection.row(self, name)
        return replace(self, gates=own.gates, rows=own.rows)

    def off(self) -> float:
        """The relative difference to the requested seconds; negative if it is faster."""
        if self.goal.speedup is not None:
            return self.goal.speedup / self.speedup - 1
        assert self.goal.seconds is not None
        return self.after / self.goal.seconds - 1

    def as_dict(self) -> dict[str, Any]:
        """Return the requested and the measured speed as JSON."""
        return {
            "asked": asdict(self.goal),
            **asdict(self.batch),
            "threads": self.threads,
            "before": self.before,
            "after": self.after,
            "speedup": self.speedup,
            "low": self.low,
            "high": self.high,
            "predicted": self.timed.seconds,
            "binds": self.binds,
            "tries": self.tries,
            "noise": self.noise,
        }


@dataclass(frozen=True, slots=True)
class Speed(Budget):
    """A speed on this machine, and perhaps a number of parameters.

    Speed is a matter of the machine, so what sublayers take is measured first, or remembered, and
    what is selected by that is measured too.
    """

    goal: SpeedGoal
    batch: BatchShape
    parameters: int | None = None
    language: str | None = None
    """Whose row of gates to time, where every language has its own."""
    table: LatencyTable | None = None
    """The latency table; that of this machine unless given."""
    progress: Progress = SILENT
    clock: Clock = time.perf_counter
    whole: PolyprunePreTrainedModel | None = None
    """The model that speed is compared with; the one that is cut unless given."""

    def begun(self, model):
        """The same speed for what is left of a model: its table is measured once, and now."""
        table = self.table or cached_table(model, self.batch, self.progress)
        return replace(self, table=table, whole=model)

    def estimate(self, model, ranker):
        """What the latency table selects by itself."""
        begun = self if self.whole else self.begun(model)
        return begun.within_seconds(begun.limit).select(model, ranker)

    @property
    def limit(self) -> float:
        """The seconds that a batch may take, by the table."""
        assert self.table is not None
        assert self.whole is not None
        return self.goal.seconds_for(self.table.seconds(self.whole.shape))

    def within_seconds(self, limit: float) -> Time:
        """The budget that takes the table at its word."""
        assert self.table is not None
        limits: dict[str, Any] = {"minimum": self.minimum, "multiple": self.multiple}
        return Time(limit, self.table, self.parameters, **limits)

    def select(self, model, ranker):
        """Find the selection with the requested speed, measured beside the unpruned model.

        Sublayers next to others take not quite what they took in a stack of their own kind: so what
        is selected is timed, and the limit moved by as much as it was off. The one nearest to the
        goal among those that reach it is kept; if none does, the nearest.
        """
        begun = self if self.whole else self.begun(model)
        harness, limit = TimingHarness(model, ranker, begun), begun.limit
        fast, slow = 0.0, math.inf  # limits that were low enough, and too high
        tries: list[MeasuredSelection] = []
        for number in range(1, TRIES + 1):
            tries.append(harness.measure(limit, number))
            off = tries[-1].off()
            if -CLOSE <= off <= 0 or ("time" not in tries[-1].binds and off <= 0):
                break
            fast, slow = (fast, limit) if off > 0 else (limit, slow)
            # A little under the goal, so that the next try is not as likely over it as under.
            limit *= (1 - CLOSE / 2) / (1 + off)
            if not fast < limit < slow:
                limit = (fast + slow) / 2
        reached = [each for each in tries if each.off() <= 0]
        if reached:
            return max(reached, key=MeasuredSelection.off)
        return min(tries, key=MeasuredSelection.off)


class TimingHarness:
    """Times selected shapes beside the unpruned model."""

    def __init__(
        self,
        model: PolyprunePreTrainedModel,
        ranker: Ranker,
        budget: Speed,
    ):
        self.model, self.ranker, self.budget = model, ranker, budget
        assert budget.whole is not None
        self.make = EncoderFactory(budget.whole)
        self.dense = self.make(budget.whole.shape)
        self.batch = budget.batch.batch_for(model)

    def measure(self, limit: float, number: int) -> MeasuredSelection:
        """Select within a time limit, and time the selected shape."""
        asked = self.budget
        assert asked.table is not None
        selection = asked.within_seconds(limit).select(self.model, self.ranker)
        own = selection if asked.language is None else selection.row(asked.language)
        timed = own.only
        before, after, noise = self._time(shape_kept(own.gates, self.model.shape))
        return MeasuredSelection(
            gates=selection.gates,
            rows=selection.rows,
            goal=asked.goal,
            batch=asked.batch,
            timed=timed,
            threads=asked.table.about.get("threads"),
            before=before.seconds,
            after=after.seconds,
            speedup=after.ratio,
            low=after.low,
            high=after.high,
            tries=number,
            noise=noise,
        )

    def _time(self, shape: EncoderShape) -> tuple[SpeedResult, SpeedResult, dict[str, Any]]:
        clock, progress = self.budget.clock, self.budget.progress
        models = {"before": self.dense, "after": self.make(shape)}
        once = sum(time_call(timed_call(each, self.batch), clock) for each in models.values())
        rounds = int(min(max(SECONDS / max(once, 1e-9), ROUNDS[0]), ROUNDS[1]))
        with monitor_noise() as watched, progress.stage("Measuring speed", rounds):
            speeds = compare_speed(
                models, [self.batch], rounds=rounds, progress=progress, clock=clock
            )
        noise = watched.noise(speeds.values())
        noise.check("and try again")
        return speeds["before"], speeds["after"], noise.record()
