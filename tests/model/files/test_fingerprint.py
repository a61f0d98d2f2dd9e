"""A fingerprint is the same for the same encoder only, wherever it comes from."""

import re

import torch

import polyprune as pp
from polyprune.model.files.fingerprint import fingerprint


def test_a_fingerprint_is_a_sha256(model):
    assert re.fullmatch("[0-9a-f]{64}", fingerprint(model))


def test_it_survives_another_folder(dense, tmp_path):
    model = pp.load(dense)
    model.save_pretrained(tmp_path / "again")
    assert fingerprint(pp.load(tmp_path / "again")) == fingerprint(model)


def test_a_model_is_left_as_it_is(model):
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    assert fingerprint(model) == fingerprint(model)
    assert all(torch.equal(t, before[name]) for name, t in model.state_dict().items())


def test_the_readout_does_not_count(dense, readout):
    assert fingerprint(pp.load(dense, readout)) == fingerprint(pp.load(dense))


def test_neither_do_the_mode_gradients_or_the_layout_in_memory(model):
    before = fingerprint(model)
    model.train().requires_grad_(False)
    words = model.get_input_embeddings()
    words.weight = torch.nn.Parameter(words.weight.detach().T.contiguous().T)
    assert not words.weight.is_contiguous()
    assert fingerprint(model) == before


def test_every_number_of_every_weight_counts(model):
    prints = {fingerprint(model)}
    weights = model.encoder.state_dict()
    for tensor in weights.values():
        last = tensor.view(-1)[-1:]
        kept = last.clone()
        last += 1
        prints.add(fingerprint(model))
        last.copy_(kept)
    assert len(prints) == len(weights) + 1
    assert fingerprint(model) in prints


def test_the_smallest_change_counts(model):
    before = fingerprint(model)
    weight = model.get_input_embeddings().weight.data
    weight[3, 5] = weight[3, 5].nextafter(torch.tensor(9.0))
    assert fingerprint(model) != before


def test_weights_that_change_places_count(model):
    before = fingerprint(model)
    state = model.encoder.state_dict()
    a, b = [t for name, t in state.items() if re.search(r"norm\.weight$", name)][:2]
    kept = a.clone()
    a.copy_(b)
    b.copy_(kept)
    assert not torch.equal(a, b)
    assert fingerprint(model) != before


def test_the_name_of_a_weight_counts(model):
    prints = set()
    for name in ("weight_1", "weight_2"):
        model.encoder.register_buffer(name, torch.ones(3))
        prints.add(fingerprint(model))
        delattr(model.encoder, name)
    assert len(prints) == 2


def test_the_precision_counts(model):
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
    precisions = (torch.float32, torch.bfloat16, torch.float16, torch.float64)
    assert len({fingerprint(model.to(precision)) for precision in precisions}) == 4


def test_another_shape_of_the_same_numbers_counts(model):
    before = fingerprint(model)
    words = model.get_input_embeddings()
    words.weight = torch.nn.Parameter(words.weight.detach().reshape(30, 48))
    assert fingerprint(model) != before


def test_a_smaller_model_is_another(model):
    gates = pp.open_gates(model.shape)
    assert fingerprint(pp.shrink(model, gates)) == fingerprint(model)
    without_head = pp.open_gates(model.shape)
    without_head.heads[0][:, 0] = 0
    empty = pp.PerComponent((0 * gates.heads[0],) * 2, (0 * gates.units[0],) * 2, gates.rank)
    smaller = [pp.shrink(model, some) for some in (without_head, empty)]
    others = [model, *smaller, pp.drop_layers(model, [0]), pp.factorize(model)]
    assert len({fingerprint(other) for other in others}) == 5
