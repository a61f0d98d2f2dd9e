"""Budgets keep what they promise, together with minima and multiples."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import polyprune as pp
from polyprune.model.network.components import PerComponent
from polyprune.pruning.criteria.criterion import random_scores
from polyprune.pruning.criteria.importance import GateGradients
from polyprune.pruning.criteria.scores_file import ScoreSheet, ScoringRecord
from polyprune.pruning.ranker import Ranker
from polyprune.pruning.second_order.curves import RemovalCurves
from polyprune.pruning.selection.audit import audit
from polyprune.pruning.selection.budgets import Parameters, Sparsity, SparsityAndParameters
from polyprune.pruning.shrinking import with_ranks
from support.models import speaking_model


def test_units_are_a_multiple_within_every_languages_budget(tmp_path):
    base = with_ranks(pp.load(speaking_model(tmp_path / "model")), "spectral")
    words, layers = random_scores(base.shape, 2), random_scores(base.shape, 3)
    scores = words.map(lambda a, b: torch.cat([a, b]), layers)
    scores = type(scores)(
        scores.heads, scores.units, torch.cat([words.rank + 1, 0.001 * layers.rank])
    )
    about = ScoringRecord("", "spectral", "masked-lm", "example", ("en", "sw"), (1, 1))
    sheet = ScoreSheet(GateGradients(scores, scores), about)
    ranker = Ranker.named("gradient", "paper", "non-shared").on(sheet)
    gates = Parameters(6_020, multiple=8).select(base, ranker).gates
    for i in range(2):
        small = pp.shrink(base, gates.map(lambda gate, i=i: gate[i, None]))
        assert small.num_parameters() <= 6_020
        assert all(units % 8 == 0 for units in small.shape.units)
    assert any(gate.any() for gate in gates.units)


def test_a_sparsity_that_is_met_exactly_is_reported_exactly(dense):
    model = pp.load(dense)
    for kept in range(60, 140):
        sparsity = 1 - kept / 376
        gates = Sparsity(sparsity).select(model, Ranker.named("random")).gates
        assert audit(model, gates, sparsity=sparsity).gate_sparsity >= sparsity - 1e-9


def curved_ranker(shape, seed: int) -> Ranker:
    """Removal curves of any shape, for one order that all languages share."""
    generator = torch.Generator().manual_seed(seed)
    sizes = PerComponent(shape.heads, shape.units, shape.rank)
    steps = sizes.map(lambda n: torch.rand(1, n, generator=generator).double() ** 3)
    order = sizes.map(lambda n: torch.randperm(n, generator=generator)[None])
    curves = RemovalCurves(order, steps)
    scores = curves.scores()
    about = ScoringRecord("", "spectral", "masked-lm", "example", ("en",), (1,))
    sheet = ScoreSheet(GateGradients(scores, scores, curves), about)
    return Ranker.named("gradient", "second-order").on(sheet)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    return with_ranks(pp.load(speaking_model(folder / "model")), "spectral")


@given(
    st.integers(0, 1000),
    st.floats(0, 0.9),
    st.floats(0.3, 1.1),
    st.booleans(),
    st.sampled_from([1, 4]),
)
def test_a_sparsity_and_a_size_both_hold(whole, seed, sparsity, share, curves, multiple):
    limit = int(share * whole.num_parameters())
    shape = whole.shape
    ranker = curved_ranker(shape, seed) if curves else Ranker.named("random", seed=seed)
    alone = Sparsity(sparsity, multiple=multiple), Parameters(limit, multiple=multiple)
    found = SparsityAndParameters(*alone, multiple=multiple).select(whole, ranker)
    sizes, binds = found.only.audit, found.only.binds
    small = pp.shrink(whole, found.gates)
    assert small.num_parameters() == sizes.parameters <= limit
    assert sizes.gate_sparsity >= sparsity - 1e-6
    assert all(units % multiple == 0 for units in small.shape.units)
    assert (sizes.requested_sparsity, sizes.requested_parameters) == (sparsity, limit)
    assert set(binds) <= {"sparsity", "parameters"}
    for each, name in zip(alone, ("sparsity", "parameters"), strict=True):
        one = each.select(whole, ranker)
        kept = one.only.audit.parameters <= limit and one.only.audit.gate_sparsity >= sparsity
        if kept and name == "sparsity":  # the other limit is no matter
            assert torch.equal(torch.cat(one.gates.leaves(), 1), torch.cat(found.gates.leaves(), 1))
            assert "parameters" not in binds


def test_limits_that_need_each_other_both_hold(whole):
    """A sparsity leaves words alone, a size takes them first and leaves too much of the layers."""
    ranker = curved_ranker(whole.shape, 3)
    by_sparsity = Sparsity(0.6).select(whole, ranker).only.audit
    limit = int(0.97 * by_sparsity.parameters)
    by_size = Parameters(limit).select(whole, ranker).only.audit
    assert by_size.gate_sparsity < 0.6
    both = SparsityAndParameters(Sparsity(0.6), Parameters(limit)).select(whole, ranker)
    assert both.only.audit.gate_sparsity >= 0.6
    assert both.only.audit.parameters <= limit
    assert both.only.binds == ("sparsity", "parameters")
