"""What is left is told as what shrinking leaves."""

import pytest
import torch

from polyprune.model.network.components import sizes
from polyprune.pruning.architecture import architecture_record, rows_record
from polyprune.pruning.gates.dynamic import boundaries
from polyprune.pruning.gates.elastic import Elastic
from polyprune.pruning.gates.gatings import DynamicGating, FixedGating
from polyprune.pruning.selection.ranking import ComponentWeights, unflatten
from polyprune.pruning.subnetworks import hamming
from polyprune.reporting.read.folders import SIZES
from polyprune.reporting.read.sources import read_results


def elastic_of(model, rows):
    counts = sizes(model.shape)
    scores = unflatten(torch.rand(len(rows), sum(counts.leaves())), counts)
    weights = ComponentWeights.of(model.shape)
    return Elastic(DynamicGating(*boundaries(scores, weights)), rows, weights)


@pytest.mark.parametrize("sparsity", [0.0, 0.3, 0.8])
def test_every_row_keeps_what_shrinking_to_it_leaves(model, sparsity):
    model.elastic = elastic_of(model, ("sw", "ur", "th"))
    found = architecture_record(model, model.shape, sparsity)
    assert found["whole"]["heads"] == list(model.shape.heads)
    for row, kept in found["kept"].items():
        small = model.elastic.take(model, sparsity, [row]).shape
        assert (kept["heads"], kept["units"]) == (list(small.heads), list(small.units))
        # A table that would not be smaller is folded back, with its whole rank.
        assert kept["rank"] == small.rank or not small.factorized


def test_rows_differ_by_the_share_of_gates_that_do(model):
    elastic = elastic_of(model, ("sw", "ur"))
    found = rows_record(elastic, 0.5)["distances"]
    assert found["languages"] == ["sw", "ur"]
    expected = hamming(elastic.every_row(0.5))
    assert torch.tensor(found["matrix"]) == pytest.approx(expected, abs=1e-4)
    assert "distances" not in rows_record(elastic_of(model, ("shared",)), 0.5)


def test_a_model_that_is_not_elastic_keeps_its_own_shape(model):
    found = architecture_record(model, model.shape)
    assert found["kept"]["shared"]["units"] == list(model.shape.units)


def test_an_elastic_folder_is_read_in_every_size_without_a_pass(model, tmp_path):
    model.elastic = elastic_of(model, ("sw", "ur"))
    model.save_pretrained(tmp_path / "every")
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
