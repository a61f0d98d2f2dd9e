"""What is trained, as one module: a model, its gates and their penalties."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from ..pruning.gates.gating import Gating
from ..pruning.selection.ranking import unflatten
from .lazy_outputs import LazyOutputs
from .objectives import LOSSES, Objective
from .regularizer import GateRegularizer


class TrainingModule(nn.Module):
    """Maps a batch to losses (Eq. 13). One module, so that one wrapper distributes all of it."""

    _no_split_modules = ("Layer",)
    """The module class that FSDP wraps."""

    def __init__(
        self,
        model: Any,
        objective: Objective,
        gating: Gating | None = None,
        regularizer: GateRegularizer | None = None,
        teacher: Any = None,
        pooling: str = "mean",
    ):
        super().__init__()
        self.model, self.gating, self.regularizer = model, gating, regularizer
        self.objective, self.pooling = objective, pooling
        self._teacher = (teacher,)  # in a tuple, so that it is neither trained nor saved
        self._teachers_pooling = teacher.source.pooling if teacher else pooling

    @property
    def teacher(self) -> Any:
        """The teacher, or None."""
        return self._teacher[0]

    @property
    def weights(self) -> dict[str, float]:
        """The weight of each loss and penalty."""
        own = self.objective.active
        if self.regularizer is None:
            return own
        penalties = self.regularizer.penalties
        return {**own, "sparsity": penalties.sparsity, "diversity": penalties.diversity}

    def forward(
        self,
        batch: Mapping[str, Tensor],
        density: float = 1.0,
        noise: Tensor | None = None,
        only: tuple[str, ...] | None = None,
    ) -> dict[str, Tensor]:
        """Return each loss by its name, unweighted, and the expected density as `density`.

        `only` some losses, where not all are asked for.
        """
        gates, penalties = None, {}
        if self.gating is not None:
            # Products in half precision would round sizes and penalties away.
            with torch.autocast(batch["input_ids"].device.type, enabled=False):
                flat = self._gates(density, noise)
                rows = batch["rows"] if len(flat) > 1 else None
                gates = unflatten(flat if rows is None else flat[rows], self.gating.counts)
                penalties = self._penalties(flat, density)
        names = tuple(self.objective.active) if only is None else only
        inside = self.objective.uses_last_layer
        student = LazyOutputs(self.model, batch, gates, self.pooling, inside)
        teacher = LazyOutputs(self.teacher, batch, None, self._teachers_pooling, inside)
        teacher = teacher.with_cached()
        losses = {name: LOSSES[name](student, teacher, self.objective) for name in names}
        return losses | penalties

    def _gates(self, density: float, noise: Tensor | None) -> Tensor:
        """The gates of training; in evaluation those of the model that would be taken out."""
        assert self.gating is not None
        if self.training or noise is not None:
            return self.gating.flat(density, noise)
        return self.gating.rows_at(density).float()

    def _penalties(self, gates: Tensor, density: float) -> dict[str, Tensor]:
        if self.regularizer is None or self.gating is None:
            return {}
        expected = self.gating.expected_open(density)
        sizes = self.regularizer.sizes(expected)
        return {**self.regularizer(expected, gates, density), "density": sizes.mean().detach()}
