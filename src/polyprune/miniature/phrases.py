"""Stored phrases, `a/DET {colour} bicycle/NOUN`: parse, fill and write them."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TypeAlias

TAGS = frozenset((
    "ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM",
    "PART", "PRON", "PROPN", "PUNCT", "SCONJ", "SYM", "VERB", "X",
))  # fmt: skip

_OPENING = frozenset("¿¡«„(“")
_APOSTROPHES = ("'", "’")
_SLOT = re.compile(r"\{(\w+)(?:\.(\w+))?\}(?:/(\w+))?$")


@dataclass(frozen=True, slots=True)
class Word:
    """A word as it is printed, with its part of speech."""

    form: str
    tag: str
    marked: bool = False
    """Whether it belongs to the name, or the answer, that its phrase holds."""
    slot: str = ""
    """Which slot of the sentence the marked word fills."""
    glued: tuple[bool, bool] = (False, False)
    """Whether nothing is between it and the word before, and the word after."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A place in a phrase for another one."""

    name: str
    form: str = "name"
    tag: str = ""
    """The tag of a slot that is filled by a word rather than a phrase."""


Phrase: TypeAlias = tuple[Word | Slot, ...]
Sentence: TypeAlias = tuple[Word, ...]


@cache
def parse(text: str) -> Phrase:
    """Parse a stored phrase into words and slots; raise a ValueError if it is malformed."""
    items: list[Word | Slot] = []
    inside = False
    for piece in text.split():
        opens, closes = piece.startswith("["), piece.endswith("]")
        if opens == inside and (opens or (closes and not inside)):
            raise ValueError(f"a bracket too many at {piece!r}")
        inside = inside or opens
        items.append(_item(piece.removeprefix("[").removesuffix("]"), inside))
        inside = inside and not closes
    if inside:
        raise ValueError("a bracket that is not closed")
    if not items:
        raise ValueError("no words")
    return tuple(items)


def _item(piece: str, marked: bool) -> Word | Slot:
    if slot := _SLOT.match(piece):
        return Slot(slot[1], slot[2] or "name", slot[3] or "")
    form, slash, tag = piece.rpartition("/")
    if not slash or tag not in TAGS:
        raise ValueError(f"no part of speech after {piece!r}, as in red/ADJ")
    if any(character in form for character in "{}[]") or not form.strip("_"):
        raise ValueError(f"a word that cannot be one: {piece!r}")
    glued = form.startswith("_"), form.endswith("_") or form.endswith(_APOSTROPHES)
    return Word(form.strip("_"), tag, marked, "", glued)


@cache
def unmarked(text: str) -> Sentence:
    """A phrase without slots that is no name and no answer."""
    return tuple(item for item in parse(text) if isinstance(item, Word))


@cache
def whole(text: str, slot: str) -> Sentence:
    """A phrase that fills a slot; what is marked in it, or else all of it, carries its name."""
    words = unmarked(text)
    some = any(word.marked for word in words)
    return tuple(
        replace(word, marked=True, slot=slot) if word.marked or not some else word for word in words
    )


def fill(text: str, filler: Callable[[Slot], Sentence]) -> Sentence:
    """A phrase with its slots filled; what a slot is filled with may be nothing at all."""
    words: list[Word] = []
    for item in parse(text):
        if isinstance(item, Slot):
            words += filler(item)
        else:
            words.append(item)
    return tuple(words)


@dataclass(frozen=True, slots=True)
class WritingSystem:
    """How a language is written: spaces, sentence breaks, capitals."""

    join: str
    """What separates words."""
    between: str
    """What separates sentences."""
    spaced: tuple[str, ...] = ()
    """Punctuation that has a space before it."""
    upper: tuple[tuple[str, str], ...] = ()
    """Capital letters that are not the usual ones."""

    def begun(self, words: Sentence) -> Sentence:
        """Return the sentence with a capital first letter."""
        for i, word in enumerate(words):
            if word.tag != "PUNCT":
                first = word.form[0]
                capital = dict(self.upper).get(first, first.upper())
                # Some letters have no capital, or one that is two.
                capital = capital if len(capital) == 1 else first
                form = capital + word.form[1:]
                begun = Word(form, word.tag, word.marked, word.slot, word.glued)
                return (*words[:i], begun, *words[i + 1 :])
        return words

    def text(self, words: Sequence[Word]) -> str:
        """Return the words as text."""
        return self.placed(words)[0]

    def placed(self, words: Sequence[Word]) -> tuple[str, list[int]]:
        """Return the text, and the position of each word in it."""
        text = ""
        starts = []
        before: Word | None = None
        for word in words:
            if before is not None:
                text += self._gap(before, word)
            starts.append(len(text))
            text += word.form
            before = word
        return text, starts

    def _gap(self, before: Word, word: Word) -> str:
        if before.glued[1] or word.glued[0] or before.form in _OPENING:
            return ""
        if word.tag == "PUNCT" and word.form not in _OPENING:
            return " " if word.form in self.spaced else ""
        return self.join
