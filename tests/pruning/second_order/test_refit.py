"""A refit brings a model nearer to the uncut one, on sentences that it has not seen."""

from copy import deepcopy

import pytest
import torch

import polyprune as pp
from polyprune.errors import DataError
from polyprune.pruning.second_order.refit import hidden_error, refit
from support.models import tiny_model

FAMILIES = ("xlm-roberta", "xlm-roberta-xl")
"""One whose norms come after the sums, and one whose norms come before."""


def batches(count: int, seed: int):
    generator = torch.Generator().manual_seed(seed)
    found = []
    for _ in range(count):
        ids = torch.randint(4, 60, (8, 10), generator=generator)
        ids[-1, 6:] = 1
        found.append({"input_ids": ids, "attention_mask": ids.ne(1).long()})
    return found


@pytest.fixture(params=FAMILIES)
def uncut(request, tmp_path):
    tiny_model(request.param).save_pretrained(tmp_path)
    return pp.load(tmp_path)


def halved(model, seed=0):
    """Without some of its heads and half of its units, chosen by chance."""
    generator = torch.Generator().manual_seed(seed)
    gates = pp.open_gates(model.shape)
    for gate in (*gates.heads, *gates.units):
        count = gate.shape[1]
        gate[0, torch.randperm(count, generator=generator)[: count // 2]] = 0
    return pp.shrink(model, gates)


def test_it_comes_nearer_on_sentences_that_it_has_not_seen(uncut):
    small, unseen = halved(uncut), batches(6, seed=9)
    before = hidden_error(small, uncut, unseen)
    report = refit(small, uncut, batches(40, seed=1), batches(10, seed=2))
    assert report.helped
    assert len(report.ridges) == 2 * uncut.shape.layers
    assert hidden_error(small, uncut, unseen) < 0.8 * before


def test_a_sublayer_without_components_gets_another_bias(uncut):
    gates = pp.open_gates(uncut.shape)
    gates.heads[0].zero_()
    gates.units[1].zero_()
    small = pp.shrink(uncut, gates)
    empty = [small.encoder.layers[0].attention, small.encoder.layers[1].feed_forward]
    biases = [part.leaving.bias.clone() for part in empty]
    before = hidden_error(small, uncut, batches(6, seed=9))
    report = refit(small, uncut, batches(40, seed=1), batches(10, seed=2))
    assert None not in report.ridges
    for part, bias in zip(empty, biases, strict=True):
        assert not torch.equal(part.leaving.bias, bias)
    assert hidden_error(small, uncut, batches(6, seed=9)) < before


def test_what_is_left_reads_the_stream_as_it_was(uncut):
    """Where the layer below lost components, those above get other weights to read with."""
    gates, unseen = pp.open_gates(uncut.shape), batches(6, seed=9)
    gates.units[0][0, ::2] = 0
    small = pp.shrink(uncut, gates)
    refit(small, uncut, batches(40, seed=1), batches(10, seed=2))
    other = small.encoder.layers[1].attention.entering.weight
    assert not torch.allclose(other, uncut.encoder.layers[1].attention.entering.weight)
    with_both = hidden_error(small, uncut, unseen)
    for own, old in zip(small.encoder.layers[1:], uncut.encoder.layers[1:], strict=True):
        for part in ("attention", "feed_forward"):
            state = getattr(old, part).entering.state_dict()
            getattr(own, part).entering.load_state_dict(state)
    assert with_both < hidden_error(small, uncut, unseen)


def test_where_it_does_not_help_nothing_changes(uncut):
    same = deepcopy(uncut)
    report = refit(same, uncut, batches(4, seed=1), batches(2, seed=2))
    assert not report.helped
    for one, other in zip(same.parameters(), uncut.parameters(), strict=True):
        assert torch.equal(one, other)


def test_a_few_sentences_are_not_learned_by_heart(uncut):
    """With one batch to solve on there are fewer tokens than inputs: held-out ones decide."""
    small, unseen = halved(uncut), batches(6, seed=9)
    before = hidden_error(small, uncut, unseen)
    refit(small, uncut, batches(1, seed=1), batches(10, seed=2))
    assert hidden_error(small, uncut, unseen) <= 1.02 * before


def test_it_needs_text_of_both_kinds(uncut):
    with pytest.raises(DataError, match="others to choose its ridge on"):
        refit(halved(uncut), uncut, batches(1, 0), [])
