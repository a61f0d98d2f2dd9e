"""`polyprune report`: results as tables, figures, one page, and a filled model card."""

import shutil
from pathlib import Path
from textwrap import fill
from typing import Annotated, Any

import typer

from ..quantities import split_list
from .terminal import AsJson, Force, show_json


def report(
    results: Annotated[
        list[str],
        typer.Argument(
            help="The folder of a study, a demo, a training run or an elastic model; a .jsonl "
            "file; what evaluate and measure print with --json; or paper."
        ),
    ],
    out: Annotated[Path | None, typer.Option(help="Write the page, one HTML file.")] = None,
    tables: Annotated[
        Path | None, typer.Option(help="Write all tables to this folder: .md, .tex and .csv.")
    ] = None,
    figures: Annotated[
        Path | None, typer.Option(help="Draw all figures in this folder; see --formats.")
    ] = None,
    card: Annotated[
        Path | None, typer.Option(help="Fill the model card of this folder with what is known.")
    ] = None,
    study: Annotated[
        str | None, typer.Option(help="Which one, where a folder has several studies.")
    ] = None,
    system: Annotated[
        str | None, typer.Option(help="Whose results the card gets, if there are several.")
    ] = None,
    form: Annotated[
        str | None, typer.Option("--as", help="Print tables as markdown, latex or csv.")
    ] = None,
    only: Annotated[
        str | None, typer.Option(help="These tables and figures alone: main,sizes,distances.")
    ] = None,
    formats: Annotated[str, typer.Option(help="Of figures.")] = "svg,pdf,png",
    beside_paper: Annotated[
        bool, typer.Option("--paper/--no-paper", help="Show the paper's numbers in brackets.")
    ] = True,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Show results: in the terminal, or as a page, as files of tables and as figures.

    The tables and figures are those of the paper, as far as the results go, and more. Without
    --out, --tables, --figures or --card, tables are printed. `paper` is the paper's own numbers.

    Example: polyprune report paper --only main
    """
    from ..reporting.report import report_on, write_figures, write_page, write_tables

    _refuse(form, system, card, formats)
    found = report_on(results, study, beside_paper=beside_paper)
    found = found if only is None else found.only(split_list(only) or [])
    written: dict[str, list[str]] = {}
    if out is not None:
        write_page(found, out, force=force)
        written["page"] = [str(out)]
    if tables is not None:
        written["tables"] = [str(path) for path in write_tables(found, tables, force=force)]
    if figures is not None:
        drawn = write_figures(found, figures, split_list(formats) or [], force=force)
        written["figures"] = [str(path) for path in drawn]
    if card is not None:
        _fill(card, found.results, system)
        written["card"] = [str(card / "README.md")]
    _show(found, written, form, as_json)


def _refuse(form: str | None, system: str | None, card: Path | None, formats: str) -> None:
    """Raise if an option cannot be meant, before anything is read."""
    from ..errors import ConfigError, UnknownName
    from ..reporting.draw.canvas import FORMATS
    from ..reporting.report import TABLE_WRITERS

    if form is not None and form not in TABLE_WRITERS:
        raise UnknownName(
            "form of a table", form, TABLE_WRITERS, f"There are: {', '.join(TABLE_WRITERS)}."
        )
    if system is not None and card is None:
        raise ConfigError("--system says whose results a card gets: give --card too.")
    for each in split_list(formats) or [""]:
        if each not in FORMATS:
            raise UnknownName("format", each, FORMATS, f"There are: {', '.join(FORMATS)}.")


def _fill(folder: Path, results: Any, name: str | None) -> None:
    from ..errors import UnknownName
    from ..reporting.card import fill_card
    from ..reporting.display import system_title

    chosen = None
    if name is not None:
        known = {system_title(each): each for each in results.systems}
        known |= {each.name: each for each in reversed(results.systems)}
        if name not in known:
            there = f"These results have: {', '.join(dict.fromkeys(known))}."
            raise UnknownName("system", name, known, there)
        chosen = known[name]
    fill_card(folder, results, chosen)


def _show(found: Any, written: dict[str, list[str]], form: str | None, as_json: bool) -> None:
    from ..reporting.report import TABLE_WRITERS

    if as_json:
        show_json(found.as_dict() | {"written": written})
        return
    if form is not None:
        typer.echo("\n".join(TABLE_WRITERS[form](each) for each in found.tables), nl=False)
        return
    if not written:
        _print(found.tables, found.figures)
    for what, paths in written.items():
        typer.echo(_told(what, [Path(path) for path in paths]))


def _print(tables: Any, figures: Any) -> None:
    """The tables that sum up, or those asked for; and what else there is."""
    from ..reporting.report import SUMMARY_TABLES
    from .render.result_table import show

    shown = [each for each in tables if each.name in SUMMARY_TABLES] or tables
    for each in shown:
        show(each)
    others = [each.name for each in (*tables, *figures) if each not in shown]
    if not tables:
        typer.echo("These results make no table. Give --out or --figures to see them drawn.")
    elif others:
        told = f"There are also {', '.join(others)}: see --only, --figures, --out."
        typer.echo(fill(told, shutil.get_terminal_size().columns, break_on_hyphens=False))


def _told(what: str, paths: list[Path]) -> str:
    """Where things were written to."""
    if not paths:
        return f"These results make no {what}."
    if len(paths) == 1:
        return f"Written: {paths[0]}"
    return f"Written: {len(paths)} files of {what} to {paths[0].parent}"
