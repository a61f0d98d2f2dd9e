"""What a demo leaves, and what to try next."""

import shlex
from pathlib import Path

import typer

from ..terminal import show_table


def show_tasks(files: dict[str, int], out: Path) -> None:
    """What was written, and a command to try."""
    rows = [[name, count or 1] for name, count in files.items()]
    show_table(["in the folder", "files"], rows, title="Tasks in small, in XTREME's layout")
    learn = f"--data {shlex.quote(str(out))} --epochs 2 --learning-rate 1e-3"
    typer.echo(f"Written to {out}. Next:")
    typer.echo(f"polyprune finetune sprout --task udpos {learn} --out pos")


def show_folder(out: Path) -> None:
    """Where things are, and what to try next."""
    from ...demo.output_folder import KEPT, next_commands

    show_table(["in " + str(out), ""], list(KEPT.items()))
    typer.echo("Next:")
    for what, command in next_commands(out):
        typer.echo(f"\n# {what}\n{command}")
