"""Preprocessing of tagged sentences: split long ones, label first pieces, join the parts again."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np

from ..errors import ConfigError, DataError
from .encoded_input import EncodedInput
from .examples import TaggedSentence
from .pair_template import pair_template, text_template

TOKENIZED_TOGETHER = 500
"""The number of sentences whose words are tokenized together."""

NONE = -100
"""The label of tokens without a tag."""


@dataclass(frozen=True, slots=True)
class TaggingPreprocessor:
    """Turns tagged sentences into inputs, and labels of pieces into tags of words."""

    longest: int = 128
    """The maximum number of tokens in an input."""
    as_first: bool = True
    """Whether words stand where the first text of a pair does, as in XTREME's scripts; else alone.
    """

    def encode(
        self,
        examples: Iterable[TaggedSentence],
        tokenizer: Any,
        labels: Sequence[str] = (),
        training: bool = False,
    ) -> Iterator[EncodedInput]:
        """Yield the inputs of every sentence; a new one starts where the next word does not fit."""
        # As the first of a pair they stand between what a tokenizer puts before a pair and between
        # its sentences: for XLM-R `<s>` and `</s></s>`.
        if self.as_first:
            before, after, _ = pair_template(tokenizer).specials
        else:
            alone = text_template(tokenizer)
            before, after = alone.before, alone.after
        room = self.longest - len(before) - len(after)
        if room < 1:
            raise ConfigError(f"Inputs of {self.longest} tokens have no room for words.")
        numbers = {label: i for i, label in enumerate(labels)}
        examples, number = iter(examples), 0
        while some := list(islice(examples, TOKENIZED_TOGETHER)):
            pieces = _pieces(some, tokenizer, room)
            for sentence in some:
                tags = _numbers(sentence, number, numbers, training)
                words = [pieces[word] for word in sentence.words]
                for start, end in split_sentence(words, room):
                    yield _input(number, words[start:end], tags[start:end], before, after)
                number += 1

    def fit(self, longest: int) -> "TaggingPreprocessor":
        """Return the same for inputs of at most `tokens` tokens."""
        return replace(self, longest=min(self.longest, longest))

    def decode(
        self,
        examples: Sequence[TaggedSentence],
        encoded: Sequence[EncodedInput],
        outputs: Sequence[np.ndarray],
        labels: Sequence[str],
    ) -> list[list[str]]:
        """Return the tag of every word, from the label of its first piece."""
        tags: list[list[str]] = [[] for _ in examples]
        for part, numbers in zip(encoded, outputs, strict=True):
            tags[part.example] += [labels[int(numbers[place])] for place in part.about]
        return tags


def split_sentence(words: Sequence[Sequence[int]], budget: int) -> list[tuple[int, int]]:
    """Split a sentence into parts of as many whole words as fit."""
    found, start, used = [], 0, 0
    for i, pieces in enumerate(words):
        if used + len(pieces) > budget and i > start:
            found.append((start, i))
            start, used = i, 0
        used += len(pieces)
    return [*found, (start, len(words))]


def known_pieces(pieces: list[int], budget: int, unknown: int) -> list[int]:
    """Return the pieces of a word, or the unknown token if there are none or too many."""
    return pieces if 0 < len(pieces) <= budget else [unknown]


def _pieces(
    sentences: Sequence[TaggedSentence], tokenizer: Any, budget: int
) -> dict[str, list[int]]:
    """Tokenize every word by itself."""
    words = sorted({word for sentence in sentences for word in sentence.words})
    if not words:  # which tokenizers cannot split
        return {}
    split = tokenizer(words, add_special_tokens=False, verbose=False)["input_ids"]
    return {
        word: known_pieces(ids, budget, tokenizer.unk_token_id)
        for word, ids in zip(words, split, strict=True)
    }


def _input(
    number: int,
    words: Sequence[list[int]],
    tags: Sequence[int],
    before: list[int],
    after: list[int],
) -> EncodedInput:
    places = np.cumsum([len(before), *(len(pieces) for pieces in words)])[:-1].tolist()
    ids = [*before, *(piece for pieces in words for piece in pieces), *after]
    labels: tuple[int, ...] = ()
    if tags:
        row = np.full(len(ids), NONE)
        row[places] = tags
        labels = tuple(row.tolist())
    return EncodedInput(number, ids, None, labels, places)


def _numbers(
    sentence: TaggedSentence, number: int, numbers: dict[str, int], training: bool
) -> Sequence[int]:
    if sentence.tags is None or not numbers:
        return ()
    unknown = set(sentence.tags) - numbers.keys()
    if unknown and training:
        raise DataError(
            f"Sentence {number + 1} has the tag {min(unknown)!r}. There are: {', '.join(numbers)}."
        )
    return [numbers.get(tag, NONE) for tag in sentence.tags]
