"""`polyprune check`: is this file right?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import polyprune

from ..api.requests.check import CheckRequest
from .command import command, show

if TYPE_CHECKING:
    from ..api.check import CheckResult


def _render(result: "CheckResult") -> None:
    """That it is right; mistakes like those of other commands."""
    if result.right:
        show(result)
    for problem in result.problems:
        typer.echo(f"polyprune: {problem}", err=True)


@command(CheckRequest, render=_render)
def check(
    path: Annotated[
        Path, typer.Argument(help="A model folder, a file of gates or scores, or a config.")
    ],
    request: CheckRequest,
) -> "CheckResult":
    """Say everything that is wrong with a folder or a file; exit with 2 if anything is.

    Example: polyprune check half
    """
    return polyprune.check(path, request)
