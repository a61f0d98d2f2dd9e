"""Random scores, weights and budgets for property tests."""

import torch
from hypothesis import strategies as st

from polyprune.model.network.components import PerComponent
from polyprune.model.network.shape import EncoderShape
from polyprune.pruning.selection.ranking import ComponentWeights

XLM_R_BASE = EncoderShape(250_002, 514, 1, 768, 64, (12,) * 12, (3072,) * 12, 768)


widths = st.lists(st.integers(1, 6), min_size=1, max_size=3)


@st.composite
def rankings(draw):
    """How many components there are, their weights, a density, a seed; ties are likely."""
    heads = draw(widths)
    units = draw(st.lists(st.integers(0, 12), min_size=len(heads), max_size=len(heads)))
    weights = tuple(draw(st.integers(1, 300)) for _ in range(3))
    return (
        heads,
        units,
        draw(st.integers(1, 9)),
        weights,
        draw(st.floats(0, 1)),
        draw(st.integers(0, 99)),
    )


def make(ranking, rows=2):
    heads, units, rank, weights, density, seed = ranking
    g = torch.Generator().manual_seed(seed)

    def some(n):
        return torch.randint(0, 5, (rows, n), generator=g).float()

    return (
        PerComponent(tuple(map(some, heads)), tuple(map(some, units)), some(rank)),
        ComponentWeights(*weights),
        density,
    )
