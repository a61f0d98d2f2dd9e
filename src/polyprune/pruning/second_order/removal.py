"""What it costs to remove columns of a projection while the others make up for them.

Every head and unit leaves its sublayer through one projection y = W u + b. With C the covariance of
u and G = E[Σ g gᵀ] of the gradient at y, removing the columns S, and letting the others and the
bias make up for them by least squares, changes the loss to second order by

    cost(S) = ½ tr(G W_S (M_SS)⁻¹ W_Sᵀ),   M = C⁻¹

where the Fisher information is taken to be G ⊗ C (Hassibi and Stork, 1993, for single weights;
Kurtic et al., 2023, for structures). Means do not appear: the bias absorbs them.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from ...model.network.tensor_types import Float, Int

DAMPING = 1e-3
"""Added to the diagonal of a covariance, as a share of its mean, so that it has an inverse.

It has none by itself with fewer tokens than units, or with units that never move."""

STEPS = 48
"""Into how many steps the removal of all units is divided; within each, they go one by one."""


@dataclass(frozen=True, slots=True)
class RemovalCurve:
    """The groups of a sublayer in the order in which they go, and what is lost on the way."""

    order: Int[Tensor, " groups"]
    steps: Float[Tensor, "rows groups"]
    """What each removal adds to the loss, given those before it: one row for each G."""


def damped(covariance: Float[Tensor, "n n"], damping: float = DAMPING) -> Float[Tensor, "n n"]:
    """A covariance in double precision that can be solved with."""
    double = covariance.double()
    mean = double.diagonal().mean().clamp(min=torch.finfo(torch.float32).tiny)
    return double + damping * mean * torch.eye(len(double), dtype=double.dtype)


def removal_curve(
    weight: Float[Tensor, "width n"],
    covariance: Float[Tensor, "n n"],
    gradients: Float[Tensor, "rows width width"],
    group: int = 1,
    damping: float = DAMPING,
) -> RemovalCurve:
    """Greedy removal of groups of columns, cheapest first by the mean of the rows of G."""
    matrix, columns = damped(covariance, damping), weight.double()
    mean = gradients.double().mean(0)
    inverse = torch.cholesky_inverse(torch.linalg.cholesky(matrix))
    order = removal_order(inverse, columns.T @ mean @ columns, group)
    return RemovalCurve(order, removal_costs(columns, matrix, gradients, order, group))


def removal_costs(
    weight: Float[Tensor, "width n"],
    covariance: Float[Tensor, "n n"],
    gradients: Float[Tensor, "rows width width"],
    order: Int[Tensor, " groups"],
    group: int = 1,
) -> Float[Tensor, "rows groups"]:
    """What each removal in this order costs by each G, all with the same compensation.

    With C = U Uᵀ, U upper triangular in the order of removal, the columns of V = W U are what goes
    at each step, so that cost(S) = ½ Σ vᵢᵀ G vᵢ over the first |S| of them, whatever G is.
    """
    columns = _columns(order, group)
    permuted = covariance.double()[columns][:, columns]
    upper = torch.linalg.cholesky(permuted.flip(0, 1)).flip(0, 1)
    gone = weight.double()[:, columns] @ upper
    each = torch.stack([(gone * (g.double() @ gone)).sum(0) for g in gradients])
    return each.unflatten(1, (-1, group)).sum(2).clamp(min=0) / 2


def removal_order(
    inverse: Float[Tensor, "n n"], prices: Float[Tensor, "n n"], group: int = 1
) -> Int[Tensor, " groups"]:
    """The order of greedy removal, from M = C⁻¹ and P = Wᵀ G W alone; both are used up.

    A step takes several columns: it looks at twice as many candidates, the cheapest, removes the
    cheapest of *these* one by one, and brings all else up to date at once.
    """
    left = torch.arange(len(inverse) // group)
    at_once = max(1, len(left) // STEPS) if group == 1 else 1
    order: list[Tensor] = []
    while len(left):
        gone = _price_each(inverse, prices, group).argsort(stable=True)[: 2 * at_once]
        if at_once == 1:
            gone = gone[:1]
        else:
            candidates = inverse[gone][:, gone], prices[gone][:, gone]
            gone = gone[_one_by_one(*candidates, count=min(at_once, len(left)))]
        order.append(left[gone])
        s = _columns(gone, group)
        _make_up_for(inverse, prices, s)
        to, fro = _moves(gone, len(left))
        left[to] = left[fro]
        left = left[: -len(gone)]
        moves = _columns(to, group), _columns(fro, group), len(left) * group
        inverse, prices = _closed_up(inverse, *moves), _closed_up(prices, *moves)
    return torch.cat(order)


def compensate(
    weight: Float[Tensor, "width n"],
    bias: Float[Tensor, " width"],
    covariance: Float[Tensor, "n n"],
    mean: Float[Tensor, " n"],
    kept: Int[Tensor, " kept"],
    damping: float = DAMPING,
) -> tuple[Float[Tensor, "width kept"], Float[Tensor, " width"]]:
    """The kept columns and the bias that come nearest to what all columns did."""
    matrix, columns = damped(covariance, damping), weight.double()
    root = torch.linalg.cholesky(matrix[kept][:, kept])
    new = torch.cholesky_solve(matrix[kept] @ columns.T, root).T
    shift = columns @ mean.double() - new @ mean.double()[kept]
    return new.to(weight.dtype), (bias.double() + shift).to(bias.dtype)


def _price_each(inverse: Tensor, prices: Tensor, group: int) -> Float[Tensor, " groups"]:
    """What each group by itself costs now."""
    if group == 1:
        return prices.diagonal() / inverse.diagonal()
    return (
        torch.linalg.solve(_blocks(inverse, group), _blocks(prices, group))
        .diagonal(dim1=1, dim2=2)
        .sum(1)
    )


def _one_by_one(inverse: Tensor, prices: Tensor, count: int) -> list[int]:
    """The first so many of a few columns, the cheapest after every removal."""
    gone: list[int] = []
    for _ in range(count):
        price = prices.diagonal() / inverse.diagonal().clamp(min=torch.finfo(torch.float64).tiny)
        price[gone] = torch.inf  # what is gone has neither price nor inverse
        gone.append(int(price.argmin()))
        _make_up_for(inverse, prices, torch.tensor(gone[-1:]))
    return gone


def _make_up_for(inverse: Tensor, prices: Tensor, s: Tensor) -> None:
    """Bring M and P up to date once the others have made up for the columns `s`; these become 0."""
    share = torch.linalg.solve(inverse[s][:, s], inverse[s])  # (M_SS)⁻¹ M_S,:
    half = prices[:, s] - share.T @ (prices[s][:, s] / 2)
    prices.addmm_(torch.cat([half, share.T], 1), torch.cat([share, half.T]), alpha=-1)
    inverse.addmm_(inverse[:, s], share, alpha=-1)


def _moves(gone: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Where to and from what moves, so that all that stays of so many lies before the rest."""
    end = count - len(gone)
    stays = torch.ones(count, dtype=torch.bool).index_fill(0, gone, False)
    return (~stays[:end]).nonzero()[:, 0], stays[end:].nonzero()[:, 0] + end


def _closed_up(matrix: Tensor, to: Tensor, fro: Tensor, end: int) -> Tensor:
    """What stays of a matrix, where it lies: copies would take longer than all else of a step."""
    matrix[to] = matrix[fro]
    matrix[:, to] = matrix[:, fro]
    return matrix[:end, :end]


def _columns(groups: Tensor, group: int) -> Tensor:
    return (groups[:, None] * group + torch.arange(group)).flatten()


def _blocks(matrix: Tensor, group: int) -> Tensor:
    """The diagonal blocks of a matrix."""
    count = len(matrix) // group
    return matrix.view(count, group, count, group).diagonal(dim1=0, dim2=2).permute(2, 0, 1)
