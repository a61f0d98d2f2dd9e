"""Tables as text: whole whatever titles hold, and numbers that can be read back."""

import csv
import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from polyprune.reporting.read.paper import paper_results
from polyprune.reporting.report import tables
from polyprune.reporting.tables.formats import (
    TABLE_FORMATS,
    as_csv,
    as_latex,
    as_markdown,
    cell_text,
    format_value,
    single_line,
)
from polyprune.reporting.tables.table import Table, TableCell, TableRow

NASTY = st.text(
    st.one_of(
        st.sampled_from(list("|\\`*_[]<>&#$%{}~^\"'=+-@!\n\r\t\x1b\u202e\u00a0:;,()")),
        st.characters(),
    ),
    max_size=20,
)


def table_of(*titles, values=((1.0,), (2.5, 3.5)), **more):
    rows = tuple(
        TableRow((TableCell(text=title), *map(TableCell, values)), "a | group & co")
        for title in titles
    )
    columns = ("system", *(f"n{i}" for i in range(len(values))))
    return Table("main", "A title", columns, rows, **more)


def markdown_cells(text):
    """The cells of each row, as a reader of Markdown sees them."""
    rows, cells = [], []
    for token in MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text):
        if token.type == "inline":
            assert {child.type for child in token.children} <= {
                *("text", "text_special", "strong_open", "strong_close", "em_open", "em_close")
            }
            cells.append("".join(child.content for child in token.children))
        if token.type == "tr_open":
            cells = []
        if token.type == "tr_close":
            rows.append(list(cells))
    return rows


@given(st.lists(NASTY, min_size=1, max_size=3))
def test_markdown_has_as_many_cells_in_every_row_and_says_what_it_was_given(titles):
    rows = markdown_cells(as_markdown(table_of(*titles, caption=titles[0], notes=tuple(titles))))
    assert {len(row) for row in rows} == {3}
    head, group, *body = rows
    assert head == ["system", "n0", "n1"]
    assert group == ["a | group & co", "", ""]
    # Readers of Markdown trim cells of all spaces there are.
    assert [row[0].strip() for row in body] == [single_line(title).strip() for title in titles]
    assert all(row[1:] == ["1.0", "2.5/3.5"] for row in body)


def ampersands(line):
    return len(re.findall(r"(?<!\\)(?:\\\\)*&", line))


@given(st.lists(NASTY, min_size=1, max_size=3))
def test_latex_has_as_many_cells_in_every_row_and_all_its_braces(titles):
    text = as_latex(table_of(*titles, caption=titles[0], notes=tuple(titles)))
    lines = text.split("\n")
    body = lines[lines.index("\\toprule") + 1 : lines.index("\\bottomrule")]
    rows = [line for line in body if line.endswith("\\\\") and "multicolumn" not in line]
    assert len(rows) == 1 + len(titles)
    assert {ampersands(row) for row in rows} == {2}
    bare = re.sub(r"\\[\\{}]", "", text)
    assert bare.count("{") == bare.count("}")
    assert not re.search(
        r"(?<!\\)[#^~]", text.replace("~", "") if "\u00a0" in "".join(titles) else text
    )
    comments = re.findall(r"(?<!\\)%.*", text)
    assert comments == ["% \\usepackage{booktabs,graphicx}", "%"]


def test_latex_escapes_what_it_has_a_meaning_for():
    row = next(
        line
        for line in as_latex(table_of(r"a_b%&#${}~^\c", "[x]")).split("\n")
        if "a" in line and "1.0" in line
    )
    assert row.startswith(
        r"a\_b\%\&\#\$\{\}\textasciitilde{}\textasciicircum{}\textbackslash{}c & "
    )
    # Behind the end of a line LaTeX would take a bracket for a distance.
    assert "\n{}[x] & " in as_latex(table_of("a", "[x]"))


def test_latex_sets_regimes_in_italics_over_all_columns():
    text = as_latex(next(each for each in tables(paper_results()) if each.name == "main"))
    assert "\\multicolumn{13}{l}{\\emph{Cross-lingual transfer" in text
    assert "\\textbf{64.2/48.3}" in text
    assert "50~\\%" in text


numbers = st.one_of(st.none(), st.floats(allow_nan=True, allow_infinity=True))


@given(NASTY, st.lists(st.tuples(numbers, numbers, numbers, numbers), min_size=1, max_size=4))
def test_csv_reads_back_what_went_in(title, lines):
    rows = tuple(
        TableRow((TableCell(text=title), TableCell((f1, exact), spread=spread, paper=(paper,))))
        for f1, exact, spread, paper in lines
    )
    head, *read = csv.reader(io.StringIO(as_csv(Table("t", "T", ("system", "QA"), rows))))
    assert len({len(head), *map(len, read)}) == 1
    for line, (f1, exact, spread, paper) in zip(read, lines, strict=True):
        own = dict(zip(head, line, strict=True))
        assert own["system"].removeprefix("'") == single_line(title).removeprefix("'")
        for name, value in (
            ("QA F1", f1),
            ("QA EM", exact),
            ("QA ±", spread),
            ("QA, paper", paper),
        ):
            known = value is not None and abs(value) < float("inf")
            assert own.get(name, "") == (repr(value) if known else "")


@pytest.mark.parametrize("title", ["=1+1", "+1", "-1", "@x", "\t=1", " =1", "\x00=1"])
def test_a_spreadsheet_runs_no_title(title):
    _, body = csv.reader(io.StringIO(as_csv(table_of(title, values=((-1.5,),)))))
    assert body[1].startswith("'")
    assert body[2] == "-1.5"
    heading = Table("t", "T", (title, "n"), (TableRow((TableCell(text="a"), TableCell((1.0,)))),))
    assert next(csv.reader(io.StringIO(as_csv(heading))))[0].startswith("'")


def test_a_cell_tells_spread_and_paper_and_what_is_missing():
    assert cell_text(TableCell((70.12,), spread=0.44, paper=(76.8,))) == "70.1 ±0.4 (76.8)"
    assert cell_text(TableCell((60.1, 45.25), paper=(61.0, None))) == "60.1/45.3 (61.0/–)"
    assert cell_text(TableCell((None,))) == cell_text(TableCell((None, None))) == "–"
    assert cell_text(TableCell((float("nan"),))) == "–"
    assert cell_text(TableCell((None,), failed="no memory")) == "failed"


def test_numbers_are_written_for_people():
    assert format_value(13491.7, 0) == "13,492"
    assert format_value(-0.04, 1) == "0.0"
    assert format_value(-0.06, 1) == "−0.1"
    assert format_value(67.65, 1) == "67.7"
    assert format_value(None, 1) == "–"


@pytest.mark.parametrize("ending", TABLE_FORMATS)
def test_every_table_of_the_paper_has_every_format(ending):
    found = [TABLE_FORMATS[ending](each) for each in tables(paper_results())]
    assert len(found) == 5
    assert all(text.endswith("\n") for text in found)
    assert not any("None" in text or "nan" in text for text in found)


@pytest.mark.parametrize("ending", TABLE_FORMATS)
def test_a_table_without_rows_is_only_its_head(ending):
    assert "system" in TABLE_FORMATS[ending](table_of())


@given(NASTY)
def test_plain_text_is_one_line_that_steers_nothing(text):
    assert not re.search(
        "[\x00-\x1f\x7f-\x9f\u2028\u202a-\u202e\u2066-\u2069\ud800-\udfff]", single_line(text)
    )
    single_line(text).encode()
