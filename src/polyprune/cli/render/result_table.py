"""Tables of results on a terminal of any width: too wide ones go on below, row by row named."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ...averages import number
from ...reporting.tables.formats import cell_parts, is_numeric, row_groups, single_line
from ...reporting.tables.table import Table, TableCell, TableRow

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as Shown
    from rich.text import Text

LONGEST = 24
"""What names a row takes more lines beyond this."""

GAP = 2
"""Spaces between columns; one of them is the box's own."""


def show_result_table(table: Table, console: "Console | None" = None) -> None:
    """Print a table, what is to be said of it, and nothing wider than the terminal."""
    from rich.console import Console

    console = console or Console(highlight=False)
    console.print(_text(table.title, "bold"))
    if table.caption:
        console.print(_text(table.caption))
    for heading, rows in row_groups(table):
        console.print()
        if heading:
            console.print(_text(heading, "italic"))
        for i, columns in enumerate(blocks(table, rows, console.width)):
            console.print(*[""] * (i > 0), _block(table, rows, columns), sep="\n")
    console.print(*[""] * bool(table.all_notes))
    for note in table.all_notes:
        console.print(_text(note, "dim"))
    console.print()


def blocks(table: Table, rows: Sequence[TableRow], width: int) -> list[list[int]]:
    """Which columns stand side by side: those that name a row, and as many more as there is room.

    Columns without any number in these rows are left out.
    """
    naming = list(range(table.naming))
    room = width + GAP - sum(_width(table, rows, i) + GAP for i in naming)
    needed = {
        i: _width(table, rows, i) + GAP
        for i in range(table.naming, len(table.columns))
        if any(_says_something(row.cells[i]) for row in rows)
    }
    found = _packed(needed, room)
    # As many blocks, but alike: the last is not to have one column alone.
    while room > 0 and len(narrower := _packed(needed, room - 1)) == len(found):
        room, found = room - 1, narrower
    return [[*naming, *columns] for columns in found] or [naming]


def _packed(needed: Mapping[int, int], room: int) -> list[list[int]]:
    """Columns in their order, a new block wherever one does not fit."""
    found: list[list[int]] = []
    free = 0
    for i, own in needed.items():
        if own > free or not found:
            found.append([])
            free = room
        found[-1].append(i)
        free -= own
    return found


def _says_something(cell: TableCell) -> bool:
    known = (*cell.values, *cell.paper)
    return bool(cell.text or cell.failed) or any(number(value) is not None for value in known)


def _width(table: Table, rows: Sequence[TableRow], column: int) -> int:
    """What a column needs: its cells on one line, its heading broken between words."""
    from rich.cells import cell_len

    words = single_line(table.columns[column]).split()
    heading = min(LONGEST, max(map(cell_len, words), default=1))
    if column >= table.naming:
        return max(heading, *(cell_len(_cell(row.cells[column]).plain) for row in rows))
    # The same for all groups, so that they stand below each other.
    cells = [cell_len(_cell(row.cells[column]).plain) for row in table.rows]
    return max(heading, min(LONGEST, max(cells)))


def _block(table: Table, rows: Sequence[TableRow], columns: Sequence[int]) -> "Shown":
    from rich import box
    from rich.table import Table as Shown

    shown = Shown(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, GAP - 1, 0, 0), show_edge=False)
    for i in columns:
        shown.add_column(
            _text(table.columns[i]),
            justify="right" if is_numeric(table, i) else "left",
            width=_width(table, rows, i),
            overflow="fold",
        )
    for row in rows:
        shown.add_row(*(_cell(row.cells[i]) for i in columns))
    return shown


def _cell(cell: TableCell) -> "Text":
    first, spread, paper = cell_parts(cell)
    text = _text(first, "bold" if cell.best else "dim italic" if cell.faint else "")
    for more in filter(None, (spread, paper)):
        text.append(f" {more}", "dim")
    return text


def _text(words: str, style: str = "") -> "Text":
    """Words as they are: what looks like markup is none."""
    from rich.text import Text

    return Text(single_line(words), style)
