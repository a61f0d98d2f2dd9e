"""What `polyprune.shrink` is asked for."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from ...errors import ConfigError
from ...quantities import parse_sparsity, split_list
from ..request import Option, Request
from .shared import Command, Compare, Force, Names, Out, TextLike, as_names


def as_layers(given: str | Sequence[int] | None) -> tuple[int, ...] | None:
    """`0,2,4`, or a list of numbers, as numbers."""
    if given is None:
        return None
    try:
        layers = split_list(given) if isinstance(given, str) else given
        return tuple(int(layer) for layer in layers or ())
    except ValueError as error:
        raise ConfigError(f"`layers` takes numbers, such as 0,2,4, not {given}.") from error


@dataclass(frozen=True, kw_only=True)
class ShrinkRequest(Request):
    """What stays of a model: what gates keep, a size of an elastic model, or some layers."""

    out: Out = None
    gates: Annotated[Any, Option("A gates file, or gates: which components stay.")] = None
    sparsity: Annotated[
        int | float | str | None,
        Option("The size to take out of an elastic folder: 0.5 or 50%.", parse=parse_sparsity),
    ] = None
    language: Annotated[str | None, Option("Whose row of the gates file or elastic folder.")] = None
    layers: Annotated[
        str | Sequence[int] | None,
        Option("Keep only these layers, from 0: 0,2,4.", parse=as_layers),
    ] = None
    stock: Annotated[bool, Option("Write a folder that plain transformers loads by itself.")] = (
        False
    )
    pad: Annotated[bool, Option("With stock: fill up what transformers wants equal.")] = False
    languages: Annotated[
        Names | None,
        Option(
            "Take it out of an elastic folder for these, and compare models in these: sw,ur.",
            parse=as_names,
        ),
    ] = None
    repair: Annotated[
        TextLike | None,
        Option("Fit what is left to the uncut model on this text, without training."),
    ] = None
    corpus: Annotated[
        TextLike | None,
        Option("Text to compare with the uncut model on; that of the repair unless given."),
    ] = None
    compare: Compare = None
    combine: Annotated[
        str, Option("How several languages of an elastic folder agree: mean or union.")
    ] = "mean"
    force: Force = False
    command: Command = ""

    @property
    def is_bare(self) -> bool:
        """Whether nothing but gates in memory is given."""
        in_memory = self.gates is not None and not isinstance(self.gates, str | Path)
        return in_memory and self == type(self)(gates=self.gates)

    def refusals(self) -> Iterator[tuple[bool, str]]:
        """Options that cannot both be meant."""
        yield (
            self.pad and not self.stock,
            "`pad` is for `stock`: other folders need no padding.",
        )
        yield (
            self.sparsity is not None and self.gates is not None,
            "`gates` say what stays: leave `sparsity` out, or `gates`.",
        )
