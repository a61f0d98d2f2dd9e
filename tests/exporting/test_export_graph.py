"""The graph that is exported computes what the model computes."""

import pytest
import torch

from polyprune.exporting.export_graph import POOLED, ExportGraph
from polyprune.pruning.criteria.losses import pool
from support.models import batch
from support.pruned_models import SHAPES, pruned, said


def close(a, b, mask):
    """Equal wherever there is a token."""
    if a.ndim > 1 and a.shape[:2] == mask.shape:
        a, b = a[mask.bool()], b[mask.bool()]
    return torch.allclose(a, b, atol=2e-5)


@pytest.mark.parametrize("shape", SHAPES)
def test_every_family_in_every_shape(tmp_path, family, shape):
    model, inputs = pruned(tmp_path, family, "masked-lm", shape), batch(family)
    with torch.inference_mode():
        (logits,) = ExportGraph(model)(**inputs)
    assert close(logits, said(model, inputs)["logits"], inputs["attention_mask"])


@pytest.mark.parametrize("shape", ["uneven", "rank-pruned"])
@pytest.mark.parametrize("family", ["bert", "xlm-roberta"], ids=str)
def test_every_readout(tmp_path, family, readout, shape):
    model, inputs = pruned(tmp_path, family, readout, shape), batch(family)
    graph, expected = ExportGraph(model), said(model, inputs)
    with torch.inference_mode():
        found = dict(zip(graph.outputs, graph(**inputs), strict=True))
    assert found.keys() == expected.keys()
    for name, tensor in expected.items():
        assert close(found[name], tensor, inputs["attention_mask"]), name


def test_token_types_may_be_left_out(tmp_path):
    model, inputs = pruned(tmp_path, "bert", "hidden-states", "dense"), batch("bert")
    del inputs["token_type_ids"]
    with torch.inference_mode():
        states, _ = ExportGraph(model)(**inputs)
    assert close(states, said(model, inputs)["last_hidden_state"], inputs["attention_mask"])


@pytest.mark.parametrize("pooling", ["mean", "first"])
def test_sentences_are_pooled(tmp_path, pooling):
    model, inputs = pruned(tmp_path, "bert", "hidden-states", "uneven"), batch("bert")
    graph = ExportGraph(model, pooling)
    with torch.inference_mode():
        (vectors,) = graph(**inputs)
    states = said(model, inputs)["last_hidden_state"]
    assert graph.outputs == (POOLED,)
    assert torch.allclose(vectors, pool(states, inputs["attention_mask"], pooling), atol=1e-5)


def test_a_sentence_of_nothing_but_padding_is_finite(tmp_path):
    model, inputs = pruned(tmp_path, "bert", "hidden-states", "dense"), batch("bert")
    inputs["attention_mask"][1] = 0
    with torch.inference_mode():
        assert ExportGraph(model, "mean")(**inputs)[0].isfinite().all()
