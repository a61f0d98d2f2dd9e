"""The page: whole, alone, escaped, and honest about what is missing."""

import json
import math
import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser

import pytest

from polyprune.reporting.report import figures, tables
from polyprune.reporting.results import Results, Score, System
from polyprune.reporting.tables.table import Table, TableCell, TableRow
from polyprune.reporting.website import page
from polyprune.reporting.website.assets import script
from polyprune.reporting.website.colours import DARK, FAMILIES_DARK, FAMILIES_LIGHT, LIGHT
from polyprune.reporting.website.data import page_data
from polyprune.reporting.website.escape import (
    escape_html,
    round_for_page,
    script_json,
    visible_text,
)
from polyprune.reporting.website.summary import headline, key_figures, summary
from polyprune.reporting.website.table_html import cell_html, tables_html
from support.large_results import large_results
from support.website_results import (
    CODES,
    DENSE,
    HOSTILE,
    SHARED,
    hostile_figures,
    hostile_results,
    hostile_tables,
    small_figures,
    small_results,
    small_tables,
)

VOID = ("meta", "link", "input", "br")


class Tags(HTMLParser):
    """Every tag that is opened is closed; what is in scripts is kept."""

    def __init__(self):
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict]] = []
        self.scripts: list[str] = []
        self.words: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts.append(data)
        elif not self.open or self.open[-1] != "style":
            self.words.append(data)


def read(html: str) -> Tags:
    tags = Tags()
    tags.feed(html)
    assert tags.open == []
    return tags


def data_of(html: str) -> dict:
    return json.loads(read(html).scripts[0])


ONE = replace(small_results(), scores=small_results().scores[:1], sizes=(), kept=(), distances=())

PAGES = {
    "small": (small_results(), small_tables(), small_figures()),
    "empty": (Results(), [], []),
    "one system": (ONE, [], []),
    "no sizes": (replace(small_results(), sizes=()), [], []),
    "no kept": (replace(small_results(), kept=()), [], []),
    "no scores": (replace(small_results(), scores=()), [], []),
    "hostile": (hostile_results(), hostile_tables(), hostile_figures()),
}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_whole_and_alone(name):
    tags = read(page(*PAGES[name]))
    named = [tag for tag, _ in tags.seen]
    assert named.count("h1") == named.count("main") == 1
    assert named.count("script") == 2
    assert not {"img", "iframe", "object", "embed", "svg", "base", "form"} & set(named)
    idents = [own["id"] for _, own in tags.seen if "id" in own]
    assert len(idents) == len(set(idents))
    for tag, own in tags.seen:
        assert not any(attribute.startswith("on") for attribute in own), (tag, own)
        for attribute in ("href", "src", "action", "style"):
            assert own.get(attribute, "#").startswith(("#", "data:,")), (tag, own)
        if tag == "th":
            assert own["scope"]


def test_only_our_script_may_run_and_nothing_is_loaded():
    tags = read(page(small_results()))
    rule = next(own["content"] for _, own in tags.seen if own.get("http-equiv"))
    digest = b64encode(sha256(tags.scripts[1].encode()).digest()).decode()
    assert tags.scripts[1] == script()
    assert f"script-src 'sha256-{digest}'" in rule
    assert rule.startswith("default-src 'none'")
    assert not re.search(r"\b(fetch|XMLHttpRequest|import\(|innerHTML|eval\()", script())


def test_words_of_others_stay_words():
    html = page(hostile_results(), hostile_tables(), hostile_figures())
    tags = read(html)
    assert "window.hacked" in " ".join(tags.words)
    assert "<img" not in html
    assert "\x00" not in html
    assert "\u202e" not in html
    data = json.loads(tags.scripts[0])
    assert data["title"] == visible_text(HOSTILE)
    assert data["figures"][0]["panels"][0]["note"] == visible_text(HOSTILE)


def test_a_text_may_hold_any_character():
    html = page(Results(title="half a pair \ud800 and \x85", about={"command": "\udcff"}))
    html.encode()
    assert "half a pair \ufffd and \ufffd" in html


