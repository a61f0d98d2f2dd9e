"""`polyprune watch`: a run or a study, seen from outside while it goes."""

import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from .render.live import follow_live, show_lines
from .terminal import AsJson, show_json


def watch(
    folder: Annotated[
        Path, typer.Argument(help="What train, finetune, prune --recover or study writes to.")
    ],
    every: Annotated[
        float, typer.Option(min=0.1, max=3600, help="Seconds from one look to the next.")
    ] = 2.0,
    once: Annotated[bool, typer.Option("--once", help="Show how it stands, and stop.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show how far a training run or a study has come, with a bar for every language.

    It only reads, so it may run beside it, on any machine that sees the folder, and be stopped with
    Ctrl-C. It ends by itself when the run does. Where there is no terminal, it looks once.

    Example: polyprune watch run --once
    """
    from rich.console import Console

    look, lines_of = reader_of(folder)
    console = Console(highlight=False)
    try:
        if as_json:
            show_json(asdict(look()))
        elif once or not console.is_terminal:
            show_lines(console, lines_of(look(), console.width, None))
        else:
            show_lines(console, follow_live(console, look, lines_of, every))
    except KeyboardInterrupt:
        return


def reader_of(folder: Path) -> tuple[Callable[[], Any], Callable[..., list]]:
    """A function that looks at what is in a folder, and one that makes lines of what it saw."""
    from ..errors import ConfigError
    from ..studies.study_progress import StudyReader
    from ..training.run_progress import RunReader
    from .render.watch_run import training_lines
    from .render.watch_study import study_lines

    reader, lines_of = RunReader(folder), training_lines
    last: Any = reader.read(time.time())
    if last is None:
        reader, lines_of = StudyReader(folder), study_lines
        last = reader.read(time.time())
    if last is None:
        what = "is neither a run nor a study" if folder.exists() else "does not exist"
        raise ConfigError(
            f"{folder} {what}. Give the folder of a polyprune train, finetune, prune --recover or "
            "study."
        )

    def look() -> Any:
        """What is there; what there was, where a recovered model is just being moved."""
        nonlocal last
        last = reader.read(time.time()) or last
        return last

    return look, lines_of
