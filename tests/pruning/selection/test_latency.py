"""Tables of latencies, and gates that fit a time by them."""

from dataclasses import replace

import pytest
import torch

from polyprune.errors import CheckpointError, ConfigError
from polyprune.model.footprint import footprint_of
from polyprune.model.network.components import shape_kept
from polyprune.model.surgery.shrink import shrink
from polyprune.pruning.ranker import Ranker
from polyprune.pruning.selection.budgets import Time
from polyprune.pruning.selection.knapsack import keep_most
from polyprune.pruning.selection.latency import LatencyTable, load_table
from polyprune.pruning.selection.ranking import ComponentWeights, Minimum

HEADS, UNITS = 4, 40
"""Of the tiny model, which has two layers."""


def table(head=1e-3, unit=1e-4, step=0.0, liked=1, rank=0.0) -> LatencyTable:
    """Proportional to components, but for what the first of a sublayer costs beside that."""
    return LatencyTable(
        about={"threads": 1},
        base=2e-3,
        heads=((0, 0.0), (1, step + head), (HEADS, step + HEADS * head)),
        units=((0, 0.0), (1, step + unit), (UNITS, step + UNITS * unit)),
        rank=((0, 0.0), (24, rank)),
        liked=liked,
    )


def select(model, ranker, seconds, latencies=None):
    return Time(seconds, latencies or table()).select(model, ranker).gates


def test_it_comes_back_from_its_file(tmp_path):
    path = tmp_path / "deep" / "table.json"
    table().save(path)
    assert load_table(path) == table()
    for text in ("{", "[]", '{"base": 1}', path.read_text()[:-40]):
        path.write_text(text)
        with pytest.raises(CheckpointError, match="no table of latencies"):
            load_table(path)


def test_seconds_are_a_sum_over_sublayers(model):
    shape = replace(model.shape, heads=(2, 0), units=(20, 40))
    assert table(step=5e-3).seconds(shape) == pytest.approx(
        2e-3 + (5e-3 + 2e-3) + (5e-3 + 2e-3) + (5e-3 + 4e-3)
    )
    narrow = replace(shape, rank=12, factorized=True)
    assert table(rank=1e-3).seconds(narrow) == pytest.approx(table().seconds(shape) + 5e-4)


@pytest.mark.parametrize("milliseconds", [3, 5, 8, 12, 30])
@pytest.mark.parametrize("parameters", [None, 9_000, 11_000])
def test_both_limits_hold_of_what_is_cut(model, milliseconds, parameters):
    budget = Time(milliseconds / 1e3, table(step=5e-4), parameters)
    selection = budget.select(model, Ranker.named("magnitude"))
    gates = selection.gates
    shape = shape_kept(gates, model.shape)
    assert budget.table.seconds(shape) <= budget.seconds + 1e-9
    assert selection.only.seconds == pytest.approx(budget.table.seconds(shape))
    assert selection.only.audit.requested_parameters == parameters
    small = shrink(model, gates)
    if parameters is not None:
        assert small.num_parameters() <= parameters
    assert small.num_parameters() == footprint_of(small.config, small.readout_kind).parameters


def test_the_best_components_stay(model):
    gates = select(model, Ranker.named("magnitude"), 6e-3)
    scores = Ranker.named("magnitude").rank(model)
    for gate, score in zip(gates.leaves(), scores.leaves(), strict=True):
        kept, dropped = score[gate > 0], score[gate == 0]
        assert not len(kept) or not len(dropped) or kept.min() >= dropped.max()


def test_time_in_proportion_to_weight_is_the_exact_knapsack(model):
    weights = ComponentWeights.of(model.shape)
    even = table(head=weights.head * 1e-6, unit=weights.unit * 1e-6)
    ranker, density = Ranker.named("random", seed=3), 0.5
    scores = ranker.rank(model)
    rank = weights.rank * model.shape.rank  # which takes no time here, and all of which stays
    limit = density * (2 * HEADS * weights.head + 2 * UNITS * weights.unit)
    timed = select(model, ranker, even.base + limit * 1e-6 + 1e-9, even)
    whole = limit + rank
    share = whole / weights.total(scores.map(lambda score: score.shape[-1]))
    keep_rank = Minimum(rank=model.shape.rank)
    exact = keep_most(scores, share, weights, keep_rank)

    def worth(gates):
        return sum(
            float((g * s).sum()) for g, s in zip(gates.leaves(), scores.leaves(), strict=True)
        )

    assert worth(timed) == pytest.approx(worth(exact), rel=2e-3)


def test_whole_sublayers_go_where_that_is_the_cheaper_way(model):
    dear = table(step=4e-3)
    gates = select(model, Ranker.named("random"), 14e-3, dear)
    kept = shape_kept(gates, model.shape)
    assert 0 in kept.heads + kept.units
    assert max(kept.units) > UNITS // 2 or max(kept.heads) == HEADS


def test_widths_are_those_that_the_machine_likes(model):
    kept = shape_kept(select(model, Ranker.named("random"), 6e-3, table(liked=8)), model.shape)
    assert all(width % 8 == 0 for width in kept.units)
    minimum = Minimum(units=3, heads=1, rank=1)
    most = Time(9e-3, table(liked=8), multiple=16, minimum=minimum)
    kept = shape_kept(most.select(model, Ranker.named("random")).gates, model.shape)
    assert all(width in (16, 32, 40) for width in kept.units)
    assert min(kept.heads) >= 1


def test_every_language_has_its_own(model):
    one, two = (select(model, Ranker.named("random", seed=seed), 6e-3) for seed in (1, 2))
    assert not all(torch.equal(a, b) for a, b in zip(one.leaves(), two.leaves(), strict=True))


def test_what_cannot_be_reached_is_said_with_what_can(model):
    with pytest.raises(ConfigError, match="what cannot be pruned takes 2 ms on this machine"):
        select(model, Ranker.named("random"), 1e-3)
    small = Time(6e-3, table(), parameters=1_000)
    with pytest.raises(ConfigError, match="cannot both be kept: the smallest model has"):
        small.select(model, Ranker.named("random"))
