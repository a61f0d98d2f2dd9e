"""Tables on a terminal: never wider than it is, and nothing left out."""

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from polyprune.cli.render.result_table import blocks, show_result_table
from polyprune.reporting.read.paper import paper_results
from polyprune.reporting.report import tables
from polyprune.reporting.results import Results, Score, System
from polyprune.reporting.tables.table import Table, TableCell, TableRow


def seen(table, width, **more):
    file = io.StringIO()
    show_result_table(table, Console(file=file, width=width, **more))
    return file.getvalue()


def everything():
    """The paper's tables, and one of a hundred languages."""
    codes = [f"x{i:02}" for i in range(100)]
    systems = [
        System("dense", "Dense"),
        *(System("ds", "A title of some length", i / 10) for i in range(1, 10)),
    ]
    scores = tuple(
        Score(each, "xnli", {"accuracy": 50.0}, {code: {"accuracy": 50.0} for code in codes})
        for each in systems
    )
    return [*tables(paper_results()), *tables(Results(scores=scores))]


@pytest.mark.parametrize("width", [40, 80, 120])
@pytest.mark.parametrize("table", everything(), ids=lambda each: each.name)
def test_no_line_is_wider_than_the_terminal(table, width):
    lines = seen(table, width).splitlines()
    assert max(map(cell_len, lines)) <= width


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("table", everything(), ids=lambda each: each.name)
def test_no_number_is_broken_or_left_out(table, width):
    words = re.split(r"\s+", seen(table, width))
    for row in table.rows:
        for cell in row.cells[table.naming :]:
            for value in cell.values:
                if value is not None and len(cell.values) == 1 and value < 1000:
                    assert f"{value:.{cell.digits}f}" in words


def test_blocks_are_about_as_wide_as_each_other():
    rows = (TableRow((TableCell(text="a"), *[TableCell((10.0,))] * 11)),)
    table = Table("t", "T", ("system", *(f"n{i}" for i in range(11))), rows)
    # 8 for the first, 6 for every other: ten would fit, and leave one alone.
    found = blocks(table, rows, 66)
    assert [len(columns) for columns in found] == [7, 6]
    assert [columns[0] for columns in found] == [0, 0]
    assert [i for columns in found for i in columns[1:]] == list(range(1, 12))


def test_columns_without_a_number_in_a_group_are_left_out_of_it():
    both = TableRow((TableCell(text="a"), TableCell((1.0,)), TableCell((2.0,))), "both")
    one = TableRow((TableCell(text="a"), TableCell((1.0,)), TableCell((None,))), "one")
    table = Table("t", "T", ("system", "first", "second"), (both, one))
    assert seen(table, 80).count("second") == 1
    assert seen(table, 80).count("first") == 2


def test_what_failed_is_said_to_have():
    row = TableRow((TableCell(text="a"), TableCell((None,), failed="no memory")))
    assert "failed" in seen(Table("t", "T", ("system", "n"), (row,)), 80)


def test_the_best_is_bold():
    row = TableRow((TableCell(text="a"), TableCell((1.5,), best=True), TableCell((2.5,))))
    text = seen(Table("t", "T", ("system", "n", "m"), (row,)), 80, force_terminal=True)
    assert re.search(r"\x1b\[1m *1\.5", text)
    assert not re.search(r"\x1b\[1m *2\.5", text)


@given(st.text(min_size=1, max_size=60), st.integers(30, 100))
def test_titles_are_text_and_steer_nothing(title, width):
    row = TableRow((TableCell(text=f"{title}[bold]x[/bold]\x1b[31m"), TableCell((1.0,))), title)
    text = seen(Table("t", title, ("system", title), (row,), notes=(title,)), width)
    assert "\x1b" not in text
    assert max(map(cell_len, text.split("\n"))) <= width