def test_embedded_json_can_not_end_its_script():
    told = script_json({"<!--": "</script>&\u2028\u2029"})
    assert not set("<>&\u2028\u2029") & set(told)
    assert json.loads(told) == {"<!--": "</script>&\u2028\u2029"}


@pytest.mark.parametrize("missing", [None, math.nan, math.inf, -math.inf])
def test_what_is_missing_is_none_and_never_zero(missing):
    found = round_for_page(missing)
    assert found is None
    small = small_results()
    scores = tuple(
        replace(each, mean={"accuracy": missing}, languages={"sw": {"accuracy": missing}})
        for each in small.scores[:1]
    )
    data = data_of(page(replace(small, scores=scores)))
    assert data["scores"][0]["mean"] == [None]
    assert data["scores"][0]["v"] == [[None]]


def test_numbers_are_short_and_whole_ones_stay_whole():
    assert round_for_page(71.123456789) == 71.1235
    assert json.dumps(round_for_page(3.0)) == "3"
    assert round_for_page(278_123_456) == 278_123_456


def test_the_page_has_every_number_once_in_columns():
    data = data_of(page(small_results()))
    score = next(each for each in data["scores"] if each["names"] == ["f1", "exact"])
    assert data["tasks"][score["t"]] == ["xquad", "XQuAD"]
    assert [data["languages"][i][0] for i in score["l"]] == ["de", "en", "fr"]
    assert score["v"] == [[60, 60, 60], [40, 40, 40]]
    thai = data["languages"].index(["th", "Thai", "Kra-Dai"])
    assert {each["l"] for each in data["kept"]} == {None, *range(len(CODES))}
    cut = [each for each in data["scores"] if each["s"] == 1 and each["names"] == ["accuracy"]]
    assert cut[0]["v"][0][cut[0]["l"].index(thai)] is None
    below = small_results().distances[0].matrix
    assert data["distances"][0]["m"][0] == round(below[1][0], 3)
    assert len(data["distances"][0]["m"]) == len(CODES) * (len(CODES) - 1) // 2
    assert len(data["distances"][0]["p"]) == len(CODES)


def test_families_have_colours_and_what_has_none_shares_the_last():
    hues = page_data(large_results(), [])["hues"]
    assert hues["Indo-European"] == 0
    assert hues["no family known"] == max(hues.values()) == 7
    assert sorted(hues.values())[:7] == [0, 1, 2, 3, 4, 5, 6]


@pytest.mark.slow
def test_a_page_for_a_hundred_languages_stays_small():
    results = large_results()
    html = page(results, tables(results), figures(results))
    assert len(results.languages) == 100
    assert len(html.encode()) < 8e6


def test_a_summary_in_plain_words():
    told = summary(small_results()).replace("\u00a0", " ")
    assert told == (
        "e5: 3 systems, 4 sizes, 6 languages and 2 tasks. Grad, shared, 50 % cut, keeps 63.5 of "
        "69.0 points (mean of 2 tasks), and is 1.50 times as fast (95 % interval 1.40–1.60). "
        "Swahili lost most: 15.0 points."
    )
    assert summary(Results()) == "There are no results here yet."
    assert summary(ONE).replace("\u00a0", " ") == "e5: 1 system, 6 languages and 1 task."


def test_facts_are_those_of_the_headline():
    told = {what: value for value, what in key_figures(small_results())}
    assert told["points kept, mean of 2 tasks"] == "63.5 of 69.0"
    assert told["as fast as the uncut model"] == "1.50×"
    assert told["parameters in the layers"] == "86.0 → 43.0 M"
    assert told["points for Swahili, which lost most"] == "−15.0"
    assert key_figures(Results()) == []


def test_a_headline_compares_what_both_were_tried_on():
    scores = (
        Score(DENSE, "xnli", {"accuracy": 80.0}),
        Score(DENSE, "panx", {"f1": 20.0}),
        Score(SHARED[1], "xnli", {"accuracy": 70.0}),
        Score(SHARED[1], "panx", {"f1": None}),
        Score(SHARED[1], "udpos", {"f1": 99.0}),
    )
    found = headline(Results(scores=scores))
    assert (found.before, found.after, found.tasks, found.worst) == (80.0, 70.0, ("xnli",), None)


