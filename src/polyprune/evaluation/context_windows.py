"""Tokenized contexts, and the windows in which a model reads long ones."""

import math
import re
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Int
from tokenizers import models

_WORD = re.compile("[^ \t\r\n\u202f]+")
"""The spaces that the official scripts split at, fewer than Unicode's."""


@dataclass(frozen=True, slots=True, eq=False)
class TokenizedContext:
    """A context with its words and tokens, shared by all its windows and questions."""

    text: str
    words: tuple[str, ...]
    word_starts: Int[np.ndarray, " words"]
    """The first character of every word."""
    ids: list[int]
    pieces: tuple[str, ...]
    """The vocabulary strings of the tokens."""
    word: Int[np.ndarray, " tokens"]
    """The index of each token's word."""
    begin: Int[np.ndarray, " tokens"]
    """The first character of every token."""
    end: Int[np.ndarray, " tokens"]
    """The index after each token's last character; shared characters belong to the last token."""
    continued: bool
    """Whether the vocabulary marks pieces inside a word (`##`) rather than those that begin one."""

    def word_at(self, place: int) -> int:
        """Return the word at this character, or the one before it; -1 before the first."""
        return int(np.searchsorted(self.word_starts, place, side="right")) - 1

    def characters(self, first: int, last: int) -> str:
        """Return the text of these tokens, by their characters."""
        return self.text[self.begin[first] : self.end[last]].strip()

    def written(self, first: int, last: int) -> str:
        """Return the text of these tokens, joined from the vocabulary's strings."""
        pieces = self.pieces[first : last + 1]
        if self.continued:
            text = " ".join(pieces).replace(" ##", "")
        else:
            text = "".join(pieces).replace("▁", " ")
        return " ".join(text.split())

    def whole_words(self, first: int, last: int) -> str:
        """Return the whole words that these tokens belong to."""
        return " ".join(self.words[self.word[first] : self.word[last] + 1])


def tokenize_context(text: str, tokenizer: Any) -> TokenizedContext:
    """Split a context into words as the official scripts do, and tokenise each word alone."""
    found = list(_WORD.finditer(text))
    words = tuple(match.group() for match in found)
    starts = np.array([match.start() for match in found], dtype=np.int64)
    # A batch of nothing is an error to some tokenizers.
    split = _tokenize(words, tokenizer) if words else {"input_ids": [], "offset_mapping": []}
    ids = [token for tokens in split["input_ids"] for token in tokens]
    word = np.repeat(np.arange(len(words)), [len(tokens) for tokens in split["input_ids"]])
    offsets = [offset for offsets in split["offset_mapping"] for offset in offsets]
    begin, end = np.array(offsets, dtype=np.int64).reshape(-1, 2).T + starts[word]
    # A `▁` that is a token of its own shares the first character of the next one, and what was
    # one character before normalisation may be two tokens.
    end[:-1] = np.maximum(begin[:-1], np.minimum(end[:-1], begin[1:]))
    return TokenizedContext(
        text=text,
        words=words,
        word_starts=starts,
        ids=ids,
        pieces=tuple(map(sys.intern, tokenizer.convert_ids_to_tokens(ids))),
        word=word,
        begin=begin,
        end=end,
        continued=isinstance(tokenizer.backend_tokenizer.model, models.WordPiece),
    )


def _tokenize(words: tuple[str, ...], tokenizer: Any) -> Any:
    return tokenizer(
        list(words),
        add_special_tokens=False,
        return_offsets_mapping=True,
        return_attention_mask=False,
        verbose=False,
    )


@dataclass(frozen=True, slots=True, eq=False)
class ContextWindow:
    """The part of a context that one input contains."""

    document: TokenizedContext
    first: int
    """The index of its first token in the input."""
    start: int
    """The index of its first token in the context."""
    widest: Bool[np.ndarray, " tokens"]
    """Whether this window gives each token more context than any other window."""

    def place(self, token: int) -> int | None:
        """Return a context token's index in the input; None if it is in another window."""
        within = token - self.start
        return self.first + within if 0 <= within < len(self.widest) else None


def window_starts(tokens: int, room: int, stride: int) -> list[tuple[int, Bool[np.ndarray, " _"]]]:
    """Return where windows of `room` tokens start, and in which window each token has most context.

    One window starts every `stride` tokens until the rest fits. A token's context is what it has
    to its nearer side; of equally long windows the first counts.
    """
    # A longer stride would leave tokens out.
    stride = min(stride, room)
    count = 1 + max(0, math.ceil((tokens - room) / stride))
    starts = [stride * number for number in range(count)]
    most, owner = np.full(tokens, -1.0), np.zeros(tokens, dtype=np.int64)
    for number, start in enumerate(starts):
        length = min(room, tokens - start)
        before = np.arange(length)
        context = np.minimum(before, before[::-1]) + 0.01 * length
        more = context > most[start : start + length]
        most[start : start + length][more] = context[more]
        owner[start : start + length][more] = number
    return [(start, owner[start : start + room] == number) for number, start in enumerate(starts)]
