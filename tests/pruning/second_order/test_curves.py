"""Removal curves as a ranking, and in a scores file."""

import itertools

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from polyprune.model.network.components import PerComponent
from polyprune.pruning.second_order.curves import RemovalCurves, hull_slopes
from polyprune.pruning.selection.ranking import ComponentWeights, keep_best

COSTS = st.lists(st.floats(0, 100), min_size=1, max_size=12)


@given(COSTS)
def test_slopes_rise_and_lie_below_the_curve(costs):
    steps = torch.tensor(costs, dtype=torch.float64)
    slopes = hull_slopes(steps)
    assert (slopes.diff() >= -1e-9).all()
    assert (slopes.cumsum(0) <= steps.cumsum(0) + 1e-6).all()
    assert float(slopes.sum()) == pytest.approx(float(steps.sum()))


@given(COSTS)
def test_rising_steps_are_their_own_slopes(costs):
    steps = torch.tensor(sorted(costs), dtype=torch.float64)
    assert torch.allclose(hull_slopes(steps), steps)


def curves(generator: torch.Generator, counts=((3, 2), (4, 3), 2)) -> RemovalCurves:
    """Random curves that bend both ways."""
    heads, units, rank = counts

    def order(n):
        return torch.randperm(n, generator=generator)[None]

    def steps(n):
        return torch.rand(1, n, generator=generator, dtype=torch.float64)

    return RemovalCurves(
        PerComponent(tuple(map(order, heads)), tuple(map(order, units)), order(rank)),
        PerComponent(tuple(map(steps, heads)), tuple(map(steps, units)), steps(rank)),
    )


def loss(own: RemovalCurves, kept) -> float:
    """What the widths of these gates cost by the curves."""
    total = 0.0
    for steps, gate in zip(own.steps.leaves(), kept.leaves(), strict=True):
        total += float(steps[0, : int((gate == 0).sum())].sum())
    return total


@pytest.mark.parametrize("seed", range(20))
def test_what_goes_goes_in_the_order_of_its_sublayer(seed):
    own = curves(torch.Generator().manual_seed(seed))
    for density in (0.3, 0.5, 0.8):
        kept = keep_best(own.scores(), density, ComponentWeights(8, 2, 1))
        for order, gate in zip(own.order.leaves(), kept.leaves(), strict=True):
            gone = int((gate == 0).sum())
            assert set(order[0, :gone].tolist()) == set((gate[0] == 0).nonzero()[:, 0].tolist())


@pytest.mark.parametrize("seed", range(10))
def test_at_the_corners_of_the_hulls_no_other_widths_cost_less(seed):
    """Exhaustive search over all widths that keep no more than the ranking does."""
    own = curves(torch.Generator().manual_seed(seed))
    weights = ComponentWeights(8, 2, 1)
    each = weights.spread(own.steps.map(lambda steps: steps.shape[1])).leaves()
    scores = own.scores().map(
        lambda score, weight: score / weight,
        PerComponent(tuple(each[:2]), tuple(each[2:4]), each[4]),
    )
    sizes = [steps.shape[1] for steps in own.steps.leaves()]
    total = weights.total(own.steps.map(lambda steps: steps.shape[1]))
    for density in (0.25, 0.5, 0.75):
        kept = keep_best(scores, density, weights)
        held = sum(int(g.sum()) * int(w[0]) for g, w in zip(kept.leaves(), each, strict=True))
        corners = all(
            gone in (0, n)
            or abs(float(hull_slopes(steps[0])[:gone].sum() - steps[0, :gone].sum())) < 1e-9
            for steps, n, gone in (
                (steps, n, int((gate == 0).sum()))
                for steps, n, gate in zip(own.steps.leaves(), sizes, kept.leaves(), strict=True)
            )
        )
        if not corners:
            continue
        best = min(
            sum(
                float(s[0, : n - k].sum())
                for s, n, k in zip(own.steps.leaves(), sizes, widths, strict=True)
            )
            for widths in itertools.product(*(range(n + 1) for n in sizes))
            if sum(k * int(w[0]) for k, w in zip(widths, each, strict=True)) <= held
        )
        assert held <= density * total
        assert loss(own, kept) == pytest.approx(best, abs=1e-9)


def test_languages_with_one_order_are_averaged_along_it():
    order = torch.tensor([[2, 0, 1]])
    both = torch.tensor([[1.0, 2.0, 6.0], [3.0, 2.0, 8.0]]).double()
    empty = torch.zeros(1, 0, dtype=torch.long)
    own = RemovalCurves(
        PerComponent((empty,), (order,), empty), PerComponent((both[:, :0],), (both,), both[:, :0])
    )
    mean = own.combined(lambda scores: scores.map(lambda s: s.mean(0, keepdim=True)))
    assert torch.allclose(mean.scores().units[0], torch.tensor([[2.0, 7.0, 2.0]]).double())
    assert torch.equal(own.only([1]).steps.units[0], both[1:])


def test_languages_with_orders_of_their_own_are_averaged_by_component():
    orders = torch.tensor([[0, 1], [1, 0]])
    steps = torch.tensor([[1.0, 2.0], [1.0, 2.0]]).double()
    empty = torch.zeros(2, 0, dtype=torch.long)
    own = RemovalCurves(
        PerComponent((empty,), (orders,), empty),
        PerComponent((steps[:, :0],), (steps,), steps[:, :0]),
    )
    mean = own.combined(lambda scores: scores.map(lambda s: s.mean(0, keepdim=True)))
    assert torch.allclose(mean.steps.units[0], torch.tensor([[1.5, 1.5]]).double())
