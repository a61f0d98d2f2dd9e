"""Results are text in a terminal, tables in a notebook, and never markup of others."""

from polyprune.api.result import Result, make_table


class Found(Result):
    def as_dict(self):
        return {"found": 2}

    def summary(self):
        yield make_table(["what", "count"], [["<b>", 1], ["heads", 20]], title="kept & cut")
        yield "Two of <all>."


def test_a_result_reads_as_a_table():
    assert repr(Found()).splitlines() == [
        "kept & cut",
        "what   count",
        "─────  ─────",
        "<b>    1",
        "heads  20",
        "Two of <all>.",
    ]


def test_a_notebook_shows_a_table_of_escaped_words():
    html = Found()._repr_html_()
    assert "<td>&lt;b&gt;</td><td>1</td>" in html
    assert "<caption>kept &amp; cut</caption>" in html
    assert html.endswith("<p>Two of &lt;all&gt;.</p>")
