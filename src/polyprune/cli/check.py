"""`polyprune check`: is this file right?"""

from pathlib import Path
from typing import Annotated

import typer

from .terminal import AsJson, show_json


def check(
    path: Annotated[
        Path, typer.Argument(help="A model folder, a file of gates or scores, or a config.")
    ],
    as_json: AsJson = False,
) -> None:
    """Say everything that is wrong with a folder or a file; exit with 2 if anything is.

    Example: polyprune check small
    """
    from ..pruning.checks import changed_since, problems

    found = _config_problems(path) if path.suffix == ".toml" else problems(path)
    changed = changed_since(path) if path.is_dir() else []
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


def _config_problems(path: Path) -> list[str]:
    from ..config import read_run
    from ..errors import ConfigError

    try:
        read_run(path)
    except ConfigError as error:
        return [str(error)]
    return []
