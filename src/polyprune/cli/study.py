"""`polyprune study`: systems × sizes × tasks × regimes × seeds, as far as they are not done."""

import os
import shlex
import signal
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from ..quantities import clock_time
from .following import stopping
from .terminal import AsJson, show_json, show_table


def study(
    config: Annotated[Path, typer.Argument(help="A .toml file; see configs/*/study.toml.")],
    out: Annotated[Path, typer.Option(help="The folder to work in; studies may share it.")],
    quick: Annotated[
        bool, typer.Option("--quick", help="What the config's [quick] leaves of it: minutes.")
    ] = False,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes; as many as cores unless given.")
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", help="Change the config: data=xtreme. May be repeated."),
    ] = None,
    dry: Annotated[bool, typer.Option("--plan", help="Say what would be done, and stop.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Do all its cells anew.")] = False,
    as_json: AsJson = False,
) -> None:
    """Train, fine-tune and score all systems of a study, and show them side by side.

    Stopped, killed or failed in parts, it goes on with the same command. A changed setting runs
    again only what it touches. The tables are in OUT/tables.md too, and OUT/page.html is a page
    to look at.

    Example: polyprune study configs/miniature/study.toml --quick --plan --out study
    """
    from ..config import read_study
    from ..studies.cell_store import CellStore, pending_cells
    from ..studies.cell_work import work
    from ..studies.inputs import environment_facts, hash_inputs, prepare_data
    from ..studies.results import Lines, lines_of, outline_of, write_report
    from ..studies.schedule import ExecutionContext, ScheduleReport
    from ..studies.study_cells import plan_cells
    from .render.result_table import show

    wanted, runs = read_study(config, changes or (), quick=quick)
    store = CellStore(out.resolve())
    store.check()
    data = prepare_data(wanted, store.out)
    prints, start = hash_inputs(wanted, data)
    graph = plan_cells(wanted, runs, prints, str(start))
    outline, known = outline_of(wanted, graph, runs), environment_facts()
    if dry:
        show_plan(graph, pending_cells(graph, store), as_json)
        return

    def write() -> Lines:
        found = lines_of(graph, outline, store, known)
        found.write(store.out, outline.study)
        return found

    report = ScheduleReport()
    with stopping() as asked, store.alone():
        for address in graph.cells if force else ():
            store.drop(address)
        place = ExecutionContext(
            store, start, data, workers or os.cpu_count() or 1, work, lambda: bool(asked)
        )
        carry_out(graph, place, report, write)
    found = write()
    if report.stopped:
        again = shlex.join(["polyprune", *(word for word in sys.argv[1:] if word != "--force")])
        typer.echo(
            f"Stopped: {len(graph.cells) - len(pending_cells(graph, store))} of "
            f"{len(graph.cells)} cells "
            f"are done. To go on, give the same command: {again}",
            err=True,
        )
        raise typer.Exit(128 + (asked[0] if asked else signal.SIGTERM))
    written = write_report(found, outline.study, store.out)
    failed = [
        {"cell": graph.cells[address].title, "address": address, "error": why}
        for address, why in report.failed.items()
    ]
    answer = written.as_dict() | {"failed": failed, "skipped": len(report.skipped)}
    if as_json:
        show_json(answer)
    else:
        for each in written.summary_tables:
            show(each)
    if report.failed:
        tell_failures(answer)
        raise typer.Exit(1)


def carry_out(graph: Any, place: Any, report: Any, write: Callable[[], Any]) -> None:
    """Do what is still to do, with a bar; results are written as they come."""
    from ..progress import progress_of
    from ..studies.schedule import run_cells

    kinds = {address: cell.kind for address, cell in graph.cells.items()}
    written = time.monotonic()
    progress = progress_of(None)
    with progress.stage("Cells", len(graph.cells)):
        for state in run_cells(graph, place, report):
            left = "" if state.left is None else f"{clock_time(state.left)} left: "
            progress.update(state.done, f"{left}{', '.join(state.running)}")
            ended = any(kinds[address] in ("score", "speed") for address in state.ended)
            if ended and time.monotonic() > written + 5:  # all is written once more at the end
                write()
                written = time.monotonic()


def show_plan(graph: Any, left: list[Any], as_json: bool) -> None:
    """How many cells of each kind there are, and how many are still to do."""
    kinds = ("model", "tuned", "score", "speed")
    count = {
        kind: {
            "cells": sum(cell.kind == kind for cell in graph.cells.values()),
            "to do": sum(cell.kind == kind for cell in left),
        }
        for kind in kinds
    }
    if as_json:
        show_json({"plan": count, "to do": [cell.title for cell in left]})
    else:
        show_table(["", "cells", "to do"], [[kind, *count[kind].values()] for kind in kinds])


def tell_failures(answer: Mapping[str, Any]) -> None:
    """What failed, and why."""
    for each in answer["failed"]:
        typer.echo(f"Failed: {each['cell']} ({each['address']}): {each['error']}", err=True)
    failed, skipped = len(answer["failed"]), answer["skipped"]
    without = f", and {skipped} above were left out" if skipped else ""
    typer.echo(
        f"{failed} {'cell' if failed == 1 else 'cells'} failed{without}. The same command tries "
        "again.",
        err=True,
    )
