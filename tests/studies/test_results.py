"""Lines to tables, whatever is missing."""

import pytest

from polyprune.studies.results import (
    Outline,
    Row,
    outline_of,
    read_lines,
    summarize,
    write_lines,
)
from support.small_study import RUNS, STUDY, graph_of

OUTLINE = Outline(
    "mine", (Row("a", "A", "", None), Row("b", "B", "shared", 0.5)), {"transfer": ("xnli", "xquad")}
)


def line(system, task, seed, study="mine", **mean):
    return {"study": study, "system": system, "sparsity": None if system == "a" else 0.5,
            "task": task, "regime": "transfer", "seed": seed, "mean": mean}  # fmt: skip


def test_mean_and_spread_over_seeds_and_both_averages():
    lines = [
        line("a", "xnli", 1, accuracy=60.0),
        line("a", "xnli", 2, accuracy=64.0),
        line("a", "xquad", 1, f1=50.0, exact=30.0),
    ]
    row = summarize(OUTLINE, lines, [])["regimes"]["transfer"][0]
    assert row["tasks"]["xnli"]["mean"] == {"accuracy": 62}
    assert row["tasks"]["xnli"]["spread"]["accuracy"] == pytest.approx(8**0.5)
    assert row["tasks"]["xquad"]["spread"] is None
    assert row["average_flat"] == pytest.approx((62 + 50 + 30) / 3)
    assert row["average_xtreme"] == pytest.approx((62 + 40) / 2)
    assert row["over_seeds"] == {"mean": 62, "spread": pytest.approx(8**0.5), "tasks": ["xnli"]}


def test_what_no_seed_touches_is_the_same_with_all_of_them():
    rows = (Row("a", "A", "", None, trained=False), Row("b", "B", "shared", 0.5))
    outline = Outline("mine", rows, {"transfer": ("xnli", "tatoeba")})
    lines = [line("a", "xnli", seed, accuracy=50.0) for seed in (1, 2)]
    lines.append(line("a", "tatoeba", 1, accuracy=10.0))
    lines += [line("b", "xnli", seed, accuracy=38.0 + 2 * seed) for seed in (1, 2)]
    lines += [line("b", "tatoeba", seed, accuracy=10.0) for seed in (1, 2)]
    dense, small = summarize(outline, lines, [])["regimes"]["transfer"]
    assert dense["over_seeds"] == {"mean": 30, "spread": 0, "tasks": ["xnli", "tatoeba"]}
    assert dense["tasks"]["tatoeba"]["spread"] is None
    assert small["over_seeds"]["mean"] == pytest.approx((41 + 10) / 2)
    missing = summarize(outline, lines[:-1], [])["regimes"]["transfer"]
    assert missing[1]["over_seeds"]["tasks"] == ["xnli"]


def test_what_is_missing_no_number_or_of_another_study_is_left_out():
    lines = [
        line("b", "xnli", 1, accuracy=float("nan")),
        line("b", "xnli", 2, study="another", accuracy=1.0),
        line("b", "xquad", 1) | {"mean": None},
        line("c", "xnli", 1, accuracy=1.0),
    ]
    sizes = [{"study": "mine", "system": "b", "sparsity": 0.7}]
    answer = summarize(OUTLINE, lines, sizes)
    row = answer["regimes"]["transfer"][1]
    assert row["tasks"] == {"xnli": None, "xquad": None}
    assert row["average_flat"] is row["average_xtreme"] is None
    assert answer["sizes"] == []


def test_one_seed_that_is_no_number_does_not_spoil_the_others():
    lines = [line("a", "xnli", 1, accuracy=50.0), line("a", "xnli", 2, accuracy=float("nan"))]
    cell = summarize(OUTLINE, lines, [])["regimes"]["transfer"][0]["tasks"]["xnli"]
    assert (cell["mean"], cell["seeds"]) == ({"accuracy": 50.0}, 1)


def test_lines_are_read_back_those_of_other_studies_stay_and_torn_ones_go(tmp_path):
    path = tmp_path / "results.jsonl"
    assert read_lines(path) == []
    write_lines(path, [{"study": "a", "n": 1}, {"study": "a", "n": 2}], "a")
    path.write_text(path.read_text() + '[1]\n{"study": "a", "n')
    write_lines(path, [{"study": "b", "n": 3}], "b")
    write_lines(path, [{"study": "a", "n": 4}], "a")
    assert read_lines(path) == [{"study": "b", "n": 3}, {"study": "a", "n": 4}]


def test_the_outline_has_every_size_and_tasks_in_order():
    outline = outline_of(STUDY, graph_of(), RUNS)
    assert [(row.system, row.sparsity) for row in outline.rows] == [
        ("dense", None), ("small", None), ("grad", 0.3), ("grad", 0.5), ("ds", 0.3), ("ds", 0.5),
    ]  # fmt: skip
    assert outline.columns == {"transfer": ("xnli", "tatoeba")}
    assert [row.setting for row in outline.rows] == ["", "", *["shared"] * 4]
