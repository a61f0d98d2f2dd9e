"""What is left is told as what shrinking leaves."""

import pytest
import torch

from polyprune.pruning.architecture import architecture_record, rows_record
from polyprune.pruning.subnetworks import hamming
from support.elastic import elastic_of


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
