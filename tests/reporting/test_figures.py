"""Which figures there are of what is known, and what they say."""

import math
from dataclasses import replace

import pytest

from polyprune.reporting.figures.figure import Matrix, Plot, Point
from polyprune.reporting.figures.layers import layer_sparsity, layers_by_sparsity
from polyprune.reporting.figures.paper import paper_figures
from polyprune.reporting.figures.quality import (
    by_sparsity,
    loss_by_corpus_size,
    pearson,
    quality_by_speed,
)
from polyprune.reporting.read.paper import paper_results
from polyprune.reporting.report import figures
from polyprune.reporting.results import (
    Curve,
    Distances,
    KeptComponents,
    LayerWidths,
    Results,
    SystemSize,
)
from support.some_results import DENSE, WHOLE, cut, score, whole_results

NAMES = [
    "loss-by-corpus-size",
    "layer-sparsity",
    "by-sparsity",
    "component-sparsity",
    "layers-by-sparsity",
    "distances",
    "held-out-loss",
    "quality-by-speed",
]


def named(found, name):
    return next(figure for figure in found if figure.name == name)


def only_panel(figure) -> Plot:
    (panel,) = figure.panels
    return panel


def values(series):
    return [(point.x, point.y) for point in series.points]


def test_of_whole_results_there_are_all_eight():
    assert [figure.name for figure in figures(whole_results())] == NAMES


def test_of_nothing_there_are_none():
    assert figures(Results()) == []


@pytest.mark.parametrize("part", ["scores", "sizes", "kept", "distances", "curves"])
def test_whatever_is_missing_the_others_are_there(part):
    found = [figure.name for figure in figures(replace(whole_results(), **{part: ()}))]
    gone = {
        "scores": {"loss-by-corpus-size", "quality-by-speed"},
        "sizes": {"quality-by-speed"},
        "kept": {"layer-sparsity", "component-sparsity", "layers-by-sparsity"},
        "distances": {"distances"},
        "curves": {"held-out-loss"},
    }[part]
    assert found == [name for name in NAMES if name not in gone]


def test_the_paper_correlates_as_it_says():
    panel = only_panel(named(paper_figures(), "loss-by-corpus-size"))
    found = {series.colour: pearson(series.points) for series in panel.series}
    assert found["l0-non-shared"] == pytest.approx(-0.829, abs=5e-4)
    assert found["grad-shared"] == pytest.approx(-0.459, abs=5e-4)
    assert [series.title for series in panel.series] == [
        "Grad (shared), r = −0.459",
        "L0 (non-shared), r = −0.829",
    ]


def test_all_figures_of_the_paper_but_its_distances_are_drawn_again():
    lacking = {"distances", "held-out-loss"}
    assert [f.name for f in paper_figures()] == [name for name in NAMES if name not in lacking]


def test_in_the_paper_gradients_keep_all_heads_and_both_methods_cut_most_in_the_middle():
    panel = only_panel(named(paper_figures(), "layer-sparsity"))
    lines = {series.title: [y for _, y in values(series)] for series in panel.series}
    assert set(lines["Grad (shared), heads"]) == {0}
    for title in ("Grad (shared), units", "L0 (non-shared), units", "L0 (non-shared), heads"):
        middle = lines[title][4:8]
        assert sum(middle) / 4 > sum(lines[title]) / 12


def test_in_the_paper_speed_grows_from_half_on_and_on_processors_only():
    panels = {panel.title: panel for panel in named(paper_figures(), "by-sparsity").panels}
    assert list(panels) == ["Quality", "Parameters", "Speed, CPU", "Speed, GPU"]
    for series in panels["Speed, CPU"].series[:2]:
        ten, _, half, seventy, ninety = (y for _, y in values(series))
        assert half < seventy < ninety
        assert half / ten < 1.05
    for panel in panels.values():
        assert panel.series[-1].style == "level"
    dense = panels["Speed, GPU"].series[-1].points[0].y
    assert all(y <= dense for series in panels["Speed, GPU"].series for _, y in values(series))


