"""Preprocessing of sentence pairs: two sentences become one input, logits become a label."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np

from ..errors import ConfigError, DataError
from .encoded_input import EncodedInput
from .examples import SentencePair
from .pair_template import pair_template

TOKENIZED_TOGETHER = 1000
"""The number of pairs tokenized together, which is ten times faster than one by one."""


@dataclass(frozen=True, slots=True)
class PairPreprocessor:
    """Turns sentence pairs into inputs, and logits into labels."""

    longest: int = 128
    """The maximum number of tokens in an input."""

    def encode(
        self,
        examples: Iterable[SentencePair],
        tokenizer: Any,
        labels: Sequence[str] = (),
        training: bool = False,
    ) -> Iterator[EncodedInput]:
        """Yield one input per pair, truncated to `longest` tokens."""
        around, numbers = pair_template(tokenizer), {label: i for i, label in enumerate(labels)}
        room = self.longest - around.size
        if room < 2:
            raise ConfigError(f"Inputs of {self.longest} tokens have no room for two sentences.")
        examples, number = iter(examples), 0
        while some := list(islice(examples, TOKENIZED_TOGETHER)):
            firsts, seconds = (
                tokenizer(texts, add_special_tokens=False, verbose=False)["input_ids"]
                for texts in ([pair.first for pair in some], [pair.second for pair in some])
            )
            for pair, first, second in zip(some, firsts, seconds, strict=True):
                ids, types = around.fill(*truncate(first, second, room))
                known = _number(pair, number, numbers) if labels else ()
                yield EncodedInput(number, ids, types, known)
                number += 1

    def fit(self, longest: int) -> "PairPreprocessor":
        """Return the same for inputs of at most `tokens` tokens."""
        return replace(self, longest=min(self.longest, longest))

    def decode(
        self,
        examples: Sequence[SentencePair],
        encoded: Sequence[EncodedInput],
        outputs: Sequence[np.ndarray],
        labels: Sequence[str],
    ) -> list[str]:
        """Return the most likely label of every pair."""
        return [labels[int(logits.argmax())] for logits in outputs]


def truncate(first: list[int], second: list[int], room: int) -> tuple[list[int], list[int]]:
    """Truncate the longer of two texts token by token until both fit; of equal ones, the second."""
    over = len(first) + len(second) - room
    if over <= 0:
        return first, second
    # What the longer one has beyond the other goes first; the rest is taken in turns, the second
    # one beginning.
    surplus = min(over, abs(len(first) - len(second)))
    rest = over - surplus
    from_first = (surplus if len(first) > len(second) else 0) + rest // 2
    from_second = (surplus if len(second) > len(first) else 0) + rest - rest // 2
    return first[: len(first) - from_first], second[: len(second) - from_second]


def _number(pair: SentencePair, number: int, numbers: dict[str, int]) -> tuple[int, ...]:
    if pair.label is None:
        return ()
    if pair.label not in numbers:
        raise DataError(
            f"Example {number + 1} has the label {pair.label!r}. There are: {', '.join(numbers)}."
        )
    return (numbers[pair.label],)
