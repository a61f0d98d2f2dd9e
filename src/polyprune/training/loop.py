"""The training loop: a generator that yields one report per step, on any Accelerate setup."""

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
from ..pruning.gates.dynamic import TENTHS
from .gate_settling import follow_schedule, gate_shares
from .optimizer import set_learning_rates
from .phases import Phase, draw_density
from .run_config import Run
from .step_batches import StepBatch
from .training_module import TrainingModule


class Diverged(ConfigError):
    """The loss became NaN or infinite."""

    def __init__(self, step: int):
        super().__init__(
            f"The loss of step {step} is not a number. Go on from the checkpoint before it with a "
            "smaller learning rate: --set phases.0.learning_rate=1e-5."
        )
        self.step = step


@dataclass(frozen=True, slots=True)
class StepReport:
    """The numbers of one training step."""

    step: int
    """The number of steps done in the run, including this one."""
    phase: str
    losses: dict[str, float]
    """Each loss by its name, unweighted; `total` is their weighted sum."""
    learning_rate: float
    """The learning rate of the weights, or of the gates if only they are trained."""
    gradient_norm: float
    tokens: int
    checksum: int
    """A checksum of the tokens that the step read."""
    density: float | None = None
    """The target density, if the model has gates."""
    expected_density: float | None = None
    """The expected density of the gates, mean over rows."""
    held_out: dict[str, float] = field(default_factory=dict)
    """The held-out loss of each language, on the steps that measure it."""
    sizes: dict[str, float] = field(default_factory=dict)
    """The density of each row's open gates at inference, on the same steps."""
    processes: int = 1
    """The number of processes that shared the step."""
    gates: dict[str, float] = field(default_factory=dict)
    """The `open` density of gates that are trained, and the shares `at_zero` and `at_one`.

    On steps with a held-out loss also the share that settling changes, as `settled`, and whether
    those between were `folded` into the weights.
    """


def describe_gates(report: StepReport) -> str:
    """A few words about gates that are trained: their size, and how many are decided."""
    if not report.gates:
        return ""
    decided = report.gates["at_zero"] + report.gates["at_one"]
    expected = report.expected_density or 0.0
    return f", size {expected:.2f} expected {report.gates['open']:.2f} open, {decided:.0%} 0 or 1"


@dataclass(frozen=True, slots=True)
class PhaseState:
    """The training module and optimizer of one phase, as Accelerate prepared them."""

    accelerator: Accelerator
    system: Any
    optimizer: Any
    phase: Phase
    done: int
    """The number of steps before this phase."""

    @property
    def plain(self) -> TrainingModule:
        """The training module without Accelerate's wrapper."""
        return self.accelerator.unwrap_model(self.system)


def steps(
    phase_state: PhaseState, run: Run, step_batches: Iterator[StepBatch], first: int
) -> Iterator[tuple[StepReport, StepBatch]]:
    """Run a phase from step `first` on; yield each step's report and its batch."""
    phase, accelerator = phase_state.phase, phase_state.accelerator
    phase_state.system.train()
    for step in range(first, phase.steps):
        number = phase_state.done + step
        batch = next(step_batches)
        rates = set_learning_rates(phase_state.optimizer, phase.lr_scale(step))
        # Seeded anew, there is no state of chance to be saved.
        torch.manual_seed(combine_seeds(run.seed, number, accelerator.process_index))
        density = target_density(run, phase, step, number)
        follow_schedule(phase_state.plain, run, number)
        losses = _accumulate(
            phase_state, batch, density, draw_noise(phase_state.plain, run.seed, number)
        )
        norm = _update(phase_state, run.engine.clip)
        if not isfinite(losses["total"]):
            raise Diverged(number + 1)
        gated = phase_state.plain.gating is not None
        report = StepReport(
            step=number + 1,
            phase=phase.title,
            expected_density=losses.pop("density", None),
            losses=losses,
            learning_rate=rates.get("matrices", max(rates.values())),
            gradient_norm=norm,
            tokens=_sum(accelerator, batch.tokens),
            checksum=batch.checksum,
            density=density if gated else None,
            processes=accelerator.num_processes,
            gates=gate_shares(phase_state.plain, density) if phase.train != "weights" else {},
        )
        yield report, batch


def target_density(run: Run, phase: Phase, step: int, number: int) -> float:
    """Return a step's target density: the schedule's, or a random one if all sizes train."""
    if run.gating.every_size:
        return draw_density(TENTHS, run.seed, number, between=run.gating.learned)
    return phase.density(step, 1 - run.gating.sparsity)


def draw_noise(system: TrainingModule, seed: int, number: int) -> Tensor | None:
    """Draw uniform noise for every gate, the same for all processes and micro-batches of a step."""
    trained = [] if system.gating is None else list(system.gating.parameters())
    if not any(parameter.requires_grad for parameter in trained):
        return None
    generator = torch.Generator().manual_seed(combine_seeds(seed, number))
    return torch.rand(trained[0].shape, generator=generator).to(trained[0].device)


def combine_seeds(*numbers: int) -> int:
    """Combine several numbers into one seed."""
    return int(np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0] >> np.uint64(1))


def _accumulate(
    phase_state: PhaseState, batch: StepBatch, density: float, noise: Tensor | None
) -> dict[str, float]:
    """Accumulate gradients over micro-batches; return the losses, mean over all processes."""
    accelerator, weights = phase_state.accelerator, phase_state.plain.weights
    sums: Counter[str] = Counter()
    for i, tensors in enumerate(batch.micro_batches):
        tensors = {name: tensor.to(accelerator.device) for name, tensor in tensors.items()}
        share = batch.weight * len(tensors["input_ids"]) / batch.examples
        last = i == len(batch.micro_batches) - 1
        with nullcontext() if last else accelerator.no_sync(phase_state.system):
            losses = phase_state.system(tensors, density, noise)
            total = sum(weights[name] * loss for name, loss in losses.items() if name in weights)
            accelerator.backward(share * total)
        for name, loss in {**losses, "total": total}.items():
            sums[name] += share * loss.detach()  # pyright: ignore[reportArgumentType, reportAttributeAccessIssue]
    stacked = torch.stack([torch.as_tensor(value) for value in sums.values()]).float()
    means = accelerator.reduce(stacked, "mean").tolist()  # pyright: ignore[reportAttributeAccessIssue]
    return dict(zip(sums, means, strict=True))


def _update(phase_state: PhaseState, clip: float) -> float:
    """Clip the gradient and take one optimizer step; return the gradient's norm."""
    trained = [p for p in phase_state.system.parameters() if p.requires_grad]
    norm = phase_state.accelerator.clip_grad_norm_(trained, clip or float("inf"))
    phase_state.optimizer.step()
    phase_state.optimizer.zero_grad()
    return float(norm) if norm is not None else 0.0


def _sum(accelerator: Accelerator, number: int) -> int:
    if accelerator.num_processes == 1:
        return number
    counted = torch.tensor(number, device=accelerator.device)
    return int(accelerator.reduce(counted, "sum"))  # pyright: ignore[reportArgumentType]
