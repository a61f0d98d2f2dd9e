"""`polyprune check`: is this file right?"""

from pathlib import Path
from typing import Annotated

import typer

from .terminal import AsJson, show_json


def check(
    path: Annotated[Path, typer.Argument(help="A model folder, or a file of gates or scores.")],
    as_json: AsJson = False,
) -> None:
    """Say everything that is wrong with a folder or a file; exit with 2 if anything is.

    Example: polyprune check small
    """
    from ..pruning.checks import changed_since, problems

    found, changed = problems(path), changed_since(path)
    if as_json:
        show_json({"path": str(path), "right": not found, "problems": found, "changed": changed})
    elif found:
        for problem in found:
            typer.echo(f"polyprune: {problem}", err=True)
    else:
        note = f" Changed since it was saved, which is no fault: {', '.join(changed)}."
        typer.echo(f"{path} is right.{note if changed else ''}")
    if found:
        raise typer.Exit(2)
