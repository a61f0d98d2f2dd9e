"""`polyprune report`: results as tables, figures, one page, and a filled model card."""

from typing import TYPE_CHECKING, Annotated

import typer

import polyprune

from ..api.requests.report import ReportRequest
from .command import command, show

if TYPE_CHECKING:
    from ..api.report import ReportResult


def _render(result: "ReportResult") -> None:
    """Tables in the form that is asked for, ready for a file; else for people."""
    if result.form is not None:
        typer.echo(result.as_text(result.form), nl=False)
    else:
        show(result)


@command(ReportRequest, render=_render)
def report(
    results: Annotated[
        list[str],
        typer.Argument(
            help="The folder of a study, a demo, a training run or an elastic model; a .jsonl "
            "file; what evaluate and measure print with --json; or paper."
        ),
    ],
    request: ReportRequest,
) -> "ReportResult":
    """Show results: in the terminal, or as a page, as files of tables and as figures.

    The tables and figures are those of the paper, as far as the results go, and more. Without
    --out, --tables, --figures or --card, tables are printed. `paper` is the paper's own numbers.

    Example: polyprune report paper --only main
    """
    return polyprune.report(results, request)
