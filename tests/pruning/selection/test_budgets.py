"""Budgets keep what they promise, together with minima and multiples."""

import torch

import polyprune as pp
from polyprune.pruning.criteria.criterion import random_scores
from polyprune.pruning.criteria.importance import GateGradients
from polyprune.pruning.criteria.scores_file import ScoreSheet, ScoringRecord
from polyprune.pruning.ranker import Ranker
from polyprune.pruning.selection.audit import audit
from polyprune.pruning.selection.budgets import Parameters, Sparsity
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
