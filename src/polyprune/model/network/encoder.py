"""The encoder, written out so that each gate sits where its equation puts it."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from .attention import ATTENTIONS
from .components import Gates, PerComponent, check_gates
from .embedding import Embedding
from .feed_forward import FEED_FORWARDS
from .fused_inference import can_be_fused, fused_layers
from .shape import EncoderShape, Wiring
from .sublayer import Constant, Kernel
from .tensor_types import Bool, Float, Int

PASSES = 2
"""Kernels around a sublayer, whatever is left of it: the residual sum and the norm."""


class Layer(nn.Module):
    """Attention and feed-forward network, each with its residual and its norm."""

    def __init__(self, shape: EncoderShape, wiring: Wiring, index: int):
        super().__init__()
        self.pre_norm = wiring.pre_norm
        self.attention = ATTENTIONS[shape.attention](shape, wiring, shape.heads[index])
        self.attention_norm = nn.LayerNorm(shape.width, eps=wiring.norm_epsilon)
        self.feed_forward = FEED_FORWARDS[shape.feed_forward](shape, wiring, shape.units[index])
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

    def fused(self, x: Tensor, size: torch.Size, keys: Tensor | None) -> Tensor:
        """The residual stream after this layer, in few passes over memory; `x` is overwritten.

        `size` is (batch, seq), which are one axis of `x`. `keys` is added to attention's scores.
        """
        attention, feed_forward = self.attention, self.feed_forward
        if self.pre_norm:
            x = attention.add_fused(x, _norm(self.attention_norm, x), size, keys)
            return feed_forward.add_fused(x, _norm(self.feed_forward_norm, x))
        x = _norm(self.attention_norm, attention.add_fused(x, x, size, keys))
        return _norm(self.feed_forward_norm, feed_forward.add_fused(x, x))

    def exportable(
        self, x: Tensor, keys: Tensor, add: Callable[[Tensor, Tensor], Tensor]
    ) -> Tensor:
        """The residual stream after this layer, in operations that every runtime has.

        `add` makes the sum of the stream and what a sublayer adds to it.
        """
        if self.pre_norm:
            x = add(x, self.attention.exportable(self.attention_norm(x), keys))
            return add(x, self.feed_forward.exportable(self.feed_forward_norm(x)))
        x = self.attention_norm(add(x, self.attention.exportable(x, keys)))
        return self.feed_forward_norm(add(x, self.feed_forward.exportable(x)))

    @staticmethod
    def parameter_count(shape: EncoderShape, heads: int, units: int) -> int:
        """Heads, units, their output biases, which are never pruned, and the norms."""
        attention, feed_forward = ATTENTIONS[shape.attention], FEED_FORWARDS[shape.feed_forward]
        return (
            heads * attention.parameters_each(shape)
            + units * feed_forward.parameters_each(shape)
            + attention.parameters_always(shape)
            + feed_forward.parameters_always(shape)
            + 2 * norm_parameters(shape)
        )

    @staticmethod
    def multiply_adds(shape: EncoderShape, heads: int, units: int, tokens: int) -> int:
        """The products for one of so many tokens."""
        a_head = ATTENTIONS[shape.attention].multiply_adds_each(shape, tokens)
        return heads * a_head + units * FEED_FORWARDS[shape.feed_forward].multiply_adds_each(shape)

    @staticmethod
    def kernels(
        shape: EncoderShape, heads: int, units: int, batch: int, tokens: int
    ) -> list[Kernel]:
        """What the layer launches on a GPU in eager mode, in order."""
        around = [Kernel.stream(shape.width, batch * tokens)] * PASSES
        attention = ATTENTIONS[shape.attention].kernels(shape, heads, batch, tokens)
        feed_forward = FEED_FORWARDS[shape.feed_forward].kernels(shape, units, batch * tokens)
        return [*attention, *around, *feed_forward, *around]


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
        if gates is None and states is None and self._can_be_fused():
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
        if self._can_be_fused():
            x = fused_layers(self.layers[:layer], x, keys)
        else:
            for below in self.layers[:layer]:
                x = below(x, keys)
        return self.norm(x) if self.norm is not None and layer == len(self.layers) else x

    def exportable(
        self, x: Tensor, keys: Tensor, add: Callable[[Tensor, Tensor], Tensor]
    ) -> Tensor:
        """The last hidden states of an embedding, in operations that every runtime has."""
        for layer in self.layers:
            x = layer.exportable(x, keys, add)  # pyright: ignore[reportCallIssue]
        return x if self.norm is None else self.norm(x)

    def sublayers(self) -> PerComponent[Any]:
        """The modules whose components can be pruned, each where its components are."""
        layers: Any = self.layers
        return PerComponent(
            tuple(layer.attention for layer in layers),
            tuple(layer.feed_forward for layer in layers),
            self.embedding,
        )

    def _can_be_fused(self) -> bool:
        return can_be_fused(self, OWN_KINDS)

    def _run(self, layer: nn.Module, *arguments: Tensor | None) -> Tensor:
        if self.gradient_checkpointing and self.training:
            return self._gradient_checkpointing_func(layer.__call__, *arguments)
        return layer(*arguments)


OWN_KINDS = frozenset(
    {Layer, Constant, nn.Linear, nn.LayerNorm, nn.Dropout}
    | {*ATTENTIONS.values(), *FEED_FORWARDS.values()}
)
"""What a layer is made of unless somebody replaced a part."""


def norm_parameters(shape: EncoderShape) -> int:
    """The parameters of one layer norm."""
    return 2 * shape.width


def _norm(norm: nn.LayerNorm, x: Tensor) -> Tensor:
    return F.layer_norm(x, norm.normalized_shape, norm.weight, norm.bias, norm.eps)
