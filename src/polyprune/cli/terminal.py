"""How answers look: a JSON object for programs, a table for people."""

import json
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, TypeVar

import typer

AsJson = Annotated[bool, typer.Option("--json", help="One JSON object on stdout, nothing else.")]
Device = Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1 or mps.")]
Number = TypeVar("Number", int, float)
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


def readable(count: int, unit: str = "") -> str:
    """1_234_567 as 1.23 M: three digits are what a person reads."""
    for size, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if count >= size:
            return f"{count / size:.3g} {letter}{unit}"
    return f"{count:.3g} {unit}".strip()


def split_list(words: str | None) -> list[str] | None:
    """`sw,ur` as a list."""
    return None if words is None else [word.strip() for word in words.split(",") if word.strip()]


def parse_numbers(text: str | None, kind: type[Number]) -> tuple[Number, ...]:
    """`1e-5,2e-5` as numbers of a kind; none if there is no text."""
    from ..errors import ConfigError

    try:
        found = tuple(kind(word) for word in split_list(text) or ())
    except ValueError as error:
        such = "whole numbers such as 1,2" if kind is int else "numbers such as 1e-5,2e-5"
        raise ConfigError(f"{text!r} is no number: give one, or several {such}.") from error
    return found


def parse_sparsity(text: str | None) -> float | None:
    """A sparsity as 0.5 or as 50 %, never something that might be either."""
    from ..errors import ConfigError

    if text is None:
        return None
    digits = text.strip().removesuffix("%")
    try:
        value = float(digits)
    except ValueError as error:
        raise ConfigError(f"A sparsity is a number such as 0.5 or 50%, not {text!r}.") from error
    percent = text.strip().endswith("%")
    value = value / 100 if percent else value
    if 0 <= value < 1:
        return value
    hint = f" Did you mean {digits}%?" if not percent and 1 <= value < 100 else ""
    raise ConfigError(f"A sparsity is from 0 to less than 1, or less than 100%, not {text}.{hint}")


def parse_count(text: str | None) -> int | None:
    """A count as 60000000, 60_000_000 or 60M."""
    from ..errors import ConfigError

    if text is None:
        return None
    letters = {"": 1.0, "k": 1e3, "m": 1e6, "b": 1e9, "g": 1e9}
    digits = r"(\d+|\d{1,3}([,_]\d{3})+)(\.\d+)?"
    found = re.fullmatch(rf"({digits}|\d+(\.\d+)?e\d+)\s*([kmbg]?)", text.strip().lower())
    value = 0.0
    if found:
        value = float(re.sub("[,_]", "", found[1])) * letters[found[6]]
    if not 1 <= value < 1e15:
        raise ConfigError(f"A number of parameters is such as 60M or 60,000,000, not {text!r}.")
    return round(value)


def parse_bytes(text: str | None, what: str = "A size") -> int | None:
    """`2GB`, `500 MB` or `1.5GiB` as a number of bytes."""
    from ..errors import ConfigError

    if text is None:
        return None
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?", text.strip().lower())
    if found is None or not float(found[1]):
        raise ConfigError(f"{what} is such as 2GB or 500MB, not {text!r}.")
    power = " kmgt".index(found[2] or " ")
    return round(float(found[1]) * (1024 if found[3] else 1000) ** power)


def parse_seconds(text: str | None) -> float | None:
    """`10ms`, `0.5 s` or `800us` as seconds."""
    from ..errors import ConfigError

    if text is None:
        return None
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(s|ms|us|µs)", text.strip().lower())
    if found is None or not float(found[1]):
        raise ConfigError(f"A latency is a time such as 10ms or 0.5s, not {text!r}.")
    return float(found[1]) * {"s": 1.0, "ms": 1e-3}.get(found[2], 1e-6)


def parse_speed_up(text: str | None) -> float | None:
    """`2` or `2x` as a number of times."""
    from ..errors import ConfigError

    if text is None:
        return None
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*[x×]?", text.strip().lower())
    if found is None or not 1 <= float(found[1]) < 1e4:
        raise ConfigError(f"A speed-up is a number from 1, such as 2 or 2.5x, not {text!r}.")
    return float(found[1])


@contextmanager
def progress(what: str, total: int) -> Iterator[Callable[[str, Iterable], Iterable]]:
    """A bar on stderr, with the time left; passes on what is watched and counts it."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    bar = Progress(*columns, console=console, disable=not console.is_terminal, transient=True)
    with bar:
        task = bar.add_task(what, total=total)

        def watch(name: str, things: Iterable) -> Iterator:
            for thing in things:
                bar.update(task, description=f"{what} {name}")
                yield thing
                bar.advance(task)

        yield watch
