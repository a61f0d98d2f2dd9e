"""Means and shares with intervals: against tables, against scipy, and against chance."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from polyprune.estimates import Interval, mean_interval, share_interval, wilson

SLEEP = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
"""Student's own example: hours of sleep won by ten patients."""


def test_a_mean_has_students_interval():
    found = mean_interval(SLEEP)
    assert found.mean == pytest.approx(0.75)
    # t(0.975, 9) = 2.2622, and the standard error is 0.5657.
    assert found.low == pytest.approx(0.75 - 2.2622 * 0.5657, abs=1e-3)
    assert found.high == pytest.approx(0.75 + 2.2622 * 0.5657, abs=1e-3)
    assert mean_interval([2.0]).low is None


@given(st.lists(st.integers(0, 1), min_size=1, max_size=80))
def test_one_answer_a_sentence_has_wilsons_interval(right):
    found = share_interval(right, [1] * len(right))
    known = binomtest(sum(right), len(right)).proportion_ci(method="wilson")
    assert ends(found) == pytest.approx((np.mean(right), known.low, known.high))


def test_answers_about_one_sentence_count_for_fewer():
    """Ten words that are right or wrong together say as much as one."""
    right = [10, 0, 10, 10, 0, 10, 10, 10]
    one = share_interval([int(r > 0) for r in right], [1] * 8)
    assert ends(share_interval(right, [10] * 8)) == pytest.approx(ends(one))
    apart = share_interval([7, 6, 8, 7, 7, 6, 8, 7], [10] * 8)
    assert apart == wilson(0.7, 80)  # never for more than there are


def ends(interval: Interval | None) -> tuple[float, ...]:
    assert interval is not None
    assert interval.low is not None
    assert interval.high is not None
    return interval.mean, interval.low, interval.high


def test_sentences_without_answers_say_nothing():
    assert share_interval([0, 3], [0, 4]) == share_interval([3], [4])
    assert share_interval([0, 0], [0, 0]) is None
    assert share_interval([], []) is None


def test_nineteen_of_twenty_intervals_hold_the_truth_where_words_hang_together():
    chance, hits = np.random.default_rng(0), 0
    for _ in range(400):
        asked = chance.integers(1, 20, 64)
        right = [chance.binomial(n, p) for n, p in zip(asked, chance.beta(8, 2, 64), strict=True)]
        _, low, high = ends(share_interval(right, asked.tolist()))
        hits += low <= 0.8 <= high
    assert 0.92 <= hits / 400 <= 0.98
