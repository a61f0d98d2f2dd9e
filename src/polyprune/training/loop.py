"""The loop: a generator of reports, one a step, over whatever Accelerate has to run on."""

from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

import numpy as np
import torch
from accelerate import Accelerator
from torch import Tensor

from ..errors import ConfigError
from ..pruning.dynamic import TENTHS
from .optimizer import set_pace
from .phases import Phase, draw_density
from .plan import Run
from .system import System
from .work import Work


class Diverged(ConfigError):
    """A loss that is no longer a number."""

    def __init__(self, step: int):
        super().__init__(
            f"The loss of step {step} is not a number. Go on from the checkpoint before it with a "
            "smaller learning rate: --set phases.0.learning_rate=1e-5."
        )
        self.step = step


@dataclass(frozen=True, slots=True)
class StepReport:
    """What one step did."""

    step: int
    """Steps done in the run, this one included."""
    phase: str
    losses: dict[str, float]
    """Each by its name, not weighed; `total` is their weighted sum."""
    learning_rate: float
    """Of the weights, or of the gates where only they are trained."""
    gradient_norm: float
    tokens: int
    checksum: int
    """Of what was read."""
    density: float | None = None
    """The size that was aimed at, where there are gates."""
    expected_density: float | None = None
    """The size that gates are expected to have, mean over rows."""
    held_out: dict[str, float] = field(default_factory=dict)
    """The loss on held-out text, language by language, if it was time for it."""
    sizes: dict[str, float] = field(default_factory=dict)
    """The size of what is open at inference, row by row, at the same time."""


@dataclass(frozen=True, slots=True)
class Trainee:
    """A system and its optimizer as Accelerate has prepared them, for one phase."""

    accelerator: Accelerator
    system: Any
    optimizer: Any
    phase: Phase
    done: int
    """Steps of the run before this phase."""

    @property
    def plain(self) -> System:
        """The system without what distributes it."""
        return self.accelerator.unwrap_model(self.system)


def steps(
    trainee: Trainee, run: Run, works: Iterator[Work], first: int
) -> Iterator[tuple[StepReport, Work]]:
    """A report for every step of a phase, from the given one on, and the work that it is of."""
    phase, accelerator = trainee.phase, trainee.accelerator
    trainee.system.train()
    for step in range(first, phase.steps):
        number = trainee.done + step
        work = next(works)
        rates = set_pace(trainee.optimizer, phase.pace(step))
        # Seeded anew, there is no state of chance to be saved.
        torch.manual_seed(mix(run.seed, number, accelerator.process_index))
        density = aim(run, phase, step, number)
        losses = _accumulate(trainee, work, density, draw_noise(trainee.plain, run.seed, number))
        norm = _update(trainee, run.engine.clip)
        if not isfinite(losses["total"]):
            raise Diverged(number + 1)
        gated = trainee.plain.gating is not None
        report = StepReport(
            step=number + 1,
            phase=phase.title,
            expected_density=losses.pop("density", None),
            losses=losses,
            learning_rate=rates.get("matrices", max(rates.values())),
            gradient_norm=norm,
            tokens=_sum(accelerator, work.tokens),
            checksum=work.checksum,
            density=density if gated else None,
        )
        yield report, work


def aim(run: Run, phase: Phase, step: int, number: int) -> float:
    """The size of this step: that of the schedule or, if all are trained at once, any."""
    if run.gating.every_size:
        return draw_density(TENTHS, run.seed, number)
    return phase.density(step, 1 - run.gating.sparsity)


def draw_noise(system: System, seed: int, number: int) -> Tensor | None:
    """Uniform noise for every gate, the same on all processes and in all passes of a step."""
    trained = [] if system.gating is None else list(system.gating.parameters())
    if not any(parameter.requires_grad for parameter in trained):
        return None
    generator = torch.Generator().manual_seed(mix(seed, number))
    return torch.rand(trained[0].shape, generator=generator).to(trained[0].device)


def mix(*numbers: int) -> int:
    """One seed from several numbers."""
    return int(np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0] >> np.uint64(1))


def _accumulate(
    trainee: Trainee, work: Work, density: float, noise: Tensor | None
) -> dict[str, float]:
    """Gradients of all passes of a step; the losses, mean over passes and processes."""
    accelerator, weights = trainee.accelerator, trainee.plain.weights
    sums: Counter[str] = Counter()
    for i, batch in enumerate(work.passes):
        batch = {name: tensor.to(accelerator.device) for name, tensor in batch.items()}
        share = work.weight * len(batch["input_ids"]) / work.examples
        last = i == len(work.passes) - 1
        with nullcontext() if last else accelerator.no_sync(trainee.system):
            losses = trainee.system(batch, density, noise)
            total = sum(weights[name] * loss for name, loss in losses.items() if name in weights)
            accelerator.backward(share * total)
        for name, loss in {**losses, "total": total}.items():
            sums[name] += share * loss.detach()  # pyright: ignore[reportArgumentType, reportAttributeAccessIssue]
    stacked = torch.stack([torch.as_tensor(value) for value in sums.values()]).float()
    means = accelerator.reduce(stacked, "mean").tolist()  # pyright: ignore[reportAttributeAccessIssue]
    return dict(zip(sums, means, strict=True))


def _update(trainee: Trainee, clip: float) -> float:
    """One step of the optimizer; the norm that the gradient had."""
    trained = [p for p in trainee.system.parameters() if p.requires_grad]
    norm = trainee.accelerator.clip_grad_norm_(trained, clip or float("inf"))
    trainee.optimizer.step()
    trainee.optimizer.zero_grad()
    return float(norm) if norm is not None else 0.0


def _sum(accelerator: Accelerator, number: int) -> int:
    if accelerator.num_processes == 1:
        return number
    counted = torch.tensor(number, device=accelerator.device)
    return int(accelerator.reduce(counted, "sum"))  # pyright: ignore[reportArgumentType]
