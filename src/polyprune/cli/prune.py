"""`polyprune prune`: score, select, cut, save."""

from contextlib import nullcontext
from typing import TYPE_CHECKING

import typer

import polyprune

from ..api.requests.prune import PruneRequest
from ..progress import Bars
from .command import ModelName, command
from .following import obeying_signals

if TYPE_CHECKING:
    from ..api.prune_result import PruneResult


def _next(model: str, result: "PruneResult") -> None:
    if result.elastic:
        typer.echo(f"Take one out: polyprune shrink {result.out} --sparsity 0.5 --out small")


@command(PruneRequest, then=_next)
def prune(model: ModelName, request: PruneRequest) -> "PruneResult":
    """Prune a model to a sparsity, a size or a speed, and write a folder that reloads.

    With --setting non-shared, every language gets a subnetwork of its own: all of them, in every
    size, are in one elastic folder, from which polyprune shrink takes what is wanted.

    Parameters, size and speed may be asked for together. Speed is that of this machine: what layers
    of every width take is measured once, in a minute or so, and the result is measured too:
    polyprune prune e5-small --speedup 2 --size 200MB --out fast

    Example: polyprune prune sprout --sparsity 0.5 --out half
    """
    with obeying_signals() if request.recover else nullcontext(Bars()) as progress:
        return polyprune.prune(model, request, progress=progress)
