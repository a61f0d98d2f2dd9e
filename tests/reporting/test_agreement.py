"""Headline, slider, tables, figures and card of one page compare a system with the same other."""

import json
import re

import pytest

import polyprune as pp
from polyprune.reporting.card import fill_card
from polyprune.reporting.report import report_of
from polyprune.reporting.website.summary import headline
from support.elastic_study import (
    DENSE,
    GRAD,
    HALF,
    POINTS,
    UNCUT,
    elastic_study,
    over_languages,
    over_seeds,
)
from support.models import tiny_model

BASELINES = {HALF: UNCUT, GRAD: DENSE}
"""The elastic system has an uncut size of its own; the other has the dense one."""


@pytest.fixture(scope="module")
def report():
    return report_of(elastic_study())


@pytest.fixture(scope="module")
def data(report):
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', report.html())
    return json.loads(found[1])


def index(data, system):
    return next(
        i
        for i, (name, _, sparsity, _) in enumerate(data["systems"])
        if (name, sparsity) == (system.name, system.sparsity)
    )


def lost(system, code):
    return over_seeds(BASELINES[system], code) - over_seeds(system, code)


def test_the_scoreboard_says_which(report):
    for system, baseline in BASELINES.items():
        assert report.results.baseline(system) == baseline
    assert report.results.baseline(DENSE) is report.results.baseline(UNCUT) is None


def test_the_headline_agrees(report):
    found = headline(report.results)
    assert (found.system, found.dense) == (HALF, UNCUT)
    assert found.before == pytest.approx(over_languages(UNCUT))
    assert found.after == pytest.approx(over_languages(HALF))
    assert (found.worst, found.lost) == ("sw", pytest.approx(lost(HALF, "sw")))
    assert f"keeps {over_languages(HALF):.1f} of {over_languages(UNCUT):.1f}" in report.html()


def test_the_slider_agrees(data):
    for system, baseline in {**BASELINES, DENSE: DENSE, UNCUT: UNCUT}.items():
        assert data["baselines"][index(data, system)] == index(data, baseline)


def test_the_means_of_the_page_agree(data):
    codes = [code for code, _, _ in data["languages"]]
    for system, languages in POINTS.items():
        (means,) = (each for each in data["means"] if each["s"] == index(data, system))
        assert means["mean"] == [pytest.approx(over_languages(system), abs=1e-3)]
        assert means["seeds"] == 2
        shown = dict(zip((codes[i] for i in means["l"]), means["v"][0], strict=True))
        assert shown == {code: over_seeds(system, code) for code in languages}


def test_the_tables_agree(report):
    table = next(each for each in report.tables if each.name == "losses-xnli")
    for row in table.rows:
        cells = dict(zip(table.columns, row.cells, strict=True))
        code = cells["code"].text
        for system in BASELINES:
            title = f"{system.title}, 50\u00a0% cut"
            assert cells[title].values == (over_seeds(system, code),)
            assert cells[f"{title}: lost"].values == pytest.approx((lost(system, code),))
        assert cells["Dense"].values == (over_seeds(DENSE, code),)
        assert cells["Elastic, 0\u00a0% cut"].values == (over_seeds(UNCUT, code),)


def test_the_figures_agree(report):
    figures = {each.name: each.panels[0] for each in report.figures}
    series = {each.colour: each for each in figures["loss-by-corpus-size"].series}
    for system, baseline in BASELINES.items():
        shown = {point.label: point.y for point in series[system.name].points}
        assert shown == {
            code: pytest.approx(100 * lost(system, code) / over_seeds(baseline, code))
            for code in POINTS[system]
        }
    lines = {each.colour: each for each in figures["by-sparsity"].series}
    points = [(0.0, over_languages(UNCUT)), (50.0, over_languages(HALF))]
    assert [(p.x, p.y) for p in lines["ds"].points] == [pytest.approx(point) for point in points]
    assert (lines["dense"].style, lines["ds"].style) == ("level", "line")
    assert lines["dense"].points[0].y == pytest.approx(over_languages(DENSE))
    speeds = {each.colour: each for each in figures["quality-by-speed"].series}
    assert [(p.x, p.y) for p in speeds["ds"].points] == [
        pytest.approx((0.9, over_languages(UNCUT))),
        pytest.approx((1.5, over_languages(HALF))),
    ]


@pytest.mark.parametrize("system", BASELINES)
def test_the_card_agrees(tmp_path, system):
    tiny_model("xlm-roberta").save_pretrained(tmp_path / "original")
    model = pp.load(tmp_path / "original")
    gates = pp.open_gates(model.shape)
    gates.heads[0][:, 1:] = 0
    pp.shrink(model, gates).save_pretrained(tmp_path / "half")
    fill_card(tmp_path / "half", elastic_study(), system)
    before, after = over_seeds(BASELINES[system], "sw"), over_seeds(system, "sw")
    row = f"| Swahili (sw) | {before:.1f} | {after:.1f} | {after - before:.1f} |"
    assert row in (tmp_path / "half" / "README.md").read_text()
