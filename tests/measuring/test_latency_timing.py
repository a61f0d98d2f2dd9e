"""Tables and targets, on a machine whose speed is known."""

from dataclasses import replace
from functools import partial

import pytest

from polyprune.errors import ConfigError
from polyprune.measuring import latency_timing, speed_target
from polyprune.measuring.latency_timing import (
    BatchShape,
    EncoderFactory,
    cached_table,
    measure_table,
    preferred_multiple,
)
from polyprune.measuring.noise import Noise, NoiseMonitor, TooNoisy
from polyprune.measuring.speed_target import CLOSE, Speed, SpeedGoal
from polyprune.model.network.components import shape_kept
from polyprune.model.surgery.shrink import shrink
from polyprune.pruning.ranker import Ranker
from polyprune.pruning.rounds import Rounds, prune_in_rounds
from polyprune.pruning.selection.ranking import Minimum
from support.clocks import Machine, put

LOAD = BatchShape(1, 8)


@pytest.fixture
def machine(monkeypatch):
    return put(Machine(), monkeypatch)


def test_a_table_is_what_the_machine_does(model, machine):
    found = measure_table(model, LOAD, clock=machine)
    assert found.base == pytest.approx(1e-3)
    assert [float(found.attention(n)) for n in (0, 1, 3, 4)] == pytest.approx([0, 2e-3, 6e-3, 8e-3])
    assert [float(found.feed_forward(n)) for n in (0, 7, 40)] == pytest.approx([0, 1.4e-3, 8e-3])
    assert float(found.words(12)) == pytest.approx(1.2e-4)
    assert found.seconds(model.shape) == pytest.approx(machine.seconds(model.shape))


def test_it_is_measured_once_a_machine_and_a_batch(model, machine, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(latency_timing, "measure_table", partial(measure_table, clock=machine))
    first = cached_table(model, LOAD)
    timed = machine.timed
    assert cached_table(model, LOAD) == first
    assert machine.timed == timed
    cached_table(model, replace(LOAD, batch=2))
    assert machine.timed > timed
    timed = machine.timed
    for file in tmp_path.rglob("*.json"):
        file.write_text("half a file")
    assert cached_table(model, LOAD).base == pytest.approx(first.base)
    assert machine.timed > timed


def test_models_of_a_table_have_the_shape_of_the_real_one_and_no_readout(model):
    shape = replace(model.shape, heads=(0, 3), units=(5, 0))
    made = EncoderFactory(model)(shape)
    assert made.shape == shape
    assert made.config.pre_norm == model.config.pre_norm
    assert made(LOAD.batch_for(model).ids).last_hidden_state.isfinite().all()
    assert made.readout is None


@pytest.mark.parametrize(
    ("slower", "liked"), [({}, 1), ({1: 1.1, 4: 1.1}, 8), ({1: 1.02}, 1), ({8: 2.0, 1: 2.0}, 4)]
)
def test_the_smallest_multiple_that_is_as_fast_is_liked(slower, liked):
    widths = {64 + step: slower.get(step, 1.0) for step in (1, 4, 8, 16, 32)} | {64: 1.0}
    assert preferred_multiple(widths.items()) == liked
    assert preferred_multiple([]) == 1


def speed_of(model, machine, goal, parameters=None) -> Speed:
    found = measure_table(model, LOAD, clock=machine)
    return Speed(goal, LOAD, parameters, table=found, clock=machine)


@pytest.mark.parametrize("mixed", [1.0, 1.3, 0.8])
@pytest.mark.parametrize("asked", [1.5, 2.0, 4.0])
def test_a_speedup_is_reached_though_sublayers_are_not_quite_a_sum(
    model, monkeypatch, mixed, asked
):
    machine = put(Machine(mixed), monkeypatch)
    found = speed_of(model, machine, SpeedGoal(asked)).select(model, Ranker.named("random"))
    small = shrink(model, found.gates)
    true = machine.seconds(model.shape) / machine.seconds(small.shape)
    assert asked - 1e-9 <= true <= asked * 1.1  # a head of eight is no small step
    assert found.speedup == pytest.approx(true)
    assert found.off() <= 1e-9
    assert found.binds == ("time",)


@pytest.mark.parametrize("goal", [SpeedGoal(2.0), SpeedGoal(seconds=9e-3)])
def test_rounds_reach_the_speed_that_was_asked_of_the_whole(model, machine, goal):
    wanted = replace(speed_of(model, machine, goal), minimum=Minimum(heads=1, units=3, rank=1))
    cuts = []
    pruned = prune_in_rounds(
        model, wanted, Ranker.named("random"), lambda now, *_: cuts.append(now.shape), Rounds(3)
    )
    found, before = pruned.selection, machine.seconds(model.shape)
    after = machine.seconds(pruned.model.shape)
    assert found.before == pytest.approx(before)
    assert found.after == pytest.approx(after)
    assert found.speedup == pytest.approx(before / after)
    assert 0.9 * goal.seconds_for(before) <= after <= goal.seconds_for(before) + 1e-9
    assert before > machine.seconds(cuts[1]) > machine.seconds(cuts[2]) > after
    kept = pruned.model.shape
    assert min(kept.heads) >= 1
    assert min(kept.units) >= 3
    assert shape_kept(found.gates, model.shape).heads == kept.heads
    assert found.only.audit.parameters == pruned.model.num_parameters()


def test_a_table_is_measured_once_for_all_rounds(model, machine, monkeypatch):
    asked = []
    table = measure_table(model, LOAD, clock=machine)
    monkeypatch.setattr(
        speed_target, "cached_table", lambda whole, *_: asked.append(whole.shape) or table
    )
    wanted = Speed(SpeedGoal(2.0), LOAD, clock=machine)
    prune_in_rounds(model, wanted, Ranker.named("random"), lambda *_: None, Rounds(3))
    assert asked == [model.shape]


def test_a_latency_is_reached(model, machine):
    goal = SpeedGoal(seconds=9e-3)
    found = speed_of(model, machine, goal).select(model, Ranker.named("random"))
    kept = shape_kept(found.gates, model.shape)
    assert 9e-3 * (1 - 3 * CLOSE) <= machine.seconds(kept) <= 9e-3 + 1e-9
    assert found.as_dict()["asked"] == {"speedup": None, "seconds": 9e-3}


def test_what_is_small_enough_may_be_faster_than_asked(model, machine):
    wanted = speed_of(model, machine, SpeedGoal(1.1), parameters=6_000)
    found = wanted.select(model, Ranker.named("magnitude"))
    assert found.tries == 1
    assert found.binds == ("parameters",)
    assert found.speedup > 1.1
    assert shrink(model, found.gates).num_parameters() <= 6_000


def test_what_cannot_be_reached_or_measured_is_said(model, machine, monkeypatch):
    with pytest.raises(ConfigError, match="what cannot be pruned takes"):
        speed_of(model, machine, SpeedGoal(1000.0)).select(model, Ranker.named("random"))
    wanted = speed_of(model, machine, SpeedGoal(2.0))
    monkeypatch.setattr(NoiseMonitor, "noise", lambda self, speeds: Noise(steal=0.5))
    with pytest.raises(TooNoisy, match="too noisy to measure on now"):
        wanted.select(model, Ranker.named("random"))
    for goal in ({}, {"speedup": 2.0, "seconds": 1.0}, {"speedup": 0.5}, {"seconds": 0.0}):
        with pytest.raises(ConfigError):
            SpeedGoal(**goal)
