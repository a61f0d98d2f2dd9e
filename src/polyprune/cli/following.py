"""Runs that end well when asked to: what a terminal shows of them, and how to go on."""

import shlex
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import typer

from ..progress import Bars, Stopped, is_main_process
from .terminal import show_table


@contextmanager
def obeying_signals() -> Iterator[Bars]:
    """Bars that ask work to stop at Ctrl-C and SIGTERM; when it has, say how to go on.

    A second signal is obeyed at once: what was saved before is whole.
    """
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    with stopping() as asked:
        try:
            yield Bars(should_stop=lambda: bool(asked))
        except Stopped as stopped:
            if is_main_process():
                again = [word for word in sys.argv[1:] if word != "--force"]
                command = shlex.join(["polyprune", *again])
                typer.echo(f"{stopped} To go on, give the same command: {command}", err=True)
            raise typer.Exit(128 + (asked[0] if asked else signal.SIGTERM)) from stopped


def follow_run(run: Any, out: Any, *, force: bool = False) -> None:
    """Train to the end with a bar; when asked to stop, say how to go on."""
    from ..training.follow import follow

    with obeying_signals() as progress:
        for _ in follow(run, out, progress=progress, force=force):
            pass


@contextmanager
def stopping() -> Iterator[list[int]]:
    """A list that gets Ctrl-C and SIGTERM, so that a step is finished and saved first.

    A second signal is obeyed at once: what was saved before is whole.
    """
    asked: list[int] = []

    def ask(number: int, frame: object) -> None:
        if asked:
            raise KeyboardInterrupt
        asked.append(number)

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def show_held_out(results: Mapping[str, Any]) -> None:
    """What each language has come to, beside the dense model where there was one."""
    from ..training.run_progress import lagging_languages

    losses, dense = results["held_out"], results["dense"]
    if not losses:
        return
    marked = set(lagging_languages(losses, dense))
    if dense:
        show_table(
            ["language", "loss", "dense", "lost", ""],
            [
                [
                    code,
                    f"{loss:.3f}",
                    f"{dense[code]:.3f}",
                    f"{loss / dense[code] - 1:+.1%}",
                    "lags" if code in marked else "",
                ]
                for code, loss in losses.items()
            ],
            title="held-out loss",
        )
    else:
        show_table(
            ["language", "loss"],
            [[code, f"{loss:.3f}"] for code, loss in losses.items()],
            title="held-out loss",
        )
