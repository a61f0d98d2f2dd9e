"""What `polyprune.study` is asked for."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from ..request import Option, Request
from .shared import as_path


@dataclass(frozen=True, kw_only=True)
class StudyRequest(Request):
    """Where a study is worked on, and how much of it is done."""

    out: Annotated[
        str | Path | None,
        Option(
            "The folder to work in; studies may share it.", parse=as_path, needed_in_terminal=True
        ),
    ] = None
    labels: Annotated[
        str | Path | None,
        Option("A folder of labels in XTREME's layout, for test files without labels."),
    ] = None
    leave_out: Annotated[
        bool, Option("Leave out what cannot be scored, rather than refuse the study.")
    ] = False
    quick: Annotated[bool, Option("What the config's [quick] leaves of it: minutes.")] = False
    workers: Annotated[int | None, Option("Processes; as many as cores unless given.", least=1)] = (
        None
    )
    changes: Annotated[
        list[str] | None,
        Option("Change the config: data=xtreme. May be repeated.", flag="--set"),
    ] = None
    plan: Annotated[bool, Option("Say what would be done, and stop.")] = False
    force: Annotated[bool, Option("Do all its cells anew.")] = False
