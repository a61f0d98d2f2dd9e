"""Ridge regression from streamed sums, its ridge chosen on sentences that it is not solved on."""

from typing import NamedTuple

import torch
from torch import Tensor

from ...model.network.tensor_types import Float
from .outer_products import OuterProducts

RIDGES = (0.0001, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
"""Tried for every regression, as shares of the mean diagonal of E[u uᵀ]."""


class Sums(NamedTuple):
    """What a regression is solved from: Σ u uᵀ of inputs and, last of them, 1, and Σ u mᵀ."""

    gram: Float[Tensor, "inputs inputs"]
    right: Float[Tensor, "inputs width"]

    def around(self, mean: Float[Tensor, " n"], bias: Float[Tensor, " width"]) -> "Sums":
        """The sums without the last input, as if a mean were 0 and a bias were added already."""
        m, c, count = self.gram[:-1, -1], self.right[-1], self.gram[-1, -1]
        off = m - count * mean
        gram = self.gram[:-1, :-1] - torch.outer(m, mean) - torch.outer(mean, off)
        right = self.right[:-1] - torch.outer(mean, c) - torch.outer(off, bias)
        return Sums(gram, right)


class LeastSquares:
    """The sums of a ridge regression of what is missing on inputs and, last of them, 1."""

    def __init__(self, means: float) -> None:
        self.means = means
        """What the mean of a sentence weighs beside its tokens."""
        self._products: OuterProducts | None = None

    def add(
        self,
        inputs: Float[Tensor, "batch seq inputs"],
        missing: Float[Tensor, "batch seq width"],
        weights: Float[Tensor, "batch seq"],
    ) -> None:
        """Add the tokens of sentences, and their means."""
        if self._products is None:
            self._products = OuterProducts(inputs.shape[-1] + 1, torch.float64)
        some = weights > 0
        ones = inputs.new_ones(int(some.sum()), 1)
        rows, each = torch.cat([inputs[some], ones, missing[some]], 1), weights[some][:, None]
        self._products.add(rows * each.sqrt())
        if self.means:
            means = rows.new_zeros(len(inputs), rows.shape[1])
            means.index_add_(0, some.nonzero()[:, 0], rows * each)
            self._products.add(means * self.means**0.5)

    def sums(self) -> Sums:
        """Those of all that was added."""
        assert self._products is not None
        both = self._products.sum()
        return Sums(*both.split([len(both), both.shape[1] - len(both)], dim=1))


def best_change(
    solving: LeastSquares, choosing: LeastSquares
) -> tuple[Float[Tensor, "inputs width"], float] | None:
    """The change by the ridge that others' sentences like best, and that ridge; None if none.

    The bias is free: with inputs around their mean μ and what is missing around its mean β, it is
    β − Xᵀ μ, whatever X is. With what is left, A = Q diag(λ) Qᵀ and right side R, the change by a
    ridge ρ is X = Q diag(d) QᵀR, d = 1 / (λ + ρ). So all errors on others' A', R' are one form in d

        tr(Xᵀ A' X) − 2 tr(Xᵀ R') = dᵀ (QᵀA'Q ∘ QᵀR RᵀQ) d − 2 dᵀ diag(QᵀR R'ᵀQ)

    and one decomposition serves all ridges.
    """
    own, others = solving.sums(), choosing.sums()
    count = own.gram[-1, -1]
    mean, bias = own.gram[:-1, -1] / count, own.right[-1] / count
    unit = own.gram.diagonal()[:-1].sum() / max(1, len(mean))
    a, right = own.around(mean, bias)
    values, q = torch.linalg.eigh(a)
    right = q.T @ right
    their_a, their_right = others.around(mean, bias)
    square = (q.T @ their_a @ q) * (right @ right.T)
    linear = (right * (q.T @ their_right)).sum(1)
    constant = others.gram[-1, -1] * bias @ bias - 2 * bias @ others.right[-1]
    shrinking = {ridge: 1 / (values + ridge * unit + 1e-9) for ridge in RIDGES}
    errors = {r: float(d @ square @ d - 2 * d @ linear + constant) for r, d in shrinking.items()}
    best = min(errors, key=errors.__getitem__)
    if errors[best] >= 0:
        return None
    change = q @ (shrinking[best][:, None] * right)
    return torch.cat([change, (bias - mean @ change)[None]]), best
