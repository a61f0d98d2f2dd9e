"""What has to stay stays, the rest is ranked, and a budget too small for it is refused."""

import re

import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from polyprune.errors import ConfigError
from polyprune.model.network.components import PerComponent
from polyprune.pruning.selection.ranking import (
    ComponentWeights,
    Minimum,
    counts_of,
    density_of,
    keep_best,
)
from support.rankings import make, rankings

minimums = st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(0, 3))


def needed(scores, counts):
    """How many of each leaf have to stay."""
    layers = len(scores.heads)
    wanted = (counts[0],) * layers + (counts[1],) * layers + (counts[2],)
    return [min(n, leaf.shape[1]) for n, leaf in zip(wanted, scores.leaves(), strict=True)]


def least(scores, weights, counts):
    """The weight of what has to stay."""
    cost = [int(c[0]) if len(c) else 0 for c in weights.spread(counts_of(scores)).leaves()]
    return sum(n * c for n, c in zip(needed(scores, counts), cost, strict=True))


def enough(scores, weights, counts, density):
    """A density at which what has to stay does fit."""
    just = least(scores, weights, counts) / weights.total(counts_of(scores))
    return just + (1 - just) * density


@given(rankings(), minimums)
def test_the_best_of_each_layer_are_forced(ranking, counts):
    scores, _, _ = make(ranking)
    forced = Minimum(*counts).forced(scores)
    parts = forced.split([leaf.shape[1] for leaf in scores.leaves()], dim=1)
    for leaf, part, n in zip(scores.leaves(), parts, needed(scores, counts), strict=True):
        for score, must in zip(leaf, part, strict=True):
            assert sorted(score[must].tolist()) == sorted(score.tolist())[len(score) - n :]


@given(rankings(), minimums)
def test_what_is_forced_is_kept_and_the_budget_met_within_one_component(ranking, counts):
    scores, weights, share = make(ranking)
    minimum, density = Minimum(*counts), enough(scores, weights, counts, share)
    gates = keep_best(scores, density, weights, minimum)
    assert (torch.cat(gates.leaves(), 1)[minimum.forced(scores)] == 1).all()
    largest = max(weights.head, weights.unit, weights.rank) / weights.total(counts_of(scores))
    achieved = density_of(gates, weights)
    assert (achieved <= density + 1e-6).all()
    assert (achieved > density - largest - 1e-6).all()


@given(rankings(), minimums)
def test_of_what_is_not_forced_nothing_dropped_scores_higher_than_anything_kept(ranking, counts):
    scores, weights, share = make(ranking, rows=1)
    minimum, density = Minimum(*counts), enough(scores, weights, counts, share)
    gates = torch.cat(keep_best(scores, density, weights, minimum).leaves(), 1)[0].bool()
    flat, free = torch.cat(scores.leaves(), 1)[0], ~minimum.forced(scores)[0]
    kept, dropped = flat[free & gates], flat[free & ~gates]
    if len(kept) and len(dropped):
        assert kept.min() >= dropped.max()


@given(rankings())
def test_a_minimum_of_nothing_changes_nothing(ranking):
    scores, weights, density = make(ranking)
    plain = keep_best(scores, density, weights)
    forced = keep_best(scores, density, weights, Minimum())
    assert all(torch.equal(a, b) for a, b in zip(plain.leaves(), forced.leaves(), strict=True))


@given(rankings(), minimums)
def test_too_small_a_budget_is_told_the_largest_sparsity_possible(ranking, counts):
    scores, weights, _ = make(ranking)
    weight, total = least(scores, weights, counts), weights.total(counts_of(scores))
    assume(weight > 0)
    with pytest.raises(ConfigError, match="The largest sparsity possible is ") as error:
        keep_best(scores, (weight - 1) / total, weights, Minimum(*counts))
    said = re.search(r"possible is (\S+)\.$", str(error.value))
    assert float(said[1]) == pytest.approx(1 - weight / total, abs=1e-4)
    keep_best(scores, 1 - float(said[1]), weights, Minimum(*counts))


def test_the_refusal_says_what_has_to_stay():
    scores = PerComponent((torch.ones(1, 2),), (torch.ones(1, 4),), torch.ones(1, 8))
    weights = ComponentWeights(head=8, unit=2, rank=1)  # 32 in all
    with pytest.raises(
        ConfigError, match=r"0\.4375 of .* \(1 heads and 2 units per layer, rank 2\).* is 0\.5625\."
    ):
        keep_best(scores, 0.25, weights, Minimum(heads=1, units=2, rank=2))
    kept = keep_best(scores, 1 - 0.5625, weights, Minimum(heads=1, units=2, rank=2))
    assert [int(gate.sum()) for gate in kept.leaves()] == [1, 2, 2]


def test_a_minimum_larger_than_a_layer_keeps_all_of_it():
    scores = PerComponent(
        (torch.ones(1, 1), torch.ones(1, 3)), (torch.ones(1, 0),) * 2, torch.ones(1, 2)
    )
    forced = Minimum(heads=2, units=5).forced(scores)
    assert forced.tolist() == [[True, True, True, False, False, False]]
