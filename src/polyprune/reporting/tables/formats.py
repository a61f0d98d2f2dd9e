"""Tables as text: Markdown, LaTeX and CSV.

Titles and notes may come from anybody's file: whatever they hold stays text.
"""

import csv
import io
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby, zip_longest

from ...averages import Value, number
from ..display import MISSING
from .cells import rounded
from .table import Table, TableCell, TableRow

MINUS = "\u2212"

FAILED = "failed"

_UNSEEN = ("Cc", "Cs", "Co", "Cn")
_TURNS = set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that change the direction of the text after them."""


def single_line(text: str) -> str:
    """Return text in one line, without control characters and changes of direction."""
    kept = (" " if _is_unseen(letter) else letter for letter in text)
    # A space at which no line ends is one on purpose.
    return re.sub(r"[^\S\u00a0]+", " ", "".join(kept)).strip()


def _is_unseen(letter: str) -> bool:
    return letter in _TURNS or unicodedata.category(letter) in _UNSEEN


def format_value(value: Value, digits: int) -> str:
    """Format a number for people, large ones in groups of three; a dash if there is none."""
    value = number(value)
    if value is None:
        return MISSING
    shown = rounded(value, digits)
    grouped = f"{abs(shown):,}" if abs(shown) >= 10_000 else f"{abs(shown)}"
    return f"{MINUS}{grouped}" if shown < 0 else grouped


def join_values(values: Sequence[Value], digits: int) -> str:
    """Format one number, or F1 and exact match separated by a slash."""
    return "/".join(format_value(value, digits) for value in values)


def cell_parts(cell: TableCell) -> tuple[str, str, str]:
    """Return a cell's text or numbers, their spread, and the paper's numbers."""
    if not cell.values:
        return single_line(cell.text) or (FAILED if cell.failed else ""), "", ""
    missing = all(number(value) is None for value in cell.values)
    first = FAILED if missing and cell.failed else join_values(cell.values, cell.digits)
    first = MISSING if missing and not cell.failed else first
    spread = "" if number(cell.spread) is None else f"±{format_value(cell.spread, cell.digits)}"
    return first, spread, f"({join_values(cell.paper, cell.digits)})" if cell.paper else ""


def cell_text(cell: TableCell) -> str:
    """Format a cell for people: `70.1 ±0.4 (76.8)`."""
    return " ".join(filter(None, cell_parts(cell)))


def is_numeric(table: Table, column: int) -> bool:
    """Tell whether a column holds numbers."""
    return any(row.cells[column].values for row in table.rows)


def row_groups(table: Table) -> list[tuple[str, list[TableRow]]]:
    """Return the rows of each group, with the heading above them."""
    return [(name, list(rows)) for name, rows in groupby(table.rows, lambda row: row.group)]


def as_markdown(table: Table) -> str:
    """Format a table as GitHub's Markdown: title, rows and notes."""
    columns = len(table.columns)
    ruler = ["---:" if is_numeric(table, i) else "---" for i in range(columns)]
    lines = [[_markdown(column) for column in table.columns], ruler]
    for name, rows in row_groups(table):
        if name:
            lines.append([f"*{_markdown(name)}*", *[""] * (columns - 1)])
        lines += [[_markdown_cell(cell) for cell in row.cells] for row in rows]
    head = f"**{_markdown(table.title)}.** {_markdown(table.caption)}".strip()
    body = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    notes = "\n".join(f"- {_markdown(note)}" for note in table.all_notes)
    return "\n\n".join(filter(None, (head, body, notes))) + "\n"


def _markdown(text: str) -> str:
    """Escape text for Markdown."""
    escaped = re.sub(r"([\\`*_\[\]|~#$!])", r"\\\1", single_line(text))
    return escaped.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _markdown_cell(cell: TableCell) -> str:
    first, spread, paper = map(_markdown, cell_parts(cell))
    first = f"**{first}**" if cell.best else f"*{first}*" if cell.faint and first else first
    return " ".join(filter(None, (first, spread, paper)))


