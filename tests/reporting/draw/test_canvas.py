"""Figures in files."""

import importlib.util
import math
import re
import sys
from xml.etree import ElementTree

import matplotlib
import pytest

from polyprune.corpora.languages import languages
from polyprune.errors import ConfigError
from polyprune.reporting.draw.canvas import FIGURE_FORMATS, draw, draw_all
from polyprune.reporting.draw.matrix import colours_of
from polyprune.reporting.draw.plot import legend_of
from polyprune.reporting.draw.point_labels import Box
from polyprune.reporting.draw.style import FigureStyle
from polyprune.reporting.figures.figure import Axis, Figure, Matrix, Plot, Point, Series
from polyprune.reporting.figures.paper import paper_figures
from polyprune.reporting.report import figures
from support.some_results import whole_results


def plot(*series, **more):
    return Plot(more.pop("title", ""), Axis("x", **more), Axis("y", **more), series)


def figure(*panels, name="one"):
    return Figure(name, "One", "One figure.", panels)


def line(title, *ys, **more):
    points = tuple(Point(float(x), y) for x, y in enumerate(ys, 1))
    return Series(title, points, **more)


def svg_of(each, folder):
    (path,) = draw(each, folder, ("svg",))
    return ElementTree.fromstring(path.read_text(encoding="utf-8"))


def words_of(svg):
    return ["".join(each.itertext()) for each in svg.iter("{http://www.w3.org/2000/svg}text")]


@pytest.mark.slow
@pytest.mark.parametrize("each", paper_figures(), ids=lambda each: each.name)
def test_every_figure_of_the_paper_is_drawn_in_every_format_and_twice_the_same(each, tmp_path):
    first = draw(each, tmp_path / "a")
    second = draw(each, tmp_path / "b")
    assert [path.name for path in first] == [f"{each.name}.{form}" for form in FIGURE_FORMATS]
    for a, b in zip(first, second, strict=True):
        assert a.read_bytes() == b.read_bytes()
    for path, start in zip(first, (b"<?xml", b"%PDF", b"\x89PNG"), strict=True):
        assert path.read_bytes().startswith(start)


@pytest.mark.slow
def test_figures_of_results_are_drawn_and_only_they_are_left_in_the_folder(tmp_path):
    found = figures(whole_results())
    written = draw_all(found, tmp_path, ("svg",))
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(p.name for p in written)
    assert len(written) == len(found)


def test_text_stays_text_and_names_are_written_as_they_are(tmp_path):
    odd = "A $x_1$ & <b>_2</b> 100% \\frac"
    words = words_of(svg_of(figure(plot(line(odd, 1.0, 2.0), line("_under", 2.0, 1.0))), tmp_path))
    assert odd in words
    assert "_under" in words


def test_a_name_in_another_script_or_with_control_characters_does_no_harm(tmp_path):
    words = words_of(svg_of(figure(plot(line("ஆ\x00\n漢", 1.0), title="ไทย")), tmp_path))
    assert "ஆ 漢" in words


@pytest.mark.parametrize(
    "panel",
    [
        plot(),
        plot(line("a")),
        plot(line("a", None, math.nan, math.inf)),
        plot(line("a", -1.0, 0.0), log=True),
        plot(line("dense", 3.0, style="level")),
        Matrix("", (), (), (), ""),
        Matrix("", ("sw",), ("",), ((None,),), ""),
    ],
)
def test_where_nothing_can_be_seen_nothing_is_written(panel, tmp_path):
    assert draw(figure(panel), tmp_path / "none") == []
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    "panel",
    [
        plot(line("a", 1.0)),
        plot(line("a", 1.0, None, 3.0, math.nan, 5.0)),
        plot(line("a", 0.1, 10.0, 0.0, 1000.0), log=True),
        plot(Series("a", (Point(1.0, 2.0, 1.0, 3.0, "x", 0.5, 1.5),), "marks")),
        Matrix("", ("sw",), ("b",), ((0.0,),), "d"),
        Matrix("", ("sw", "fr"), ("b", "c"), ((0.0, None), (0.2, 0.0)), "d"),
    ],
)
def test_little_is_drawn_as_well(panel, tmp_path):
    assert all(path.stat().st_size for path in draw(figure(panel), tmp_path))


