"""`polyprune train`: whatever a config says, to the end, through any number of interruptions."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import polyprune

from ..api.requests.train import TrainRequest
from ..progress import is_main_process
from .command import command
from .following import obeying_signals

if TYPE_CHECKING:
    from ..api.train import TrainResult


@command(TrainRequest)
def train(
    config: Annotated[Path, typer.Argument(help="A .toml file; see configs/.")],
    request: TrainRequest,
) -> "TrainResult | None":
    """Train what a config describes: recovery, L0, Dynamic Sparsification, distillation.

    A run that was stopped or killed goes on by itself when the same command is given again. On
    several devices: accelerate launch -m polyprune train …

    Example: polyprune train configs/miniature/dense.toml --out run --steps 4
    """
    with obeying_signals() as progress:
        result = polyprune.train(config, request, progress=progress)
    return result if is_main_process() else None
