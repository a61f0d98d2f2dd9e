"""Prune to a requested speed: select by the latency table, measure, correct, select again."""

import time
from dataclasses import asdict, dataclass, replace
from typing import Any

from ..errors import ConfigError
from ..model.network.gated_model import PolyprunePreTrainedModel
from ..model.network.shape import EncoderShape
from ..model.surgery.shrink import shape_kept
from ..progress import SILENT, Progress
from ..pruning.ranker import Ranker
from ..pruning.selection.budgets import Time
from ..pruning.selection.selection import Selection
from .calls import timed_call
from .latency_timing import BatchShape, EncoderFactory
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


@dataclass(frozen=True, slots=True)
class FitRequest:
    """A speed goal, the batch shape it is for, and the other constraints."""

    goal: SpeedGoal
    load: BatchShape
    budget: Time
    """The latency table and all other limits; its seconds are what is searched for."""
    row: int = 0
    """The row of gates to time, where every language has its own."""


@dataclass(frozen=True, slots=True)
class SpeedFit:
    """The requested and the measured speed of a selection."""

    selection: Selection
    """The components that make it so fast."""
    aim: FitRequest
    before: float
    """Seconds per batch of the unpruned model."""
    after: float
    """Seconds per batch of the selected shape."""
    speedup: float
    low: float
    high: float
    predicted: float
    """Seconds per batch that the table predicts."""
    binds: tuple[str, ...]
    """Which budgets bind: `time`, `parameters`, or both."""
    tries: int
    noise: dict[str, Any]

    def off(self) -> float:
        """The relative difference to the requested seconds; negative if it is faster."""
        goal = self.aim.goal
        if goal.speedup is not None:
            return goal.speedup / self.speedup - 1
        assert goal.seconds is not None
        return self.after / goal.seconds - 1

    def as_dict(self) -> dict[str, Any]:
        """Return the fit as JSON."""
        told = ("before", "after", "speedup", "low", "high", "predicted", "binds", "tries", "noise")
        return {
            "asked": asdict(self.aim.goal),
            **asdict(self.aim.load),
            "threads": self.aim.budget.table.about.get("threads"),
            **{name: getattr(self, name) for name in told},
        }


def fit_to_speed(
    model: PolyprunePreTrainedModel,
    ranker: Ranker,
    aim: FitRequest,
    progress: Progress = SILENT,
    clock: Clock = time.perf_counter,
) -> SpeedFit:
    """Find the selection whose model has the requested speed, measured beside the unpruned model.

    Sublayers next to others take not quite what they took in a stack of their own kind: so what is
    chosen is timed, and the limit moved by as much as it was off. The one nearest to the goal among
    those that reach it is kept; if none does, the nearest.
    """
    stand = TimingHarness(model, aim, progress, clock)
    limit = stand.goal_seconds(aim.budget.table.seconds(model.shape))
    fast, slow = 0.0, float("inf")  # limits that were low enough, and too high
    tries: list[SpeedFit] = []
    for number in range(1, TRIES + 1):
        tries.append(stand.measure(limit, ranker, number))
        off = tries[-1].off()
        if -CLOSE <= off <= 0 or ("time" not in tries[-1].binds and off <= 0):
            break
        fast, slow = (fast, limit) if off > 0 else (limit, slow)
        # A little under the goal, so that the next try is not as likely over it as under.
        limit *= (1 - CLOSE / 2) / (1 + off)
        if not fast < limit < slow:
            limit = (fast + slow) / 2
    reached = [each for each in tries if each.off() <= 0]
    return max(reached, key=SpeedFit.off) if reached else min(tries, key=SpeedFit.off)


class TimingHarness:
    """Times selected shapes beside the unpruned model."""

    def __init__(
        self, model: PolyprunePreTrainedModel, aim: FitRequest, progress: Progress, clock: Clock
    ):
        self.model, self.aim, self.progress, self.clock = model, aim, progress, clock
        self.make = EncoderFactory(model)
        self.dense = self.make(model.shape)
        self.batch = aim.load.batch_for(model)

    def goal_seconds(self, dense: float) -> float:
        """Return the seconds that a batch may take, given the table's time of the dense model."""
        goal = self.aim.goal
        return goal.seconds if goal.seconds is not None else dense / (goal.speedup or 1.0)

    def measure(self, limit: float, ranker: Ranker, number: int) -> SpeedFit:
        """Select within a time limit, and time the selected shape."""
        selection = replace(self.aim.budget, seconds=limit).select(self.model, ranker)
        chosen = selection.rows[self.aim.row]
        own = selection.gates.map(lambda gate: gate[self.aim.row, None])
        before, after, noise = self._time(shape_kept(own, self.model.shape))
        assert chosen.seconds is not None
        return SpeedFit(
            selection=selection,
            aim=self.aim,
            before=before.seconds,
            after=after.seconds,
            speedup=after.ratio,
            low=after.low,
            high=after.high,
            predicted=chosen.seconds,
            binds=chosen.binds,
            tries=number,
            noise=noise,
        )

    def _time(self, shape: EncoderShape) -> tuple[SpeedResult, SpeedResult, dict[str, Any]]:
        models = {"before": self.dense, "after": self.make(shape)}
        once = sum(time_call(timed_call(each, self.batch), self.clock) for each in models.values())
        rounds = int(min(max(SECONDS / max(once, 1e-9), ROUNDS[0]), ROUNDS[1]))
        with monitor_noise() as watched, self.progress.stage("Measuring speed", rounds):
            speeds = compare_speed(
                models, [self.batch], rounds=rounds, progress=self.progress, clock=self.clock
            )
        noise = watched.noise(speeds.values())
        noise.check("and try again")
        return speeds["before"], speeds["after"], noise.record()
