"""From lines to batches of tensors: sorted by length, masked or paired with translations."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import torch

from ..errors import ConfigError
from .masking import mask_words
from .padding import Batch, input_tensors
from .task_inputs import encode_inputs

WINDOW = 64
"""The number of batches sorted by length together: removes most padding in constant memory."""


@dataclass(frozen=True, slots=True)
class Batching:
    """Turns lines into batches of tensors."""

    tokenizer: Any
    """Any transformers tokenizer."""
    size: int = 16
    """The number of examples in a batch."""
    longest: int = 128
    """The maximum number of tokens of an example."""
    prefix: str = ""
    """A prefix for every line, such as `query: ` for e5."""

    def __post_init__(self):
        if self.size < 1 or self.longest < 3:
            raise ConfigError(
                "A batch has at least 1 example of at least 3 tokens, got "
                f"{self.size} of {self.longest}."
            )

    def plain(self, lines: Iterable[str]) -> Iterator[Batch]:
        """Yield batches of `input_ids` and `attention_mask`."""
        for some in self._by_length((line,) for line in lines):
            yield self._tensors([line for (line,) in some])

    def inputs(self, lines: Iterable[str]) -> Iterator[Batch]:
        """Yield batches of what a fine-tuned model reads: texts, or pairs with a tab between."""
        for some in self._by_length((line,) for line in lines):
            texts = [self.prefix + line for (line,) in some]
            encoded = encode_inputs(texts, self.tokenizer, self.longest)
            yield input_tensors(encoded, self.tokenizer)

    def pairs(self, translations: Iterable[tuple[str, str]]) -> Iterator[Batch]:
        """Yield batches of pairs: the second texts are `pair_input_ids` and so on."""
        for some in self._by_length(translations):
            batch, pair = (self._tensors(list(texts)) for texts in zip(*some, strict=True))
            yield batch | {f"pair_{name}": value for name, value in pair.items()}

    def masked(self, lines: Iterable[str], seed: int = 0) -> Iterator[Batch]:
        """Yield batches with 15 % of the words masked, and `labels` of −100 everywhere else."""
        generator = torch.Generator().manual_seed(seed)
        for batch in self.plain(lines):
            ids, labels = mask_words(batch["input_ids"], self.tokenizer, generator)
            yield batch | {"input_ids": ids, "labels": labels}

    def _by_length(self, examples: Iterable[tuple[str, ...]]) -> Iterator[list[tuple[str, ...]]]:
        """Yield batches of examples, sorted by the length of the first text within a window."""
        waiting = iter(examples)
        while window := list(islice(waiting, self.size * WINDOW)):
            window.sort(key=lambda example: len(example[0]))
            yield from (window[i : i + self.size] for i in range(0, len(window), self.size))

    def _tensors(self, texts: list[str]) -> Batch:
        tokens = self.tokenizer(
            [self.prefix + text for text in texts],
            padding=len(texts) > 1,
            truncation=True,
            max_length=self.longest,
            return_tensors="pt",
        )
        return {name: tokens[name] for name in ("input_ids", "attention_mask")}
