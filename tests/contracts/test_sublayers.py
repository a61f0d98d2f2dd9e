"""Whatever a sublayer knows of itself agrees: its passes, its counts, and what is cut of it."""

from dataclasses import replace

import pytest
import torch

import polyprune as pp
from polyprune.model.families import FAMILIES
from polyprune.model.network.attention import ATTENTIONS, Attention
from polyprune.model.network.encoder import Layer
from polyprune.model.network.feed_forward import FEED_FORWARDS
from polyprune.model.network.shape import EncoderShape, Wiring
from polyprune.pruning.selection.ranking import ComponentWeights

SHAPE = EncoderShape(
    vocab_size=50,
    positions=20,
    token_types=1,
    width=12,
    head_width=4,
    heads=(3, 1),
    units=(7, 5),
    rank=12,
)
MASK = torch.tensor([[True] * 6, [True] * 4 + [False] * 2])


def sublayers():
    for name in ATTENTIONS:
        for heads in (0, 1, 3):
            yield pytest.param("attention", name, heads, id=f"{name}-{heads}")
    for name in FEED_FORWARDS:
        for units in (0, 1, 7):
            yield pytest.param("feed_forward", name, units, id=f"{name}-{units}")


def make(kind: str, name: str, count: int):
    torch.manual_seed(0)
    table = ATTENTIONS if kind == "attention" else FEED_FORWARDS
    sublayer = table[name](replace(SHAPE, **{kind: name}), Wiring(), count).eval()
    for parameter in sublayer.parameters():
        torch.nn.init.normal_(parameter)
    return sublayer


@pytest.mark.parametrize(("kind", "name", "count"), [*sublayers()])
def test_it_has_as_many_parameters_as_it_says(kind, name, count):
    sublayer = make(kind, name, count)
    shape = replace(SHAPE, **{kind: name})
    said = count * sublayer.parameters_each(shape) + sublayer.parameters_always(shape)
    assert sum(parameter.numel() for parameter in sublayer.parameters()) == said


@torch.no_grad()
@pytest.mark.parametrize(("kind", "name", "count"), [*sublayers()])
def test_all_its_passes_compute_the_same(kind, name, count):
    sublayer, x = make(kind, name, count), torch.randn(2, 6, 12)
    keys = torch.zeros(2, 1, 1, 6).masked_fill(~MASK[:, None, None], -1e4)
    flat, stream = x.flatten(0, 1), torch.randn(12, 12)
    if kind == "attention":
        expected = sublayer(x, MASK[:, None, None])
        plain = sublayer.exportable(x, keys)
        fused = sublayer.add_fused(stream.clone(), flat, x.shape[:2], keys)
    else:
        expected = sublayer(x)
        plain = sublayer.exportable(x)
        fused = sublayer.add_fused(stream.clone(), flat)
    torch.testing.assert_close(plain.expand_as(expected), expected, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(fused, stream + expected.flatten(0, 1), rtol=1e-4, atol=1e-5)


@torch.no_grad()
@pytest.mark.parametrize(("kind", "name", "count"), [*sublayers()])
def test_what_is_cut_computes_what_the_gated_one_does(kind, name, count):
    sublayer, x = make(kind, name, count), torch.randn(2, 6, 12)
    gate = torch.rand(count) * (torch.arange(count) % 2 == 0)
    small = make(kind, name, int(gate.count_nonzero()))
    small.load_state_dict(sublayer.cut(gate))
    gated = {"gate": gate[None]} if count else {}
    torch.testing.assert_close(small(x), sublayer(x, **gated), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("kind", "name", "count"), [*sublayers()])
def test_there_is_a_magnitude_for_every_component(kind, name, count):
    assert make(kind, name, count).magnitudes().shape == (count,)


@pytest.mark.parametrize("family", [*FAMILIES.values()], ids=[*FAMILIES])
def test_a_family_picks_sublayers_that_there_are(family):
    assert family.attention in ATTENTIONS
    assert family.feed_forward in FEED_FORWARDS


class _Narrow(Attention):
    """As attention, but counted as if its heads had no biases."""

    @staticmethod
    def parameters_each(shape: EncoderShape) -> int:
        return 4 * shape.head_width * shape.width


def test_a_new_sublayer_is_one_class_and_a_name(monkeypatch):
    monkeypatch.setitem(ATTENTIONS, "narrow", _Narrow)
    narrow = replace(SHAPE, attention="narrow")
    assert type(Layer(narrow, Wiring(), 0).attention) is _Narrow
    less = 3 * SHAPE.head_width
    count = pp.footprint(SHAPE).encoder_parameters - pp.footprint(narrow).encoder_parameters
    assert count == less * sum(SHAPE.heads)
    weights = [ComponentWeights.in_parameters(shape).head for shape in (SHAPE, narrow)]
    assert weights[0] - weights[1] == less
