"""A bar that is drawn between rounds: one that moves by itself would be measured too."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

EVERY = 0.25
"""Seconds between two drawings, at least."""


@contextmanager
def bar_between_rounds(total: int) -> Iterator[Callable[[str, Iterable], Iterable]]:
    """A bar on stderr, with the time left; passes on what is watched and counts it."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("left"))
    console = Console(stderr=True)
    bar = Progress(
        *columns,
        TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
        transient=True,
        auto_refresh=False,
    )
    with bar:
        task = bar.add_task("Measuring", total=total)
        drawn = 0.0

        def watch(name: str, things: Iterable) -> Iterator:
            nonlocal drawn
            bar.update(task, description=f"Measuring {name}")
            bar.refresh()
            for thing in things:
                yield thing
                bar.advance(task)
                if time.monotonic() - drawn > EVERY:
                    bar.refresh()
                    drawn = time.monotonic()

        yield watch
