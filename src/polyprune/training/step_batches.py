"""From examples to the tensors of a step: masked, padded, sorted by length, cut into passes."""

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..corpora.collate import collate
from ..corpora.stream import Example
from ..corpora.text_sources import Position


@dataclass(frozen=True, slots=True)
class StepBatch:
    """One process's part of a step."""

    passes: list[dict[str, Tensor]]
    position: Position
    """Of the stream, after it."""
    tokens: int
    checksum: int
    """Of the tokens in their order: two runs that read the same have the same."""
    weight: float = 1.0
    """How much it counts beside that of other processes: more with more examples than they."""

    @property
    def examples(self) -> int:
        """In all passes."""
        return sum(len(each["input_ids"]) for each in self.passes)


@dataclass(frozen=True, slots=True)
class Collator:
    """How examples become work."""

    tokenizer: Any
    at_once: int
    masked: bool
    seed: int = 0
    rows: Mapping[str, int] = field(default_factory=dict)
    """The row of gates of each language."""
    targets: Any = None
    """What a teacher made of every line, where that was computed before."""

    def step_batches(self, stream: Iterable[tuple[list[Example], Position]]) -> Iterator[StepBatch]:
        """Work for every step of a stream."""
        for examples, position in stream:
            ids = (np.asarray(each.ids, dtype=np.int32).tobytes() for each in examples)
            yield StepBatch(
                passes=self.passes(examples),
                position=position,
                tokens=sum(len(each.ids) for each in examples),
                checksum=zlib.crc32(b"".join(ids)),
            )

    def passes(self, examples: Sequence[Example]) -> list[dict[str, Tensor]]:
        """Batches of examples of similar length."""
        ordered = sorted(examples, key=lambda each: (len(each.ids), each.number))
        return [
            self.batch(ordered[i : i + self.at_once]) for i in range(0, len(ordered), self.at_once)
        ]

    def batch(self, examples: Sequence[Example]) -> dict[str, Tensor]:
        """One pass."""
        batch = collate(examples, self.tokenizer, self.masked, self.seed)
        if self.rows:
            batch["rows"] = torch.tensor([self.rows[each.language] for each in examples])
        if self.targets is not None:
            batch |= self.targets.look_up(examples)
        return batch
