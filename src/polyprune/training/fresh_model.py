"""A masked LM with random weights and its own tokenizer."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers import XLMRobertaConfig

from ..corpora.text_sources import TextSource
from ..corpora.tokenizer_training import train_tokenizer
from ..errors import ConfigError
from ..loading.conversion import our_config
from ..loading.finding import find
from ..model.network.encoder import Encoder
from ..model.network.modeling_polyprune import PolypruneForMaskedLM
from ..model.network.readouts import MASKED_LM
from ..model.network.source import ModelSource
from ..model.network.tensor_types import Float
from .run_sections import FreshConfig

SHARPNESS = 8.0
"""The attention logit of the neighbour that a head starts with; distant words get about 2."""

FASTEST, SLOWEST = 2.0, 1 / 32
"""Angular frequencies of the position sinusoids, in radians per position."""


def _lines(sources: dict[str, TextSource], count: int) -> Iterator[str]:
    """Yield `count` lines in all, equally many from each language."""
    for source in sources.values():
        documents = (document for document, _ in source.documents())
        lines = (line if isinstance(line, str) else line[0] for each in documents for line in each)
        yield from islice(lines, count // len(sources))


def write_fresh_model(
    fresh: FreshConfig, sources: dict[str, TextSource], folder: Path, seed: int
) -> None:
    """Write a masked LM with random weights, and a tokenizer for it."""
    if fresh.tokenizer is not None:
        tokenizer: Any = ModelSource.at(find(fresh.tokenizer)).tokenizer()
        if tokenizer is None:
            raise ConfigError(f"There is no tokenizer in {fresh.tokenizer}.")
    else:
        tokenizer = train_tokenizer(_lines(sources, fresh.lines), fresh.vocabulary)
    theirs = XLMRobertaConfig(
        vocab_size=len(tokenizer),
        hidden_size=fresh.width,
        num_hidden_layers=fresh.layers,
        num_attention_heads=fresh.heads,
        intermediate_size=fresh.units,
        max_position_embeddings=fresh.positions,
        type_vocab_size=1,
        layer_norm_eps=1e-5,
        initializer_range=fresh.init_std,
        hidden_dropout_prob=fresh.dropout,
        attention_probs_dropout_prob=fresh.dropout,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = PolypruneForMaskedLM(our_config(theirs, MASKED_LM, pooler=False))
        if fresh.neighbours:
            init_local_attention(model.encoder)
    tokenizer.save_pretrained(folder)
    model.save_pretrained(folder)


@torch.no_grad()
def init_local_attention(encoder: Encoder) -> None:
    """Initialize each head of the first layer to attend to one neighbour: −1, +1, −2, +2 and so on.

    Positions begin as waves, in dimensions that words leave to them. To shift a wave is to turn it,
    so queries that are turned keys look so many words further. From random weights a small model
    is slow to find out that neighbours matter. All weights are trained on.
    """
    embedding = encoder.embedding
    attention: Any = encoder.layers[0].attention
    heads, room = attention.heads, attention.head_width
    words, positions = embedding.words.weight, embedding.positions.weight
    others = words.shape[1] - room
    words[:, :room] = 0
    if embedding.types is not None:
        embedding.types.weight[:, :room] = 0
    # As much of what the first layer sees is where a word stands as what it is.
    amplitude = words[:, room:].std() * (2 * others / room) ** 0.5
    positions.zero_()
    positions[:, :room] = amplitude * sinusoids(torch.arange(len(positions)), room)
    # After the norm, half of a length of √width: q · k / √room is SHARPNESS where they agree.
    scale = (SHARPNESS * room**0.5 / (words.shape[1] / 2)) ** 0.5
    queries, keys, values = attention.project.weight.view(3, heads, room, -1)
    for matrix in (queries, keys):
        matrix.zero_()
    for head in range(heads):
        offset = (head // 2 + 1) * (-1 if head % 2 == 0 else 1)
        queries[head, :, :room] = scale * rotation(offset, room)
        keys[head, :, :room] = scale * torch.eye(room)
    for matrix in (values, attention.output.weight):
        matrix.normal_(std=words.shape[1] ** -0.5)  # what is seen is passed on as large as it is


def _frequencies(room: int) -> Float[Tensor, " half"]:
    return torch.logspace(0, 1, room // 2, base=SLOWEST / FASTEST) * FASTEST


def sinusoids(positions: Tensor, room: int) -> Float[Tensor, "positions room"]:
    """Return the sines, then the cosines, of every position."""
    angles = positions[:, None] * _frequencies(room)
    return torch.cat([angles.sin(), angles.cos()], dim=1)


def rotation(offset: int, room: int) -> Float[Tensor, "room room"]:
    """Return the matrix that turns the sinusoids of position p into those of p + offset."""
    sines, cosines = sinusoids(torch.tensor([offset]), room)[0].chunk(2)
    return torch.cat(
        [
            torch.cat([cosines.diag(), sines.diag()], dim=1),
            torch.cat([-sines.diag(), cosines.diag()], dim=1),
        ]
    )