def test_results_of_the_paper_as_of_anybody_give_its_figure_of_sizes():
    from_results = by_sparsity(paper_results())
    curve = from_results.panels[1].series[0]
    assert values(curve)[0] == (10.0, 271.0)
    assert curve in named(paper_figures(), "by-sparsity").panels[1].series


def test_a_loss_is_what_is_missing_in_percent_of_what_there_was():
    figure = loss_by_corpus_size(whole_results())
    series = {each.colour: each for each in only_panel(figure).series}
    lost = {point.label: point.y for point in series["grad"].points}
    assert lost["sw"] == pytest.approx(40.0)  # 50 to 30, at 60 %, which is nearest to 50
    assert lost["fr"] == pytest.approx(2.5)
    assert lost["th"] is None  # the dense model has no score there
    places = {point.label: point.x for point in series["grad"].points}
    assert places["de"] == pytest.approx(34.17, abs=0.01)  # the paper's own coordinate


def test_losses_are_of_means_over_seeds():
    system = cut("grad", 0.5)
    scores = [score(DENSE, sw=50.0), score(DENSE, seed=2, sw=30.0)]
    results = Results(scores=(*scores, score(system, sw=30.0)))
    (series,) = only_panel(loss_by_corpus_size(results)).series
    assert series.points[0].y == pytest.approx(25.0)


def test_more_than_two_systems_have_a_frame_each():
    scores = [score(cut(name, 0.5), sw=40.0, fr=70.0, de=60.0) for name in "abc"]
    results = Results(scores=(score(DENSE, sw=50.0, fr=80.0, de=80.0), *scores))
    figure = loss_by_corpus_size(results)
    assert [panel.title for panel in figure.panels] == ["A", "B", "C"]
    assert all(panel.note.startswith("r = ") for panel in figure.panels)


def test_a_correlation_takes_three_points_that_differ():
    assert pearson([Point(1.0, 1.0), Point(2.0, 2.0)]) is None
    assert pearson([Point(1.0, 1.0), Point(2.0, None), Point(3.0, 1.0), Point(4.0, 1.0)]) is None
    assert pearson([Point(x, -x) for x in (1.0, 2.0, 5.0)]) == pytest.approx(-1)


def test_languages_without_text_in_the_corpus_have_no_place_and_do_no_harm():
    results = Results(scores=(score(DENSE, yo=50.0, sw=50.0), score(cut("a", 0.5), yo=1.0, sw=2.0)))
    (series,) = only_panel(loss_by_corpus_size(results)).series
    assert [point.label for point in series.points] == ["sw"]


def test_panels_without_numbers_are_left_out():
    panels = by_sparsity(whole_results())
    found = named(figures(whole_results()), "by-sparsity")
    assert [panel.title for panel in found.panels] == ["Quality", "Parameters", "Speed, CPU"]
    assert "Speed, GPU" not in {panel.title for panel in panels.panels}


def test_layers_are_means_over_languages_and_weigh_heads_as_the_paper_does():
    other = KeptComponents(
        cut("a", 0.5), "fr", LayerWidths((2, 4), (10, 10), 8), WHOLE, head_width=2
    )
    one = KeptComponents(cut("a", 0.5), "sw", LayerWidths((4, 4), (5, 10), 8), WHOLE, head_width=2)
    heads, units = only_panel(layer_sparsity(Results(kept=(one, other)))).series
    assert values(heads) == [(1.0, 25.0), (2.0, 0.0)]
    assert values(units) == [(1.0, 25.0), (2.0, 0.0)]
    assert (heads.dashed, units.dashed) == (False, True)
    # Of the first layer's 4 · 8 + 10 · 2 = 52, one has lost 10 and the other 16.
    first, second = only_panel(layers_by_sparsity(Results(kept=(one, other)))).series
    assert first.points[0].y == pytest.approx(100 * 13 / 52)
    assert second.points[0].y == 0


def test_a_model_with_fewer_layers_is_not_compared_layer_by_layer():
    shallow = KeptComponents(cut("distilbert", 0.5), None, LayerWidths((4,), (10,), 8), WHOLE)
    assert figures(Results(kept=(shallow,))) == []


