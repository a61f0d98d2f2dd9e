"""A budget of parameters is kept by the model that is really cut, to the last component."""

import re

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import polyprune as pp
from polyprune.errors import ConfigError
from polyprune.pruning.criteria.criterion import random_scores
from polyprune.pruning.criteria.importance import GateGradients
from polyprune.pruning.criteria.scores_file import ScoreSheet, ScoringRecord
from polyprune.pruning.ranker import Ranker
from polyprune.pruning.selection.budgets import Parameters
from polyprune.pruning.selection.parameters import keep_parameters
from polyprune.pruning.selection.ranking import Minimum
from support.models import tiny_model

KINDS = [
    (readout, table)
    for readout in ("masked-lm", "sentence-classification")
    for table in ("plain", "spectral")
]
kinds = st.sampled_from(KINDS)


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Tiny models with each readout, their word tables plain or split into Ê and P."""
    made = {}
    for readout, table in KINDS:
        folder = tmp_path_factory.mktemp("dense")
        tiny_model("xlm-roberta", readout).save_pretrained(folder)
        model = pp.load(folder)
        made[readout, table] = model if table == "plain" else pp.factorize(model, table)
    return made


@pytest.fixture(params=KINDS, ids=" ".join)
def dense_model(request, models):
    return models[request.param]


def keep(model, scores, parameters, minimum=None):
    def count(shape):
        return pp.footprint(shape, model.readout_kind, labels=model.config.num_labels).parameters

    return keep_parameters(scores, model.shape, parameters, count, minimum or Minimum(rank=1))


def real(model, gates):
    """The number of parameters of the model that is left."""
    return sum(p.numel() for p in pp.shrink(model, gates).parameters())


def smallest(model, scores, minimum=None):
    """The smallest budget, as the refusal of a smaller one says it."""
    with pytest.raises(ConfigError, match=r"The smallest possible is [\d,]+\.$") as error:
        keep(model, scores, 10, minimum)
    return int(re.search(r"([\d,]+)\.$", str(error.value))[1].replace(",", ""))


def with_next(gates, scores):
    """The same gates with one component more, the best that is closed; None if none is."""
    flat, sizes = torch.cat(scores.leaves(), 1), [leaf.shape[1] for leaf in scores.leaves()]
    opened = torch.cat(gates.leaves(), 1)
    if opened.all():
        return None
    opened[0, flat.masked_fill(opened.bool(), -1).argmax()] = 1
    parts = opened.split(sizes, 1)
    layers = len(scores.heads)
    return pp.PerComponent(parts[:layers], parts[layers:-1], parts[-1])


@given(kinds, st.integers(0, 99), st.floats(0, 1.05))
def test_the_model_fits_and_would_not_with_the_next_component(models, kind, seed, share):
    model = models[kind]
    scores = random_scores(model.shape, seed)
    least, most = smallest(model, scores), sum(p.numel() for p in model.parameters())
    parameters = int(least + share * (most - least))
    gates = keep(model, scores, parameters)
    assert real(model, gates) <= parameters
    more = with_next(gates, scores)
    assert more is None or real(model, more) > parameters


@given(kinds, st.integers(0, 99), st.integers(6_000, 12_000))
def test_all_that_is_open_ranks_before_all_that_is_closed(models, kind, seed, parameters):
    model = models[kind]
    scores = random_scores(model.shape, seed)
    gates = keep(model, scores, parameters)
    best = scores.rank.argmax()
    assert gates.rank[0, best] == 1  # whatever its place in the ranking
    scores.rank[0, best] = 1.0
    opened, flat = torch.cat(gates.leaves(), 1).bool(), torch.cat(scores.leaves(), 1)
    assert opened.all() or flat[opened].min() >= flat[~opened].max()


def test_the_smallest_possible_is_named_and_works(dense_model):
    scores = random_scores(dense_model.shape)
    least = smallest(dense_model, scores)
    gates = keep(dense_model, scores, least)
    assert real(dense_model, gates) == least
    assert [int(gate.sum()) for gate in gates.leaves()] == [0, 0, 0, 0, 1]
    with pytest.raises(ConfigError, match=f"fewer than what cannot be pruned.* {least:,}"):
        keep(dense_model, scores, least - 1)


def test_what_has_to_stay_is_in_the_smallest_possible(dense_model):
    scores, minimum = random_scores(dense_model.shape), Minimum(heads=1, units=3, rank=2)
    least = smallest(dense_model, scores, minimum)
    gates = keep(dense_model, scores, least, minimum)
    assert real(dense_model, gates) == least
    assert [int(gate.sum()) for gate in gates.leaves()] == [1, 1, 3, 3, 2]


def test_room_for_all_keeps_all(dense_model):
    most = sum(p.numel() for p in dense_model.parameters())
    gates = keep(dense_model, random_scores(dense_model.shape), most)
    assert all(gate.all() for gate in gates.leaves())


def test_each_row_gets_the_whole_budget(dense_model):
    rows = [random_scores(dense_model.shape, seed) for seed in range(3)]
    together = keep(dense_model, rows[0].map(lambda *row: torch.cat(row), *rows[1:]), 8_000)
    for i, scores in enumerate(rows):
        alone = keep(dense_model, scores, 8_000)
        pairs = zip(together.leaves(), alone.leaves(), strict=True)
        assert all(torch.equal(a[i, None], b) for a, b in pairs)


@pytest.mark.parametrize("multiple", [1, 4, 8])
def test_no_languages_model_is_over_the_budget_however_its_units_are_rounded(dense_model, multiple):
    """One row keeps every rank, so that its table is folded into one; the other next to none."""
    rows = [random_scores(dense_model.shape, seed) for seed in range(2)]
    scores = rows[0].map(lambda *row: torch.cat(row), *rows[1:])
    scores.rank[0] += 2
    scores.rank[1] *= 1e-3
    about = ScoringRecord("", "as it is", "masked-lm", "example", ("sw", "ur"), (1, 1))
    sheet = ScoreSheet(GateGradients(scores, scores), about)
    ranker = Ranker.named(rule="paper", setting="non-shared").on(sheet)
    for parameters in (7_250, 9_250):
        gates = Parameters(parameters, multiple=multiple).select(dense_model, ranker).gates
        for row in range(2):
            alone = gates.map(lambda gate, row=row: gate[row, None])
            assert real(dense_model, alone) <= parameters
