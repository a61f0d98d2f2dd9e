"""Widths within so many parameters, by removal curves, against exhaustive search."""

import itertools

import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st

import polyprune as pp
from polyprune.errors import ConfigError
from polyprune.model.network.attention import ATTENTIONS
from polyprune.model.network.components import PerComponent
from polyprune.model.network.embedding import Embedding
from polyprune.model.network.feed_forward import FEED_FORWARDS
from polyprune.pruning.second_order.curves import RemovalCurves
from polyprune.pruning.selection.ranking import Minimum
from polyprune.pruning.selection.widths import ParameterLimits, keep_within_parameters

SHAPE = pp.EncoderShape(20, 10, 1, 8, 4, (2, 2), (3, 2), 8)
LEAST = Minimum(rank=1)
HEAD = ATTENTIONS[SHAPE.attention].parameters_each(SHAPE)
UNIT = FEED_FORWARDS[SHAPE.feed_forward].parameters_each(SHAPE)


def parameters(widths: tuple[int, ...]) -> int:
    """What so many heads, units and ranks hold; all ranks are one plain table."""
    *layers, rank = widths
    heads, units = layers[:2], layers[2:]
    shape = SHAPE.keeping(heads, units, rank)
    return HEAD * sum(heads) + UNIT * sum(units) + Embedding.parameter_count(shape)


def some_curves(seed: int) -> RemovalCurves:
    """Steps of any size: curves bend both ways."""
    generator = torch.Generator().manual_seed(seed)
    sizes = PerComponent(SHAPE.heads, SHAPE.units, SHAPE.rank)
    steps = sizes.map(lambda n: torch.rand(1, n, generator=generator).double() ** 3)
    return RemovalCurves(sizes.map(lambda n: torch.randperm(n, generator=generator)[None]), steps)


ALL = list(itertools.product(*(range(n + 1) for n in (*SHAPE.heads, *SHAPE.units)), range(1, 9)))


@given(st.integers(0, 1000), st.floats(0, 1))
@example(1, 0.798828125)  # the best fills the limit to the last parameter
def test_no_other_widths_lose_less(seed, share):
    curves, smallest, largest = some_curves(seed), min(map(parameters, ALL)), parameters(ALL[-1])
    limit = int(smallest + share * (largest - smallest))
    gates = keep_within_parameters(curves, SHAPE, ParameterLimits(limit, 0, LEAST))
    for order, gate in zip(curves.order.leaves(), gates.leaves(), strict=True):
        assert torch.equal(gate[0, order[0]], gate[0, order[0]].sort().values)  # the last to go

    def loss(widths: tuple[int, ...]) -> float:
        steps = zip(curves.steps.leaves(), widths, strict=True)
        return sum(float(each[0, : each.shape[1] - k].sum()) for each, k in steps)

    kept = tuple(int(gate.sum()) for gate in gates.leaves())
    assert parameters(kept) <= limit
    assert loss(kept) == pytest.approx(min(loss(w) for w in ALL if parameters(w) <= limit))


def test_fewer_than_what_cannot_be_pruned_are_refused():
    with pytest.raises(ConfigError, match="smallest possible is"):
        keep_within_parameters(some_curves(0), SHAPE, ParameterLimits(10, 0, LEAST))
