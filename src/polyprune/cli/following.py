"""A run as it goes: a bar with the loss and the speed, held-out losses language by language."""

import os
import shlex
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer

from .terminal import show_table


def is_main() -> bool:
    """Whether this is the process, of perhaps several, that talks."""
    return int(os.environ.get("RANK", "0")) == 0


def follow(
    run: Any,
    out: Path,
    *,
    force: bool = False,
    material: Any = None,
    tell: Callable[..., str] | None = None,
) -> None:
    """Train to the end with a bar; when asked to stop, say how to go on.

    `tell` makes a few lines of what was held out.
    """
    from transformers.utils.logging import disable_progress_bar

    from ..training.run import Stopped, train
    from ..training.run_results import dense_losses

    disable_progress_bar()
    main = is_main()
    with stopping() as asked, progress_of(run, main, tell or summary) as (show, watch):
        try:
            reports = train(
                run, out, stop=lambda: bool(asked), watch=watch, force=force, material=material
            )
            for report in reports:
                show(report, dense_losses(out) if report.held_out else {})
        except Stopped as stopped:
            if main:
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
def progress_of(
    run: Any, main: bool, tell: Callable[..., str]
) -> Iterator[tuple[Callable[..., None], Callable]]:
    """A bar on stderr with loss and tokens a second, and a function that passes on and counts."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True, highlight=False)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:,.0f}/{task.total:,.0f}"),
        TextColumn("{task.fields[loss]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    bar = Progress(
        *columns, console=console, disable=not (main and console.is_terminal), transient=True
    )
    with bar:
        task = bar.add_task("Preparing", total=run.steps, loss="")
        tokens, started = [0], [0.0]

        def show(report: Any, dense: Mapping[str, float]) -> None:
            elapsed = bar.tasks[0].elapsed or 0.0
            if not started[0]:  # what came before the first step was preparation
                started[0] = elapsed
            else:
                tokens[0] += report.tokens
            speed = tokens[0] / max(elapsed - started[0], 1e-9)
            loss = f"loss {report.losses['total']:.3f}, {speed:,.0f} tokens/s"
            bar.update(task, completed=report.step, description=report.phase, loss=loss)
            if report.held_out and main:
                console.print(tell(report.step, report.held_out, dense), soft_wrap=True)

        def watch(name: str, things: Iterable) -> Iterator:
            for thing in things:
                bar.update(task, description=name if " " in name else f"Scoring {name}")
                yield thing

        yield show, watch


def summary(step: int, losses: Mapping[str, float], dense: Mapping[str, float]) -> str:
    """The held-out loss of every language in a few lines, those that lag behind dense marked."""
    from ..training.lagging import lagging_languages

    marked = set(lagging_languages(losses, dense))
    mean = sum(losses.values()) / len(losses)
    legend = "  (▼ lags behind dense)" if marked else ""
    shown = {code: f"{loss:6.3f}{'▼' if code in marked else ' '}" for code, loss in losses.items()}
    return "\n".join([f"Step {step:,}: held-out loss {mean:.4f}{legend}", *in_rows(shown)])


def in_rows(cells: Mapping[str, str]) -> list[str]:
    """Languages and what is to say of them, six in a line."""
    texts = [f"{code:>7} {cell}" for code, cell in cells.items()]
    return ["".join(texts[i : i + 6]) for i in range(0, len(texts), 6)]


def show_held_out(results: Mapping[str, Any]) -> None:
    """What each language has come to, beside the dense model where there was one."""
    from ..training.lagging import lagging_languages

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
