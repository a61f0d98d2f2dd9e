"""Models from random weights."""

import torch

from polyprune.model.network.encoder import Encoder
from polyprune.model.network.shape import EncoderShape
from polyprune.training.fresh_model import init_local_attention, rotation, sinusoids


def test_turning_shifts_waves():
    places = torch.arange(20)
    torch.testing.assert_close(
        sinusoids(places, 8) @ rotation(3, 8).T, sinusoids(places + 3, 8), atol=1e-5, rtol=0
    )


def test_heads_begin_by_looking_at_neighbours():
    torch.manual_seed(0)
    shape = EncoderShape(
        vocab_size=90, positions=40, token_types=1, width=96, head_width=24, heads=(4,), units=(8,),
        rank=96,
    )  # fmt: skip
    encoder = Encoder(shape).eval()
    init_local_attention(encoder)
    tokens = torch.randint(5, 90, (2, 30))
    seen = encoder.embedding(tokens)
    attention = encoder.layers[0].attention
    q, k, _ = attention.project(seen).unflatten(-1, (3, 4, 24)).permute(2, 0, 3, 1, 4)
    looked_at = (q @ k.mT).argmax(-1)  # (batch, heads, seq)
    middle = torch.arange(5, 25)
    for head, offset in enumerate((-1, 1, -2, 2)):
        assert (looked_at[:, head, 5:25] == middle + offset).float().mean() > 0.95
