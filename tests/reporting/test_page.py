"""The page of the demo: whole, escaped, honest about what is missing."""

import math
import re
import shutil
import subprocess
from html.parser import HTMLParser

import pytest

from polyprune.reporting.charts import Series, bar, by_loss, curve, dots, scale_end
from polyprune.reporting.found import Found, family_of, name_of, number
from polyprune.reporting.page import page, summary
from polyprune.reporting.style import DARK, LIGHT

RUN = {
    "model": "e5-small",
    "command": "polyprune demo <now>",
    "machine": {"cpu": 'A "CPU" & more', "threads": 2},
    "versions": {"torch": "2"},
}


def results(**changes):
    """The rows of a small tour."""
    rows = []

    def note(what, value, **more):
        rows.append({"what": what, "value": value, **more, "run": RUN | changes})

    for code, dense, cut, back in (("sw", 90, 30, 70), ("th", 95, None, 80), ("fr", 99, 97, 98)):
        for model, size, value in (
            ("dense", 0.0, dense),
            ("pruned", 0.5, cut),
            ("pruned", 0.7, 1),
            ("recovered", 0.5, back),
        ):
            note("retrieval", value, model=model, size=size, language=code)
    for model, size, times in (("dense", 0.0, 1.0), ("pruned", 0.5, 1.75), ("pruned", 0.7, 2.5)):
        which = {"model": model, "size": size}
        note("parameters", 100e6 * (1 - size / 10), **which)
        note("parameters in layers", 20e6 * (1 - size), **which)
        note("bytes", 400e6 * (1 - size / 10), **which)
        note("sentences per second", 40 * times, **which)
        note("speed", times, low=times - 0.1, high=times + 0.1, **which)
        note("XNLI", 40.0, model="elastic", size=size, language="sw", score="accuracy")
    for layer in range(2):
        for what, whole in (("heads", 12), ("units", 1536)):
            note(what, whole // 3, model="pruned", size=0.5, layer=layer, whole=whole)
    note("rank", 380, model="pruned", size=0.5, whole=384)
    note("seconds", 90.0, stage="score")
    return rows


class Tags(HTMLParser):
    """Every tag that is opened is closed, and nothing is loaded from anywhere."""

    VOID = ("meta", "link", "line", "circle", "polyline")

    def __init__(self):
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict]] = []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def read(html: str) -> Tags:
    tags = Tags()
    tags.feed(html)
    assert tags.open == []
    return tags


@pytest.mark.parametrize("rows", [results(), [], [{"what": "retrieval"}], results()[:3]])
def test_a_page_is_whole_and_alone(rows):
    html = page(rows)
    tags = read(html)
    assert [tag for tag, _ in tags.seen].count("h1") == 1
    assert "http" not in html
    assert not {"script", "img", "iframe"} & {tag for tag, _ in tags.seen}
    assert all(own["href"] == "data:," for tag, own in tags.seen if tag == "link")
    assert all(own.get("scope") for tag, own in tags.seen if tag == "th")
    assert all(own.get("aria-label") for _, own in tags.seen if own.get("role") == "img")


def test_what_comes_from_outside_is_escaped():
    html = page(results(model="<script>alert(1)</script>"))
    assert "<script" not in html
    assert "&lt;script&gt;alert(1)" in html
    assert "polyprune demo &lt;now&gt;" in html
    assert "A &quot;CPU&quot; &amp; more" in html


@pytest.mark.parametrize("missing", [None, math.nan, math.inf, "12", True])
def test_what_is_missing_is_a_dash_and_never_zero(missing):
    assert number(missing) is None
    rows = [
        row | {"value": missing} if row["what"] in ("speed", "bytes") else row for row in results()
    ]
    html = page(rows)
    assert "nan" not in re.sub("<style.*</style>", "", html, flags=re.DOTALL).lower()
    assert "It is – times as fast" in summary(Found(rows))
    chart = dots("found", [Series("dense", "uncut", {"sw": number(missing)})])
    assert "Swahili: uncut –" in chart
    assert 'class="mark dense" style' not in chart
    drawn = curve("found", [(0.5, number(missing), "1 M")], (0.5, number(missing)))
    assert "circle" not in drawn
    assert "– at 50" in drawn
    assert bar(number(missing), 12.0) == "–"


def test_a_summary_in_plain_words():
    told = summary(Found(results())).replace("\u00a0", " ")
    assert "50 % by weight" in told
    assert "20.0 million parameters and have 10.0 million" in told
    assert "1.75 times as fast (95 % interval 1.65–1.85)" in told
    # Thai has no number after the cut, so that the mean is of the other two.
    assert "in 94.7 % of all cases before, in 63.5 % after the cut, and in 82.7 %" in told
    assert "Swahili lost most: from 90.0 % to 30.0 %" in told


def test_what_lost_most_is_on_top_and_what_is_unknown_last():
    dense = Series("dense", "", {"fr": 99.0, "th": 95.0, "sw": 90.0})
    assert by_loss([dense, Series("pruned", "", {"fr": 97.0, "sw": 30.0})]) == ["sw", "fr", "th"]
    assert by_loss([Series("dense", "", {})]) == []


def test_scales_end_in_round_numbers():
    assert [scale_end([value]) for value in (None, 3.0, 5.0, 12.0, 51.0, 100.0)] == [
        5, 5, 5, 20, 100, 100,
    ]  # fmt: skip


def test_languages_have_names_and_families():
    assert (name_of("sw"), family_of("sw")) == ("Swahili", "Niger-Congo")
    assert (name_of("xx"), family_of("xx")) == ("xx", "no family known")


@pytest.mark.parametrize(("colours", "page"), [(LIGHT, "#ffffff"), (DARK, "#1c2024")])
def test_colours_stand_out(colours, page):
    def light(colour):
        parts = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for colour in colours:
        high, low = sorted((light(colour), light(page)), reverse=True)
        assert (high + 0.05) / (low + 0.05) >= 4.5, colour


FRAME = """<body><iframe id="phone" src="page.html" width="390" height="800"></iframe>
<p id="told"></p><script>
document.getElementById("phone").onload = (event) => {
  const inside = event.target.contentDocument.documentElement;
  document.getElementById("told").textContent = `${inside.scrollWidth} of ${inside.clientWidth}`;
};
</script></body>"""


@pytest.mark.slow
def test_a_browser_shows_it_without_complaint(tmp_path):
    names = ("chromium", "chromium-browser", "google-chrome")
    browser = next(filter(None, map(shutil.which, names)), None)
    if browser is None:
        pytest.skip("needs Chromium: apt-get install chromium")
    (tmp_path / "page.html").write_text(page(results()), encoding="utf-8")
    (tmp_path / "frame.html").write_text(FRAME, encoding="utf-8")
    options = (
        "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--v=0",
        "--allow-file-access-from-files", f"--user-data-dir={tmp_path / 'profile'}",
        "--virtual-time-budget=3000", "--dump-dom",
    )  # fmt: skip
    for name in ("page.html", "frame.html"):
        address = (tmp_path / name).as_uri()
        run = subprocess.run([browser, *options, address], capture_output=True, text=True)
        assert run.returncode == 0, run.stderr[-2000:]
        assert "CONSOLE" not in run.stderr
        assert "<body" in run.stdout
    wide, room = re.search(r"(\d+) of (\d+)", run.stdout).groups()
    assert int(wide) <= int(room) <= 390
