"""Sampling of languages: small ones more often than their share of the text."""

from collections.abc import Mapping

from ..errors import ConfigError, DataError


def language_shares(
    sizes: Mapping[str, int | float], exponent: int | float = 0.3
) -> dict[str, float]:
    """Return each language's sampling probability q ∝ p^exponent; p is its share of all text.

    1 is in proportion to the text, 0 is the same for every language; 0.3 is XLM-R's.
    """
    if not 0 <= exponent <= 1:
        raise ConfigError(
            f"The exponent of the sampling is {exponent}; choose one from 0, every language alike, "
            "to 1, in proportion to its text."
        )
    if not sizes:
        raise DataError("There are no languages to sample from. Name at least one with text.")
    for code, size in sizes.items():
        if not size > 0:
            raise DataError(
                f"There is no text in {code}: its size is {size}. Leave the language out, or put "
                "text into its file."
            )
    total = sum(sizes.values())
    powers = {code: (size / total) ** exponent for code, size in sizes.items()}
    whole = sum(powers.values())
    return {code: power / whole for code, power in powers.items()}


def resampling(sizes: Mapping[str, int | float], exponent: int | float = 0.3) -> dict[str, float]:
    """Return how often each language's text is read while all text is read once: q · Σn / n.

    This is `size_ratio` in fairseq's `multilingual_masked_lm`.
    """
    total = sum(sizes.values())
    shares = language_shares(sizes, exponent)
    return {code: share * total / sizes[code] for code, share in shares.items()}
