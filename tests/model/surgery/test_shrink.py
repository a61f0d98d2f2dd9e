"""Shrinking preserves the function, whatever the shape and the gates."""

import pytest
import torch
from hypothesis import given

import polyprune as pp
from support.models import tiny_model
from support.strategies import build, cut, cuts, specs, tokens_for


def assert_same(got, expected):
    torch.testing.assert_close(got.to_tuple(), expected.to_tuple(), atol=1e-5, rtol=1e-5)


@given(specs(), cuts)
def test_shrinking_preserves_the_function(spec, how):
    model = build(spec)
    gates = cut(model.shape, how)
    inputs = tokens_for(model.shape)
    with torch.no_grad():
        assert_same(pp.shrink(model, gates)(**inputs), model(**inputs, gates=gates))


@given(specs("masked-lm"), cuts)
def test_shrinking_removes_exactly_what_is_closed(spec, how):
    model = build(spec)
    gates = cut(model.shape, how)
    shape = pp.shrink(model, gates).shape
    assert shape.heads == tuple(int(g.count_nonzero()) for g in gates.heads)
    assert shape.units == tuple(int(g.count_nonzero()) for g in gates.units)
    assert shape.rank == (int(gates.rank.count_nonzero()) if shape.factorized else shape.width)


@given(specs("hidden-states"), cuts)
def test_the_word_table_never_grows(spec, how):
    model = build(spec)
    gates = cut(model.shape, how)

    def words(m):
        embedding = m.encoder.embedding
        return embedding.words.weight.numel() + (
            0 if embedding.project is None else embedding.project.weight.numel()
        )

    assert words(pp.shrink(model, gates)) <= words(model)


@given(specs(), cuts)
def test_a_batch_of_mixed_rows_equals_one_batch_per_row(spec, how):
    model = build(spec)
    bank = cut(model.shape, how, rows=2)
    inputs, rows = tokens_for(model.shape), torch.tensor([0, 1, 1, 0])
    with torch.no_grad():
        mixed = model(**inputs, gates=bank.map(lambda gate: gate[rows]))
        for row in (0, 1):
            own = {name: x[rows == row] for name, x in inputs.items()}
            alone = model(**own, gates=bank.map(lambda gate, row=row: gate[row, None]))
            for got, expected in zip(mixed.to_tuple(), alone.to_tuple(), strict=True):
                torch.testing.assert_close(got[rows == row], expected, atol=1e-5, rtol=1e-5)


@given(specs("hidden-states"), cuts)
def test_shrinking_twice_is_shrinking_once(spec, how):
    model = build(spec)
    gates = cut(model.shape, how)
    small = pp.shrink(model, gates)
    again = pp.shrink(small, pp.open_gates(small.shape))
    assert all(
        torch.equal(a, b) for a, b in zip(again.parameters(), small.parameters(), strict=True)
    )


@given(specs("masked-lm"))
def test_the_small_model_shares_nothing_with_the_large_one(spec):
    model = build(spec)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    small = pp.shrink(model, pp.open_gates(model.shape))
    with torch.no_grad():
        for parameter in small.parameters():
            parameter.fill_(7.0)
    assert all(torch.equal(before[name], tensor) for name, tensor in model.state_dict().items())


@given(specs("masked-lm"))
def test_all_open_gates_change_nothing(spec):
    model = build(spec)
    inputs = tokens_for(model.shape)
    with torch.no_grad():
        assert_same(model(**inputs, gates=pp.open_gates(model.shape)), model(**inputs))


@given(specs("hidden-states"))
def test_dropping_layers_keeps_the_others_in_order(spec):
    model = build(spec)
    layers = range(model.shape.layers)[::-1]
    small = pp.drop_layers(model, list(layers))
    assert small.shape.heads == model.shape.heads[::-1]
    for new, old in zip(small.encoder.layers, reversed(model.encoder.layers), strict=True):
        pairs = zip(new.parameters(), old.parameters(), strict=True)
        assert all(torch.equal(a, b) for a, b in pairs)


@pytest.fixture
def loaded(tmp_path):
    tiny_model("xlm-roberta", "hidden-states").save_pretrained(tmp_path)
    return pp.load(tmp_path)


def test_several_rows_are_refused(loaded):
    with pytest.raises(ValueError, match="needs one row of gates, got 3"):
        pp.shrink(loaded, pp.open_gates(loaded.shape, rows=3))


def test_no_rank_left_is_refused(loaded):
    gates = pp.open_gates(loaded.shape)
    gates.rank.zero_()
    with pytest.raises(ValueError, match="Keep at least one"):
        pp.shrink(loaded, gates)


def test_layers_that_do_not_exist_are_refused(loaded):
    with pytest.raises(ValueError, match=r"from 0 to 1, got \[0, 2\]"):
        pp.drop_layers(loaded, [0, 2])


def test_gates_of_the_wrong_width_are_refused(loaded):
    gates = pp.open_gates(loaded.shape)
    wrong = pp.PerComponent(gates.heads, gates.units, torch.ones(1, 5))
    with pytest.raises(ValueError, match=r"gates of rank have shape \(1, 5\), expected \(1, 24\)"):
        pp.shrink(loaded, wrong)
    with pytest.raises(ValueError, match=r"gates of rank have shape \(1, 5\)"):
        loaded(torch.tensor([[0, 5, 2]]), gates=wrong)


def test_gates_for_another_number_of_layers_are_refused(loaded):
    gates = pp.open_gates(loaded.shape)
    with pytest.raises(ValueError, match="1 layers of heads and 2 of units"):
        pp.shrink(loaded, pp.PerComponent(gates.heads[:1], gates.units, gates.rank))


def test_gates_with_rows_for_other_examples_are_refused(loaded):
    with pytest.raises(ValueError, match=r"expected \(1, 4\) or \(2, 4\)"):
        loaded(torch.tensor([[0, 5, 2], [0, 6, 2]]), gates=pp.open_gates(loaded.shape, rows=3))
