from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import polyprune
from polyprune.corpora.padding import input_tensors
from polyprune.evaluation import prediction as module
from polyprune.evaluation.encoded_input import EncodedInput
from polyprune.evaluation.prediction import batch_by_length, label_tensors, predict
from polyprune.model.network.components import sizes
from polyprune.model.network.readouts import READOUTS
from polyprune.pruning.selection.ranking import unflatten
from support.models import tiny_model

NAMES = ("sentence-classification", "token-classification", "span")
TOKENIZER = SimpleNamespace(pad_token_id=1)


@pytest.fixture(scope="module")
def models(tmp_path_factory) -> dict:
    """A tiny model of every readout, and one of a family with token types."""
    found = {}
    for name in (*NAMES, "bert"):
        folder = tmp_path_factory.mktemp(name)
        family, readout = ("bert", NAMES[0]) if name == "bert" else ("xlm-roberta", name)
        tiny_model(family, readout).save_pretrained(folder)
        found[name] = polyprune.load(folder).eval()
    return found


def some_inputs(types: bool = False) -> list[EncodedInput]:
    random = np.random.default_rng(0)
    found = []
    for number, length in enumerate((7, 3, 20, 3, 12, 1, 20, 9)):
        ids = random.integers(4, 60, length).tolist()
        found.append(EncodedInput(number, ids, [0] + [1] * (length - 1) if types else None))
    return found


def alone(model, encoded: EncodedInput, gates=None) -> np.ndarray:
    """What a model says of one input, asked without a mask."""
    types = None if encoded.types is None else torch.tensor([encoded.types])
    with torch.no_grad():
        output = model(torch.tensor([encoded.ids]), token_type_ids=types, gates=gates)
    if model.readout_kind.finds_spans:
        return np.stack([output.start_logits[0].numpy(), output.end_logits[0].numpy()])
    logits = output.logits[0].numpy()
    return logits.argmax(-1) if model.readout_kind.labels_tokens else logits


def assert_same(found: list[np.ndarray], expected: list[np.ndarray]) -> None:
    for one, other in zip(found, expected, strict=True):
        assert one.shape == other.shape
        np.testing.assert_allclose(one, other, atol=1e-5)


@pytest.mark.parametrize("tokens", [1, 30, 2048])
@pytest.mark.parametrize("readout", [*NAMES, "bert"])
def test_predictions_are_those_of_one_input_at_a_time(readout, tokens, models, monkeypatch):
    monkeypatch.setitem(module.TOKENS, "cpu", tokens)
    model, encoded = models[readout], some_inputs(types=readout == "bert")
    assert_same(predict(model, encoded, TOKENIZER), [alone(model, each) for each in encoded])


@pytest.mark.parametrize("readout", NAMES)
def test_the_order_of_the_inputs_does_not_matter(readout, models):
    encoded = some_inputs()
    forward = predict(models[readout], encoded, TOKENIZER)
    assert_same(predict(models[readout], encoded[::-1], TOKENIZER), forward[::-1])


@pytest.mark.parametrize("readout", NAMES)
def test_gates_take_part(readout, models):
    model, encoded = models[readout], some_inputs()
    counts = sizes(model.shape)
    gates = unflatten((torch.rand(1, sum(counts.leaves())) < 0.6).float(), counts)
    gated = [alone(model, each, gates) for each in encoded]
    assert_same(predict(model, encoded, TOKENIZER, gates), gated)
    if readout != "token-classification":  # whose labels may be the same
        open_ = [alone(model, each) for each in encoded]
        assert not np.allclose(gated[0], open_[0], atol=1e-3)


@pytest.mark.parametrize("training", [True, False])
def test_a_model_stays_as_it_was(training, models):
    model = models["span"].train(training)
    predict(model, some_inputs(), TOKENIZER)
    assert model.training is training
    model.eval()


def test_without_inputs_there_are_no_predictions(models):
    assert predict(models["span"], [], TOKENIZER) == []


lengths = st.lists(st.integers(1, 60), max_size=80)


@given(lengths, st.integers(1, 100))
def test_batches_have_every_input_once_the_longest_first_within_the_budget(lengths, tokens):
    found = batch_by_length(lengths, tokens)
    order = [i for some in found for i in some]
    assert sorted(order) == list(range(len(lengths)))
    assert [lengths[i] for i in order] == sorted(lengths, reverse=True)
    full = [len(some) * lengths[some[0]] for some in found]
    assert all(size <= tokens or len(some) == 1 for size, some in zip(full, found, strict=True))
    # As full as can be, but for the last.
    assert all((len(some) + 1) * lengths[some[0]] > tokens for some in found[:-1])


def test_inputs_are_padded_to_the_longest():
    encoded = [EncodedInput(0, [0, 5, 2], [0, 1, 1]), EncodedInput(1, [0, 2], [0, 1])]
    found = {name: tensor.tolist() for name, tensor in input_tensors(encoded, TOKENIZER).items()}
    assert found == {
        "input_ids": [[0, 5, 2], [0, 2, 1]],
        "attention_mask": [[1, 1, 1], [1, 1, 0]],
        "token_type_ids": [[0, 1, 1], [0, 1, 0]],
    }
    untyped = input_tensors([EncodedInput(0, [0, 5, 2])], TOKENIZER)
    assert set(untyped) == {"input_ids", "attention_mask"}


def test_labels_are_what_each_readout_learns_from():
    def labels(readout, *rows):
        encoded = [EncodedInput(i, [5] * 3, labels=row) for i, row in enumerate(rows)]
        found = label_tensors(encoded, READOUTS[readout])
        assert all(tensor.dtype == torch.int64 for tensor in found.values())
        return {name: tensor.tolist() for name, tensor in found.items()}

    assert labels("sentence-classification", (2,), (0,)) == {"labels": [2, 0]}
    words = labels("token-classification", (-100, 3, -100), (-100, 1))
    assert words == {"labels": [[-100, 3, -100], [-100, 1, -100]]}
    spans = labels("span", (4, 6), (0, 0))
    assert spans == {"start_positions": [4, 0], "end_positions": [6, 0]}


@pytest.mark.parametrize("readout", NAMES)
def test_every_readout_has_a_loss_of_its_labels(readout, models):
    labels = {"sentence-classification": (1,), "span": (1, 2)}.get(readout, (-100, 1, 0))
    encoded = [EncodedInput(0, [0, 9, 2], labels=labels), EncodedInput(1, [0, 8, 2], labels=labels)]
    batch = input_tensors(encoded, TOKENIZER) | label_tensors(encoded, READOUTS[readout])
    assert models[readout](**batch).loss > 0