def test_a_line_has_a_gap_where_there_is_no_number(tmp_path):
    def pieces(*ys):
        svg = svg_of(figure(plot(line("a", *ys))), tmp_path)
        paths = [each.get("d", "") for each in svg.iter("{http://www.w3.org/2000/svg}path")]
        # The line itself: the only path that is stroked thickly in the first colour.
        drawn = [d for d in paths if len(re.findall("[ML]", d)) == len([y for y in ys if y])]
        return [d.count("M") for d in drawn]

    assert 1 in pieces(1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0)
    assert 2 in pieces(1.0, 2.0, 3.0, 4.0, None, 6.0, 7.0, 8.0)


def test_a_system_has_one_colour_in_all_panels_and_in_all_figures():
    a, b = line("A", 1.0, colour="a"), line("B", 1.0, colour="b")
    styles = FigureStyle.of(figure(plot(b, a)), keys=("a", "b"))
    assert styles.style_of(a) == FigureStyle.of(figure(plot(a))).style_of(a)
    assert styles.style_of(a).colour != styles.style_of(b).colour


def test_without_colours_systems_differ_in_marks_and_dashes():
    series = [line(str(i), 1.0) for i in range(4)]
    styles = [FigureStyle.of(figure(plot(*series))).style_of(each) for each in series]
    assert len({style.mark for style in styles}) == 4
    assert len({str(style.dash) for style in styles}) == 4


def test_dashes_that_mean_something_are_not_given_to_others():
    heads, units = line("h", 1.0, colour="a"), line("u", 1.0, colour="a", dashed=True)
    other = line("o", 1.0, colour="b")
    styles = FigureStyle.of(figure(plot(heads, units, other)))
    assert styles.style_of(heads).dash == styles.style_of(other).dash != styles.style_of(units).dash
    assert styles.style_of(heads).colour == styles.style_of(units).colour


def test_a_legend_names_everybody_once_but_not_what_stands_above_a_frame():
    a, b = line("A", 1.0), line("B", 1.0)
    assert legend_of(figure(plot(a, b), plot(b, a))) == [a, b]
    assert legend_of(figure(plot(a, title="A"), plot(b, title="B"))) == []
    assert legend_of(figure(plot(a, line("sw", 1.0, faint=True)))) == [a]


@pytest.mark.slow
def test_a_hundred_languages_are_drawn_with_every_name_in_the_matrix(tmp_path):
    known = list(languages().values())
    values = tuple(tuple(abs(i - j) / 100 for j in range(100)) for i in range(100))
    names = tuple(each.code for each in known)
    panel = Matrix("", names, tuple(each.family or "" for each in known), values, "d")
    words = words_of(svg_of(figure(panel), tmp_path))
    assert all(words.count(name) == 2 for name in names)


def test_of_a_hundred_marks_only_those_that_lie_apart_are_named(tmp_path):
    points = [Point(float(i % 10), float(i // 10), label=f"m{i}") for i in range(100)]
    far = Point(30.0, 30.0, label="far")
    words = words_of(svg_of(figure(plot(Series("a", (*points, far), "marks"))), tmp_path))
    assert "far" in words
    assert sum(word.startswith("m") for word in words) < 20


def test_boxes_meet_where_they_share_a_place():
    box = Box(0.0, 0.0, 2.0, 1.0)
    assert box.meets(Box(1.0, 0.5, 3.0, 2.0))
    assert not box.meets(Box(2.0, 0.0, 3.0, 1.0))
    assert box.within(Box(0.0, 0.0, 2.0, 2.0))
    assert not box.within(Box(0.5, 0.0, 2.0, 2.0))


def test_families_have_colours_of_their_own_and_small_ones_share_when_there_are_too_many():
    few = colours_of(("a", "a", "b"))
    assert few["a"] != few["b"]
    many = colours_of((*"aabb", *(f"single {i}" for i in range(20))))
    assert many["a"] != many["b"]
    assert len({many[f"single {i}"] for i in range(20)}) == 1


def test_settings_of_matplotlib_are_left_alone(tmp_path):
    before = dict(matplotlib.rcParams)
    draw(figure(plot(line("a", 1.0))), tmp_path, ("svg",))
    assert dict(matplotlib.rcParams) == before


def test_without_matplotlib_one_sentence_says_what_to_do(tmp_path, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "matplotlib" else find(name)
    )
    with pytest.raises(ConfigError, match=r'pip install "polyprune\[report\]"'):
        draw(figure(plot(line("a", 1.0))), tmp_path)


def test_an_unknown_format_is_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"'gif'\. There are: svg, pdf, png"):
        draw(figure(plot(line("a", 1.0))), tmp_path, ("gif",))


def test_pyplot_is_not_needed(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    assert draw(figure(plot(line("a", 1.0))), tmp_path, ("png",))
