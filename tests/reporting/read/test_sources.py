"""Whatever somebody has of results is read as what it is."""

import json

import pytest

from polyprune.errors import DataError
from polyprune.reporting.read.sources import read_results
from polyprune.reporting.results import (
    LayerWidths,
    System,
)

WHOLE = {"heads": [4, 4], "units": [8, 8], "rank": 6, "head_width": 2}
GRAD = {"study": "s", "system": "grad", "title": "Grad", "setting": "shared", "sparsity": 0.5}


def write(path, *lines):
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")


@pytest.fixture
def study(tmp_path):
    score = {"task": "xnli", "regime": "transfer", "seed": 1}
    write(
        tmp_path / "results.jsonl",
        GRAD | score | {"mean": {"accuracy": 60.0}, "languages": {"sw": {"accuracy": 60.0}}},
        GRAD | score | {"seed": 2, "mean": None, "languages": {}, "failed": "The text is gone."},
    )
    own = {"heads": [1, 4], "units": [8, 0], "rank": 3}
    rows = {"sw": own, "ur": own | {"rank": 4}}
    apart = {"languages": ["sw", "ur"], "matrix": [[0, 0.2], [0.2, 0]]}
    size = {"parameters": 10, "encoder_parameters": 5, "ratio": 1.9, "low": 1.8, "high": 2.0}
    write(
        tmp_path / "sizes.jsonl",
        GRAD | size | {"whole": WHOLE, "kept": rows, "distances": apart},
    )
    curve = [{"step": s, "held_out": {"sw": 4.0 - s, "ur": 2.0}} for s in (0, 1)]
    for seed in (2, 1):
        scaled = [e | {"step": e["step"] * seed} for e in curve]
        with (tmp_path / "curves.jsonl").open("a") as file:
            file.write(json.dumps(GRAD | {"seed": seed, "curve": scaled}) + "\n")
    return tmp_path


def test_a_claim_and_a_training_are_about_the_system_whose_size_was_measured(study):
    half, dense = ({"study": "s", "system": name, "sparsity": None} for name in ("half", "dense"))
    run = {"seed": 1, "steps": 2, "curve": [{"step": 2, "held_out": {"sw": 3.0}}]}
    size = {"parameters": 10, "encoder_parameters": 10}
    write(study / "sizes.jsonl", dense | size, half | size | {"encoder_parameters": 5})
    write(study / "curves.jsonl", half | run)
    sides = {"better": {"system": "dense"}, "worse": {"system": "half"}}
    write(study / "claims.jsonl", {"study": "s", "claim": "Dense beats half", **sides})
    found = read_results([str(study)])
    (claim,), (training,) = found.claims, found.trainings
    assert (claim.better, claim.worse) == (("dense", None), ("half", 0.5))
    assert training.system in found.systems


def test_a_study_folder_tells_scores_failures_sizes_what_is_kept_and_curves(study):
    found = read_results([str(study)])
    assert found.title == "s"
    assert found.systems == (System("grad", "Grad", 0.5),)
    done, failed = found.scores
    assert (done.languages, failed.failed) == ({"sw": {"accuracy": 60}}, "The text is gone.")
    assert (found.sizes[0].faster, found.sizes[0].low) == (1.9, 1.8)
    assert [(each.language, each.kept.rank) for each in found.kept] == [("sw", 3), ("ur", 4)]
    assert found.kept[0].whole == LayerWidths((4, 4), (8, 8), 6)
    assert found.distances[0].matrix == ((0, 0.2), (0.2, 0))
    assert [curve.language for curve in found.curves] == [None, "sw", "ur"]
    assert found.curves[0].points == ((0, 3.0), (1, 2.5))  # of the first seed
    assert found.languages == ("sw", "ur")


def test_numbers_that_are_none_stay_none(tmp_path):
    line = GRAD | {"task": "xnli", "mean": {"accuracy": float("nan")}}
    languages = {"sw": {"accuracy": None}, "ur": None, "hi": {"accuracy": "high"}}
    write(tmp_path / "results.jsonl", line | {"languages": languages, "seed": "one"})
    score = read_results([str(tmp_path)]).scores[0]
    assert score.mean == {"accuracy": None}
    assert score.languages == {"sw": {"accuracy": None}, "ur": {}, "hi": {"accuracy": None}}
    assert score.seed is None


@pytest.mark.parametrize(
    "damage",
    [
        {"kept": {"sw": {"heads": [1], "units": [8], "rank": 3}}},
        {"kept": {"sw": {"heads": [1, None], "units": [8, 8], "rank": 3}}},
        {"kept": {"sw": {"heads": [1, 2], "units": [8], "rank": 3}}},
        {"kept": {"sw": 3}},
        {"kept": {}},
        {"whole": {"heads": 3}},
    ],
)
def test_what_is_kept_is_left_out_where_it_makes_no_sense(tmp_path, damage):
    line = GRAD | {"parameters": 1, "whole": WHOLE, "kept": {"sw": {}}} | damage
    write(tmp_path / "sizes.jsonl", line)
    assert read_results([str(tmp_path)]).kept == ()


