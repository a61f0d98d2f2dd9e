"""Sums of outer products, which covariances and regressions begin with."""

import torch
from torch import Tensor

from ...model.network.tensor_types import Float

BLOCK = 512
"""Columns multiplied at once. The blocks below the diagonal are those above it: they are left out,
which saves nearly half of the time."""


class OuterProducts:
    """The sum of r rᵀ over rows r, or only its first lines.

    Rows wait until there are as many as columns: one large product takes less time than many small
    ones, and few rows take less room than their products.
    """

    def __init__(self, lines: int | None = None, dtype: torch.dtype = torch.float32) -> None:
        self.lines = lines
        """How many lines of the matrix are wanted; all unless given."""
        self.dtype = dtype
        """What products are summed in; each is computed in the precision of its rows."""
        self._waiting: list[Tensor] = []
        self._total: Tensor | None = None

    def add(self, rows: Float[Tensor, "rows n"]) -> None:
        """Add the products of these rows."""
        self._waiting.append(rows)
        if sum(map(len, self._waiting)) >= rows.shape[1]:
            self._stop_waiting()

    def add_share(self, other: "OuterProducts", share: float) -> None:
        """Add a share of another sum, which is not needed any more."""
        if other._waiting:
            self._multiply(torch.cat(other._waiting), share)
        if other._total is not None:
            self._room(other._total.shape[1]).add_(other._total, alpha=share)

    def sum(self) -> Float[Tensor, "lines n"]:
        """The sum, on the CPU; there have to be some rows."""
        if self._total is None:  # few rows, which go on to take less room than their products
            once = OuterProducts(self.lines, self.dtype)
            once._multiply(torch.cat(self._waiting))
            return once.sum()
        self._stop_waiting()
        square = self._total[:, : len(self._total)]
        square.copy_(square.triu() + square.triu(1).T)
        return self._total

    def _stop_waiting(self) -> None:
        if self._waiting:
            self._multiply(torch.cat(self._waiting))
            self._waiting.clear()

    def _multiply(self, rows: Tensor, share: float = 1.0) -> None:
        total = self._room(rows.shape[1])
        for i in range(0, len(total), BLOCK):
            j = min(i + BLOCK, len(total))
            left, right, place = rows[:, i:j].T, rows[:, i:], total[i:j, i:]
            if (rows.device, rows.dtype) == (total.device, total.dtype):
                place.addmm_(left, right, alpha=share)
            else:
                place.add_((left @ right).to(total.device), alpha=share)

    def _room(self, width: int) -> Tensor:
        if self._total is None:
            self._total = torch.zeros(self.lines or width, width, dtype=self.dtype)
        return self._total
