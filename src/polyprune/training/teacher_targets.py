"""The teacher's embedding of every line, computed once, for text that is read many times."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from ..corpora.example import Example
from ..corpora.packing import PackedTokens, Packing, pack_once
from ..corpora.stream import StreamConfig
from ..corpora.text_sources import TextSource
from ..errors import ConfigError
from ..model.network.tensor_types import Float
from ..progress import SILENT, Progress
from ..pruning.criteria.losses import pooled
from ..storage import atomic_file

MOST = 2_000_000
"""The maximum number of lines; at a width of 768, that is 3 GB."""


@dataclass(frozen=True, slots=True)
class TeacherTargets:
    """The teacher's embeddings, looked up by a line's tokens."""

    embeddings: Tensor
    rows: Mapping[int, int]

    def look_up(self, examples: Sequence[Example]) -> dict[str, Tensor]:
        """Return the target embeddings of a batch, and of its translations if there are any."""
        found = {"teacher_embeddings": self._of([each.ids for each in examples])}
        pairs = [each.pair for each in examples if each.pair is not None]
        if pairs:
            found["teacher_translations"] = self._of(pairs)
        return found

    def narrowed(self, width: int) -> "TeacherTargets":
        """Reduce the targets to a narrower student's width by their principal components."""
        return replace(self, embeddings=reduce_width(self.embeddings, width))

    def _of(self, lines: Sequence[Sequence[int]]) -> Tensor:
        return self.embeddings[[self.rows[line_key(ids)] for ids in lines]].float()


def line_key(ids: Sequence[int]) -> int:
    """Return the lookup key of a line's tokens."""
    digest = blake2b(np.asarray(ids, dtype=np.int32).tobytes(), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


@dataclass(frozen=True, slots=True)
class TeacherEmbedder:
    """A teacher that embeds sentences."""

    model: Any
    tokenizer: Any = None
    """The teacher's tokenizer, if it differs from the student's."""

    def reads(self, tokens: PackedTokens, longest: int) -> Sequence[int]:
        """Return the tokens that the teacher reads for a line: the student's, or its own."""
        if self.tokenizer is None:
            return tokens.ids
        text = self.model.source.prompt + (tokens.text or "")
        return self.tokenizer(text, truncation=True, max_length=longest)["input_ids"]


def reduce_width(
    embeddings: Float[Tensor, "lines wide"], width: int
) -> Float[Tensor, "lines width"]:
    """Project embeddings onto their first `width` principal components, if they are wider.

    From their mean, which all sentences share and which tells none from another.
    """
    if width >= embeddings.shape[1]:
        return embeddings
    centred = embeddings.float() - embeddings.float().mean(0)
    _, axes = torch.linalg.eigh(centred.T @ centred)  # the last vary most
    return (centred @ axes[:, -width:].flip(1)).to(embeddings.dtype)


def make_targets(
    teacher: TeacherEmbedder,
    tokenizer: Any,
    sources: Mapping[str, TextSource],
    stream_config: StreamConfig,
    path: Path,
    progress: Progress = SILENT,
) -> TeacherTargets:
    """Return the targets of all lines; read them from a file, or compute and write it."""
    if not path.is_file():
        lines = _all_lines(teacher, tokenizer, sources, stream_config)
        pad = (teacher.tokenizer or tokenizer).pad_token_id
        embeddings = _embed(teacher.model, pad, list(lines.values()), progress)
        with atomic_file(path) as new:
            save_file({"keys": torch.tensor(list(lines)), "embeddings": embeddings}, new)
    tensors = load_file(path)
    rows = {number: row for row, number in enumerate(tensors["keys"].tolist())}
    return TeacherTargets(tensors["embeddings"], rows)


def _all_lines(
    teacher: TeacherEmbedder,
    tokenizer: Any,
    sources: Mapping[str, TextSource],
    stream_config: StreamConfig,
) -> dict[int, np.ndarray]:
    """Return the teacher's tokens of each line, by the key of the student's tokens."""
    packing = Packing(deepcopy(tokenizer), stream_config.block, "line", stream_config.prefix)
    lines: dict[int, np.ndarray] = {}
    for code, source in sources.items():
        for tokens in pack_once(source, code, packing):
            shown = {line_key(tokens.ids): teacher.reads(tokens, stream_config.block)}
            if tokens.pair is not None:
                shown[line_key(tokens.pair)] = tokens.pair
            for number, ids in shown.items():
                lines[number] = np.asarray(ids, dtype=np.int32)
            if len(lines) > MOST:
                raise ConfigError(
                    f"teacher.cache is for text that fits: at most {MOST:,} lines. Set it to false."
                )
    return lines


@torch.no_grad()
def _embed(teacher: Any, pad: int, lines: list[Any], progress: Progress) -> Tensor:
    pooling = teacher.source.pooling
    order = sorted(range(len(lines)), key=lambda i: len(lines[i]))
    found = torch.empty(len(lines), teacher.shape.width, dtype=torch.float16)
    starts = range(0, len(lines), 32)
    for start in progress.track("Embedding text", starts):
        some = order[start : start + 32]
        ids = [torch.as_tensor(lines[i]).long() for i in some]
        padded = pad_sequence(ids, batch_first=True, padding_value=pad)
        mask = pad_sequence([torch.ones_like(row) for row in ids], batch_first=True)
        embedded = pooled(
            teacher, padded.to(teacher.device), mask.to(teacher.device), None, pooling
        )
        found[some] = embedded.half().cpu()
    return found
