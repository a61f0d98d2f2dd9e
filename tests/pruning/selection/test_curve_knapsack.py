"""The knapsack over removal curves, against exhaustive search."""

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from polyprune.errors import ConfigError
from polyprune.model.network.components import PerComponent
from polyprune.pruning.second_order.curves import RemovalCurves
from polyprune.pruning.selection import curve_knapsack
from polyprune.pruning.selection.curve_knapsack import best_widths, keep_cheapest
from polyprune.pruning.selection.ranking import ComponentWeights, Minimum, density_of


@st.composite
def problems(draw):
    """Losses that fall with every component that stays, in any shape."""
    losses = []
    for _ in range(draw(st.integers(1, 4))):
        steps = draw(st.lists(st.floats(0, 10), min_size=0, max_size=4))
        losses.append(np.cumsum([0.0, *steps])[::-1].copy())
    weights = [draw(st.integers(1, 6)) for _ in losses]
    total = sum(w * (len(loss) - 1) for w, loss in zip(weights, losses, strict=True))
    return losses, weights, draw(st.integers(0, total + 2))


def loss_of(losses, kept):
    return sum(loss[k] for loss, k in zip(losses, kept, strict=True))


@given(problems())
def test_no_other_widths_lose_less(problem):
    losses, weights, limit = problem
    kept = best_widths(losses, weights, [0] * len(losses), limit)
    assert sum(k * w for k, w in zip(kept, weights, strict=True)) <= limit
    best = min(
        loss_of(losses, widths)
        for widths in itertools.product(*(range(len(loss)) for loss in losses))
        if sum(k * w for k, w in zip(widths, weights, strict=True)) <= limit
    )
    assert loss_of(losses, kept) == pytest.approx(best)


@given(problems(), st.integers(0, 2))
def test_what_has_to_stay_stays(problem, floor):
    losses, weights, limit = problem
    floors = [min(floor, len(loss) - 1) for loss in losses]
    limit += sum(f * w for f, w in zip(floors, weights, strict=True))
    kept = best_widths(losses, weights, floors, limit)
    assert all(k >= f for k, f in zip(kept, floors, strict=True))


def test_of_a_wide_sublayer_widths_around_the_best_are_tried_once_more(monkeypatch):
    monkeypatch.setattr(curve_knapsack, "MOST_WIDTHS", 4)
    losses = [np.linspace(10, 0, 41), np.linspace(1, 0, 4)]
    kept = best_widths(losses, [2, 8], [0, 0], 57)
    assert kept == [28, 0]


def some_curves() -> RemovalCurves:
    steps = torch.tensor([[5.0, 4.0, 6.0], [0.3, 0.1, 0.2]]).double()
    order = torch.tensor([[1, 0, 2]])
    rank = torch.full((2, 2), 100.0).double()
    return RemovalCurves(
        PerComponent((order,), (order,), torch.tensor([[0, 1]])),
        PerComponent((steps,), (steps.flip(0),), rank),
    )


def test_every_row_has_its_own_widths_in_the_order_of_removal():
    weights = ComponentWeights(4, 2, 1)
    gates = keep_cheapest(some_curves(), 0.7, weights, Minimum(rank=1))
    assert (density_of(gates, weights) <= 0.7).all()
    assert gates.rank.tolist() == [[1, 1], [1, 1]]
    for gate in (*gates.heads, *gates.units):
        for row in gate:
            assert row.tolist() in ([1, 1, 1], [1, 0, 1], [0, 0, 1], [0, 0, 0])
    assert not torch.equal(torch.cat(gates.leaves(), 1)[0], torch.cat(gates.leaves(), 1)[1])


def test_less_than_what_has_to_stay_is_refused():
    with pytest.raises(ConfigError, match="largest sparsity possible"):
        keep_cheapest(some_curves(), 0.1, ComponentWeights(4, 2, 1), Minimum(heads=2, rank=1))
