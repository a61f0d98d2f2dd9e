"""The prunable components: attention heads, feed-forward hidden units, embedding rank."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor

from .shape import EncoderShape
from .tensor_types import Float

T = TypeVar("T")
U = TypeVar("U")


@dataclass(frozen=True, slots=True)
class PerComponent(Generic[T]):
    """A value for the heads and the units of every layer, and for the embedding rank.

    Gates, importance scores, weights, kept indices and sparsities all have this form.
    """

    heads: tuple[T, ...]
    units: tuple[T, ...]
    rank: T

    def map(self, f: Callable[..., U], *others: "PerComponent[Any]") -> "PerComponent[U]":
        """`f` of every entry, and of the entries of `others` at the same place."""
        return PerComponent(
            tuple(map(f, self.heads, *(other.heads for other in others))),
            tuple(map(f, self.units, *(other.units for other in others))),
            f(self.rank, *(other.rank for other in others)),
        )

    def named(self) -> dict[str, T]:
        """Every entry by the name it has in files: `heads.0`, `units.0`, …, `rank`."""
        heads = {f"heads.{i}": entry for i, entry in enumerate(self.heads)}
        units = {f"units.{i}": entry for i, entry in enumerate(self.units)}
        return {**heads, **units, "rank": self.rank}

    def leaves(self) -> tuple[T, ...]:
        """Every entry: heads, then units, layer by layer, then rank."""
        return (*self.heads, *self.units, self.rank)


Gates = PerComponent[Float[Tensor, "rows *tokens n"]]
"""G = {G_h, G_f, G_e}: 1 keeps a component, 0 drops it.

`rows` is 1 when all examples share their gates, else each example brings its own: its
language's row (non-shared setting) or a private copy to differentiate (importance). The axis of
tokens is there only where one variant of importance wants a private copy for every token.
"""


def sizes(shape: EncoderShape) -> PerComponent[int]:
    """How many components there are of each kind in each layer."""
    return PerComponent(shape.heads, shape.units, shape.rank)


def open_gates(shape: EncoderShape, rows: int = 1) -> Gates:
    """Gates that keep everything."""
    return sizes(shape).map(lambda n: torch.ones(rows, n))


def check_gates(gates: Gates, shape: EncoderShape, examples: int | None = None) -> None:
    """Raise unless `gates` fit `shape` and have one row, or one for each of `examples`."""
    if (len(gates.heads), len(gates.units)) != (shape.layers, shape.layers):
        raise ValueError(
            f"Gates for {len(gates.heads)} layers of heads and {len(gates.units)} of units do not "
            f"fit an encoder of {shape.layers} layers. Make them with open_gates(model.shape)."
        )
    rows = {1, examples or 1}
    for (name, gate), n in zip(gates.named().items(), sizes(shape).leaves(), strict=True):
        if gate.ndim not in (2, 3) or gate.shape[-1] != n or len(gate) not in rows:
            expected = " or ".join(f"({row}, {n})" for row in sorted(rows))
            raise ValueError(
                f"The gates of {name} have shape {tuple(gate.shape)}, expected {expected}. "
                "Make them with open_gates(model.network.shape, rows)."
            )


def shape_kept(gates: Gates, shape: EncoderShape) -> EncoderShape:
    """The shape of what one row of gates keeps, known without cutting anything."""
    kept = gates.map(lambda gate: int(gate.count_nonzero()))
    return shape.keeping(kept.heads, kept.units, kept.rank)
