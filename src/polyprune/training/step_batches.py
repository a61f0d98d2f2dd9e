"""From examples to tensors: masked, padded, sorted by length, split into micro-batches."""

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..corpora.collate import collate
from ..corpora.example import Example
from ..corpora.positions import StreamPosition


@dataclass(frozen=True, slots=True)
class StepBatch:
    """One process's part of one step's batch."""

    micro_batches: list[dict[str, Tensor]]
    position: StreamPosition
    """The stream position after this step."""
    tokens: int
    checksum: int
    """A checksum of the tokens in order: equal if two runs read the same."""
    weight: float = 1.0
    """The weight relative to other processes' parts: higher with more examples than they have."""

    @property
    def examples(self) -> int:
        """The number of examples in all micro-batches."""
        return sum(len(each["input_ids"]) for each in self.micro_batches)


@dataclass(frozen=True, slots=True)
class Collator:
    """Turns examples into the micro-batches of a step."""

    tokenizer: Any
    micro_batch_size: int
    masked: bool
    seed: int = 0
    rows: Mapping[str, int] = field(default_factory=dict)
    """The index of each language's row of gates."""
    targets: Any = None
    """The teacher's embeddings, if they were computed in advance."""

    def step_batches(
        self, stream: Iterable[tuple[list[Example], StreamPosition]]
    ) -> Iterator[StepBatch]:
        """Yield the batch of every step of a stream."""
        for examples, position in stream:
            ids = (np.asarray(each.ids, dtype=np.int32).tobytes() for each in examples)
            yield StepBatch(
                micro_batches=self.micro_batches(examples),
                position=position,
                tokens=sum(len(each.ids) for each in examples),
                checksum=zlib.crc32(b"".join(ids)),
            )

    def micro_batches(self, examples: Sequence[Example]) -> list[dict[str, Tensor]]:
        """Split examples into micro-batches of similar length."""
        ordered = sorted(examples, key=lambda each: (len(each.ids), each.number))
        size = self.micro_batch_size
        return [self.batch(ordered[i : i + size]) for i in range(0, len(ordered), size)]

    def batch(self, examples: Sequence[Example]) -> dict[str, Tensor]:
        """Collate one micro-batch."""
        batch = collate(examples, self.tokenizer, self.masked, self.seed)
        if self.rows:
            batch["rows"] = torch.tensor([self.rows[each.language] for each in examples])
        if self.targets is not None:
            batch |= self.targets.look_up(examples)
        return batch
