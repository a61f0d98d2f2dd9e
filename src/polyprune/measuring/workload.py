"""The workload of a measurement: batches of token ids, the same for all models."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..corpora.corpus import Corpus
from ..errors import DataError
from ..model.network.tensor_types import Int

FIRST_WORD = 10
"""The first ordinary token id; lower ids are special tokens in every family."""

SENTENCES = 512
"""The number of sentences drawn from a corpus; larger batches repeat some."""

IN_A_ROUND = 32
"""The minimum number of real sentences in a round."""

BATCHES = 4
"""The minimum number of real batches in a round: the length of a single one is chance."""


@dataclass(frozen=True, slots=True)
class TokenBatch:
    """Token ids and their attention mask; None if there is no padding."""

    ids: Int[Tensor, "batch seq"]
    mask: Int[Tensor, "batch seq"] | None = None

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def tokens(self) -> int:
        """The number of tokens without padding."""
        return self.ids.numel() if self.mask is None else int(self.mask.sum())

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the batch as arrays for exported models."""
        mask = torch.ones_like(self.ids) if self.mask is None else self.mask
        types = torch.zeros_like(self.ids)
        every = {"input_ids": self.ids, "attention_mask": mask, "token_type_ids": types}
        return {name: values.numpy() for name, values in every.items()}


@dataclass(frozen=True, slots=True)
class Workload:
    """The sentences that batches of any size are made of.

    Of `tokens` words each, drawn at random from the first `words` of the table; or `lines`, real
    ones, filled up with `padding` to the longest of their batch.
    """

    words: int
    tokens: int = 128
    lines: tuple[tuple[int, ...], ...] | None = None
    padding: int = 0
    seed: int = 0

    def batches(self, size: int) -> list[TokenBatch]:
        """Return the batches of a round: one of equal sentences, or several of real ones."""
        if self.lines is None:
            chance = torch.Generator().manual_seed(self.seed)
            first = min(FIRST_WORD, self.words - 1)
            return [
                TokenBatch(torch.randint(first, self.words, (size, self.tokens), generator=chance))
            ]
        count = max(BATCHES, IN_A_ROUND // size)
        every = [self.lines[i % len(self.lines)] for i in range(count * size)]
        return [self._padded(every[i : i + size]) for i in range(0, len(every), size)]

    def _padded(self, lines: Sequence[tuple[int, ...]]) -> TokenBatch:
        longest = max(map(len, lines))
        ids = torch.full((len(lines), longest), self.padding)
        for row, line in zip(ids, lines, strict=True):
            row[: len(line)] = torch.tensor(line)
        mask = torch.tensor([[1] * len(line) + [0] * (longest - len(line)) for line in lines])
        return TokenBatch(ids, mask)


def real_sentences(corpus: Corpus, tokenizer: Any, words: int, longest: int) -> Workload:
    """Draw sentences of a corpus, equally from all its languages, in a fixed random order.

    A word that the smallest of several vocabularies does not have is read as another one: it is
    lengths that make a model slow.
    """
    codes = corpus.codes()
    each = -(-SENTENCES // len(codes))
    texts = [text for code in codes for text in corpus.sentences(code, each)]
    if not texts:
        raise DataError(f"{corpus.folder} has no text: every file in it is empty.")
    encoded = tokenizer(texts, truncation=True, max_length=longest)["input_ids"]
    order = np.random.default_rng(0).permutation(len(encoded))[:SENTENCES]
    lines = tuple(tuple(_known(word, words) for word in encoded[i]) for i in order)
    return Workload(words, longest, lines, tokenizer.pad_token_id or 0)


def _known(word: int, words: int) -> int:
    first = min(FIRST_WORD, words - 1)
    return word if word < words else first + word % (words - first)
