"""Half precision and bytes, in torch."""

import pytest
import torch
from torch import nn

from polyprune.exporting.export_graph import ExportGraph
from polyprune.exporting.quantization import (
    WEIGHT_LEVELS,
    ChannelRange,
    HalfLinear,
    Int8Linear,
    Int8Words,
    observe_ranges,
    quantize,
    to_half_precision,
)
from support.models import batch
from support.pruned_models import pruned


def test_words_are_rounded_to_a_step_of_their_own():
    table = torch.randn(50, 8) * torch.logspace(-3, 3, 50)[:, None]
    words = Int8Words(table)
    step = table.abs().amax(1, keepdim=True) / 127
    found = words(torch.arange(50))
    assert ((found - table).abs() <= 0.501 * step).all()
    assert words.rows.dtype == torch.int8


def test_no_pair_of_products_of_bytes_overflows():
    """With AVX2 alone, two products are added in 16 bits."""
    linear = nn.Linear(16, 9)
    made = Int8Linear(linear, ChannelRange(torch.full((16,), -3.0), torch.full((16,), 5.0)))
    assert made.weight.abs().max() == WEIGHT_LEVELS
    assert 2 * 255 * int(made.weight.abs().max()) < 2**15


def test_a_product_of_bytes_is_near_the_product():
    torch.manual_seed(0)
    linear, x = nn.Linear(64, 32), torch.randn(200, 64)
    made = Int8Linear(linear, ChannelRange(x.amin(0), x.amax(0)))
    with torch.inference_mode():
        wrong, right = made(x) - linear(x), linear(x)
    assert wrong.square().mean().sqrt() < 0.03 * right.square().mean().sqrt()


def test_what_is_zero_stays_zero():
    """Or every empty place would add a little."""
    made = Int8Linear(nn.Linear(4, 3), ChannelRange(torch.full((4,), 1.0), torch.full((4,), 7.3)))
    with torch.inference_mode():
        assert torch.allclose(made(torch.zeros(1, 4)), made.bias)


def test_ranges_hold_all_that_was_seen(tmp_path):
    model = pruned(tmp_path, "xlm-roberta", "masked-lm", "uneven")
    batches = [batch("xlm-roberta", tokens=tokens) for tokens in (5, 9)]
    for each in batches:
        each.pop("token_type_ids")
    ranges = observe_ranges(ExportGraph(model), batches)
    apart = [observe_ranges(ExportGraph(model), [each]) for each in batches]
    assert ranges.keys() == apart[0].keys()
    for name, seen in ranges.items():
        assert (seen.low == torch.minimum(apart[0][name].low, apart[1][name].low)).all()
        assert (seen.high == torch.maximum(apart[0][name].high, apart[1][name].high)).all()


@pytest.mark.parametrize("readout", ["masked-lm", "sentence-classification"])
def test_the_model_is_left_as_it_was(tmp_path, readout):
    model = pruned(tmp_path, "xlm-roberta", readout, "dense")
    inputs = batch("xlm-roberta")
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    graph = ExportGraph(model)
    made = quantize(graph, [inputs]), to_half_precision(graph)
    assert any(isinstance(each, Int8Linear) for each in made[0].modules())
    assert not any(isinstance(each, Int8Linear | HalfLinear) for each in model.modules())
    assert all((before[name] == tensor).all() for name, tensor in model.state_dict().items())


def test_classifiers_stay_as_they_are(tmp_path):
    model = pruned(tmp_path, "xlm-roberta", "sentence-classification", "dense")
    made = quantize(ExportGraph(model), [batch("xlm-roberta")])
    assert isinstance(made.head.output, nn.Linear)
    assert isinstance(made.encoder.layers[0].attention.project, Int8Linear)


def test_of_a_masked_lm_the_table_is_stored_once(tmp_path):
    made = to_half_precision(
        ExportGraph(pruned(tmp_path, "xlm-roberta", "masked-lm", "rank-pruned"))
    )
    assert made.words.rows is made.vocabulary.weight
