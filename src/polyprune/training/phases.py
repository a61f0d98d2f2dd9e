"""Phases of training: what each trains, and its schedules of learning rate and density."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from ..errors import ConfigError


@dataclass(frozen=True, slots=True)
class Phase:
    """A part of a run with one optimizer and one schedule."""

    steps: int
    train: Literal["all", "weights", "gates"] = "all"
    """`gates` is the paper's first phase, which tunes α only; `weights` leaves gates alone."""
    name: str = ""
    learning_rate: float = 2e-4
    weight_decay: float = 0.01
    """The weight decay of matrices; biases and norms have none."""
    gates_learning_rate: float | None = None
    """The learning rate of gates; that of the weights unless given."""
    gates_weight_decay: float = 0.0
    """The weight decay of gates: 0, as decay would open closed gates and close open ones."""
    words: bool = True
    """Whether the word table is trained too: most of a small model's parameters."""
    warmup: int = 0
    """Steps in which the learning rate rises; after them it falls to 0 in a straight line."""
    ramp: int = 0
    """Steps in which the target density falls from 1 to its own."""
    sharpness: float = field(default=1.0, metadata={"absent": 1.0})
    """What the α of learned gates are multiplied with at the end of the phase.

    It grows from that of the phase before, by the same factor in each of `sharpen` steps.
    """
    sharpen: int | None = field(default=None, metadata={"absent": None})
    """Steps in which gates get sharper; all of the phase unless given."""

    def __post_init__(self):
        if self.steps < 1:
            raise ConfigError(f"A phase has 1 step or more, not {self.steps}.")
        if self.learning_rate <= 0 or (self.gates_learning_rate or 1) <= 0:
            raise ConfigError("A learning rate is more than 0.")
        if self.sharpness <= 0:
            raise ConfigError(f"A sharpness is more than 0, not {self.sharpness:g}.")
        for name in ("warmup", "ramp", "sharpen"):
            steps = getattr(self, name) or 0
            if not 0 <= steps <= self.steps:
                raise ConfigError(
                    f"{name} ({steps}) is within the {self.steps} steps of its phase."
                )

    @property
    def title(self) -> str:
        """The phase's display name."""
        return self.name or {"gates": "alpha-only", "all": "joint"}.get(self.train, "recovery")

    def scaled(self, scale: float) -> "Phase":
        """Return the same schedule, scaled to another number of steps."""
        steps = max(1, round(scale * self.steps))
        return replace(
            self,
            steps=steps,
            warmup=min(steps, round(scale * self.warmup)),
            ramp=min(steps, round(scale * self.ramp)),
            sharpen=self.sharpen and min(steps, round(scale * self.sharpen)),
        )

    def lr_scale(self, step: int) -> float:
        """Return the fraction of the peak learning rate at a step, counted from 0 in the phase."""
        if step < self.warmup:
            return (step + 1) / self.warmup
        return (self.steps - step) / max(1, self.steps - self.warmup)

    def density(self, step: int, target: float) -> float:
        """Return the target density of a step."""
        if step >= self.ramp:
            return target
        return max(target, 1 - (1 - target) * (step + 1) / self.ramp)


def rescale(phases: Sequence[Phase], steps: int) -> tuple[Phase, ...]:
    """Return the phases in another number of steps, their schedules scaled."""
    if steps < len(phases):
        raise ConfigError(f"{len(phases)} phases need as many steps, not {steps}.")
    scale = steps / sum(phase.steps for phase in phases)
    scaled = [phase.scaled(scale) for phase in phases]
    # What rounding lost or won belongs to the longest phase.
    longest = max(range(len(scaled)), key=lambda i: scaled[i].steps)
    phase = scaled[longest]
    left = phase.steps + steps - sum(each.steps for each in scaled)
    scaled[longest] = replace(
        phase,
        steps=left,
        warmup=min(left, phase.warmup),
        ramp=min(left, phase.ramp),
        sharpen=phase.sharpen and min(left, phase.sharpen),
    )
    return tuple(scaled)


def locate_step(phases: Sequence[Phase], step: int) -> tuple[int, int]:
    """Return the index of the phase that a step belongs to, and the step's number in it."""
    for index, phase in enumerate(phases):
        if step < phase.steps:
            return index, step
        step -= phase.steps
    raise ValueError("This run has fewer steps.")


def sharpness_at(phases: Sequence[Phase], step: int) -> float:
    """Return what α is multiplied with in a step of the run, counted from 0."""
    index, inside = locate_step(phases, step)
    before = phases[index - 1].sharpness if index else 1.0
    phase = phases[index]
    part = (inside + 1) / (phase.sharpen or phase.steps)
    return before * (phase.sharpness / before) ** min(1.0, part)


def settled_at(phases: Sequence[Phase], step: int) -> bool:
    """Return whether learned gates are settled in a step: they were trained, and no longer are."""
    index, _ = locate_step(phases, step)
    earlier = any(phase.train != "weights" for phase in phases[:index])
    return earlier and phases[index].train == "weights"


def draw_density(grid: Sequence[float], seed: int, step: int, between: bool = False) -> float:
    """Draw a step's density for Dynamic Sparsification, the same on all processes.

    One of the grid; or any size `between`, from half of its least one on, and the largest as often
    as on the grid.
    """
    sizes = [size for size in grid if size > 0]
    # A generator of its own for every step needs no state to be saved, and none to be shared.
    dice = np.random.Generator(np.random.Philox(key=[seed, step]))
    if between:
        width = max(sizes) - sorted(sizes)[-2]
        return min(float(dice.uniform(min(sizes) / 2, max(sizes) + width)), max(sizes))
    return sizes[int(dice.integers(len(sizes)))]
