from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyprune.pruning.gates.dynamic import TENTHS
from polyprune.training.phases import Phase, draw_density, locate_step


@st.composite
def phases(draw):
    steps = draw(st.integers(1, 500))
    return Phase(steps, warmup=draw(st.integers(0, steps)), ramp=draw(st.integers(0, steps)))


@given(phases())
def test_the_learning_rate_rises_in_a_line_and_falls_in_a_line(phase):
    paces = [phase.lr_scale(step) for step in range(phase.steps)]
    assert all(0 < pace <= 1 for pace in paces)
    assert max(paces) == 1
    rising, falling = paces[: phase.warmup], paces[phase.warmup :]
    assert rising == sorted(rising)
    assert falling == sorted(falling, reverse=True)
    if len(falling) > 1:
        assert falling[-1] == pytest.approx(1 / len(falling))


@given(phases(), st.floats(0, 1))
def test_the_density_falls_to_its_target_and_stays_there(phase, target):
    aims = [phase.density(step, target) for step in range(phase.steps)]
    assert aims == sorted(aims, reverse=True)
    assert aims[-1] == pytest.approx(target)
    assert all(aim == target for aim in aims[phase.ramp :])


def test_steps_are_counted_through_the_phases():
    run = [Phase(3), Phase(2)]
    assert [locate_step(run, step) for step in range(5)] == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)]
    with pytest.raises(ValueError, match="fewer steps"):
        locate_step(run, 5)


def test_every_size_of_the_grid_but_none_is_drawn_equally_often():
    drawn = Counter(draw_density(TENTHS, seed=3, step=step) for step in range(5000))
    assert set(drawn) == set(TENTHS) - {0.0}
    assert all(400 < count < 600 for count in drawn.values())


def test_a_density_depends_on_the_seed_and_the_step_alone():
    first = [draw_density(TENTHS, 1, step) for step in range(50)]
    assert [draw_density(TENTHS, 1, step) for step in reversed(range(50))] == first[::-1]
    assert [draw_density(TENTHS, 2, step) for step in range(50)] != first


def test_sizes_between_those_of_the_grid_can_be_drawn():
    drawn = [draw_density(TENTHS, 3, step, between=True) for step in range(2000)]
    assert min(drawn) >= 0.05
    assert max(drawn) <= 1
    assert 150 < drawn.count(1.0) < 240  # as often as on the grid
    counted = Counter(int(10 * size) for size in drawn)
    assert all(150 < counted[tenth] < 270 for tenth in range(1, 10))
    assert draw_density(TENTHS, 3, 7, between=True) == drawn[7]
