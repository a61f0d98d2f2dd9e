"""The 100 languages of the paper, with their scripts and families (App. C), and their text's size.

They are the rows of `languages.tsv`, in the paper's order; its last column says where a row's
family comes from. The bytes are those printed at data.statmt.org/cc-100, in binary units and to
two or three digits.
"""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from ..errors import ConfigError, Spellings, UnknownName

# XTREME says "zh" for what CC-100 calls "zh-Hans".
_ALIASES = {"zh": "zh-Hans"}


@dataclass(frozen=True, slots=True)
class Language:
    """One language of CC-100."""

    code: str
    """As in the paper: `sw`, `bn-rom`, `zh-Hans`."""
    name: str
    """In English: `Bengali (romanized)`."""
    script: str
    """The ISO 15924 code of the script that most of its text is written in."""
    family: str | None
    """As in App. C; None where the paper says "Missing"."""
    bytes: int
    """The size of its CC-100 file, xz-compressed."""


@cache
def languages() -> dict[str, Language]:
    """Return every language by its code, in the order of App. C."""
    table = files("polyprune.corpora").joinpath("languages.tsv").read_text(encoding="utf-8")
    return {
        row["code"]: Language(
            row["code"], row["name"], row["script"], row["family"] or None, int(row["bytes"])
        )
        for row in csv.DictReader(table.splitlines(), delimiter="\t")
    }


def language(code: str) -> Language:
    """Return the language with this code; CC-100's spelling (`bn_rom`) and `zh` work too."""
    spelled = code.replace("_", "-")
    found = languages().get(_ALIASES.get(spelled, spelled))
    if found is None:
        raise UnknownName("language", code, _spellings(), "All 100: polyprune ls languages.")
    return found


def find_language(given: str, known: Sequence[str], whose: str) -> str:
    """Find a language among the known codes; raise with suggestions; `whose` says who has them."""
    code = given if given in known else language(given).code
    if code not in known:
        raise UnknownName(f"language of {whose}", given, known, f"There are: {', '.join(known)}.")
    return code


def find_languages(given: Sequence[str], known: Sequence[str], whose: str) -> list[str]:
    """Find several languages, without repetitions."""
    if not given:
        raise ConfigError(f"There are no languages to choose. Name some of: {', '.join(known)}.")
    return list(dict.fromkeys(find_language(each, known, whose) for each in given))


def same_family(a: Language, b: Language) -> bool:
    """Return whether two languages are of one known family, so that they may share gates (Eq. 12).

    An unknown family equals no other, unknown or not. "Missing" in App. C means that Ethnologue
    had no entry, not that Persian, Malagasy and Mongolian are related: taken as a family, it would
    excuse nine languages as kin, most of them unrelated. A prior that reads the table literally is
    for pruning to offer. Eq. 12 leaves out the diagonal by itself, so it does not matter here.
    """
    return a.family is not None and a.family == b.family


def _spellings() -> Spellings:
    """The code of each language by everything it might be called: its code, its English name."""
    spellings = Spellings()
    # Shorter names first: "Burmese" is `my` before it is `my-zaw`, "Chinese" is `zh-Hans`.
    for known in sorted(languages().values(), key=lambda known: len(known.name)):
        for spelling in (known.code, known.name, known.name.partition(" (")[0]):
            spellings.setdefault(spelling.casefold(), known.code)
    return spellings
