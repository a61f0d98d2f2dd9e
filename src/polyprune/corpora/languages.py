"""The 100 languages of the paper, with their scripts and families (App. C).

They are the rows of `languages.tsv`, in the paper's order; its last column says where a row's
family comes from.
"""

import csv
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.resources import files

from ..errors import UnknownName

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


@cache
def languages() -> dict[str, Language]:
    """Every language by its code, in the order of App. C."""
    table = files("polyprune.corpora").joinpath("languages.tsv").read_text(encoding="utf-8")
    return {
        row["code"]: Language(row["code"], row["name"], row["script"], row["family"] or None)
        for row in csv.DictReader(table.splitlines(), delimiter="\t")
    }


def language(code: str) -> Language:
    """The language with this code, also as CC-100 names its files (`bn_rom`) or as `zh`."""
    spelled = code.replace("_", "-")
    found = languages().get(_ALIASES.get(spelled, spelled))
    if found is None:
        see = "All 100: polyprune ls languages."
        nearest = _nearest(code)
        # The nearest is found by English names too, which UnknownName could only repeat.
        raise UnknownName(
            "language", code, (), f"Did you mean {nearest!r}? {see}" if nearest else see
        )
    return found


def same_family(a: Language, b: Language) -> bool:
    """Whether two languages are known to be kin, so that their subnetworks may be alike (Eq. 12).

    An unknown family equals no other, unknown or not. "Missing" in App. C means that Ethnologue
    had no entry, not that Persian, Malagasy and Mongolian are related: taken as a family, it would
    excuse nine languages as kin, most of them unrelated. A prior that reads the table literally is
    for pruning to offer. Eq. 12 leaves out the diagonal by itself, so it does not matter here.
    """
    return a.family is not None and a.family == b.family


def _nearest(given: str) -> str | None:
    """The code of the language whose code or English name is most like `given`."""
    spellings: dict[str, str] = {}
    # Shorter names first: "Burmese" is `my` before it is `my-zaw`, "Chinese" is `zh-Hans`.
    for known in sorted(languages().values(), key=lambda known: len(known.name)):
        for spelling in (known.code, known.name, known.name.partition(" (")[0]):
            spellings.setdefault(spelling.casefold(), known.code)
    # At 0.5 any two-letter code would be near another: `yo` is not a slip for `no`.
    close = get_close_matches(given.casefold().replace("_", "-"), spellings, n=1, cutoff=0.6)
    return spellings[close[0]] if close else None
