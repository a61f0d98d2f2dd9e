"""A smaller model beside the uncut one, against outputs that are looked at one by one."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import polyprune as pp
from polyprune.corpora.batching import Batching
from polyprune.evaluation.fidelity import YARDSTICKS, HeldOutText, compare_with_uncut
from polyprune.pruning.prune import prune_model
from polyprune.pruning.ranker import Ranker
from polyprune.pruning.selection.budgets import Sparsity
from support.models import AUTO, speaking_model
from support.text import SENTENCES

TEXT = HeldOutText("text", {"en": SENTENCES["en"], "sw": SENTENCES["sw"]}, frozenset({"sw"}))


def loaded(tmp_path, readout):
    model = pp.load(speaking_model(tmp_path / readout, readout))
    return model, Batching(model.source.tokenizer(), 5, 30)


def lines_of(readout):
    """Questions have a text that may hold the answer."""
    if readout != "span":
        return TEXT
    return replace(
        TEXT, lines={c: [f"{each}\t{each}" for each in some] for c, some in TEXT.lines.items()}
    )


@pytest.mark.parametrize("readout", sorted(AUTO))
def test_a_model_keeps_all_of_itself_and_half_of_it_less(tmp_path, readout):
    model, batching = loaded(tmp_path, readout)
    same = compare_with_uncut(model, model, lines_of(readout), batching)
    assert not model.training
    assert list(same.languages) == ["en", "sw"]
    assert [row.seen for row in same.languages.values()] == [False, True]
    assert same.overall.sentences == 24
    for measure in same.overall.measures:
        kept = {"%": 100.0, "": 1.0 if measure.before is None else 0.0}[measure.unit]
        assert measure.value.mean == pytest.approx(kept, abs=1e-5)
    half = prune_model(model, Sparsity(0.6), Ranker.named("random")).model
    cut = compare_with_uncut(model, half, lines_of(readout), batching)
    assert cut.overall.main < same.overall.main
    for row in cut.languages.values():
        for measure in row.measures:
            assert measure.value.low <= measure.value.mean <= measure.value.high


def test_masked_words_are_compared_where_they_are_masked(tmp_path):
    model, batching = loaded(tmp_path, "masked-lm")
    half = prune_model(model, Sparsity(0.6), Ranker.named("random")).model
    found = compare_with_uncut(model, half, TEXT, batching).languages["en"]
    agreement, loss = found.measures
    same, losses = [], []
    for batch in batching.masked(TEXT.lines["en"]):
        labels = batch.pop("labels")
        with torch.inference_mode():
            logits = [each(**batch).logits for each in (model, half)]
        same += (logits[0].argmax(-1) == logits[1].argmax(-1))[labels != -100].tolist()
        for row in range(len(labels)):
            where = labels[row] != -100
            each = [
                torch.nn.functional.cross_entropy(one[row, where], labels[row, where])
                for one in logits
            ]
            losses.append([float(value) for value in each])
    before, after = np.mean(losses, axis=0)
    assert agreement.value.mean == pytest.approx(100 * np.mean(same), abs=1e-4)
    assert (loss.before, loss.value.mean) == pytest.approx((before, after - before), abs=1e-4)


def test_words_that_both_take_for_nothing_do_not_count(tmp_path):
    """A tagger that finds nothing agrees with most words, and has lost all that matters."""
    model, batching = loaded(tmp_path, "token-classification")
    labels = ["B-PER", "O", "I-PER", "B-LOC", "I-LOC"]
    model.config.id2label = dict(enumerate(labels))
    blind = pp.load(speaking_model(tmp_path / "blind", "token-classification"))
    with torch.no_grad():
        blind.readout.output.weight.zero_()
        blind.readout.output.bias.copy_(torch.eye(5)[1])
    found = compare_with_uncut(model, blind, TEXT, batching)
    assert found.overall.measures[0].value.mean == 0
    nothing = compare_with_uncut(blind, blind, TEXT, batching)
    assert nothing.overall.measures[0].value.mean == 100  # labels of its own, without an O
    blind.config.id2label = model.config.id2label
    assert compare_with_uncut(blind, blind, TEXT, batching).overall.measures[0].value is None


def test_every_word_is_tagged_once_and_a_long_one_in_pieces(tmp_path):
    model, batching = loaded(tmp_path, "token-classification")
    found = YARDSTICKS["token-classification"].outputs(
        model, ["maji ni baridi", "a" * 70], batching
    )
    assert [len(each) for each in found] == [3, 3]


@pytest.mark.parametrize(
    ("changes", "uncut", "small", "kept"),
    [
        ({}, [[2.0, 1, 0], [0, 1, 2]], [[1.0, 0, 0], [3, 1, 2]], [1, 0]),
        (
            {"problem_type": "multi_label_classification"},
            [[2.0, 1, -1], [0.5, -1, 2]],
            [[1.0, 3, -2], [0.5, 1, 2]],
            [1, 0],
        ),
    ],
)
def test_labels_agree_as_the_task_has_them(changes, uncut, small, kept):
    config = type("Config", (), {"problem_type": None, **changes})
    compare = YARDSTICKS["sentence-classification"].compare
    assert compare(np.array(uncut), np.array(small), config)["same"].tolist() == kept


def test_numbers_correlate(tmp_path):
    model, batching = loaded(tmp_path, "sentence-classification")
    model.config.problem_type = "regression"
    (measure,) = compare_with_uncut(model, model, TEXT, batching).overall.measures
    assert (measure.name, measure.value.mean) == ("correlation", pytest.approx(1))
