"""Find the languages that lose more than others."""

from collections.abc import Mapping
from statistics import median


def lagging_languages(losses: Mapping[str, float], dense: Mapping[str, float]) -> list[str]:
    """Return the languages whose loss rose by 1.5 times the median rise or more, relative to dense.

    Relative, because languages differ in how many words there are to choose from.
    """
    lost = {code: losses[code] / dense[code] - 1 for code in losses if dense.get(code)}
    if len(lost) < 3:
        return []
    bound = 1.5 * max(median(lost.values()), 0.01)
    return [code for code, share in lost.items() if share > bound]
