"""What the columns of people's tables are called, and what they hold."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...errors import DataError

_TEXT = "text sentence sentence1 text1 text_a premise review content document utterance utt query"
_PAIR = "pair sentence2 text2 text_b text_pair hypothesis hypo"
_LABEL = "label labels gold_label class category target intent sentiment stars rating score"
_TOKENS = "tokens words"
_TAGS = "tags ner_tags pos_tags upos ner labels label"

_NAME = re.compile(r"[\w #./-]{1,40}")
"""What may be the name of a column."""


@dataclass(frozen=True, slots=True)
class TableForm:
    """The columns of a kind of tables, each by its role, with all the names that it may have."""

    needed: Mapping[str, tuple[str, ...]]
    others: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    without_header: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    """The roles of columns in tables without a header, by their number."""
    target: str = ""
    """The role that says what is right."""

    @property
    def names(self) -> dict[str, tuple[str, ...]]:
        """All names of each role, the likeliest first."""
        return {**self.needed, **self.others}

    def renamed(self, columns: Mapping[str, str]) -> "TableForm":
        """Return the form with names that a task file gives to roles."""

        def own(names: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
            return {
                role: (columns[role].casefold(),) if role in columns else given
                for role, given in names.items()
            }

        return replace(self, needed=own(self.needed), others=own(self.others))

    def roles(self, header: Sequence[str]) -> dict[str, int]:
        """Return the place of each role that a header names."""
        written = [name.strip().casefold() for name in header]
        found: dict[str, int] = {}
        for role, names in self.names.items():
            place = next((written.index(name) for name in names if name in written), None)
            if place is not None and place not in found.values():
                found[role] = place
        return found

    def is_header(self, row: Sequence[str]) -> bool:
        """Whether a first row names columns: all that are needed, and nothing but names."""
        return self.needed.keys() <= self.roles(row).keys() and all(
            _NAME.fullmatch(cell.strip()) for cell in row
        )

    def pick(self, row: Mapping[str, Any], where: str) -> dict[str, Any]:
        """Return the values of a row of JSON by their roles."""
        places = self.roles(list(row))
        values = list(row.values())
        absent = [role for role in self.needed if role not in places]
        if absent:
            raise DataError(f"{where} has no {absent[0]}, but {', '.join(row) or 'nothing'}.")
        return {role: values[place] for role, place in places.items()}


def _names(**roles: str) -> dict[str, tuple[str, ...]]:
    return {role: tuple(names.split()) for role, names in roles.items()}


TEXTS = TableForm(
    _names(text=_TEXT),
    _names(pair=_PAIR, label=_LABEL),
    {1: ("text",), 2: ("text", "label"), 3: ("text", "pair", "label")},
    target="label",
)
TAGGED = TableForm(
    _names(tokens=_TOKENS),
    _names(tags=_TAGS),
    {1: ("tokens",), 2: ("tokens", "tags")},
    target="tags",
)
QUESTIONS = TableForm(
    _names(question="question", context="context passage paragraph text"),
    _names(id="id qid", answers="answers answer", answer_start="answer_start start"),
    {2: ("question", "context"), 3: ("question", "context", "answers")},
    target="answers",
)


def translations(language: str, other: str) -> TableForm:
    """The form of tables with a sentence of one language and of another in each row."""
    return TableForm(
        {language: (language.casefold(),), other: (other.casefold(),)},
        without_header={2: (language, other)},
    )
