"""`polyprune measure`: parameters, bytes and multiply–adds; how fast, and in how much memory."""

from typing import TYPE_CHECKING, Annotated

import typer

import polyprune

from ..api.requests.measure import MeasureRequest
from .command import command

if TYPE_CHECKING:
    from ..api.measure import MeasureResult


@command(MeasureRequest)
def measure(
    models: Annotated[
        list[str],
        typer.Argument(help="Folders, exported folders, Hugging Face ids, sprout or e5-small."),
    ],
    request: MeasureRequest,
) -> "MeasureResult":
    """Parameters, bytes and multiply–adds of one or more models, side by side.

    With --speed, how fast they are: all in one run, in turns, with the ratio to the first and its
    interval, latency, and peak memory.

    Example: polyprune measure e5-small --json
    """
    return polyprune.measure(models, request)
