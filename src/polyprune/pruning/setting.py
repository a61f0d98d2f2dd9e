"""Settings: whether languages share one subnetwork or have one each."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..errors import UnknownName
from ..model.files.row_names import SHARED
from .criteria.importance import GateGradients
from .selection.ranking import Scores


@dataclass(frozen=True, slots=True)
class Setting:
    """How the rows of scores, one per language, become the rows of gates."""

    name: str
    about: str
    combine_rows: Callable[[Scores], Scores]
    per_language: bool
    """Whether every language has gates of its own."""

    def combine(self, gradients: GateGradients) -> GateGradients:
        """What was measured, with one row per row of gates."""
        return gradients.combined(self.combine_rows)

    def rows(self, languages: Sequence[str]) -> tuple[str, ...]:
        """The names of the rows of gates: these languages, or `shared`."""
        return tuple(languages) if self.per_language else (SHARED,)


def mean_rows(scores: Scores) -> Scores:
    """One row for all languages: the mean of their rows."""
    return scores.map(lambda score: score.mean(0, keepdim=True))


SHARED_SETTING = Setting(
    "shared", "one subnetwork for all languages: the mean of their scores", mean_rows, False
)
NON_SHARED_SETTING = Setting(
    "non-shared", "one subnetwork for each language", lambda scores: scores, True
)
SETTINGS = {each.name: each for each in (SHARED_SETTING, NON_SHARED_SETTING)}


def setting_named(name: str) -> Setting:
    """The setting of this name."""
    if name not in SETTINGS:
        raise UnknownName("setting", name, SETTINGS, "shared or non-shared.")
    return SETTINGS[name]
