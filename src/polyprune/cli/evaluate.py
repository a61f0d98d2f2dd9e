"""`polyprune evaluate`: scores in every language, of one model or of several side by side."""

import shutil
from typing import TYPE_CHECKING, Annotated

import typer

import polyprune

from ..api.requests.tasks import EvaluateRequest
from .command import command, for_terminal
from .terminal import show_table

if TYPE_CHECKING:
    from ..api.evaluate import EvaluateResult


def _render(result: "EvaluateResult") -> None:
    """The table as wide as the terminal, the mean apart."""
    columns = ["language", *result.names(shutil.get_terminal_size().columns)]
    show_table(columns, result.rows(), title=result.title, sum_up=True)
    for note in result.notes():
        typer.echo(for_terminal(note))


@command(EvaluateRequest, render=_render)
def evaluate(
    models: Annotated[
        list[str], typer.Argument(help="Folders, those of polyprune finetune too, or e5-small.")
    ],
    request: EvaluateRequest,
) -> "EvaluateResult":
    """Score models on a task of XTREME or of your own, language by language, side by side.

    Retrieval takes any encoder, the other tasks a model fine-tuned for them. Of a folder with
    several seeds, mean and spread.

    Example: polyprune evaluate half-xnli --task xnli --data xtreme --split dev --json
    """
    return polyprune.evaluate(models, request)