@pytest.mark.parametrize(
    "apart",
    [
        {"languages": ["sw", "ur"], "matrix": [[0, 0.2]]},
        {"languages": ["sw"], "matrix": [[None]]},
        {"languages": ["sw"]},
        [],
    ],
)
def test_distances_are_left_out_where_they_make_no_sense(tmp_path, apart):
    write(tmp_path / "sizes.jsonl", GRAD | {"parameters": 1, "distances": apart})
    assert read_results([str(tmp_path)]).distances == ()


def test_a_shape_alone_is_compared_with_the_first_model(tmp_path):
    shape = {"heads": [4, 4], "units": [8, 8], "rank": 6}
    dense = {"study": "s", "system": "dense", "parameters": 9} | shape
    cut = GRAD | {"parameters": 5, "language": "en"} | shape | {"heads": [1, 0]}
    write(tmp_path / "sizes.jsonl", dense, cut)
    _, kept = read_results([str(tmp_path)]).kept
    assert (kept.language, kept.kept.heads, kept.whole.heads) == ("en", (1, 0), (4, 4))


def test_a_line_that_is_still_being_written_is_left_out_and_a_damaged_one_is_told(tmp_path):
    path = tmp_path / "results.jsonl"
    write(path, GRAD | {"task": "xnli", "mean": {"accuracy": 1}})
    whole = path.read_text()
    path.write_text(whole + '{"task": "xn')
    assert len(read_results([str(path)]).scores) == 1
    path.write_text('{"task": "xn\n' + whole)
    with pytest.raises(DataError, match=r"Line 1 of .* is not JSON .* Remove it"):
        read_results([str(path)])


def test_what_evaluate_and_measure_print_comes_together(tmp_path):
    systems = [
        {"model": model, "sparsity": None, "mean": {"accuracy": score},
         "languages": {"sw": {"scores": {"accuracy": score}, "n": 9}, "ur": {"scores": None}}}
        for model, score in (("e5-small", 90.0), ("out/half", 80.0))
    ]  # fmt: skip
    (tmp_path / "scores.json").write_text(json.dumps({"task": "tatoeba", "systems": systems}))
    shape = {"heads": [4, 4], "units": [8, 8], "rank": 6}
    models = [
        {"model": "e5-small", "parameters": 100, "encoder_parameters": 40, **shape,
         "speed": {"ratio": 1.0, "sentences_per_second": 10.0}},
        {"model": "out/half", "parameters": 80, "encoder_parameters": 20, **shape, "heads": [2, 2],
         "speed": {"ratio": 1.8, "low": 1.7, "high": 1.9}},
    ]  # fmt: skip
    (tmp_path / "speed.json").write_text(json.dumps({"models": models, "machine": {"cpu": "x"}}))
    found = read_results([str(tmp_path / "scores.json"), str(tmp_path / "speed.json")])
    half = System("out/half", "half", 0.5)
    assert found.systems == (System("e5-small", "e5-small"), half)
    assert [each.system for each in found.scores] == [each.system for each in found.sizes]
    assert found.scores[1].languages == {"sw": {"accuracy": 80}, "ur": {}}
    assert (found.sizes[1].faster, found.kept[1].kept.heads) == (1.8, (2, 2))
    assert found.about["machine"] == {"cpu": "x"}
    assert found.baseline(half) == System("e5-small", "e5-small")


def test_a_training_run_tells_its_held_out_losses(tmp_path):
    (tmp_path / "run.json").write_text('{"phases": []}')
    write(
        tmp_path / "log.jsonl",
        {"step": 1, "held_out": {}},
        {"step": 2, "held_out": {"sw": 3.0, "ur": None}},
    )
    mean_of_all, sw, ur = read_results([str(tmp_path)]).curves
    assert (mean_of_all.points, sw.points, ur.points) == (((2, 3.0),), ((2, 3.0),), ((2, None),))


@pytest.mark.parametrize("content", ["", "[]", '"words"', '{"other": 1}', "{torn"])
def test_a_file_without_results_is_refused(tmp_path, content):
    path = tmp_path / "found.json"
    path.write_text(content)
    with pytest.raises(DataError, match=r"found\.json .*Give the folder of a study"):
        read_results([str(path)])


def test_no_such_file_an_empty_folder_and_no_text_are_refused(tmp_path):
    with pytest.raises(DataError, match=r"There is no nowhere\. Give"):
        read_results(["nowhere"])
    with pytest.raises(DataError, match="holds no results"):
        read_results([str(tmp_path)])
    (tmp_path / "results.jsonl").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError, match="is not text"):
        read_results([str(tmp_path)])


def test_the_paper_is_one_of_the_sources_and_adds_to_others(study):
    found = read_results([str(study), "paper"])
    assert found.title == "s"
    assert {"grad", "grad-shared"} <= {each.name for each in found.systems}