def test_a_system_is_compared_with_its_own_uncut_size_first():
    own = System("ds", "DS", 0.0)
    scores = [Score(DENSE, "xnli", {"accuracy": 80.0}), Score(own, "xnli", {"accuracy": 75.0})]
    scores.append(Score(System("ds", "DS", 0.5), "xnli", {"accuracy": 70.0}))
    assert headline(Results(scores=tuple(scores))).dense == own


@pytest.mark.parametrize(
    ("cell", "told"),
    [
        (TableCell(), "–"),
        (TableCell((None,)), "–"),
        (TableCell((None, None)), "–"),
        (TableCell((1.0, None)), "1.0 / –"),
        (TableCell((71.26,), spread=0.31), '71.3 <span class="aside">± 0.3</span>'),
        (TableCell((1.0,), best=True), "<b>1.0</b>"),
        (
            TableCell((1.0, 2.0), paper=(3.0, 4.0)),
            '1.0 / 2.0 <span class="aside">[3.0 / 4.0]</span>',
        ),
        (TableCell(text="a < b"), "a &lt; b"),
        (TableCell((2.0,), digits=2), "2.00"),
    ],
)
def test_a_cell_says_what_it_has(cell, told):
    assert cell_html(cell).replace("\u00a0", " ") == told


def test_what_failed_says_so_in_the_cell_and_in_words_below():
    html = tables_html(small_tables())
    assert 'data-tip="out of memory">failed</button>' in html
    assert "<li>Grad, words: failed. out of memory</li>" in html


def test_rows_stand_under_their_groups_and_missing_numbers_have_no_key():
    html = tables_html(small_tables())
    tags = read(html)
    assert [tag for tag, _ in tags.seen].count("tbody") == 2
    groups = [own for tag, own in tags.seen if tag == "th" and own["scope"] == "rowgroup"]
    assert [each["colspan"] for each in groups] == ["4", "4"]
    keys = [own.get("data-value") for tag, own in tags.seen if tag == "td"]
    assert keys[:6] == ["60.0", "1.0", None, "58.0", None, None]


def test_many_tables_of_languages_are_folded_up_after_the_others():
    rows = (TableRow((TableCell(text="a"),)),)
    made = [Table(f"languages-{i}", f"L{i}", ("system",), rows) for i in range(3)]
    made.append(Table("sizes", "Sizes", ("system",), rows))
    html = tables_html(made)
    assert html.count("<details") == 3
    assert html.index("Sizes") < html.index("L0")
    assert "<details" not in tables_html(made[1:])
    assert "<details" in tables_html([Table("main", "Main", ("system",), rows * 41)])


def test_a_row_with_too_few_cells_is_filled_up():
    html = tables_html([Table("t", "T", ("a", "b", ""), (TableRow((TableCell(text="x"),)),))])
    assert html.count("<td>–</td>") == 2


def test_how_it_was_run_is_told_and_may_be_added_to():
    html = page(small_results(), now={"commit": "abc", "model": "other"})
    assert "<code>polyprune study s.toml</code>" in html
    assert "<dt>machine</dt><dd><dl><div><dt>threads</dt><dd>2</dd></div></dl></dd>" in html
    assert "<dt>commit</dt><dd>abc</dd>" in html
    assert "<dt>model</dt><dd>other</dd>" in html


def test_parts_without_anything_in_them_are_left_out():
    assert 'id="failures"' in page(small_results())
    html = page(Results())
    for part in ("explore", "tables", "figures", "map", "failures"):
        assert f'id="{part}"' not in html
    assert 'id="again"' in html


def test_words_are_cleaned_and_escaped():
    assert escape_html("<a href='x'>\x00") == "&lt;a href=&#x27;x&#x27;&gt;\ufffd"


def light(colour):
    parts = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize(("named", "families"), [(LIGHT, FAMILIES_LIGHT), (DARK, FAMILIES_DARK)])
def test_colours_stand_out(named, families):
    texts = [*families, *(named[name] for name in ("ink", "quiet", "strong", "bad"))]
    for back in ("card", "page", "raised"):
        for colour in texts:
            high, low = sorted((light(colour), light(named[back])), reverse=True)
            assert (high + 0.05) / (low + 0.05) >= 4.5, (colour, back)
