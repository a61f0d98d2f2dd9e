"""Numbers as people type them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyprune.errors import ConfigError
from polyprune.quantities import parse_count, parse_sparsity


@given(st.floats(0, 1, exclude_max=True))
def test_a_sparsity_is_the_number_it_says(sparsity):
    assert parse_sparsity(repr(sparsity)) == sparsity


@given(st.integers(0, 99))
def test_a_percentage_is_a_hundredth(percent):
    assert parse_sparsity(f"{percent}%") == parse_sparsity(f" {percent} % ") == percent / 100


@pytest.mark.parametrize("text", ["50", "1", "1.3", "99.9"])
def test_a_number_that_is_probably_a_percentage_is_asked_about(text):
    with pytest.raises(ConfigError, match=rf"Did you mean {text}%\?"):
        parse_sparsity(text)


@pytest.mark.parametrize("text", ["-0.1", "-5%", "100%", "150%", "100", "nan", "inf", "-inf"])
def test_a_sparsity_is_less_than_everything(text):
    with pytest.raises(ConfigError, match="from 0 to less than 1") as refusal:
        parse_sparsity(text)
    assert "Did you mean" not in str(refusal.value)


@pytest.mark.parametrize("text", ["", "%", "abc", "0,5", "5 0%", "1/2", "50%%"])
def test_what_is_no_sparsity_at_all(text):
    with pytest.raises(ConfigError, match=r"such as 0\.5 or 50%"):
        parse_sparsity(text)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("60000000", 60_000_000),
        ("60_000_000", 60_000_000),
        ("60,000,000", 60_000_000),
        ("60M", 60_000_000),
        (" 60m ", 60_000_000),
        ("60 M", 60_000_000),
        ("0.06B", 60_000_000),
        ("1.5G", 1_500_000_000),
        ("5k", 5_000),
        ("1e4", 10_000),
        ("1", 1),
    ],
)
def test_a_count_may_have_a_letter_or_separators(text, count):
    assert parse_count(text) == count


@given(st.integers(1, 10**15 - 1))
def test_a_count_is_the_number_it_says(count):
    assert (
        parse_count(str(count)) == parse_count(f"{count:,}") == parse_count(f"{count:_}") == count
    )


@pytest.mark.parametrize("text", ["", "M", "many", "0", "-5k", "0.4", "nan", "inf", "1e15", "5x"])
def test_what_is_no_count_at_all(text):
    with pytest.raises(ConfigError, match="such as 60M"):
        parse_count(text)


def test_nothing_stays_nothing():
    assert parse_sparsity(None) is None
    assert parse_count(None) is None
