"""What L0 pruning adds to the training loss: size (Eqs. 10, 11) and diversity (Eq. 12)."""

from collections.abc import Sequence

import torch
from torch import Tensor

from ...corpora.languages import Language, same_family
from ...model.network.tensor_types import Float


def native_l0(
    expected_open: Float[Tensor, "rows components"], weights: Float[Tensor, " components"]
) -> Float[Tensor, ""]:
    """The weighted number of gates expected to be open (Eq. 10), summed over rows."""
    return (expected_open * weights).sum()


def expected_density(
    expected_open: Float[Tensor, "rows components"], weights: Float[Tensor, " components"]
) -> Float[Tensor, " rows"]:
    """‖Gⁱ‖₀ of Eq. 11 as a fraction of the total weight: the target t is one too."""
    return (expected_open @ weights) / weights.sum()


def sparsity_constraint(
    expected_open: Float[Tensor, "rows components"],
    weights: Float[Tensor, " components"],
    density: float,
    mean: bool = False,
) -> Float[Tensor, ""]:
    """Σᵢ |‖Gⁱ‖₀ − t| over languages (Eq. 11), or their mean."""
    distances = (expected_density(expected_open, weights) - density).abs()
    return distances.mean() if mean else distances.sum()


def lagrangian(
    expected_open: Float[Tensor, "rows components"],
    weights: Float[Tensor, " components"],
    density: float,
    first: Float[Tensor, "#rows"],
    second: Float[Tensor, "#rows"],
) -> Float[Tensor, ""]:
    """Σᵢ λᵢ (‖Gⁱ‖₀ − t) + μᵢ (‖Gⁱ‖₀ − t)²: the constraint with multipliers (Wang et al., 2020).

    The multipliers are to be *maximized* while the rest is minimized: give them to an optimizer
    with `maximize=True`. Where Eq. 11 pulls with constant force, they pull harder the longer the
    size is missed.
    """
    gap = expected_density(expected_open, weights) - density
    return (first * gap + second * gap.square()).sum()


def diversity(
    gates: Float[Tensor, "rows components"],
    prior: Float[Tensor, "rows rows"],
    literal: bool = False,
) -> Float[Tensor, ""]:
    """‖P ⊙ GGᵀ ⊙ (1 − I)‖₁ (Eq. 12), divided by gates and other languages unless `literal`.

    The sum over i ≠ j of P_ij gᵢ·gⱼ. Undivided it reaches 10⁸ for 100 languages × 37,776 gates,
    where Eq. 11 has at most 100. Divided, it is for every language the mean overlap with others, as
    a share of the gates: a sum over languages as Eq. 11 is, and its derivative by a gate,
    2 Σⱼ P_ij gⱼ / (gates · others), is about 1 / gates, as that of ‖Gⁱ‖₀ is.
    """
    rows, components = gates.shape
    overlap = (prior * (gates @ gates.T)).abs()
    total = overlap.sum() - overlap.diagonal().sum()
    return total if literal else total / (components * max(rows - 1, 1))


def family_prior(
    languages: Sequence[Language], missing_is_a_family: bool = True
) -> Float[Tensor, "rows rows"]:
    """P of Eq. 12: 0 between languages of one family, which may be alike, 1 between others.

    The paper's table has one special family "Missing"; read literally, its nine languages are kin.
    With `missing_is_a_family=False` nothing is known of them and they are kin to nobody.
    """

    def kin(a: Language, b: Language) -> bool:
        return same_family(a, b) or (missing_is_a_family and a.family is None and b.family is None)

    return torch.tensor([[0.0 if kin(a, b) else 1.0 for b in languages] for a in languages])
