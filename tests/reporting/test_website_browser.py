"""The page in a browser: opened from a file, moved, sorted, downloaded, looked at and heard."""

import csv
import json
import shutil
import statistics
from io import StringIO

import pytest

from polyprune.reporting.report import figures, tables
from polyprune.reporting.results import Results
from polyprune.reporting.website import page
from support.elastic_study import HALF, UNCUT, elastic_study, over_languages, over_seeds
from support.large_results import large_results
from support.website_results import (
    hostile_figures,
    hostile_results,
    hostile_tables,
    small_figures,
    small_results,
    small_tables,
)

pytestmark = pytest.mark.slow

NAMES = ("chromium", "chromium-browser", "google-chrome")
OPTIONS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update",
)  # fmt: skip
REDRAW = 100.0
"""Milliseconds in which a change has to be seen."""


@pytest.fixture(scope="module")
def browser():
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        pytest.skip("needs Chromium: apt-get install chromium")
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    with playwright.sync_playwright() as running:
        opened = running.chromium.launch(executable_path=program, args=OPTIONS)
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Pages that most tests look at, written once."""
    folder = tmp_path_factory.mktemp("pages")
    large = large_results()
    pages = {
        "small": page(small_results(), small_tables(), small_figures()),
        "hostile": page(hostile_results(), hostile_tables(), hostile_figures()),
        "empty": page(Results()),
        "large": page(large, tables(large), figures(large)),
        "elastic": page(elastic_study()),
    }
    for name, html in pages.items():
        (folder / f"{name}.html").write_text(html, encoding="utf-8")
    return folder


@pytest.fixture
def visit(browser, files):
    """Opens a page; at the end, nothing may have been complained of or asked for."""
    complaints, asked, contexts = [], [], []

    def go(name="small", where="", **options):
        room = {"viewport": {"width": 1280, "height": 900}} | options
        context = browser.new_context(accept_downloads=True, **room)
        contexts.append(context)
        opened = context.new_page()
        opened.on("console", lambda message: complaints.append(message.text))
        opened.on("pageerror", lambda error: complaints.append(str(error)))
        opened.on("request", lambda request: asked.append(request.url))
        opened.goto((files / f"{name}.html").as_uri() + where)
        return opened

    yield go
    for context in contexts:
        context.close()
    assert complaints == []
    own = (files.as_uri(), "data:", "blob:")
    assert [url for url in asked if not url.startswith(own)] == []


def names(opened):
    """Languages in the order in which they are shown, with their numbers."""
    rows = opened.locator("#losses .dots li:not(.mean):not(.scale)").all()
    return {
        row.locator(".name").evaluate("node => node.firstChild.textContent"): row.locator(
            ".numbers"
        ).inner_text()
        for row in rows
    }


def counts(opened):
    return opened.locator("#kept .count").all_inner_texts()


def body(opened, column):
    return opened.eval_on_selector_all(
        "table.sortable tbody:first-of-type tr:not(.group)",
        f"rows => rows.map(row => row.cells[{column}].innerText.trim())",
    )


def draw_all(opened):
    opened.evaluate("dispatchEvent(new Event('beforeprint'))")


@pytest.mark.parametrize("name", ["small", "hostile", "empty", "large"])
def test_it_opens_from_a_file_without_complaint_or_request(visit, name):
    opened = visit(name)
    draw_all(opened)
    opened.wait_for_timeout(300)
    assert opened.locator("h1").count() == 1
    drawn = opened.locator("[data-figure] svg.chart").count()
    assert drawn >= opened.locator("[data-figure]").count()


def test_the_slider_compares_an_elastic_system_with_its_own_uncut_size(visit):
    opened = visit("elastic")
    opened.select_option("#system", label="Elastic")
    assert opened.locator("#cut-told").inner_text() == "50\u00a0% cut"
    shown = f"{over_seeds(UNCUT, 'sw'):.1f} → {over_seeds(HALF, 'sw'):.1f}"
    assert names(opened)["Swahili"].startswith(shown)
    mean = opened.locator("#losses .dots li.mean .numbers").inner_text()
    assert mean.startswith(f"{over_languages(UNCUT):.1f} → {over_languages(HALF):.1f}")


def test_the_slider_changes_what_is_lost_and_kept_by_mouse(visit):
    opened = visit()
    opened.select_option("#system", "l0")
    before = names(opened), counts(opened), opened.locator("#told").inner_text()
    box = opened.locator("#cut").bounding_box()
    opened.mouse.click(box["x"] + 2, box["y"] + box["height"] / 2)
    assert opened.locator("#cut-told").inner_text() == "uncut"
    assert counts(opened)[0] == "12 of 12"
    opened.mouse.click(box["x"] + box["width"] - 2, box["y"] + box["height"] / 2)
    assert opened.locator("#cut-told").inner_text() == "70 % cut".replace(" ", "\u00a0", 1)
    after = names(opened), counts(opened), opened.locator("#told").inner_text()
    assert before[0] != after[0]
    assert before[2] != after[2]
    assert "Swahili lost most, 21.0" in after[2]


def test_the_slider_moves_by_keyboard_and_says_where_it_is(visit):
    opened = visit(where="#system=l0&cut=0.2")
    slider = opened.locator("#cut")
    slider.focus()
    told = []
    for _ in range(3):
        told.append(slider.get_attribute("aria-valuetext").replace("\u00a0", " "))
        opened.keyboard.press("ArrowRight")
    assert told == ["20 % cut", "50 % cut", "70 % cut"]
    opened.keyboard.press("Home")
    assert slider.get_attribute("aria-valuetext") == "uncut"


def test_losses_are_sorted_and_what_is_missing_is_last_and_a_dash(visit):
    shown = names(visit(where="#system=grad&cut=0.5"))
    assert next(iter(shown)) == "Swahili"
    assert list(shown)[-1] == "Thai"
    assert shown["Swahili"] == "76.0 → 61.0 −15.0"
    assert shown["Thai"] == "75.0 → – –"


def test_gates_that_differ_are_told_as_such(visit):
    opened = visit(where="#system=l0&cut=0.5")
    assert "the mean of 6" in opened.locator("#kept-told").inner_text()
    assert opened.locator("#kept u:visible").count() > 0
    opened.click("#choose-none")
    assert "No language is chosen" in opened.locator("#losses-told").inner_text()
    opened.locator("label.chip", has_text="Hindi").click()
    assert "What Hindi keeps" in opened.locator("#kept-told").inner_text()
    assert counts(opened)[0] == "3 of 12"
    assert opened.locator("#kept u:visible").count() == 0
    assert list(names(opened)) == ["Hindi"]
    opened.select_option("#system", "grad")
    assert "All languages share" in opened.locator("#kept-told").inner_text()
    assert counts(opened)[0] == "6 of 12"


def test_languages_are_chosen_by_keyboard_by_family_and_found_by_search(visit):
    opened = visit()
    opened.click("#choose-none")
    opened.get_by_label("All Indo-European languages").focus()
    opened.keyboard.press("Space")
    assert set(names(opened)) == {"English", "French", "German", "Hindi"}
    opened.fill("#search", "swa")
    assert opened.locator("label.chip:visible").all_inner_texts() == ["Swahili"]
    opened.get_by_label("Swahili").focus()
    opened.keyboard.press("Space")
    assert "Swahili" in names(opened)
    opened.click("#choose-all")
    assert opened.locator("#chosen-languages").inner_text() == "all 6"


def test_another_measure_shows_its_own_numbers(visit):
    opened = visit(where="#system=grad&cut=0.5")
    opened.select_option("#measure", label="XQuAD, exact match")
    assert names(opened) == dict.fromkeys(("German", "English", "French"), "40.0 → 35.0 −5.0")


def test_a_view_can_be_sent_to_others(visit):
    opened = visit()
    opened.select_option("#system", "l0")
    opened.locator("#cut").fill("1")
    opened.click("#choose-none")
    opened.locator("label.chip", has_text="Hindi").click()
    opened.wait_for_timeout(400)
    where = opened.evaluate("location.hash")
    again = visit(where=where)
    assert again.locator("#system").input_value() == "l0"
    assert again.locator("#cut").input_value() == "1"
    assert list(names(again)) == ["Hindi"]


def test_a_broken_address_is_ignored(visit):
    opened = visit(where="#system=<b>&cut=x&task=%00&languages=xx")
    assert opened.locator("#told").inner_text() != ""


def test_tables_are_sorted_within_groups_with_what_is_missing_last(visit):
    opened = visit()
    first = opened.locator("table.sortable").first
    first.get_by_role("button", name="XQuAD").click()
    assert body(opened, 0) == ["Dense", "L0", "Grad"]
    assert first.locator("th[aria-sort]").get_attribute("aria-sort") == "descending"
    first.get_by_role("button", name="XQuAD").press("Enter")
    assert body(opened, 0) == ["Grad", "L0", "Dense"]
    for order in ("descending", "ascending"):
        first.get_by_role("button", name="times").press("Enter")
        assert first.locator("th[aria-sort]").get_attribute("aria-sort") == order
        assert body(opened, 0)[-1] == "Grad"
    first.get_by_role("button", name="system").click()
    assert body(opened, 0) == ["Dense", "Grad", "L0"]
    assert opened.locator("tr.group").all_inner_texts() == ["transfer", "all languages"]


def test_why_a_cell_failed_is_shown_on_focus(visit):
    opened = visit()
    opened.locator("button.why").focus()
    assert opened.locator("#tip").inner_text() == "out of memory"
    opened.keyboard.press("Escape")
    assert opened.locator("#tip").is_hidden()


def background(opened):
    return opened.evaluate("getComputedStyle(document.body).backgroundColor")


def test_dark_is_what_the_system_prefers_or_what_is_chosen(visit):
    light, dark = (visit(color_scheme=scheme) for scheme in ("light", "dark"))
    assert background(light) == "rgb(247, 248, 249)"
    assert background(dark) == "rgb(18, 21, 24)"
    light.click("#theme")
    assert background(light) == "rgb(18, 21, 24)"
    light.reload()
    assert background(light) == "rgb(18, 21, 24)"
    dark.click("#theme")
    assert background(dark) == "rgb(247, 248, 249)"


def test_it_works_where_nothing_may_be_remembered(visit):
    opened = visit("empty")
    opened.evaluate("0")
    opened.context.add_init_script(
        "Object.defineProperty(window, 'localStorage', {get() { throw new Error('no'); }});"
        "history.replaceState = () => { throw new Error('no'); };"
    )
    opened.goto(opened.url.replace("empty", "small"))
    opened.click("#theme")
    opened.select_option("#system", "grad")
    opened.wait_for_timeout(300)
    assert opened.locator("#told").inner_text().startswith("Grad")


@pytest.mark.parametrize("name", ["small", "large", "hostile", "empty"])
def test_a_phone_does_not_scroll_sideways(visit, name):
    opened = visit(name, viewport={"width": 390, "height": 844})
    draw_all(opened)
    opened.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    opened.wait_for_timeout(200)
    assert opened.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["small", "empty"])
def test_nothing_keeps_people_out(visit, name, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe")
    opened = visit(name, color_scheme=scheme, bypass_csp=True, reduced_motion="reduce")
    draw_all(opened)
    opened.wait_for_timeout(200)
    found = axe.Axe().run(opened).response["violations"]
    bad = [each for each in found if each["impact"] in ("serious", "critical")]
    assert [(each["id"], [node["html"] for node in each["nodes"]]) for each in bad] == []


def saved(opened, button):
    with opened.expect_download() as caught:
        button.click()
    return caught.value.suggested_filename, caught.value.path().read_text(encoding="utf-8")


def test_downloads_give_the_numbers(visit):
    opened = visit()
    figure = opened.locator("[data-figure='0']")
    name, text = saved(opened, figure.locator("[data-csv]"))
    rows = list(csv.DictReader(StringIO(text)))
    assert name == "loss.csv"
    assert [(row["series"], row["x"], row["y"]) for row in rows][:3] == [
        ("Grad", "1", "10"), ("Grad", "10", ""), ("Grad", "100", "30.5"),
    ]  # fmt: skip
    name, text = saved(opened, figure.locator("[data-svg]"))
    assert name == "loss.svg"
    assert text.startswith("<svg")
    assert "var(" not in text
    assert "Loss" in text
    name, text = saved(opened, opened.locator("[data-csv-of-table]").first)
    assert name == "main.csv"
    assert list(csv.DictReader(StringIO(text)))[1]["XQuAD"] == "58.0 / 45.0 ± 0.3 [57.0 / 44.0]"
    name, text = saved(opened, opened.locator("#all-results"))
    everything, results = json.loads(text), small_results()
    assert name == "results.json"
    assert len(everything["scores"]) == len(results.scores)
    for told, score in zip(everything["scores"], results.scores, strict=True):
        assert told["system"] == score.system.name
        for code, own in score.languages.items():
            assert told["languages"][code] == pytest.approx(own)
    assert everything["kept"][0]["kept"] == {"heads": [6, 3], "units": [900, 300], "rank": 700}


def test_marks_of_a_drawing_can_be_walked_through(visit):
    opened = visit()
    opened.locator("[data-figure='0']").scroll_into_view_if_needed()
    drawing = opened.locator("[data-figure='0'] svg.chart")
    drawing.focus()
    opened.keyboard.press("ArrowRight")
    assert "points: 10 (9–11)" in opened.locator("#tip").inner_text()
    opened.keyboard.press("ArrowRight")
    assert "points: 30.5" in opened.locator("#tip").inner_text()


def test_the_map_tells_who_is_near_and_follows_the_system(visit):
    opened = visit("large")
    drawing = opened.locator("#map-figure svg.chart")
    opened.locator("#map").scroll_into_view_if_needed()
    drawing.focus()
    opened.keyboard.press("ArrowRight")
    assert opened.locator("#tip").inner_text().count("of gates differ") == 3
    before = opened.locator("#map-told").inner_text()
    opened.locator("#cut").fill("9")
    assert opened.locator("#map-told").inner_text() != before


def test_hostile_words_are_shown_and_never_run(visit):
    opened = visit("hostile")
    draw_all(opened)
    for control in ("#system", "#measure"):
        for option in opened.locator(f"{control} option").all():
            opened.select_option(control, value=option.get_attribute("value"))
    opened.locator("button.why").first.focus()
    drawing = opened.locator("#map-figure svg.chart")
    drawing.focus()
    opened.keyboard.press("ArrowRight")
    opened.locator("table.sortable thead button").first.click()
    opened.wait_for_timeout(300)
    assert opened.evaluate("window.hacked") is None
    assert opened.locator("img").count() == 0
    assert "<img src=x" in opened.locator("h1").inner_text()


def test_a_large_page_redraws_at_once(visit):
    opened = visit("large")
    draw_all(opened)
    opened.wait_for_timeout(500)
    times = []
    for step in range(10):
        opened.locator("#cut").fill(str(step))
        times.append(opened.evaluate("window.polyprune.lastRedraw"))
    assert opened.locator("#losses .dots li").count() > 10
    assert statistics.median(times) < REDRAW, times
