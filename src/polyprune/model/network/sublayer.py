"""What the sublayers of an encoder have in common: activations, gates, cutting, kernels."""

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

State = dict[str, Tensor]
"""Tensors by the names that they have in a module."""

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

    def forward(self, x: Tensor) -> Tensor:  # (b, s, w) -> (b, s, w)
        """The bias at every place of `x`."""
        return self.bias.expand_as(x)


class Kernel(NamedTuple):
    """What a kernel of a GPU multiplies, reads and writes."""

    multiply_adds: int
    weights: int
    """Values of matrices."""
    activations: int
    """Values that go in and come out."""

    @classmethod
    def product(cls, tokens: int, width: int, out: int) -> "Kernel":
        """The product of so many tokens with a matrix."""
        return cls(tokens * width * out, width * out, tokens * (width + out))

    @classmethod
    def stream(cls, width: int, tokens: int) -> "Kernel":
        """A sum or a norm over the residual stream of so many tokens: in and out."""
        return cls(0, 0, 2 * tokens * width)


def by_token(gate: Tensor) -> Tensor:
    """A gate with an axis for the tokens, which all share it unless it came with one of its own."""
    return gate[:, None] if gate.ndim == 2 else gate


def scale_columns(weight: Tensor, columns: Tensor) -> Tensor:
    """`weight` with each column multiplied, in the weight's own precision but rounded once."""
    if bool((columns == 1).all()):
        return weight.clone()
    return (weight.float() * columns.float()).to(weight.dtype)


def add_product(stream: Tensor, linear: nn.Linear, x: Tensor) -> Tensor:
    """`stream` after `linear(x)` was added to it where it lies; nothing is copied."""
    stream.add_(linear.bias)
    return torch.addmm(stream, x, linear.weight.t(), out=stream)


def replaced(state: State, parts: Mapping[str, tuple[Any, State]]) -> State:
    """`state` with new tensors in the place of those that pruning changes; all others cloned.

    `parts` has, for the name of each sublayer in `state`, the sublayer and its new tensors.
    """
    gone = tuple(f"{name}.{module}." for name, (part, _) in parts.items() for module in part.CUT)
    kept = {name: tensor.clone() for name, tensor in state.items() if not name.startswith(gone)}
    new = {
        f"{name}.{own}": tensor for name, (_, cut) in parts.items() for own, tensor in cut.items()
    }
    return kept | new
