"""Tables as HTML, readable without a script, which only sorts them."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from ...averages import Value
from ..display import MISSING, SPACE, format_number
from ..tables.table import Table, TableCell, TableRow
from .escape import escape_html, visible_text

LONG = 40
"""Tables with more rows than this are folded up at first."""

MANY = 2
"""If more tables than this are by language, they are folded up too."""


def tables_html(tables: Sequence[Table]) -> str:
    """Return all tables in their order, folded ones after the others."""
    many = sum(_by_language(table) for table in tables) > MANY
    folded = [len(table.rows) > LONG or (many and _by_language(table)) for table in tables]
    ordered = sorted(zip(folded, tables, strict=True), key=lambda pair: pair[0])
    return "".join(table_html(table, fold) for fold, table in ordered)


def _by_language(table: Table) -> bool:
    return table.name.startswith(("languages", "losses"))


def table_html(table: Table, folded: bool = False) -> str:
    """Return a table with its caption and notes."""
    title = escape_html(table.title)
    about = f'<p class="quiet">{escape_html(table.caption)}</p>' if table.caption else ""
    inside = (
        f'{about}<div class="scroll" tabindex="0" role="region" aria-label="{title}">'
        f'<table class="sortable" data-name="{escape_html(table.name)}">'
        f'<caption class="unseen">{title}</caption>'
        f"{_head(table)}{_bodies(table)}</table></div>"
        f"{_notes([*_reasons(table), *table.all_notes])}"
        '<p class="buttons"><button type="button" class="small" data-csv-of-table '
        f'aria-label="Download {title} as CSV">CSV</button></p>'
    )
    if not folded:
        return f'<div class="table"><h3>{title}</h3>{inside}</div>'
    size = f"{len(table.rows)}{SPACE}rows, {len(table.columns)}{SPACE}columns"
    return (
        f'<details class="table"><summary><h3>{title}</h3> '
        f'<span class="quiet">{size}</span></summary>{inside}</details>'
    )


def _head(table: Table) -> str:
    names = "".join(
        f'<th scope="col"><button type="button">{escape_html(name) or "Name"}</button></th>'
        for name in table.columns
    )
    return f"<thead><tr>{names}</tr></thead>"


def _bodies(table: Table) -> str:
    """Return one body per group, so that sorting keeps groups together."""
    parts = []
    for group, rows in groupby(table.rows, key=lambda row: row.group):
        title = (
            f'<tr class="group"><th scope="rowgroup" colspan="{len(table.columns)}">'
            f"<span>{escape_html(group)}</span></th></tr>"
            if group
            else ""
        )
        lines = "".join(_row(row, len(table.columns)) for row in rows)
        parts.append(f"<tbody>{title}{lines}</tbody>")
    return "".join(parts)


def _row(row: TableRow, columns: int) -> str:
    cells = (*row.cells, *(TableCell(),) * (columns - len(row.cells)))
    name = f'<th scope="row"{_key(cells[0])}>{cell_html(cells[0])}</th>' if cells else ""
    return f"<tr>{name}{''.join(_data(cell) for cell in cells[1:])}</tr>"


def _data(cell: TableCell) -> str:
    style = "best" if cell.best else "aside" if cell.faint else ""
    named = f' class="{style}"' if style else ""
    return f"<td{named}{_key(cell)}>{cell_html(cell)}</td>"


def _key(cell: TableCell) -> str:
    """Return the sorting key of a cell with numbers: the first of them."""
    known = bool(cell.values) and cell.values[0] is not None
    return f' data-value="{cell.values[0]!r}"' if known else ""


def cell_html(cell: TableCell) -> str:
    """Return the numbers or the text of a cell, or why it failed."""
    if cell.failed:
        why = escape_html(cell.failed)
        return f'<button type="button" class="why" data-tip="{why}">failed</button>'
    main = _numbers(cell.values, cell.digits) if cell.values else escape_html(cell.text)
    shown = f"<b>{main}</b>" if cell.best else f"<i>{main}</i>" if cell.faint else main
    if cell.spread is not None:
        shown += (
            f' <span class="aside">±{SPACE}{format_number(cell.spread, f".{cell.digits}f")}</span>'
        )
    if any(value is not None for value in cell.paper):
        shown += f' <span class="aside">[{_numbers(cell.paper, cell.digits)}]</span>'
    return shown or MISSING


def _numbers(values: Sequence[Value], digits: int) -> str:
    if all(value is None for value in values):
        return MISSING
    return f"{SPACE}/{SPACE}".join(format_number(value, f".{digits}f") for value in values)


def _reasons(table: Table) -> Iterator[str]:
    """Yield what failed as sentences, for readers who do not point at cells."""
    for row in table.rows:
        for column, cell in zip(table.columns, row.cells, strict=False):
            if cell.failed:
                name = row.cells[0].text or row.group
                named = f"{visible_text(name)}, {visible_text(column)}"
                yield f"{named}: failed. {visible_text(cell.failed)}"


def _notes(notes: Sequence[str]) -> str:
    inside = "".join(f"<li>{escape_html(note)}</li>" for note in dict.fromkeys(notes))
    return f'<ul class="notes">{inside}</ul>' if inside else ""
