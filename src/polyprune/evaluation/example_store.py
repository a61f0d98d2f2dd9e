"""Encoded examples on disk, so that training sets may be larger than memory."""

import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import datasets
import numpy as np
from datasets.arrow_writer import ArrowWriter

from ..errors import CheckpointError, DataError
from ..storage import atomic_file
from .encoded_input import EncodedInput


def _features(numbers: bool) -> datasets.Features:
    """Return the columns of a file; labels are counts, or numbers of any kind."""
    return datasets.Features(
        {
            "language": datasets.Value("string"),
            "length": datasets.Value("int32"),
            "ids": datasets.List(datasets.Value("int32")),
            "types": datasets.List(datasets.Value("int8")),
            "labels": datasets.List(datasets.Value("float32" if numbers else "int32")),
        }
    )


WRITTEN_TOGETHER = 1000


class ExampleStore:
    """Random access to the examples of a file, in constant memory."""

    def __init__(self, path: Path):
        try:
            self._rows = datasets.Dataset.from_file(str(path))
            # Of this column alone: the others stay on disk.
            self.lengths: np.ndarray = self._rows.data.column("length").to_numpy()
        except Exception as error:  # whatever Arrow does not like
            reason = str(error).partition("\n")[0]
            raise CheckpointError(
                f"{path} is damaged ({reason}). Delete it: it is made again."
            ) from error

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def summary(self) -> dict[str, int]:
        """The number of examples, and a checksum of their tokens and labels."""
        checksum = 0
        for name in ("length", "ids", "labels"):
            for chunk in self._rows.data.column(name).chunks:
                values = chunk if name == "length" else chunk.flatten()
                checksum = zlib.crc32(values.to_numpy(zero_copy_only=False).tobytes(), checksum)
        return {"examples": len(self), "checksum": checksum}

    def take(self, numbers: Sequence[int]) -> list[tuple[str, EncodedInput]]:
        """Return the examples with these indices, each with its language."""
        rows = self._rows[list(numbers)]
        columns = zip(rows["language"], rows["ids"], rows["types"], rows["labels"], strict=True)
        return [
            (language, EncodedInput(number, ids, types, tuple(labels)))
            for number, (language, ids, types, labels) in zip(numbers, columns, strict=True)
        ]


def write_examples(
    path: Path, examples: Iterable[tuple[str, EncodedInput]], numbers: bool = False
) -> ExampleStore:
    """Write examples to a file, completely or not at all; labels may be `numbers` of any kind."""
    with atomic_file(path, force=True) as new:
        count = 0
        with ArrowWriter(
            path=str(new), features=_features(numbers), writer_batch_size=WRITTEN_TOGETHER
        ) as writer:
            for row in _rows(examples):
                writer.write(row)
                count += 1
            writer.finalize()
        if not count:
            raise DataError("There is nothing to train on: no example has a label.")
    return ExampleStore(path)


def _rows(examples: Iterable[tuple[str, EncodedInput]]) -> Iterator[dict[str, Any]]:
    for language, each in examples:
        if each.labels:
            yield {
                "language": language,
                "length": len(each.ids),
                "ids": each.ids,
                "types": each.types,
                "labels": list(each.labels),
            }


def epoch_batches(lengths: np.ndarray, batch: int, seed: int, epoch: int) -> list[np.ndarray]:
    """Return the batches of an epoch: every example once, grouped by length.

    Sorted within windows of fifty batches only, so that each epoch mixes anew; the batches
    themselves are shuffled, but for the last, which may be smaller.
    """
    dice = np.random.Generator(np.random.Philox(key=[seed, epoch]))
    shuffled = dice.permutation(len(lengths))
    window = 50 * batch
    grouped = [
        some[np.argsort(-lengths[some], kind="stable")]
        for some in (shuffled[i : i + window] for i in range(0, len(shuffled), window))
    ]
    cut = [some[i : i + batch] for some in grouped for i in range(0, len(some), batch)]
    whole = [each for each in cut if len(each) == batch]
    rest = [each for each in cut if len(each) < batch]
    return [whole[i] for i in dice.permutation(len(whole))] + rest
