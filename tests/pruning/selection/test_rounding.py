"""Whole groups of units in every layer, its best ones, and never over the budget."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from polyprune.errors import ConfigError
from polyprune.model.network.components import PerComponent
from polyprune.pruning.selection.ranking import ComponentWeights, counts_of, keep_best, weight_limit
from polyprune.pruning.selection.rounding import round_units
from support.rankings import make, rankings

multiples = st.integers(1, 5)


def rounded(ranking, multiple, rows=2):
    """Scores, the gates that fit a budget, those rounded, the budget, and what things weigh."""
    scores, weights, density = make(ranking, rows)
    gates = keep_best(scores, density, weights)
    limit = weight_limit(density, weights, counts_of(scores))
    after = round_units(gates, scores, multiple, [limit] * rows, weights)
    return scores, gates, after, limit, weights


def weight(gates, weights):
    """The weight of what each row keeps, in integers."""
    cost = torch.cat(weights.spread(counts_of(gates)).leaves())
    return ((torch.cat(gates.leaves(), 1) > 0) * cost).sum(1)


def same(a, b):
    return all(torch.equal(x, y) for x, y in zip(a, b, strict=True))


@given(rankings(), multiples)
def test_every_layer_keeps_a_multiple_and_nothing_else_changes(ranking, multiple):
    _, before, after, _, _ = rounded(ranking, multiple)
    assert all((units.sum(1) % multiple == 0).all() for units in after.units)
    assert same(after.heads, before.heads)
    assert torch.equal(after.rank, before.rank)


@given(rankings(), multiples)
def test_it_is_never_over_the_budget(ranking, multiple):
    _, _, after, limit, weights = rounded(ranking, multiple)
    assert (weight(after, weights) <= limit).all()


@given(rankings(), multiples)
def test_the_kept_units_of_a_layer_are_its_best(ranking, multiple):
    scores, _, after, _, _ = rounded(ranking, multiple)
    for score, units in zip(scores.units, after.units, strict=True):
        for row, kept in zip(score, units.bool(), strict=True):
            assert (
                sorted(row[kept].tolist(), reverse=True)
                == (sorted(row.tolist(), reverse=True)[: int(kept.sum())])
            )


@given(rankings(), multiples)
def test_no_layer_loses_a_whole_group(ranking, multiple):
    _, before, after, _, _ = rounded(ranking, multiple)
    for a, b in zip(before.units, after.units, strict=True):
        assert (b.sum(1) > a.sum(1) - multiple).all()


@given(rankings(), multiples)
def test_a_layer_goes_without_its_next_group_only_if_that_does_not_fit(ranking, multiple):
    _, before, after, limit, weights = rounded(ranking, multiple)
    left = limit - weight(after, weights)
    for a, b in zip(before.units, after.units, strict=True):
        without = b.sum(1) == a.sum(1) // multiple * multiple
        has_one = b.sum(1) + multiple <= b.shape[1]
        assert (left[without & has_one] < weights.unit * multiple).all()


@given(rankings(), multiples, st.integers(0, 900))
def test_no_whole_group_that_would_still_fit_is_left_out(ranking, multiple, room):
    scores, gates, _, limit, weights = rounded(ranking, multiple)
    after = round_units(gates, scores, multiple, [limit + room] * 2, weights)
    left = limit + room - weight(after, weights)
    assert (left >= 0).all()
    for units in after.units:
        has_one = units.sum(1) + multiple <= units.shape[1]
        assert (left[has_one] < weights.unit * multiple).all()


def test_a_layer_may_get_several_groups_that_others_gave_up():
    units = torch.ones(1, 15), torch.ones(1, 15), (torch.arange(40) < 15).float()[None]
    gates = PerComponent((torch.ones(1, 1),) * 3, units, torch.ones(1, 1))
    new = round_units(gates, gates, 8, [15 * 3 + 4], ComponentWeights(1, 1, 1))
    assert [int(layer.sum()) for layer in new.units] == [8, 8, 24]


@given(rankings(), multiples)
def test_the_best_groups_come_back_first(ranking, multiple):
    scores, before, after, _, _ = rounded(ranking, multiple, rows=1)
    came, stayed = [], []  # the mean score of each layer's first group that was to wait
    for score, a, b in zip(scores.units, before.units, after.units, strict=True):
        n = int(a.sum()) // multiple * multiple
        group = score[0].sort(descending=True).values[n : n + multiple]
        if len(group) == multiple:
            (came if int(b.sum()) > n else stayed).append(group.mean().item())
    if came and stayed:
        assert min(came) >= max(stayed)


@given(rankings())
def test_a_multiple_of_one_is_the_identity(ranking):
    scores, weights, density = make(ranking, rows=1)
    gates = keep_best(scores, density, weights)
    same_again = round_units(gates, scores, 1, weight(gates, weights).tolist(), weights)
    assert same(gates.leaves(), same_again.leaves())


@given(rankings(), multiples)
def test_what_is_rounded_already_stays(ranking, multiple):
    scores, _, after, _, weights = rounded(ranking, multiple, rows=1)
    again = round_units(after, scores, multiple, weight(after, weights).tolist(), weights)
    assert same(after.leaves(), again.leaves())


def test_a_better_layer_gets_what_a_worse_one_gives_up():
    units = (torch.tensor([[1.0, 1, 1, 0.1]]), torch.tensor([[2.0, 2, 2, 1.5]]))
    scores = PerComponent((torch.ones(1, 1),) * 2, units, torch.ones(1, 2))
    gates = PerComponent(
        (torch.ones(1, 1),) * 2, (torch.tensor([[1.0, 1, 1, 0]]),) * 2, scores.rank
    )
    weights = ComponentWeights(4, 2, 1)
    new = round_units(gates, scores, 2, weight(gates, weights).tolist(), weights)
    assert [int(layer.sum()) for layer in new.units] == [2, 4]


@pytest.mark.parametrize("multiple", [0, -8])
def test_units_have_no_multiple_of_nothing(multiple):
    scores = PerComponent((torch.ones(1, 1),), (torch.ones(1, 4),), torch.ones(1, 2))
    with pytest.raises(ConfigError, match=f"a multiple of 1 or more, not {multiple}"):
        round_units(scores, scores, multiple, [99], ComponentWeights())
