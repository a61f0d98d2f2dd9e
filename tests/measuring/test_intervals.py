"""Intervals that contain the truth, on noise of which the truth is known."""

import numpy as np
import pytest

from polyprune.errors import ConfigError
from polyprune.measuring.intervals import (
    block_length,
    effective,
    median_interval,
    percentiles,
    ratio,
)

RUNS = 500
"""A scenario: enough to tell 97 % from 93 %."""


def correlated(chance: np.random.Generator, rounds: int, correlation: float) -> np.ndarray:
    """Noise of size 1 of which each value remembers the one before (AR(1))."""
    noise = chance.standard_normal(rounds)
    for i in range(1, rounds):
        noise[i] = correlation * noise[i - 1] + np.sqrt(1 - correlation**2) * noise[i]
    return noise


def spikes(chance: np.random.Generator, rounds: int) -> np.ndarray:
    """Now and then something else is running, and a call takes half as long again."""
    return np.where(chance.random(rounds) < 0.02, chance.exponential(0.5, rounds), 0)


def machine(chance: np.random.Generator, rounds: int, correlation: float, drift: float):
    """Seconds of two calls that take equally long, and what they share of a restless machine."""
    shared = 0.1 * correlated(chance, rounds, 0.9) + np.linspace(0, drift, rounds)
    logs = [
        shared + 0.01 * correlated(chance, rounds, correlation) + spikes(chance, rounds)
        for _ in range(2)
    ]
    return np.exp(logs)


@pytest.mark.parametrize("rounds", [30, 40])
@pytest.mark.parametrize("drift", [0.0, 0.5])
@pytest.mark.parametrize("correlation", [0.0, 0.5])
def test_the_same_against_itself_is_one(rounds, correlation, drift):
    """In 97 of 100: then 18 of 20 hold in all but one of fifty acceptance runs."""
    chance = np.random.default_rng(7)
    inside = 0
    for _ in range(RUNS):
        _, low, high = ratio(*machine(chance, rounds, correlation, drift), draws=200)
        inside += low <= 1 <= high
    assert inside / RUNS >= 0.97


def test_noise_that_remembers_everything_is_not_taken_for_certainty():
    """Forty rounds of it hold as much as two: still more right than wrong by far."""
    chance = np.random.default_rng(7)
    inside = 0
    for _ in range(RUNS):
        _, low, high = ratio(*machine(chance, 40, 0.9, 0.0), draws=200)
        inside += low <= 1 <= high
    assert inside / RUNS >= 0.9


@pytest.mark.parametrize("correlation", [0.0, 0.5])
def test_a_difference_of_five_percent_is_seen_in_forty_rounds(correlation):
    chance = np.random.default_rng(8)
    seen = 0
    for _ in range(RUNS):
        first, second = machine(chance, 40, correlation, 0.2)
        seen += ratio(1.05 * first, second, draws=200)[1] > 1
    assert seen / RUNS >= 0.95


def test_the_ratio_turned_around_is_one_over_it():
    first, second = machine(np.random.default_rng(9), 30, 0.3, 0.1)
    there, back = ratio(first, 2 * second), ratio(2 * second, first)
    assert there[0] * back[0] == pytest.approx(1)
    assert there[1] * back[2] == pytest.approx(1, abs=0.01)


def test_few_rounds_say_no_more_than_all_of_them():
    assert ratio(np.array([2.0]), np.array([1.0])) == (2, 2, 2)
    first, second = np.array([2.0, 3.0, 4.0, 8.0]), np.ones(4)
    assert ratio(first, second) == pytest.approx((np.sqrt(12), 2, 8))


def test_what_hangs_together_is_drawn_together():
    chance = np.random.default_rng(1)
    alone = [block_length(correlated(chance, 200, 0.0)) for _ in range(20)]
    together = [block_length(correlated(chance, 200, 0.9)) for _ in range(20)]
    assert np.median(alone) <= 3 < 10 <= np.median(together) <= max(together) <= 50
    assert block_length(np.zeros(40)) == block_length(np.arange(7.0)) == 1
    assert block_length(np.arange(30.0)) == 7  # no longer than a quarter


def test_correlated_rounds_count_less():
    chance = np.random.default_rng(1)
    counts = [
        np.median([effective(correlated(chance, 100, correlation)) for _ in range(20)])
        for correlation in (0.0, 0.5, 0.9)
    ]
    assert counts[0] > 85  # of 100; 33 and 5 by (1 − φ) / (1 + φ)
    assert 20 < counts[1] < 45
    assert 2 < counts[2] < 10


def test_the_interval_is_around_its_middle():
    for seed in range(20):
        middle, low, high = median_interval(np.random.default_rng(seed).normal(size=9))
        assert low <= middle <= high


def test_a_percentile_has_calls_beyond_it():
    assert percentiles(np.arange(9.0)) == {}
    assert set(percentiles(np.arange(10.0))) == {50}
    assert set(percentiles(np.arange(100.0))) == {50, 90, 95}
    assert percentiles(np.arange(501.0)) == {50: 250, 90: 450, 95: 475, 99: 495}


def test_what_is_no_pair_of_rounds_is_said():
    with pytest.raises(ConfigError, match=r"pairs of rounds.*\(2,\) and \(3,\)"):
        ratio(np.ones(2), np.ones(3))
    with pytest.raises(ConfigError, match="no time at all"):
        ratio(np.zeros(2), np.ones(2))
