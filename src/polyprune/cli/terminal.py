"""How answers look: a JSON object for programs, a table for people."""

import json
from collections.abc import Iterable, Sequence
from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="One JSON object on stdout, nothing else.")]
Force = Annotated[bool, typer.Option("--force", help="Replace what is there.")]


def show_json(answer: dict) -> None:
    """Print one JSON object."""
    print(json.dumps(answer, ensure_ascii=False, indent=2))


def show_table(
    columns: Sequence[str], rows: Iterable[Sequence[object]], title: str | None = None
) -> None:
    """Print a table, its numbers to the right."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", pad_edge=False)
    rows = [list(row) for row in rows]
    for i, column in enumerate(columns):
        numeric = all(str(row[i])[:1].isdigit() for row in rows)
        table.add_column(column, justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(str, row))
    Console(highlight=False).print(table)


def readable(count: int, unit: str = "") -> str:
    """1_234_567 as 1.23 M: three digits are what a person reads."""
    for size, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if count >= size:
            return f"{count / size:.3g} {letter}{unit}"
    return f"{count:.3g} {unit}".strip()


def split(words: str | None) -> list[str] | None:
    """`sw,ur` as a list."""
    return None if words is None else [word.strip() for word in words.split(",") if word.strip()]
