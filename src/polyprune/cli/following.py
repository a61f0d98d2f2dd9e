"""Runs that end well when asked to: what a terminal shows of them, and how to go on."""

import shlex
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from ..progress import Bars, Stopped, is_main_process


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


@contextmanager
def interrupted_by_sigterm() -> Iterator[None]:
    """End as at Ctrl-C when asked to, so that nothing half-made is left."""

    def stop(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
