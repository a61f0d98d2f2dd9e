"""Preprocessing of texts and pairs: one input each; logits become a label, several, a number."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, TypeVar

import numpy as np

from ..errors import ConfigError, DataError
from .encoded_input import EncodedInput
from .examples import SentencePair
from .pair_template import pair_template, text_template

TOKENIZED_TOGETHER = 1000
"""The number of pairs tokenized together, which is ten times faster than one by one."""

Own = TypeVar("Own", bound="TextPreprocessor")


@dataclass(frozen=True, slots=True)
class TextPreprocessor(ABC):
    """Turns texts and sentence pairs into inputs, and logits into what is predicted."""

    longest: int = 128
    """The maximum number of tokens in an input."""

    @abstractmethod
    def target(
        self, pair: SentencePair, number: int, numbers: Mapping[str, int]
    ) -> tuple[int | float, ...]:
        """Return what should be predicted for an example; `numbers` are those of labels."""

    @abstractmethod
    def decode(
        self,
        examples: Sequence[SentencePair],
        encoded: Sequence[EncodedInput],
        outputs: Sequence[np.ndarray],
        labels: Sequence[str],
    ) -> list[Any]:
        """Return the prediction for every example."""

    def encode(
        self,
        examples: Iterable[SentencePair],
        tokenizer: Any,
        labels: Sequence[str] = (),
        training: bool = False,
    ) -> Iterator[EncodedInput]:
        """Yield one input per example, truncated to `longest` tokens."""
        around, alone = pair_template(tokenizer), text_template(tokenizer)
        numbers = {label: i for i, label in enumerate(labels)}
        if self.longest - around.size < 2:
            raise ConfigError(f"Inputs of {self.longest} tokens have no room for two sentences.")
        examples, number = iter(examples), 0
        while some := list(islice(examples, TOKENIZED_TOGETHER)):
            texts = [pair.first for pair in some], [pair.second or "" for pair in some]
            firsts, seconds = (
                tokenizer(own, add_special_tokens=False, verbose=False)["input_ids"]
                for own in texts
            )
            for pair, first, second in zip(some, firsts, seconds, strict=True):
                if pair.second is None:
                    ids, types = alone.fill(first[: self.longest - alone.size])
                else:
                    ids, types = around.fill(*truncate(first, second, self.longest - around.size))
                yield EncodedInput(number, ids, types, self.target(pair, number, numbers))
                number += 1

    def fit(self: Own, longest: int) -> Own:
        """Return the same for inputs of at most `tokens` tokens."""
        return replace(self, longest=min(self.longest, longest))


@dataclass(frozen=True, slots=True)
class PairPreprocessor(TextPreprocessor):
    """Each example has one label."""

    def target(self, pair, number, numbers):
        """Return the number of the label."""
        if pair.label is None or not numbers:
            return ()
        return (_number_of(pair.label, number, numbers),)

    def decode(self, examples, encoded, outputs, labels):
        """Return the most likely label of every pair."""
        return [labels[int(logits.argmax())] for logits in outputs]


@dataclass(frozen=True, slots=True)
class LabelSetPreprocessor(TextPreprocessor):
    """Each example has any number of labels."""

    def target(self, pair, number, numbers):
        """Return 1 for each label that it has, and 0 for the others."""
        if not isinstance(pair.label, tuple) or not numbers:
            return ()
        there = {_number_of(label, number, numbers) for label in pair.label}
        return tuple(float(i in there) for i in range(len(numbers)))

    def decode(self, examples, encoded, outputs, labels):
        """Return the labels that are more likely than not."""
        return [
            tuple(label for label, logit in zip(labels, logits, strict=True) if logit > 0)
            for logits in outputs
        ]


@dataclass(frozen=True, slots=True)
class NumberPreprocessor(TextPreprocessor):
    """Each example has a number."""

    def target(self, pair, number, numbers):
        """Return the number itself."""
        return (pair.label,) if isinstance(pair.label, float) else ()

    def decode(self, examples, encoded, outputs, labels):
        """Return the model's one output."""
        return [float(logits[0]) for logits in outputs]


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


def _number_of(label: Any, number: int, numbers: Mapping[str, int]) -> int:
    if label not in numbers:
        raise DataError(
            f"Example {number + 1} has the label {label!r}. There are: {', '.join(numbers)}."
        )
    return numbers[label]
