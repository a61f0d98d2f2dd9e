"""How many of each: as good as trying everything, and within both limits."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyprune.pruning.selection.multiple_choice import BUCKETS, ChoiceGroup, solve

FINE = 1 + 8 / BUCKETS
"""Every group's time is rounded up by less than a bucket."""


@st.composite
def some_groups(draw) -> list[list[tuple[float, float, int]]]:
    """Value, seconds and parameters of the options of a few groups, nothing being one of them."""
    option = st.tuples(st.integers(0, 50), st.integers(0, 40), st.integers(0, 60))
    options = st.lists(option, min_size=1, max_size=4)
    return [[(0, 0, 0), *draw(options)] for _ in range(draw(st.integers(1, 4)))]


def groups_of(options) -> list[ChoiceGroup]:
    arrays = [np.array(each, dtype=float).T for each in options]
    return [ChoiceGroup(np.arange(a.shape[1]), a[0], a[1], a[2].astype(int)) for a in arrays]


def best_by_trying(options, seconds: float, parameters: float) -> float:
    sums = [np.sum(each, axis=0) for each in product(*options)]
    return max(s[0] for s in sums if s[1] <= seconds and s[2] <= parameters)


def value(options, chosen) -> float:
    return sum(each[i][0] for each, i in zip(options, chosen.options, strict=True))


@given(some_groups(), st.integers(0, 120))
def test_time_alone_is_solved_exactly(options, seconds):
    chosen = solve(groups_of(options), float(seconds))
    assert chosen is not None
    assert chosen.seconds <= seconds
    best = best_by_trying(options, seconds, np.inf)
    assert best_by_trying(options, seconds / FINE, np.inf) <= value(options, chosen) <= best
    everything = sum(max(option[0] for option in each) for each in options)
    assert value(options, chosen) == everything or chosen.binds == ("time",)


@given(some_groups(), st.integers(0, 120), st.integers(0, 150))
def test_two_limits_are_both_kept_and_no_single_change_is_better(options, seconds, parameters):
    chosen = solve(groups_of(options), float(seconds), parameters)
    if chosen is None:  # the price left nothing, which the empty choice would always be
        pytest.fail("nothing at all always fits")
    assert chosen.seconds <= seconds
    assert chosen.parameters <= parameters
    assert value(options, chosen) <= best_by_trying(options, seconds, parameters)
    for place, each in enumerate(options):
        for other, (worth, time, size) in enumerate(each):
            now = each[chosen.options[place]]
            if worth > now[0] and other != chosen.options[place]:
                slower = chosen.seconds - now[1] + time > seconds / FINE
                larger = chosen.parameters - now[2] + size > parameters
                assert slower or larger


def test_what_binds_is_said():
    options = [[(0, 0, 0), (5, 10, 10)], [(0, 0, 0), (5, 10, 10)]]
    groups = groups_of(options)
    assert solve(groups, 100.0, 100).binds == ()
    assert solve(groups, 10.0, 100).binds == ("time",)
    assert solve(groups, 100.0, 10).binds == ("parameters",)
    other = groups_of([[(0, 0, 0), (5, 10, 0)], [(0, 0, 0), (5, 0, 10)]])
    assert solve(other, 5.0, 5).options == (0, 0)


def test_what_costs_nothing_to_leave_out_whole_is_left_out_whole():
    # A sublayer of any width costs 6, however narrow; two halves are worth less than a whole.
    sublayer = [(0, 0, 0), (5, 6 + 5, 1), (8, 6 + 10, 2)]
    chosen = solve(groups_of([sublayer, sublayer]), 16.0)
    assert sorted(chosen.options) == [0, 2]


def test_nothing_fits():
    groups = groups_of([[(1, 5, 5)], [(1, 5, 5)]])
    assert solve(groups, 9.9) is None
    assert solve(groups, 100.0, 9) is None
    assert solve(groups, 10.0, 10) is not None
