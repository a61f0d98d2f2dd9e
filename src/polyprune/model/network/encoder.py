"""The encoder, written out so that each gate sits where its equation puts it."""

from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from .components import Gates, check_gates
from .fused_inference import can_be_fused, fused_layers
from .shape import EncoderShape, Wiring
from .tensor_types import Bool, Float, Int

ACTIVATIONS = {
    "gelu": F.gelu,
    "gelu_python": F.gelu,
    "gelu_new": partial(F.gelu, approximate="tanh"),
    "gelu_fast": partial(F.gelu, approximate="tanh"),
    "gelu_pytorch_tanh": partial(F.gelu, approximate="tanh"),
    "relu": F.relu,
    "silu": F.silu,
    "swish": F.silu,
    "tanh": torch.tanh,
}
"""By the names that transformers gives them."""


class Constant(nn.Module):
    """What is left of a sublayer without heads or units: its output bias, added to every token."""

    def __init__(self, width: int):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, x: Float[Tensor, "batch seq width"]) -> Float[Tensor, "batch seq width"]:
        """The bias at every place of `x`."""
        return self.bias.expand_as(x)


class Embedding(nn.Module):
    """Words, E = Ê diag(G_e) P (Eq. 3) or a plain table, plus positions and token types."""

    def __init__(self, shape: EncoderShape, wiring: Wiring):
        super().__init__()
        self.wiring = wiring
        padding = wiring.padding_id
        self.words = nn.Embedding(shape.vocab_size, shape.rank, padding_idx=padding)  # Ê
        self.project = (  # P
            nn.Linear(shape.rank, shape.width, bias=False) if shape.factorized else None
        )
        self.positions = nn.Embedding(
            shape.positions, shape.width, padding_idx=padding if wiring.padded_positions else None
        )
        self.types = nn.Embedding(shape.token_types, shape.width) if shape.token_types else None
        self.norm = None if wiring.pre_norm else nn.LayerNorm(shape.width, eps=wiring.norm_epsilon)
        self.dropout = nn.Dropout(wiring.dropout)

    def forward(
        self,
        tokens: Int[Tensor, "batch seq"],
        token_types: Int[Tensor, "batch seq"] | None = None,
        gate: Float[Tensor, "#batch *seq rank"] | None = None,
    ) -> Float[Tensor, "batch seq width"]:
        """The input of the first layer."""
        x = self.words(tokens)
        if gate is not None:
            x = x * _by_token(gate).to(x)
        if self.project is not None:
            x = self.project(x)
        x = x + self._positions(tokens)
        if self.types is not None:
            x = x + (self.types.weight[0] if token_types is None else self.types(token_types))
        if self.norm is not None:
            x = self.norm(x)
        return self.dropout(x)

    def unembed(
        self,
        x: Float[Tensor, "batch seq width"],
        gate: Float[Tensor, "#batch *each rank"] | None = None,
    ) -> Float[Tensor, "batch seq vocab"]:
        """X Eᵀ, the tied output of masked language modeling: the rank gate acts here too."""
        if self.project is not None:
            x = F.linear(x, self.project.weight.T)
        if gate is not None:
            x = x * _by_token(gate).to(x)
        return F.linear(x, self.words.weight)

    def _positions(self, tokens: Tensor) -> Tensor:
        padding, seq = self.wiring.padding_id or 0, tokens.shape[1]
        first = padding + 1 if self.wiring.padded_positions else 0
        if seq > self.positions.num_embeddings - first:
            raise ValueError(
                f"{seq} tokens in a sequence, but this encoder has positions for "
                f"{self.positions.num_embeddings - first}. Truncate when tokenizing: "
                "tokenizer(text, truncation=True)."
            )
        if not self.wiring.padded_positions:
            return self.positions.weight[:seq]
        present = tokens.ne(padding).int()
        return self.positions(present.cumsum(1) * present + padding)


def _by_token(gate: Tensor) -> Tensor:
    """A gate with an axis for the tokens, which all share it unless it came with one of its own."""
    return gate[:, None] if gate.ndim == 2 else gate


class Attention(nn.Module):
    """MHA(X) = Σᵢ G_{h,i} headᵢ (Eq. 1)."""

    def __init__(self, width: int, heads: int, head_width: int, dropout: float):
        super().__init__()
        self.heads, self.head_width, self.dropout = heads, head_width, dropout
        # One product for queries, keys and values, in this order.
        self.project = nn.Linear(width, 3 * heads * head_width) if heads else None
        self.output = nn.Linear(heads * head_width, width) if heads else Constant(width)

    def forward(
        self,
        x: Float[Tensor, "batch seq width"],
        mask: Bool[Tensor, "batch 1 1 seq"] | None = None,
        gate: Float[Tensor, "#batch *seq heads"] | None = None,
    ) -> Float[Tensor, "batch seq width"]:
        """What the heads add to the residual stream."""
        if self.project is None:
            return self.output(x)
        q, k, v = (  # (b, s, 3*h*e) -> 3 × (b, h, s, e)
            self.project(x).unflatten(-1, (3, self.heads, self.head_width)).permute(2, 0, 3, 1, 4)
        )
        dropout = self.dropout if self.training else 0.0
        heads = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=dropout)
        if gate is not None:
            # (b, 1 or s, h) -> (b, h, 1 or s, 1)
            heads = heads * _by_token(gate).transpose(1, 2)[..., None].to(heads)
        return self.output(heads.transpose(1, 2).flatten(2))  # (b, h, s, e) -> (b, s, h*e)


