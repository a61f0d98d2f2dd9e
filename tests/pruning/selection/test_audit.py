"""What the audit says of a model is true of the model that is cut."""

import pytest
import torch
from hypothesis import given

import polyprune as pp
from polyprune.pruning.selection.audit import audit
from polyprune.pruning.selection.ranking import ComponentWeights, density_of
from support.models import tiny_model
from support.strategies import build, cut, cuts, specs


def parameters(module):
    return sum(parameter.numel() for parameter in module.parameters())


def size_in_bytes(model):
    return sum(parameter.numel() * parameter.itemsize for parameter in model.parameters())


def in_layers(model):
    """The parameters of the layers and, where there is one, of the norm after the last."""
    last = 2 * model.shape.width if model.config.pre_norm else 0
    return parameters(model.encoder.layers) + last


def assert_agrees(said, model, small):
    assert (said.parameters, said.parameters_before) == (parameters(small), parameters(model))
    assert (said.bytes, said.bytes_before) == (size_in_bytes(small), size_in_bytes(model))
    shape = small.shape
    assert (said.heads, said.units, said.rank) == (shape.heads, shape.units, shape.rank)
    assert said.encoder_sparsity == pytest.approx(1 - in_layers(small) / in_layers(model))


@given(specs(), cuts)
def test_sizes_are_those_of_the_model_that_is_cut(spec, how):
    model = build(spec)
    gates = cut(model.shape, how)
    assert_agrees(audit(model, gates), model, pp.shrink(model, gates))


@given(specs(), cuts)
def test_gate_sparsity_is_what_the_gates_close(spec, how):
    model = build(spec)
    gates = cut(model.shape, how)
    said = audit(model, gates)
    kept = density_of(gates, ComponentWeights.of(model.shape)).item()
    assert said.density == pytest.approx(kept)
    assert said.gate_sparsity == pytest.approx(1 - kept)


@given(specs())
def test_open_gates_lose_nothing_of_the_layers(spec):
    model = build(spec)
    said = audit(model, pp.open_gates(model.shape))
    assert (said.gate_sparsity, said.encoder_sparsity) == (0, 0)
    assert (said.heads, said.units) == (model.shape.heads, model.shape.units)
    assert said.parameters <= said.parameters_before  # folding Ê and P back may pay


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("readout", ["masked-lm", "sentence-classification"])
def test_sizes_are_those_of_the_model_that_was_saved(tmp_path, readout, dtype):
    tiny_model("xlm-roberta", readout).save_pretrained(tmp_path / "dense")
    model = pp.load(tmp_path / "dense", dtype=dtype)
    gates = pp.open_gates(model.shape)
    gates.heads[0].zero_()
    gates.heads[1][:, 1:] = 0
    gates.units[1][:, ::3] = 0
    gates.rank[:, 5:] = 0
    pp.shrink(model, gates).save_pretrained(tmp_path / "small")
    small = pp.load(tmp_path / "small")
    assert small.dtype == dtype
    assert_agrees(audit(model, gates), model, small)


def test_what_was_asked_for_is_noted():
    model = build(("masked-lm", TINY, 0))
    gates = pp.open_gates(model.shape)
    asked = audit(model, gates, sparsity=0.25)
    assert (asked.requested_sparsity, asked.requested_parameters) == (0.25, None)
    asked = audit(model, gates, parameters=900)
    assert (asked.requested_sparsity, asked.requested_parameters) == (None, 900)


def test_sparsities_are_the_worked_ones():
    """Width 8, two layers of two heads of width 4 and three units each, rank 8."""
    model = build(("masked-lm", TINY, 0))
    gates = pp.open_gates(model.shape)
    gates.heads[0][0, 1] = 0
    gates.units[1][0, :2] = 0
    gates.rank[0, 3:] = 0
    said = audit(model, gates)
    # App. B: heads weigh 16, units 2, ranks 1, so 16 + 2 · 2 + 5 of 4 · 16 + 6 · 2 + 8 go.
    assert said.gate_sparsity == pytest.approx(25 / 84)
    # A head has 4 · 4 · 8 + 12 parameters, a unit 17; biases and norms have 48 a layer.
    assert said.encoder_sparsity == pytest.approx((140 + 2 * 17) / (4 * 140 + 6 * 17 + 2 * 48))
    assert (said.heads, said.units, said.rank) == ((1, 2), (3, 1), 3)


TINY = {
    "family": "xlm-roberta",
    "vocab_size": 40,
    "max_position_embeddings": 14,
    "hidden_size": 8,
    "head_width": 4,
    "heads": [2, 2],
    "units": [3, 3],
    "rank": 8,
    "padded_positions": True,
    "layer_norm_eps": 1e-5,
    "hidden_act": "gelu",
    "pad_token_id": 1,
}
