"""How answers look: a JSON object for programs, a table for people."""

import json
import shlex
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="One JSON object on stdout, nothing else.")]
Device = Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1 or mps.")]
Force = Annotated[bool, typer.Option("--force", help="Replace what is there.")]


def as_typed() -> str:
    """The command, for the cards of models; of places elsewhere their names alone.

    A card is read by others, whom somebody's home is of no use to.
    """

    def word(typed: str) -> str:
        option, equals, value = typed.rpartition("=") if typed.startswith("--") else ("", "", typed)
        far = value.startswith(("/", "~", "..")) and "/" in value
        return f"{option}{equals}{Path(value).name if far else value}"

    return shlex.join(["polyprune", *(word(typed) for typed in sys.argv[1:] if typed != "--force")])


def show_json(answer: dict) -> None:
    """Print one JSON object."""
    print(json.dumps(answer, ensure_ascii=False, indent=2))


def show_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    title: str | None = None,
    sum_up: bool = False,
) -> None:
    """Print a table, its numbers to the right; the last row apart if it sums up the others."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", pad_edge=False)
    rows = [list(row) for row in rows]
    for i, column in enumerate(columns):
        numeric = all(str(row[i])[:1].isdigit() for row in rows)
        table.add_column(column, justify="right" if numeric else "left", overflow="fold")
    for i, row in enumerate(rows):
        table.add_row(*map(str, row), end_section=sum_up and i == len(rows) - 2)
    Console(highlight=False).print(table)
