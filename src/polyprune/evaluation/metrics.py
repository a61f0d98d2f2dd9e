"""The metrics of XTREME's official scorer, and how to average them.

Every score is between 0 and 1; only averages keep whatever unit they are given.
"""

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from ..errors import DataError, UnknownName

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


Number: TypeAlias = int | float
TaskScore: TypeAlias = Number | tuple[Number, Number] | Mapping[str, Number]
"""A number; or F1 and exact match, as a pair or as `{"f1": …, "exact": …}`."""


class PrecisionRecall(NamedTuple):
    """Precision, recall and F1."""

    precision: float
    recall: float
    f1: float


def accuracy(gold: Sequence[str | int], predicted: Sequence[str | int]) -> float:
    """Return the fraction of predictions that equal the gold label."""
    if len(gold) != len(predicted):
        raise DataError(
            f"There are {len(predicted)} predictions for {len(gold)} examples. Predict each once."
        )
    if not gold:
        raise DataError("There are no examples to score. Give at least one.")
    return sum(a == b for a, b in zip(gold, predicted, strict=True)) / len(gold)


def chunks(tags: Iterable[Sequence[str]]) -> list[tuple[str, int, int]]:
    """Return the type, first and last position of each chunk, as CoNLL's scorer does.

    Positions count through all sentences, with one `O` behind each. Types come after the last
    hyphen, so tags without one are runs: of the parts of speech `NOUN NOUN VERB`, two chunks.
    Tags that begin with S or E are single words, by seqeval up to 0.0.15 even `SYM` and `SCONJ`.
    Later versions cut the first letter off the parts of speech and take CCONJ for SCONJ.
    """
    found, first = [], 0
    before, type_before = "O", ""
    flat = [tag for sentence in tags for tag in (*sentence, "O")]
    for position, tag in enumerate(flat):
        letter, type_ = tag[:1], tag.rsplit("-", 1)[-1]
        changed = type_ != type_before
        if _ends(before, letter, changed):
            found.append((type_before, first, position - 1))
        if _begins(before, letter, changed):
            first = position
        before, type_before = letter, type_
    return found


def chunk_scores(
    gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]
) -> PrecisionRecall:
    """Precision, recall and F1 of the chunks, over all sentences together."""
    if len(gold) != len(predicted):
        raise DataError(
            f"There are tags for {len(predicted)} of {len(gold)} sentences. Predict each once."
        )
    for number, (right, given) in enumerate(zip(gold, predicted, strict=True), 1):
        if len(right) != len(given):
            raise DataError(
                f"Sentence {number} has {len(right)} words but {len(given)} predicted tags. "
                "Predict one tag per word."
            )
    return set_scores(chunks(gold), chunks(predicted))


def chunk_f1(gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> float:
    """F1 of the chunks, over all sentences together: the score of POS and NER."""
    return chunk_scores(gold, predicted).f1


def squad(prediction: str, answers: Sequence[str]) -> tuple[float, float]:
    """F1 over words and exact match, each with the answer that it is best with (SQuAD v1.1)."""
    return _best(squad_words(prediction), [squad_words(answer) for answer in answers])


def mlqa(prediction: str, answers: Sequence[str], language: str) -> tuple[float, float]:
    """F1 over words and exact match, each with its best answer, by MLQA's rules for a language."""
    return _best(
        mlqa_words(prediction, language), [mlqa_words(answer, language) for answer in answers]
    )


def set_scores(gold: Iterable[Hashable], predicted: Iterable[Hashable]) -> PrecisionRecall:
    """Precision, recall and F1 of one set against another; 0 where they have nothing in common."""
    gold, predicted = set(gold), set(predicted)
    both = len(gold & predicted)
    if not both:
        return PrecisionRecall(0.0, 0.0, 0.0)
    precision, recall = both / len(predicted), both / len(gold)
    return PrecisionRecall(precision, recall, 2 * precision * recall / (precision + recall))


def set_f1(gold: Iterable[Hashable], predicted: Iterable[Hashable]) -> float:
    """F1 of one set against another: the score of BUCC, for pairs of ids."""
    return set_scores(gold, predicted).f1


def average_flat(table: Mapping[str, TaskScore]) -> float:
    """The mean of all numbers, F1 and exact match counted separately: the paper's Table 1."""
    return _mean([number for numbers in _numbers(table) for number in numbers])


def average_xtreme(table: Mapping[str, TaskScore]) -> float:
    """The mean over tasks, of F1 and exact match their mean: XTREME's, the paper's Tables 2, 3."""
    return _mean([_mean(numbers) for numbers in _numbers(table)])


def _numbers(table: Mapping[str, TaskScore]) -> Iterator[list[Number]]:
    if not table:
        raise DataError("There are no scores to average. Give at least one task.")
    for task, score in table.items():
        if isinstance(score, Mapping):
            if len(score) != 1 and set(score) != {"f1", "exact"}:
                raise DataError(
                    f"The scores of {task} are {', '.join(score) or 'missing'}. "
                    "Give one number, or f1 and exact."
                )
            yield list(score.values())
        elif isinstance(score, tuple):
            yield list(score)
        else:
            yield [score]


def _mean(numbers: Sequence[Number]) -> float:
    return sum(numbers) / len(numbers)


def _ends(before: str, letter: str, changed: bool) -> bool:
    """Whether a chunk ends between two words, by the first letters of their tags."""
    return (
        before in ("E", "S")
        or (before in ("B", "I") and letter in ("B", "S", "O"))
        or (changed and before not in ("O", "."))
    )


def _begins(before: str, letter: str, changed: bool) -> bool:
    """Whether a chunk begins between two words, by the first letters of their tags."""
    return (
        letter in ("B", "S")
        or (letter in ("E", "I") and before in ("E", "S", "O"))
        or (changed and letter not in ("O", "."))
    )


def _best(prediction: list[str], answers: list[list[str]]) -> tuple[float, float]:
    if not answers:
        raise DataError("A question has no answers to compare with. Score with a labelled file.")
    return (
        max(_overlap(prediction, answer) for answer in answers),
        max(float(prediction == answer) for answer in answers),
    )


def _overlap(prediction: list[str], answer: list[str]) -> float:
    # Of two answers without a word F1 is 0 although they match exactly: the official rule.
    same = (Counter(prediction) & Counter(answer)).total()
    if not same:
        return 0.0
    precision, recall = same / len(prediction), same / len(answer)
    return 2 * precision * recall / (precision + recall)
