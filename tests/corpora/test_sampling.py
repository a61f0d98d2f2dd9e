"""Languages are sampled as XLM-R's were: q ∝ p^0.3."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyprune.corpora.languages import languages
from polyprune.corpora.stream import language_shares, resampling
from polyprune.errors import ConfigError, DataError
from support.paths import VECTORS

REFERENCE = json.loads((VECTORS / "language_sampling.json").read_text(encoding="utf-8"))

sizes = st.dictionaries(
    st.sampled_from(sorted(languages())), st.integers(1, 10**12), min_size=1, max_size=8
)
exponents = st.floats(0, 1)


@pytest.mark.parametrize("exponent", REFERENCE["alphas"])
def test_shares_are_those_of_fairseq(exponent: str):
    expected = REFERENCE["alphas"][exponent]
    shares = language_shares(REFERENCE["sizes"], float(exponent))
    assert shares == pytest.approx(expected["prob"], rel=1e-12, abs=0)
    ratios = resampling(REFERENCE["sizes"], float(exponent))
    assert ratios == pytest.approx(expected["size_ratio"], rel=1e-12, abs=0)


@given(sizes, exponents)
def test_shares_sum_to_one(sizes: dict[str, int], exponent: float):
    shares = language_shares(sizes, exponent)
    assert list(shares) == list(sizes)
    assert sum(shares.values()) == pytest.approx(1, abs=1e-12)


@given(sizes)
def test_an_exponent_of_one_is_in_proportion_and_of_zero_is_uniform(sizes: dict[str, int]):
    total = sum(sizes.values())
    proportional = {code: size / total for code, size in sizes.items()}
    assert language_shares(sizes, 1) == pytest.approx(proportional)
    assert language_shares(sizes, 0) == pytest.approx(dict.fromkeys(sizes, 1 / len(sizes)))


@given(sizes, exponents)
def test_more_text_is_never_sampled_less(sizes: dict[str, int], exponent: float):
    shares = language_shares(sizes, exponent)
    by_size = sorted(sizes, key=sizes.__getitem__)
    assert [shares[code] for code in by_size] == sorted(shares.values())


@given(sizes, exponents)
def test_resampling_reads_as_much_as_there_is(sizes: dict[str, int], exponent: float):
    read = sum(ratio * sizes[code] for code, ratio in resampling(sizes, exponent).items())
    assert read == pytest.approx(sum(sizes.values()))


@given(sizes, exponents, st.integers(1, 1000))
def test_the_unit_of_the_sizes_does_not_matter(sizes, exponent: float, unit: int):
    scaled = {code: size * unit for code, size in sizes.items()}
    assert language_shares(scaled, exponent) == pytest.approx(language_shares(sizes, exponent))


@pytest.mark.parametrize("exponent", [-0.1, 1.1, float("nan")])
def test_an_exponent_that_cannot_be_meant(exponent: float):
    with pytest.raises(ConfigError, match=f"^The exponent of the sampling is {exponent}; choose"):
        language_shares({"sw": 1}, exponent)


@pytest.mark.parametrize("sizes", [{"sw": 0}, {"ur": 3, "sw": 0}, {"sw": -1}])
def test_a_language_without_text_is_named(sizes: dict[str, int]):
    with pytest.raises(DataError, match=f"^There is no text in sw: its size is {sizes['sw']}"):
        language_shares(sizes)


def test_there_must_be_a_language():
    with pytest.raises(DataError, match=r"^There are no languages to sample from"):
        language_shares({})
