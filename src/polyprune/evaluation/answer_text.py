"""Normalize answers for scoring: words without case, punctuation and articles."""

import re
import string
import unicodedata

from ..errors import UnknownName

_ASCII_PUNCTUATION = frozenset(string.punctuation)

MLQA_ARTICLES = {
    "ar": None,
    "de": "das|dem|den|der|des|die|ein|eine|einem|einen|einer|eines",
    "en": "a|an|the",
    "es": "el|la|las|los|un|una|unas|unos",
    "hi": None,
    "vi": "chiếc|cái|của|là|những",
    "zh": None,
}
"""The articles that MLQA removes, for each of its seven languages."""

# MLQA's range, some twenty characters short of the Unicode block.
_CHINESE = re.compile("[一-龥]")


def squad_words(text: str) -> list[str]:
    """The words of an answer by SQuAD v1.1's rules, which are those of English, for any language.

    Only ASCII punctuation is removed, so `«Москва»` and `Москва` are different words.
    """
    kept = "".join(letter for letter in text.lower() if letter not in _ASCII_PUNCTUATION)
    return _without(MLQA_ARTICLES["en"], kept).split()


def mlqa_words(text: str, language: str) -> list[str]:
    """The words of an answer by MLQA's rules; every Chinese character is a word."""
    if language not in MLQA_ARTICLES:
        known = ", ".join(MLQA_ARTICLES)
        raise UnknownName("language of MLQA", language, MLQA_ARTICLES, f"There are: {known}.")
    kept = "".join(letter for letter in text.lower() if not _is_punctuation(letter))
    kept = _without(MLQA_ARTICLES[language], kept)
    if language == "ar":
        # Wherever it stands. The official pattern seems to mean the start of a word, but of its
        # two alternatives the one that says so can never match.
        kept = kept.replace("ال", " ")
    if language == "zh":
        kept = _CHINESE.sub(r" \g<0> ", kept)
    return kept.split()


def _without(words: str | None, text: str) -> str:
    return re.sub(rf"\b(?:{words})\b", " ", text) if words else text


def _is_punctuation(letter: str) -> bool:
    # Unicode counts some of ASCII's, such as $ and +, among the symbols.
    return letter in _ASCII_PUNCTUATION or unicodedata.category(letter).startswith("P")
