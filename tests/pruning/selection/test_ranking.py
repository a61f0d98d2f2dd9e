"""One ranking, one budget: never over it, and under it by less than one component."""

import json

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from polyprune.model.network.components import PerComponent, open_gates, sizes
from polyprune.pruning.selection.ranking import ComponentWeights, density_of, keep_best
from support.paths import VECTORS
from support.rankings import XLM_R_BASE, make, rankings

PAPER = json.loads((VECTORS / "ds_binning.json").read_text())["full_scale"]


@given(rankings())
def test_the_budget_is_met_within_one_component(ranking):
    scores, weights, density = make(ranking)
    gates = keep_best(scores, density, weights)
    achieved = density_of(gates, weights)
    total = weights.total(scores.map(lambda s: s.shape[-1]))
    largest = max(weights.head, weights.unit, weights.rank) / total
    assert (achieved <= density + 1e-6).all()
    assert (achieved > density - largest - 1e-6).all()


@given(rankings())
def test_nothing_dropped_scores_higher_than_anything_kept(ranking):
    scores, weights, density = make(ranking, rows=1)
    gates = torch.cat(keep_best(scores, density, weights).leaves(), 1)[0].bool()
    flat = torch.cat(scores.leaves(), 1)[0]
    if gates.any() and not gates.all():
        assert flat[gates].min() >= flat[~gates].max()


@given(rankings(), st.floats(0, 1))
def test_a_larger_budget_keeps_all_that_a_smaller_one_kept(ranking, other):
    scores, weights, density = make(ranking)
    small, large = sorted((density, other))
    pairs = zip(
        keep_best(scores, small, weights).leaves(),
        keep_best(scores, large, weights).leaves(),
        strict=True,
    )
    assert all((a <= b).all() for a, b in pairs)


@given(rankings())
def test_each_row_is_ranked_by_itself(ranking):
    scores, weights, density = make(ranking, rows=3)
    together = keep_best(scores, density, weights)
    for row in range(3):
        alone = keep_best(scores.map(lambda s, row=row: s[row, None]), density, weights)
        assert all(
            torch.equal(a[row, None], b)
            for a, b in zip(together.leaves(), alone.leaves(), strict=True)
        )


def test_xlm_r_base_weighs_what_the_paper_says():
    assert (
        ComponentWeights.of(XLM_R_BASE).total(sizes(XLM_R_BASE)) == PAPER["total_weight"] == 111_360
    )
    assert ComponentWeights.of(XLM_R_BASE) == ComponentWeights(256, 2, 1)
    assert ComponentWeights.like(open_gates(XLM_R_BASE)) == ComponentWeights(256, 2, 1)


@pytest.mark.parametrize("sparsity", PAPER["grad_paper"])
def test_the_papers_counts_follow_from_the_rule(sparsity):
    """With the figure's counts ranked last, the rule prunes just those components."""
    row = PAPER["grad_paper"][sparsity]
    pruned = row["pruned"]

    def scores(sizes, count):
        """Low scores for `count` components, counted from the first layer on."""
        parts = []
        for n in sizes:
            low = min(n, count)
            parts.append(torch.cat([torch.zeros(1, low), torch.ones(1, n - low)], 1))
            count -= low
        return tuple(parts)

    shape = sizes(XLM_R_BASE)
    # Among what the figure prunes, heads go last: the first to come back would break the budget.
    heads = tuple(2 * s + 1 for s in scores(shape.heads, pruned["head"]))
    units = tuple(3 * s for s in scores(shape.units, pruned["hidden"]))
    ranks = 3 * scores((shape.rank,), pruned["rank"])[0]
    gates = keep_best(PerComponent(heads, units, ranks), 1 - int(sparsity) / 100)
    assert sum(int((g == 0).sum()) for g in gates.units) == pruned["hidden"]
    assert sum(int((g == 0).sum()) for g in gates.heads) == pruned["head"]
    assert int((gates.rank == 0).sum()) == pruned["rank"]


def test_a_density_is_a_fraction():
    with pytest.raises(ValueError, match=r"between 0 and 1, got 1\.3"):
        keep_best(open_gates(XLM_R_BASE), 1.3)


def test_scores_must_be_numbers():
    scores = open_gates(XLM_R_BASE)
    scores.rank[0, 5] = float("nan")
    with pytest.raises(ValueError, match="must be finite"):
        keep_best(scores, 0.5)
