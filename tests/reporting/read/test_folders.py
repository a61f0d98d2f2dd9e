"""Folders are read as results: runs by their logs, elastic models by their gates."""

import pytest
import torch

from polyprune.pruning.gates.elastic import Elastic
from polyprune.pruning.gates.gatings import FixedGating
from polyprune.pruning.selection.ranking import ComponentWeights
from polyprune.reporting.read.folders import SIZES
from polyprune.reporting.read.sources import read_results
from support.elastic import elastic_of


def test_an_elastic_folder_is_read_in_every_size_without_a_pass(model, tmp_path, monkeypatch):
    model.elastic = elastic_of(model, ("sw", "ur"))
    model.save_pretrained(tmp_path / "every")

    def no_pass(module, *arguments, **options):
        raise AssertionError(f"{type(module).__name__} was called")

    monkeypatch.setattr(torch.nn.Module, "__call__", no_pass)
    with pytest.raises(AssertionError, match="PolypruneForMaskedLM was called"):
        model(torch.tensor([[0, 2]]))
    found = read_results([str(tmp_path / "every")])
    assert [each.sparsity for each in found.systems] == [0.0, *SIZES]
    assert len(found.kept) == 2 * len(found.systems)
    counted = [each.parameters for each in found.sizes]
    assert counted == sorted(counted, reverse=True)
    assert counted[0] > counted[-1]
    assert {each.languages for each in found.distances} == {("sw", "ur")}


def test_gates_of_one_size_are_read_in_that_size(model, tmp_path):
    gates = elastic_of(model, ("sw", "ur")).every_row(0.5)
    weights = ComponentWeights.of(model.shape)
    model.elastic = Elastic(FixedGating(gates), ("sw", "ur"), weights)
    model.save_pretrained(tmp_path / "one")
    found = read_results([str(tmp_path / "one")])
    assert len(found.sizes) == 1
    assert [each.language for each in found.kept] == ["sw", "ur"]
