"""Gates survive their file, and a wrong file is told what is wrong with it."""

import pytest
import torch
from safetensors.torch import save_file

import polyprune as pp
from polyprune.errors import CheckpointError


@pytest.fixture
def folder(dense):
    return dense


def test_gates_survive_their_file(folder, tmp_path):
    gates = pp.open_gates(pp.load(folder).shape, rows=2).map(torch.rand_like)
    pp.save_gates(tmp_path / "gates", gates, ["sw", "ur"])
    again = pp.load_gates(tmp_path / "gates", pp.load(folder).shape)
    assert all(torch.equal(a, b) for a, b in zip(again.leaves(), gates.leaves(), strict=True))
    ur = pp.load_gates(tmp_path / "gates", pp.load(folder).shape, "ur")
    assert torch.equal(ur.rank, gates.rank[1:])


def test_rows_and_names_must_agree(folder, tmp_path):
    with pytest.raises(ValueError, match=r"1 names \(shared\) for 2 rows"):
        pp.save_gates(tmp_path / "gates", pp.open_gates(pp.load(folder).shape, rows=2))


def test_gates_of_another_model(folder, tmp_path):
    shape = pp.load(folder).shape
    pp.save_gates(tmp_path / "gates", pp.open_gates(shape))
    other = pp.drop_layers(pp.load(folder), [0]).shape
    with pytest.raises(CheckpointError, match="was made for another model"):
        pp.load_gates(tmp_path / "gates", other)


def test_no_gates_file(folder, tmp_path):
    with pytest.raises(CheckpointError, match="There is no gates file"):
        pp.load_gates(tmp_path / "gates", pp.load(folder).shape)


def test_weights_are_not_gates(folder):
    with pytest.raises(CheckpointError, match="but not one of gates"):
        pp.load_gates(folder / "model.safetensors", pp.load(folder).shape)


def test_gates_without_rank_or_with_uneven_rows(folder, tmp_path):
    shape = pp.load(folder).shape
    gates = pp.open_gates(shape, rows=2)
    uneven = pp.PerComponent(gates.heads, gates.units, gates.rank[:1])
    for wrong, why in ((gates.map(lambda g: g / 0), "heads.0"), (uneven, "rank")):
        tensors = {name: gate.clone() for name, gate in wrong.named().items()}
        said = {"format": "polyprune-gates-1", "rows": '["sw", "ur"]'}
        save_file(tensors, tmp_path / "gates", said)
        with pytest.raises(CheckpointError, match=f"no right gates for {why}"):
            pp.load_gates(tmp_path / "gates", shape)
    with pytest.raises(ValueError, match="NaN or infinite"):
        pp.shrink(pp.load(folder), pp.open_gates(shape).map(lambda g: g / 0))


def test_one_tensor_may_gate_several_layers(folder, tmp_path):
    gates = pp.open_gates(pp.load(folder).shape)
    same = pp.PerComponent((gates.heads[0],) * 2, (gates.units[0],) * 2, gates.rank)
    pp.save_gates(tmp_path / "gates", same)
    assert len(pp.load_gates(tmp_path / "gates", pp.load(folder).shape).heads) == 2


def test_a_damaged_gates_file(folder, tmp_path):
    (tmp_path / "gates").write_bytes(b"gates")
    with pytest.raises(CheckpointError, match="is damaged or no safetensors file"):
        pp.load_gates(tmp_path / "gates", pp.load(folder).shape)
