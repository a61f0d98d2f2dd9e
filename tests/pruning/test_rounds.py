"""Pruning in rounds: what is left fits the budget, and shrinking it was exact."""

import pytest
import torch

import polyprune as pp
from polyprune.corpora.batching import Batching
from polyprune.corpora.sentences import corpus_in_memory
from polyprune.model.surgery.certify import certify, random_probe
from polyprune.pruning.criteria.scoring import Scoring, ScoringText, score
from polyprune.pruning.prune import prune_model
from polyprune.pruning.ranker import Ranker
from polyprune.pruning.rounds import Rounds, compose, prune_in_rounds
from polyprune.pruning.second_order.compensation import Compensation
from polyprune.pruning.second_order.refit import hidden_error
from polyprune.pruning.selection.budgets import Parameters, Sparsity
from support.models import speaking_model
from support.text import SENTENCES


@pytest.fixture
def speaking(tmp_path):
    return pp.load(speaking_model(tmp_path))


def text_of(model) -> ScoringText:
    batching = Batching(model.source.tokenizer(), 4, 24)
    return ScoringText(corpus_in_memory(SENTENCES), batching)


def scorer_for(model, rule="second-order", sentences=4):
    text, seen = text_of(model), []
    curves = rule == "second-order"

    def scorer(current, number, split):
        seen.append((number, current.shape))
        scoring = Scoring(sentences, skip=sentences * number, curves=curves)
        return score(current, text, scoring)

    return scorer, seen


@pytest.mark.parametrize("rule", ["second-order", "fisher"])
@pytest.mark.parametrize("number", [1, 3])
def test_a_budget_of_sparsity_is_met(speaking, rule, number):
    scorer, seen = scorer_for(speaking, rule)
    ranker = Ranker.named(rule=rule)
    pruned = prune_in_rounds(speaking, Sparsity(0.5), ranker, scorer, Rounds(number))
    (row,) = pruned.selection.rows
    weight_of_a_head = 4 * speaking.shape.head_width
    total = 2 * (4 * weight_of_a_head + 2 * 40) + 24
    assert 0.5 - weight_of_a_head / total <= row.audit.density <= 0.5
    assert row.audit.parameters == pruned.model.num_parameters()
    assert row.audit.requested_sparsity == 0.5
    assert [each for each, _ in seen] == list(range(number))
    widths = [sum(shape.units) + sum(shape.heads) for _, shape in seen]
    assert widths == sorted(widths, reverse=True)
    assert len(set(widths)) == number


def test_a_budget_of_parameters_is_met(speaking):
    scorer, _ = scorer_for(speaking)
    most = int(0.7 * speaking.num_parameters())
    pruned = prune_in_rounds(
        speaking, Parameters(most), Ranker.named(rule="second-order"), scorer, Rounds(2)
    )
    assert 0.9 * most < pruned.model.num_parameters() <= most


@pytest.mark.parametrize("number", [1, 3])
def test_the_uncut_model_with_gates_computes_what_the_small_one_does(speaking, number):
    scorer, _ = scorer_for(speaking)
    ranker = Ranker.named(rule="second-order")
    pruned = prune_in_rounds(speaking, Sparsity(0.6), ranker, scorer, Rounds(number))
    assert pruned.uncut.shape.heads == speaking.shape.heads
    probes = {"random": random_probe(speaking.shape)}
    found = certify(pruned.uncut, pruned.selection.gates, pruned.model, probes)
    assert found["random"] < 1e-4


def test_what_is_left_makes_up_for_what_goes(speaking):
    text = text_of(speaking)
    sheet = score(speaking, text, Scoring(12, curves=True))
    ranker = Ranker.named(rule="second-order").on(sheet)
    plain = prune_model(speaking, Sparsity(0.5), ranker)
    made_up = prune_model(speaking, Sparsity(0.5), ranker, repair=Compensation(sheet.covariances))
    assert plain.model.shape == made_up.model.shape
    batches = [b for own in SENTENCES.values() for b in text.batching.plain(own)]
    uncut = hidden_error(made_up.model, speaking, batches)
    assert uncut < 0.9 * hidden_error(plain.model, speaking, batches)


def test_two_cuts_are_one():
    first = pp.PerComponent((torch.tensor([[1.0, 0, 1]]),), (), torch.ones(1, 2))
    then = pp.PerComponent((torch.tensor([[0.0, 1]]),), (), torch.tensor([[1.0, 0]]))
    both = compose(first, then)
    assert both.heads[0].tolist() == [[0, 0, 1]]
    assert both.rank.tolist() == [[1, 0]]