def test_many_layers_are_shown_by_some():
    whole = LayerWidths((4,) * 24, (10,) * 24, 8)
    kept = tuple(
        KeptComponents(cut("a", size), None, replace(whole, units=(5,) * 24), whole)
        for size in (0.3, 0.6)
    )
    series = only_panel(layers_by_sparsity(Results(kept=kept))).series
    assert len(series) <= 8
    assert [each.shade for each in series] == sorted(each.shade for each in series)


def test_families_stand_together_and_distances_stay_with_their_languages():
    codes = ("fr", "sw", "de", "xh")
    matrix = tuple(tuple(abs(i - j) / 10 for j in range(4)) for i in range(4))
    results = Results(distances=(Distances(cut("l0", 0.5), codes, matrix),))
    (figure,) = figures(results)
    (panel,) = figure.panels
    assert isinstance(panel, Matrix)
    assert list(dict.fromkeys(panel.groups)) == ["Indo-European", "Niger-Congo"]
    for i, a in enumerate(panel.names):
        for j, b in enumerate(panel.names):
            assert panel.values[i][j] == matrix[codes.index(a)][codes.index(b)]


def test_subnetworks_that_are_shared_have_no_figure_of_distances():
    same = Distances(cut("grad", 0.5), ("fr", "sw"), ((0.0, 0.0), (0.0, 0.0)))
    assert figures(Results(distances=(same,))) == []


def test_every_system_has_its_own_figure_of_distances_under_a_name_that_is_one():
    matrix = ((0.0, 0.2), (0.2, 0.0))
    found = [Distances(cut(name, 0.5), ("fr", "sw"), matrix) for name in ("l0", "../Bad name")]
    assert [f.name for f in figures(Results(distances=tuple(found)))] == [
        "distances",
        "distances-bad-name",
    ]


def test_a_mean_curve_is_of_all_languages_or_it_has_a_gap():
    mean, *languages = only_panel(named(figures(whole_results()), "held-out-loss")).series
    assert values(mean) == [(0.0, 5.0), (10.0, 3.5), (20.0, None)]
    assert [each.faint for each in languages] == [True, True]
    assert languages[0].points[1].label == "sw"


def test_curves_of_several_systems_are_means_only():
    curves = tuple(Curve(cut(name, 0.5), "sw", ((0, 2.0), (5, 1.0))) for name in "ab")
    series = only_panel(named(figures(Results(curves=curves)), "held-out-loss")).series
    assert [each.faint for each in series] == [False, False]
    assert len({each.colour or each.title for each in series}) == 2


def test_quality_against_speed_has_intervals_and_the_dense_model_at_one():
    *lines, dense = only_panel(quality_by_speed(whole_results())).series
    assert values(dense) == [(1.0, pytest.approx(70.0))]
    point = lines[0].points[1]
    assert (point.x, point.left, point.right) == pytest.approx((1.6, 1.5, 1.8))
    assert point.label == "60\u00a0%"


def test_averages_are_over_tasks_that_all_have():
    system = cut("a", 0.5)
    scores = (
        score(DENSE, sw=50.0),
        score(DENSE, "pawsx", sw=90.0),
        score(DENSE, "udpos", sw=10.0),
        score(system, sw=40.0),
        score(system, "pawsx", sw=80.0),
    )
    sizes = (SystemSize(DENSE, faster=1.0), SystemSize(system, faster=2.0))
    panel = only_panel(quality_by_speed(Results(scores=scores, sizes=sizes)))
    assert panel.y.label == "Average of 2 tasks (%)"
    assert [values(each) for each in panel.series] == [[(2.0, 60.0)], [(1.0, 70.0)]]


def test_what_is_not_a_number_is_not_taken_for_one():
    system = cut("a", 0.5)
    scores = (score(DENSE, sw=50.0), score(system, sw=math.nan))
    results = Results(scores=scores, sizes=(SystemSize(system, faster=2.0),))
    assert figures(results) == []
