"""Measurements, looked up: what is missing or not a number is None, never 0."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from ..corpora.languages import language
from ..errors import UnknownName

SPACE = "\u00a0"
"""At which no line ends."""

NOTHING = "–"
"""What stands where there is no number."""


@dataclass(frozen=True, slots=True)
class Found:
    """The lines of a results file."""

    rows: Sequence[Mapping[str, Any]]

    def of(self, what: str, **wanted: Any) -> list[Mapping[str, Any]]:
        """All measurements of something that have these properties."""
        named = (row for row in self.rows if row.get("what") == what)
        return [row for row in named if all(row.get(name) == own for name, own in wanted.items())]

    def value(self, what: str, **wanted: Any) -> float | None:
        """The first of them, if it is a number."""
        return next((number(row.get("value")) for row in self.of(what, **wanted)), None)

    def values(self, what: str, **wanted: Any) -> dict[str, float | None]:
        """By language."""
        rows = self.of(what, **wanted)
        return {str(row["language"]): number(row.get("value")) for row in rows if "language" in row}

    def mean(self, what: str, **wanted: Any) -> float | None:
        """Over the languages that have a number."""
        known = [value for value in self.values(what, **wanted).values() if value is not None]
        return sum(known) / len(known) if known else None

    def sizes(self, what: str, **wanted: Any) -> list[float]:
        """That something was measured in, the uncut one first."""
        sizes = (number(row.get("size")) for row in self.of(what, **wanted))
        return sorted({size for size in sizes if size is not None})

    @property
    def run(self) -> Mapping[str, Any]:
        """What all this was measured by, and on."""
        return next((row["run"] for row in self.rows if isinstance(row.get("run"), Mapping)), {})


def number(value: Any) -> float | None:
    """A finite number, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) else None


def shown(value: float | None, form: str = ".1f", unit: str = "") -> str:
    """A number for people, or a dash."""
    return NOTHING if value is None else f"{value:{form}}{unit}"


def percent(value: float | None) -> str:
    """A share, or a dash; the sign stays with its number."""
    return NOTHING if value is None else f"{100 * value:.0f}{SPACE}%"


def millions(value: float | None) -> str:
    """Of parameters or bytes."""
    return NOTHING if value is None else f"{value / 1e6:.1f}"


def text(anything: Any) -> str:
    """As HTML has it, also within quotes."""
    return escape(str(anything), quote=True)


def name_of(code: str) -> str:
    """A language in English."""
    return _known(code, lambda found: found.name)


def family_of(code: str) -> str:
    """The family of a language."""
    return _known(code, lambda found: found.family or "no family known", "no family known")


def _known(code: str, tell: Callable[[Any], str], otherwise: str | None = None) -> str:
    try:
        return tell(language(code))
    except UnknownName:
        return otherwise or code
