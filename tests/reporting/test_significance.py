"""Tests of paired differences against values worked out by hand or printed in tables."""

import pytest

from polyprune.reporting.significance import effect_size, holm, signed_rank_test, t_test

SLEEP = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
"""Student's own example: hours of sleep won by ten patients."""


def test_the_t_test_gives_students_p():
    assert t_test(SLEEP) == pytest.approx(0.2176, abs=1e-4)
    assert t_test([1.0]) is None
    assert (t_test([0.0, 0.0]), t_test([1.0, 1.0])) == (1, 0)


def test_the_signed_rank_test_counts_signs_and_ranks():
    """Of n differences of one sign, both extremes of 2ⁿ are as likely by chance."""
    assert signed_rank_test([1.0, 2.0, 3.0, 4.0, 5.0]) == pytest.approx(2 / 2**5)
    assert signed_rank_test([-1.0, 2.0, 3.0, 4.0, 500.0]) == pytest.approx(4 / 2**5)
    assert signed_rank_test([0.0, 0.0]) == 1
    assert signed_rank_test([3.0]) is None


def test_effects_are_in_standard_deviations():
    assert effect_size([1.0, 3.0]) == pytest.approx(2 / 2**0.5)
    assert effect_size([1.0]) is None


def test_holm_corrects_for_how_many_were_asked():
    assert holm([0.01, 0.04, None, 0.03]) == pytest.approx([0.03, 0.06, None, 0.06])
    assert holm([0.6, 0.7]) == [1, 1]
    assert holm([]) == []
