"""`polyprune train`: whatever a config says, to the end, through any number of interruptions."""

from pathlib import Path
from typing import Annotated

import typer

from ..progress import is_main_process
from .following import follow_run, show_held_out
from .terminal import AsJson, show_json


def train(
    config: Annotated[Path, typer.Argument(help="A .toml file; see configs/.")],
    out: Annotated[Path, typer.Option(help="The folder of the run; the model is in its model/.")],
    steps: Annotated[
        int | None, typer.Option(min=1, help="Train so many steps, schedules scaled to it.")
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", help="Change the config: gating.sparsity=0.7. May be repeated."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Begin anew, whatever is there.")] = False,
    as_json: AsJson = False,
) -> None:
    """Train what a config describes: recovery, L0, Dynamic Sparsification, distillation.

    A run that was stopped or killed goes on by itself when the same command is given again. On
    several devices: accelerate launch -m polyprune train …

    Example: polyprune train configs/miniature/dense.toml --out run --steps 4
    """
    from ..config import read_run
    from ..training.run_results import summarize_run

    follow_run(read_run(config, changes or (), steps), out, force=force)
    if not is_main_process():
        return
    results = summarize_run(out)
    if as_json:
        show_json(results)
    else:
        show_held_out(results)
        typer.echo(f"Written to {results['out']} after {results['steps']} steps.")
