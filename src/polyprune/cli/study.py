"""`polyprune study`: systems × sizes × tasks × regimes × seeds, as far as they are not done."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import polyprune

from ..api.requests.study import StudyRequest
from .command import command
from .following import obeying_signals

if TYPE_CHECKING:
    from ..api.study import StudyPlan, StudyResult


@command(StudyRequest)
def study(
    config: Annotated[Path, typer.Argument(help="A .toml file; see configs/*/study.toml.")],
    request: StudyRequest,
) -> "StudyResult | StudyPlan":
    """Train, fine-tune and score all systems of a study, and show them side by side.

    Stopped, killed or failed in parts, it goes on with the same command. A changed setting runs
    again only what it touches. The tables are in OUT/tables.md too, and OUT/page.html is a page
    to look at.

    Example: polyprune study configs/miniature/study.toml --quick --plan --out study
    """
    with obeying_signals() as progress:
        return polyprune.study(config, request, progress=progress)
