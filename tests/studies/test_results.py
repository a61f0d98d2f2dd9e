"""The lines of a study, whatever is missing, and the report that is made of them."""

import pytest

from polyprune.jsonl import read_objects
from polyprune.reporting.report import report_of
from polyprune.studies.results import Lines, outline_of, write_lines, write_report
from support.small_study import RUNS, STUDY, graph_of


def line(system, task, seed, study="mine", **mean):
    return {"study": study, "system": system, "sparsity": 0.5 if system == "b" else None,
            "task": task, "regime": "transfer", "seed": seed, "mean": mean}  # fmt: skip


def row(tmp_path, lines, system):
    """The cells of a system's row in the main table, by the titles of their columns."""
    report = write_report(Lines(lines, [], []), "mine", tmp_path).as_dict()
    table = report["tables"]["main"]
    rows = {each["cells"][0]["text"]: each["cells"] for each in table["rows"]}
    return dict(zip(table["columns"], rows[system], strict=True))


def test_mean_and_spread_over_seeds_and_both_averages(tmp_path):
    lines = [
        line("a", "xnli", 1, accuracy=60.0),
        line("a", "xnli", 2, accuracy=64.0),
        line("a", "xquad", 1, f1=50.0, exact=30.0),
    ]
    cells = row(tmp_path, lines, "a")
    assert cells["XNLI"]["values"] == [62]
    assert cells["XNLI"]["spread"] == pytest.approx(8**0.5)
    assert "spread" not in cells["XQuAD"]
    assert cells["average"]["values"] == pytest.approx([(62 + 50 + 30) / 3])
    assert cells["XTREME average"]["values"] == pytest.approx([(62 + 40) / 2])
    assert cells["over seeds"] == {"values": [62], "spread": pytest.approx(8**0.5)}


def test_what_no_seed_touches_is_the_same_with_all_of_them(tmp_path):
    lines = [line("dense", "xnli", seed, accuracy=50.0) for seed in (1, 2)]
    lines += [line("dense", "tatoeba", 1, accuracy=10.0), line("b", "udpos", 1, f1=30.0)]
    lines += [line("b", "xnli", seed, accuracy=38.0 + 2 * seed) for seed in (1, 2)]
    lines += [line("b", "tatoeba", seed, accuracy=10.0) for seed in (1, 2)]
    dense, small = (row(tmp_path, lines, system) for system in ("dense", "b"))
    assert dense["over seeds"] == {"values": [30], "spread": 0}
    assert "spread" not in dense["Tatoeba"]
    assert small["over seeds"]["values"] == pytest.approx([(41 + 10) / 2])
    missing = row(tmp_path, lines[:-1], "b")
    assert missing["over seeds"]["values"] == [41]  # of XNLI alone


def test_what_is_missing_or_no_number_is_a_dash(tmp_path):
    lines = [
        line("a", "xquad", 1, f1=1.0, exact=1.0),
        line("b", "xnli", 1, accuracy=float("nan")),
        line("b", "xquad", 1) | {"mean": None},
    ]
    cells = row(tmp_path, lines, "b")
    assert cells["XNLI"]["values"] == cells["XQuAD"]["values"] == [None]
    assert cells["average"]["values"] == cells["XTREME average"]["values"] == [None]


def test_one_seed_that_is_no_number_does_not_spoil_the_others(tmp_path):
    lines = [line("a", "xnli", 1, accuracy=50.0), line("a", "xnli", 2, accuracy=float("nan"))]
    assert row(tmp_path, lines, "a")["XNLI"] == {"values": [50.0]}


def test_a_report_is_made_once_and_only_the_page_has_the_papers_numbers(tmp_path, monkeypatch):
    made = []
    monkeypatch.setattr(
        "polyprune.studies.results.report_of", lambda results: made.append(1) or report_of(results)
    )
    lines = [line("grad-shared", "xnli", 1, accuracy=40.0) | {"sparsity": 0.5}]
    report = write_report(Lines(lines, [], []), "mine", tmp_path)
    assert made == [1]
    assert "[70.4]" in (tmp_path / "page.html").read_text()
    assert "70.4" not in (tmp_path / "tables.md").read_text()
    assert "70.4" not in str(report.as_dict())


def test_lines_are_read_back_those_of_other_studies_stay_and_torn_ones_go(tmp_path):
    path = tmp_path / "results.jsonl"
    assert read_objects(path) == []
    write_lines(path, [{"study": "a", "n": 1}, {"study": "a", "n": 2}], "a")
    path.write_text(path.read_text() + '[1]\n{"study": "a", "n')
    write_lines(path, [{"study": "b", "n": 3}], "b")
    write_lines(path, [{"study": "a", "n": 4}], "a")
    assert read_objects(path) == [{"study": "b", "n": 3}, {"study": "a", "n": 4}]


def test_the_outline_has_every_size_in_order():
    outline = outline_of(STUDY, graph_of(), RUNS)
    assert [(row.system, row.sparsity) for row in outline.rows] == [
        ("dense", None), ("small", None), ("grad", 0.3), ("grad", 0.5), ("ds", 0.3), ("ds", 0.5),
    ]  # fmt: skip
    assert [row.setting for row in outline.rows] == ["", "", *["shared"] * 4]