def as_latex(table: Table) -> str:
    """Format a table for LaTeX with the packages booktabs and graphicx."""
    columns = len(table.columns)
    wide = "*" if columns > 7 else ""
    sides = "".join("r" if is_numeric(table, i) else "l" for i in range(columns))
    lines = [_latex_row(map(_latex, table.columns))]
    for name, rows in row_groups(table):
        lines.append("\\midrule")
        if name:
            lines.append(f"\\multicolumn{{{columns}}}{{l}}{{\\emph{{{_latex(name)}}}}} \\\\")
        lines += [_latex_row(map(_latex_cell, row.cells)) for row in rows]
    caption = f"{_latex(table.title)}. {_latex(table.caption)}".strip()
    notes = [f"{{\\par\\smallskip\\footnotesize {_latex(note)}\\par}}" for note in table.all_notes]
    return "\n".join(
        (
            "% \\usepackage{booktabs,graphicx}",
            f"\\begin{{table{wide}}}",
            "\\centering\\setlength{\\tabcolsep}{4pt}",
            # Only what is wider than the page is made smaller.
            "\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%",
            f"\\begin{{tabular}}{{{sides}}}",
            "\\toprule",
            *lines,
            "\\bottomrule",
            "\\end{tabular}}",
            *notes,
            f"\\caption{{{caption}}}",
            f"\\label{{tab:{re.sub('[^a-z0-9-]', '-', table.name)}}}",
            f"\\end{{table{wide}}}\n",
        )
    )


_LATEX = {
    "\\": "\\textbackslash{}",
    "~": "\\textasciitilde{}",
    "^": "\\textasciicircum{}",
    "<": "\\textless{}",
    ">": "\\textgreater{}",
    "|": "\\textbar{}",
    '"': "{\\char34}",
    "\u00a0": "~",
    MISSING: "--",
    "…": "\\dots{}",
    MINUS: "$-$",
    "±": "$\\pm$",
    "×": "$\\times$",
} | {letter: f"\\{letter}" for letter in "_%&#${}"}


def _latex(text: str) -> str:
    """Escape text for LaTeX."""
    # A bracket right behind a line's end or a rule would be taken for its option.
    escaped = "".join(_LATEX.get(letter, letter) for letter in single_line(text))
    return f"{{}}{escaped}" if escaped.startswith(("[", "*")) else escaped


def _latex_cell(cell: TableCell) -> str:
    first, spread, paper = map(_latex, cell_parts(cell))
    style = "textbf" if cell.best else "textit" if cell.faint else ""
    return " ".join(filter(None, (f"\\{style}{{{first}}}" if style else first, spread, paper)))


def _latex_row(cells: Iterable[str]) -> str:
    return " & ".join(cells) + " \\\\"


def as_csv(table: Table) -> str:
    """Format a table for programs: one column per number, at full precision, empty if missing."""
    head: list[str] = []
    columns: list[list[str]] = []
    if any(row.group for row in table.rows):
        head.append("group")
        columns.append([_word(row.group) for row in table.rows])
    for i, title in enumerate(table.columns):
        for name, value_of in _numbers_of(title, [row.cells[i] for row in table.rows]):
            head.append(_word(name))
            columns.append([value_of(row.cells[i]) for row in table.rows])
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows([head, *zip_longest(*columns)])
    return file.getvalue()


def _numbers_of(
    title: str, cells: Sequence[TableCell]
) -> Iterable[tuple[str, Callable[[TableCell], str]]]:
    """Yield the CSV columns of a table's column: its numbers, their spread, and the paper's."""
    values = max((len(cell.values) for cell in cells), default=0)
    paper = max((len(cell.paper) for cell in cells), default=0)
    if not values:
        yield title, lambda cell: _word(cell.text)
    for name, i in _each(title, values):
        yield name, lambda cell, i=i: _at(cell.values, i)
    if any(number(cell.spread) is not None for cell in cells):
        yield f"{title} ±", lambda cell: _at((cell.spread,), 0)
    for name, i in _each(title, paper):
        yield f"{name}, paper", lambda cell, i=i: _at(cell.paper, i)


def _each(title: str, count: int) -> Iterable[tuple[str, int]]:
    names = ("F1", "EM") if count == 2 else ("",)
    return [(f"{title} {name}".strip(), i) for i, name in enumerate(names[:count])]


def _at(values: Sequence[Value], i: int) -> str:
    value = number(values[i]) if i < len(values) else None
    return "" if value is None else repr(value)


def _word(text: str) -> str:
    """Escape text so that a spreadsheet shows it rather than runs it."""
    text = single_line(text)
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text


TABLE_FORMATS: dict[str, Callable[[Table], str]] = {
    "md": as_markdown,
    "tex": as_latex,
    "csv": as_csv,
}
"""The writers of tables, by the ending of their files."""
