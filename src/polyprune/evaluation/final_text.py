"""Recover the text of an answer as SQuAD's script for BERT does, including its limitations.

It knows which pieces were predicted and which words they are from, and looks for the one in the
other. Where it does not find them it answers with the words: nearly always in Chinese, whose
characters it has set apart from each other before it looks.
"""

import unicodedata
from functools import cache

_IDEOGRAPHS = (
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2CEAF),
    (0x2F800, 0x2FA1F),
)
_ASCII_SYMBOLS = frozenset("$+<=>^`|~")
"""Characters that BERT treats as punctuation although Unicode does not."""


def final_text(predicted: str, original: str) -> str:
    """Return the part of `original` (whole words) that spells `predicted` (word pieces).

    All of `original` if there is no such part, or if it is not clear where it begins and ends.
    """
    apart = set_apart(original)
    start = apart.find(predicted)
    visible = [place for place, character in enumerate(original) if character != " "]
    visible_apart = [place for place, character in enumerate(apart) if character != " "]
    if start < 0 or len(visible) != len(visible_apart):
        return original
    place_of = dict(zip(visible_apart, visible, strict=True))
    first, last = place_of.get(start), place_of.get(start + len(predicted) - 1)
    if first is None or last is None:
        return original
    return original[first : last + 1]


def set_apart(text: str) -> str:
    """Split text as BERT's basic tokenizer does: punctuation and ideographs stand alone."""
    return " ".join("".join(map(_spaced, text)).split())


@cache
def _spaced(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Zs" or character in "\t\n\r":
        return " "
    if category.startswith("C") or character == "\ufffd":
        return ""
    if category.startswith("P") or character in _ASCII_SYMBOLS or _is_ideograph(character):
        return f" {character} "
    return character


def _is_ideograph(character: str) -> bool:
    return any(first <= ord(character) <= last for first, last in _IDEOGRAPHS)
