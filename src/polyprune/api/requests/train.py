"""What `polyprune.train` is asked for."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from ..request import Option, Request
from .shared import as_path


@dataclass(frozen=True, kw_only=True)
class TrainRequest(Request):
    """Where a run is trained, and what of its config is changed."""

    out: Annotated[
        str | Path | None,
        Option(
            "The folder of the run; the model is in its model/.",
            parse=as_path,
            needed_in_terminal=True,
        ),
    ] = None
    steps: Annotated[
        int | None, Option("Train so many steps, schedules scaled to it.", least=1)
    ] = None
    changes: Annotated[
        list[str] | None,
        Option("Change the config: gating.sparsity=0.7. May be repeated.", flag="--set"),
    ] = None
    force: Annotated[bool, Option("Begin anew, whatever is there.")] = False
