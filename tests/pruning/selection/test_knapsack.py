"""The exact knapsack: what trying every subset would find, and never over the budget."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from polyprune.errors import ConfigError
from polyprune.model.network.components import PerComponent
from polyprune.pruning.selection.knapsack import keep_most
from polyprune.pruning.selection.ranking import (
    ComponentWeights,
    Minimum,
    counts_of,
    keep_best,
    weight_limit,
)
from support.rankings import make, rankings

minimums = st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 2))


@st.composite
def small(draw):
    """At most twelve components, any weights, a density, a seed."""
    layers = draw(st.integers(1, 2))
    heads = draw(st.lists(st.integers(0, 2), min_size=layers, max_size=layers))
    units = draw(st.lists(st.integers(0, 3), min_size=layers, max_size=layers))
    weights = tuple(draw(st.integers(1, 40)) for _ in range(3))
    rank = draw(st.integers(1, 2))
    return heads, units, rank, weights, draw(st.floats(0, 1)), draw(st.integers(0, 99))


def quarters(network):
    """Scores whose sums are exact, some of them negative, with their weights and the density."""
    heads, units, rank, weights, density, seed = network
    g = torch.Generator().manual_seed(seed)

    def some(n):
        return torch.randint(-3, 12, (1, n), generator=g) / 4

    scores = PerComponent(tuple(map(some, heads)), tuple(map(some, units)), some(rank))
    return scores, ComponentWeights(*weights), density


def worth(gates, scores):
    """The total score of what each row keeps."""
    return (torch.cat(gates.leaves(), 1) * torch.cat(scores.leaves(), 1)).double().sum(1)


def weight(gates, weights):
    """The weight of what each row keeps, in integers."""
    cost = torch.cat(weights.spread(counts_of(gates)).leaves())
    return ((torch.cat(gates.leaves(), 1) > 0) * cost).sum(1)


def at_least(scores, minimum):
    """How many of each leaf have to stay."""
    layers = len(scores.heads)
    counts = (minimum.heads,) * layers + (minimum.units,) * layers + (minimum.rank,)
    return [min(n, leaf.shape[1]) for n, leaf in zip(counts, scores.leaves(), strict=True)]


def brute_force(scores, weights, limit, minimum):
    """The most that any subset within the limit is worth; None if none keeps enough."""
    flat = torch.cat(scores.leaves(), 1)[0].double()
    subsets = (torch.arange(2 ** len(flat))[:, None] >> torch.arange(len(flat))) & 1
    allowed = subsets @ torch.cat(weights.spread(counts_of(scores)).leaves()) <= limit
    parts = subsets.split([leaf.shape[1] for leaf in scores.leaves()], dim=1)
    for part, needed in zip(parts, at_least(scores, minimum), strict=True):
        allowed &= part.sum(1) >= needed
    return (subsets[allowed].double() @ flat).max().item() if allowed.any() else None


@given(small())
def test_no_subset_within_the_budget_is_worth_more(network):
    scores, weights, density = quarters(network)
    limit = weight_limit(density, weights, counts_of(scores))
    gates = keep_most(scores, density, weights)
    assert weight(gates, weights).item() <= limit
    assert worth(gates, scores).item() == brute_force(scores, weights, limit, Minimum())


@given(small(), minimums)
def test_no_subset_that_keeps_the_minimum_is_worth_more(network, counts):
    scores, weights, density = quarters(network)
    limit, minimum = weight_limit(density, weights, counts_of(scores)), Minimum(*counts)
    most = brute_force(scores, weights, limit, minimum)
    if most is None:
        with pytest.raises(ConfigError, match="what has to stay"):
            keep_most(scores, density, weights, minimum)
        return
    gates = keep_most(scores, density, weights, minimum)
    assert weight(gates, weights).item() <= limit
    assert worth(gates, scores).item() == most
    for gate, needed in zip(gates.leaves(), at_least(scores, minimum), strict=True):
        assert int(gate.sum()) >= needed


@given(rankings())
def test_it_is_worth_at_least_as_much_as_the_ranking_and_never_over_budget(ranking):
    scores, weights, density = make(ranking, rows=3)
    most, best = keep_most(scores, density, weights), keep_best(scores, density, weights)
    assert (weight(most, weights) <= weight_limit(density, weights, counts_of(scores))).all()
    assert (worth(most, scores) >= worth(best, scores)).all()


@given(rankings(), minimums)
def test_all_that_is_forced_is_kept(ranking, counts):
    scores, weights, _ = make(ranking)
    minimum = Minimum(*counts)
    forced = minimum.forced(scores)
    cost = torch.cat(weights.spread(counts_of(scores)).leaves())
    just = int((forced[0] * cost).sum()) / weights.total(counts_of(scores))
    for density in (just, (1 + just) / 2):
        gates = torch.cat(keep_most(scores, density, weights, minimum).leaves(), 1)
        assert (gates[forced] == 1).all()


@given(rankings())
def test_each_row_is_solved_by_itself(ranking):
    scores, weights, density = make(ranking, rows=3)
    together = keep_most(scores, density, weights)
    for row in range(3):
        alone = keep_most(scores.map(lambda s, row=row: s[row, None]), density, weights)
        assert all(
            torch.equal(a[row, None], b)
            for a, b in zip(together.leaves(), alone.leaves(), strict=True)
        )


def test_a_heavy_component_makes_room_for_many_light_ones():
    heads, units = torch.tensor([[3.0]]), torch.tensor([[2.0, 2.0, 2.0]])
    scores = PerComponent((heads,), (units,), torch.tensor([[1.0]]))
    weights = ComponentWeights(head=6, unit=2, rank=1)  # 13 in all, 6 of which may stay
    assert keep_best(scores, 6 / 13, weights).heads[0].item() == 1
    gates = keep_most(scores, 6 / 13, weights)
    assert gates.heads[0].item() == 0
    assert gates.units[0].sum().item() == 3


def test_what_is_worth_nothing_takes_no_room():
    scores = PerComponent((torch.zeros(1, 2),), (torch.zeros(1, 3),), torch.tensor([[0.0, 1.0]]))
    gates = keep_most(scores, 1.0, ComponentWeights(4, 2, 1))
    assert torch.cat(gates.leaves(), 1).tolist() == [[0, 0, 0, 0, 0, 0, 1]]


def test_scores_must_be_numbers():
    scores = PerComponent((torch.ones(1, 2),), (torch.ones(1, 3),), torch.full((1, 2), torch.nan))
    with pytest.raises(ValueError, match="must be finite"):
        keep_most(scores, 0.5)
