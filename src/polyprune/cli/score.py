"""`polyprune score`: how much every component matters, in every language."""

from typing import TYPE_CHECKING

import typer

import polyprune

from ..api.requests.score import ScoreRequest
from .command import ModelName, command

if TYPE_CHECKING:
    from ..api.score import ScoreResult


def _next(model: str, result: "ScoreResult") -> None:
    rules = {"token": " --rule michel", "batch": " --rule prasanna"}
    rule = rules.get(result.sheet.about.per, "")
    typer.echo(
        f"Next:\npolyprune prune {model} --scores {result.out}{rule} --sparsity 0.5 --out half"
    )


@command(ScoreRequest, then=_next)
def score(model: ModelName, request: ScoreRequest) -> "ScoreResult":
    """Score every head, unit and rank of a model, language by language, on a folder of text.

    One scores file serves any budget and any set of its languages.

    Example: polyprune score e5-small --corpus text --out scores.safetensors
    """
    return polyprune.score(model, request)
