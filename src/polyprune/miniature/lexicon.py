"""A language's words, read from its file."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from ..errors import DataError
from .lexicon_checks import lexicon_mistakes
from .phrases import Sentence, WritingSystem, unmarked, whole
from .world import GIVING

_FOLDER = files("polyprune.bundled") / "miniature"


@dataclass(frozen=True, eq=False)
class Lexicon:
    """The words of a language, in all forms that its sentences need."""

    code: str
    data: Mapping[str, Any]
    script: WritingSystem = field(init=False)

    def __post_init__(self):
        upper = tuple(self.data.get("upper", {}).items())
        spaced = tuple(self.data.get("spaced", ()))
        script = WritingSystem(self.data["join"], self.data["between"], spaced, upper)
        object.__setattr__(self, "script", script)

    @property
    def agrees_with(self) -> str:
        """`who` or `what`, if verbs have genders."""
        return self.data.get("agrees_with", "")

    def gender(self, section: str, name: str) -> str:
        """Return the gender of a person or thing; of nobody and the unknown, the default gender."""
        entry = self.data[section].get(name, {})
        return entry.get("gender", self.data["unknown"])

    def form(self, section: str, name: str, form: str, slot: str) -> Sentence:
        """A name, place or time in one of its forms."""
        entry = self.data[section][name]
        return whole(entry if isinstance(entry, str) else entry[form], slot)

    def thing(self, name: str, colour: str, form: str) -> Sentence:
        """A thing with or without a colour."""
        entry = self.data["things"][name]
        return whole((entry if form == "name" else entry[form])[colour or "plain"], "what")

    def frame(self, verb: str, frame: str, gender: str) -> str:
        """The sentence with a verb: its own, or that of all verbs like it."""
        common = self.data["frames"]["giving" if verb in GIVING else "doing"]
        return of_gender({**common, **self.data["verbs"][verb].get("frames", {})}[frame], gender)

    def verb(self, verb: str, form: str, gender: str) -> Sentence:
        """A form of a verb, of one word or several."""
        return unmarked(of_gender(self.data["verbs"][verb][form], gender))

    def surname(self, name: str, gender: str) -> str:
        """A family name."""
        return of_gender(self.data["surnames"][name], gender)

    def fact(self, kind: str, which: str, gender: str) -> str:
        """The sentence that `says` a fact or `asks` for it."""
        return of_gender(self.data["facts"][kind][which], gender)


def of_gender(entry: str | Mapping[str, str], gender: str) -> str:
    """Select the form for a gender, if the entry has one per gender."""
    return entry if isinstance(entry, str) else entry[gender]


def languages() -> tuple[str, ...]:
    """Return the languages that have a file."""
    names = (path.name for path in _FOLDER.iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


def read_file(code: str) -> dict[str, Any]:
    """Read a language's file without checking it."""
    text = (_FOLDER / f"{code}.toml").read_text(encoding="utf-8")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise DataError(f"The words of {code!r} are not TOML ({error}). Fix the file.") from error


@cache
def load(code: str) -> Lexicon:
    """Load the lexicon of a language; raise with all its mistakes at once."""
    data = read_file(code)
    if wrong := lexicon_mistakes(data):
        lines = "\n  ".join(wrong)
        raise DataError(f"The words of {code!r} are not right:\n  {lines}")
    return Lexicon(code, data)
