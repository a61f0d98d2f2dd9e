"""What `polyprune.report` is asked for."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from ...quantities import split_list
from ..request import Option, Request
from .shared import Force, Names, as_names, as_path


def as_formats(given: Names) -> tuple[str, ...]:
    """`svg,pdf`, or a list of names, as names; one that is empty if there is none."""
    return tuple(split_list(given) or [""])


@dataclass(frozen=True, kw_only=True)
class ReportRequest(Request):
    """Which tables and figures are made, and where they are written."""

    out: Annotated[str | Path | None, Option("Write the page, one HTML file.", parse=as_path)] = (
        None
    )
    tables: Annotated[
        str | Path | None,
        Option("Write all tables to this folder: .md, .tex and .csv.", parse=as_path),
    ] = None
    figures: Annotated[
        str | Path | None,
        Option("Draw all figures in this folder; see --formats.", parse=as_path),
    ] = None
    card: Annotated[
        str | Path | None,
        Option("Fill the model card of this folder with what is known.", parse=as_path),
    ] = None
    study: Annotated[str | None, Option("Which one, where a folder has several studies.")] = None
    system: Annotated[str | None, Option("Whose results the card gets, if there are several.")] = (
        None
    )
    form: Annotated[str | None, Option("Print tables as markdown, latex or csv.", flag="--as")] = (
        None
    )
    only: Annotated[
        Names | None,
        Option("These tables and figures alone: main,sizes,distances.", parse=as_names),
    ] = None
    formats: Annotated[Names, Option("The formats of figures.", parse=as_formats)] = "svg,pdf,png"
    beside_paper: Annotated[
        bool, Option("Show the paper's numbers in brackets.", flag="--paper/--no-paper")
    ] = True
    force: Force = False

    def refusals(self) -> Iterator[tuple[bool, str]]:
        """What cannot be meant."""
        yield (
            self.system is not None and self.card is None,
            "`system` says whose results a card gets: give `card` too.",
        )