class FeedForward(nn.Module):
    """FFN(X) = (GeLU(X W₁ + b₁) ⊙ G_f) W₂ + b₂ (Eq. 2)."""

    def __init__(self, width: int, units: int, activation: str):
        super().__init__()
        self.activation = ACTIVATIONS[activation]
        self.expand = nn.Linear(width, units) if units else None
        self.contract = nn.Linear(units, width) if units else Constant(width)

    def forward(
        self,
        x: Float[Tensor, "batch seq width"],
        gate: Float[Tensor, "#batch *seq units"] | None = None,
    ) -> Float[Tensor, "batch seq width"]:
        """What the units add to the residual stream."""
        if self.expand is None:
            return self.contract(x)
        units = self.activation(self.expand(x))
        if gate is not None:
            units = units * _by_token(gate).to(units)
        return self.contract(units)


class Layer(nn.Module):
    """Attention and feed-forward network, each with its residual and its norm."""

    def __init__(self, shape: EncoderShape, wiring: Wiring, index: int):
        super().__init__()
        self.pre_norm = wiring.pre_norm
        self.attention = Attention(
            shape.width, shape.heads[index], shape.head_width, wiring.attention_dropout
        )
        self.attention_norm = nn.LayerNorm(shape.width, eps=wiring.norm_epsilon)
        self.feed_forward = FeedForward(shape.width, shape.units[index], wiring.activation)
        self.feed_forward_norm = nn.LayerNorm(shape.width, eps=wiring.norm_epsilon)
        self.attention_dropout = nn.Dropout(wiring.attention_output_dropout)
        self.feed_forward_dropout = nn.Dropout(wiring.feed_forward_output_dropout)

    def forward(
        self,
        x: Float[Tensor, "batch seq width"],
        mask: Bool[Tensor, "batch 1 1 seq"] | None = None,
        head_gate: Tensor | None = None,
        unit_gate: Tensor | None = None,
    ) -> Float[Tensor, "batch seq width"]:
        """The residual stream after this layer."""
        drop, drop_again = self.attention_dropout, self.feed_forward_dropout
        if self.pre_norm:
            x = x + drop(self.attention(self.attention_norm(x), mask, head_gate))
            return x + drop_again(self.feed_forward(self.feed_forward_norm(x), unit_gate))
        x = self.attention_norm(x + drop(self.attention(x, mask, head_gate)))
        return self.feed_forward_norm(x + drop_again(self.feed_forward(x, unit_gate)))


class Encoder(nn.Module):
    """Token ids in, hidden states out; `gates` says which components take part."""

    def __init__(self, shape: EncoderShape, wiring: Wiring | None = None):
        super().__init__()
        wiring = wiring or Wiring()
        self.shape = shape
        self.embedding = Embedding(shape, wiring)
        self.layers = nn.ModuleList(Layer(shape, wiring, i) for i in range(shape.layers))
        self.norm = nn.LayerNorm(shape.width, eps=wiring.norm_epsilon) if wiring.pre_norm else None
        # transformers' gradient_checkpointing_enable() sets both.
        self.gradient_checkpointing = False
        self._gradient_checkpointing_func: Any = partial(checkpoint, use_reentrant=False)

    def forward(
        self,
        tokens: Int[Tensor, "batch seq"],
        mask: Bool[Tensor, "batch seq"] | None = None,
        token_types: Int[Tensor, "batch seq"] | None = None,
        gates: Gates | None = None,
        states: list[Tensor] | None = None,
    ) -> Float[Tensor, "batch seq width"]:
        """The last hidden states; every layer's input, and the last, are appended to `states`."""
        if gates is not None:
            check_gates(gates, self.shape, examples=len(tokens))
        ungated = (None,) * self.shape.layers
        rank, heads, units = (
            (gates.rank, gates.heads, gates.units) if gates else (None, ungated, ungated)
        )
        keys = None if mask is None else mask[:, None, None]  # (b, s) -> (b, 1, 1, s)
        x = self.embedding(tokens, token_types, rank)
        if gates is None and states is None and self._can_be_lean():
            x = fused_layers(self.layers, x, keys)
            return x if self.norm is None else self.norm(x)
        for layer, head_gate, unit_gate in zip(self.layers, heads, units, strict=True):
            if states is not None:
                states.append(x)
            x = self._run(layer, x, keys, head_gate, unit_gate)
        if self.norm is not None:
            x = self.norm(x)
        if states is not None:
            states.append(x)
        return x

    def at_layer(
        self, tokens: Int[Tensor, "batch seq"], mask: Bool[Tensor, "batch seq"], layer: int
    ) -> Float[Tensor, "batch seq width"]:
        """The output of a layer, counted from 1; those above it are not computed."""
        x, keys = self.embedding(tokens), mask[:, None, None]
        if self._can_be_lean():
            x = fused_layers(self.layers[:layer], x, keys)
        else:
            for below in self.layers[:layer]:
                x = below(x, keys)
        return self.norm(x) if self.norm is not None and layer == len(self.layers) else x

    def _can_be_lean(self) -> bool:
        return can_be_fused(self, LEAN_KINDS)

    def _run(self, layer: nn.Module, *arguments: Tensor | None) -> Tensor:
        if self.gradient_checkpointing and self.training:
            return self._gradient_checkpointing_func(layer.__call__, *arguments)
        return layer(*arguments)


LEAN_KINDS = frozenset(
    {Layer, Attention, FeedForward, Constant, nn.Linear, nn.LayerNorm, nn.Dropout}
)
"""What a layer is made of unless somebody replaced a part."""
