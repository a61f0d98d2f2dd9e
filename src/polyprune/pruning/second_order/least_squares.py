"""Ridge regression from streamed sums, its ridge chosen on sentences that it is not solved on."""

from typing import Any

import torch
from torch import Tensor

from ...model.network.tensor_types import Float

RIDGES = (0.0001, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
"""Tried for every regression, as shares of the mean diagonal of E[u uᵀ]."""


class LeastSquares:
    """The sums of a ridge regression of what is missing on inputs and, last of them, 1."""

    def __init__(self, means: float) -> None:
        self.means = means
        """What the mean of a sentence weighs beside its tokens."""
        self.gram: Any = 0.0
        self.right: Any = 0.0

    def add(
        self,
        inputs: Float[Tensor, "batch seq inputs"],
        missing: Float[Tensor, "batch seq width"],
        weights: Float[Tensor, "batch seq"],
    ) -> None:
        """Add the tokens of sentences, and their means."""
        inputs = torch.cat([inputs, inputs.new_ones(*inputs.shape[:-1], 1)], -1)
        weighted = inputs * weights[..., None]
        means, means_missing = weighted.sum(1), (missing * weights[..., None]).sum(1)
        some = weights > 0
        inputs, missing, weighted = inputs[some], missing[some], weighted[some]
        self.gram = self.gram + (weighted.T @ inputs + self.means * means.T @ means).double()
        self.right = (
            self.right + (weighted.T @ missing + self.means * means.T @ means_missing).double()
        )

    def solve(self, ridge: float) -> Float[Tensor, "inputs width"]:
        """The change of weights and bias; the bias is free."""
        free = len(self.gram) - 1
        damping = torch.full((free + 1,), 1e-9, dtype=torch.float64)
        damping[:free] += ridge * self.gram.diagonal()[:free].sum() / max(1, free)
        return torch.linalg.solve(self.gram + damping.diag(), self.right)

    def error(self, change: Tensor) -> float:
        """How much the squared error grows; below 0 is better."""
        return float((change * (self.gram @ change - 2 * self.right)).sum())


def best_change(
    solving: LeastSquares, choosing: LeastSquares
) -> tuple[Float[Tensor, "inputs width"], float] | None:
    """The change by the ridge that others' sentences like best, and that ridge; None if none."""
    changes = {ridge: solving.solve(ridge) for ridge in RIDGES}
    errors = {ridge: choosing.error(change) for ridge, change in changes.items()}
    best = min(errors, key=errors.__getitem__)
    return (changes[best], best) if errors[best] < 0 else None
