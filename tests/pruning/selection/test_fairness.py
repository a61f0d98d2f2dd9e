"""A floor for languages: the worst off loses less, and that is said."""

import itertools

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from polyprune.model.network.components import PerComponent
from polyprune.pruning.second_order.curves import RemovalCurves
from polyprune.pruning.selection.fairness import keep_fairest, losses_of
from polyprune.pruning.selection.ranking import ComponentWeights, density_of

WEIGHTS = ComponentWeights(2, 2, 2)


def curves(seed: int, rows: int = 3, counts=(2, 3, 3)) -> RemovalCurves:
    generator = torch.Generator().manual_seed(seed)
    heads, units, rank = (
        torch.rand(rows, n, generator=generator, dtype=torch.float64) for n in counts
    )
    order = [torch.arange(n)[None] for n in counts]
    return RemovalCurves(
        PerComponent((order[0],), (order[1],), order[2]), PerComponent((heads,), (units,), rank)
    )


@given(st.integers(0, 10_000), st.sampled_from([0.3, 0.5, 0.8]))
def test_the_worst_off_never_loses_more_than_without(seed, density):
    own = curves(seed)
    gates, told = keep_fairest(own, density, WEIGHTS)
    losses = losses_of(own, gates)
    assert float(density_of(gates, WEIGHTS)[0]) <= density
    assert told.worst == pytest.approx(float(losses.max()))
    assert told.mean == pytest.approx(float(losses.mean()))
    assert told.worst <= told.worst_without
    assert told.mean >= told.mean_without - 1e-9


def worst_of(own: RemovalCurves, gone) -> torch.Tensor:
    lost = [s[:, :n].sum(1) for s, n in zip(own.steps.leaves(), gone, strict=True)]
    return torch.stack(lost).sum(0).max()


def test_it_is_near_the_best_that_there_is():
    """Against all widths: twenty problems of three languages."""
    gaps = []
    for seed in range(20):
        own = curves(seed)
        _, told = keep_fairest(own, 0.5, WEIGHTS)
        best = min(
            max(
                sum(
                    float(steps[row, :gone].sum())
                    for steps, gone in zip(own.steps.leaves(), widths, strict=True)
                )
                for row in range(3)
            )
            for widths in itertools.product(range(3), range(4), range(4))
            if sum(widths) >= 4
        )
        gaps.append(told.worst / best)
    assert sum(gaps) / len(gaps) < 1.1


def test_a_language_that_mean_forgets_is_remembered():
    """Five languages need little of one sublayer, the sixth needs little else."""
    much = torch.tensor([[0.2, 0.6, 1.5, 3.0]]).double()  # every further removal costs more
    little = 0.05 * much
    heads, units = torch.cat([*[much] * 5, little]), torch.cat([*[little] * 5, much])
    order, rank = torch.arange(4)[None], torch.full((6, 1), 9.0).double()
    own = RemovalCurves(
        PerComponent((order,), (order,), torch.zeros(1, 1, dtype=torch.long)),
        PerComponent((heads,), (units,), rank),
    )
    gates, told = keep_fairest(own, 0.56, WEIGHTS)
    assert (int(gates.heads[0].sum()), int(gates.units[0].sum())) == (2, 2)
    assert told.worst < 0.5 * told.worst_without
    assert "less than without" in str(told)
