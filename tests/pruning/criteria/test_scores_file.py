"""Scores survive their file, and a wrong file is told what is wrong with it."""

import json
from dataclasses import asdict, replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file

import polyprune as pp
from polyprune.errors import CheckpointError, ConfigError, UnknownName
from polyprune.model.network.components import open_gates
from polyprune.pruning.criteria.importance import GateGradients
from polyprune.pruning.criteria.scores_file import (
    FORMAT,
    ScoreSheet,
    ScoringRecord,
    load_scores,
    save_scores,
)

SHAPE = pp.EncoderShape(20, 10, 1, 8, 4, (2, 0, 3), (5, 6, 0), 8)
ABOUT = ScoringRecord(
    model="0123456789abcdef",
    table="spectral",
    loss="masked-lm",
    per="example",
    languages=("sw", "bn-rom", "zh-Hans"),
    examples=(300, 12, 7),
    corpus="some text",
    seed=3,
)


def sheet_of(shape=SHAPE, about=ABOUT, seed=0):
    g = torch.Generator().manual_seed(seed)
    zeros = open_gates(shape, len(about.languages))
    absolute = zeros.map(lambda z: torch.rand(z.shape, generator=g) * 1e-3)
    squared = zeros.map(lambda z: torch.rand(z.shape, generator=g) * 1e-12)
    return ScoreSheet(GateGradients(absolute, squared), about)


def same(a, b):
    return all(
        torch.equal(x, y)
        for one, other in ((a.absolute, b.absolute), (a.squared, b.squared))
        for x, y in zip(one.leaves(), other.leaves(), strict=True)
    )


@pytest.fixture
def file(tmp_path):
    """A right file of scores."""
    save_scores(tmp_path / "scores", sheet_of())
    return tmp_path / "scores"


def rewrite(file, tensors=None, **metadata):
    """The same file with some tensors changed, and other metadata."""
    said = {"format": FORMAT, "about": json.dumps(asdict(ABOUT))} | metadata
    save_file(
        load_file(file) | (tensors or {}), file, {k: v for k, v in said.items() if v is not None}
    )
    return file


def test_a_file_holds_every_score_by_its_name(file):
    tensors, gradients = load_file(file), sheet_of().gradients
    scores = {
        f"{statistic}.{name}": score
        for statistic in ("absolute", "squared")
        for name, score in getattr(gradients, statistic).named().items()
    }
    assert tensors.keys() == scores.keys()
    assert all(torch.equal(tensors[name], score) for name, score in scores.items())


def test_scores_survive_their_file_exactly(file):
    sheet, again = sheet_of(), load_scores(file)
    assert again.about == sheet.about
    assert same(again.gradients, sheet.gradients)
    assert again.gradients.absolute.heads[1].shape == (3, 0)


def test_one_tensor_may_be_the_scores_of_several_layers(tmp_path):
    scores = open_gates(SHAPE, 3)
    save_scores(tmp_path / "scores", ScoreSheet(GateGradients(scores, scores), ABOUT))
    assert same(load_scores(tmp_path / "scores").gradients, GateGradients(scores, scores))


def test_a_file_is_not_overwritten_unless_told(file):
    before = file.read_bytes()
    with pytest.raises(ConfigError, match="exists already"):
        save_scores(file, sheet_of(seed=1))
    assert file.read_bytes() == before
    save_scores(file, sheet_of(seed=1), force=True)
    assert file.read_bytes() != before


@given(st.lists(st.integers(0, 2), min_size=1, max_size=3, unique=True))
def test_the_rows_of_some_languages_are_theirs_in_the_order_asked_for(rows):
    sheet = sheet_of()
    some = sheet.only([ABOUT.languages[i] for i in rows])
    assert some.about == replace(
        ABOUT,
        languages=tuple(ABOUT.languages[i] for i in rows),
        examples=tuple(ABOUT.examples[i] for i in rows),
    )
    for name in ("absolute", "squared"):
        before, after = getattr(sheet.gradients, name), getattr(some.gradients, name)
        pairs = zip(before.leaves(), after.leaves(), strict=True)
        assert all(torch.equal(a[rows], b) for a, b in pairs)


def test_languages_may_be_spelled_as_elsewhere():
    assert sheet_of().only(["zh", "bn_rom"]).about.languages == ("zh-Hans", "bn-rom")


def test_some_rows_survive_a_file_of_their_own(tmp_path):
    some = sheet_of().only(["zh", "sw"])
    save_scores(tmp_path / "some", some)
    again = load_scores(tmp_path / "some")
    assert again.about == some.about
    assert same(again.gradients, some.gradients)


def test_languages_that_were_not_scored_are_refused():
    with pytest.raises(UnknownName, match=r"language of these scores 'ur'.* are: sw, bn-rom, zh"):
        sheet_of().only(["sw", "ur"])
    with pytest.raises(UnknownName, match="Unknown language 'klingon'"):
        sheet_of().only(["klingon"])


def test_scores_of_this_model_are_right():
    sheet_of().check(ABOUT.model, SHAPE, "scores")


@pytest.mark.parametrize(
    "change", [{"heads": (2, 0, 4)}, {"units": (5, 6, 1)}, {"rank": 7, "factorized": True}]
)
def test_scores_of_another_shape_are_refused(change):
    with pytest.raises(CheckpointError, match="scores holds scores of another model"):
        sheet_of().check(ABOUT.model, replace(SHAPE, **change), "scores")


def test_scores_of_other_weights_are_refused():
    with pytest.raises(
        CheckpointError,
        match=r"starts with 01234567, this model's with fedcba98\).* polyprune score",
    ):
        sheet_of().check("fedcba9876543210", SHAPE, "scores")


def test_no_scores_file(tmp_path):
    for path in (tmp_path / "scores", tmp_path):
        with pytest.raises(CheckpointError, match=r"no scores file .* with polyprune score\."):
            load_scores(path)


@pytest.mark.parametrize("left", [0, 5, 0.5, 0.99])
def test_a_truncated_file(file, left):
    whole = file.read_bytes()
    file.write_bytes(whole[: int(left * len(whole)) if isinstance(left, float) else left])
    with pytest.raises(CheckpointError, match="is damaged or no safetensors file"):
        load_scores(file)


def test_gates_are_not_scores(tmp_path):
    pp.save_gates(tmp_path / "gates", pp.open_gates(SHAPE))
    with pytest.raises(CheckpointError, match=r"not one of scores .*'polyprune-gates-1'"):
        load_scores(tmp_path / "gates")


def test_a_file_that_does_not_say_what_it_is(file):
    with pytest.raises(CheckpointError, match="its format says 'nothing'"):
        load_scores(rewrite(file, format=None))


@pytest.mark.parametrize("key", ["model", "table", "loss", "per", "languages", "examples"])
def test_metadata_with_a_missing_key(file, key):
    about = {name: value for name, value in asdict(ABOUT).items() if name != key}
    with pytest.raises(CheckpointError, match=f"has no right scores .*'?{key}'?.* Make it again"):
        load_scores(rewrite(file, about=json.dumps(about)))


@pytest.mark.parametrize("about", [None, "", "{", "[]", "null", '{"model": 1, "flavour": 2}'])
def test_metadata_that_is_no_metadata(file, about):
    with pytest.raises(CheckpointError, match=r"has no right scores .* Make it again"):
        load_scores(rewrite(file, about=about))


@pytest.mark.parametrize("value", [torch.nan, torch.inf])
@pytest.mark.parametrize("name", ["absolute.rank", "squared.units.1", "absolute.heads.2"])
def test_a_score_that_is_not_a_number(file, name, value):
    wrong = load_file(file)[name]
    wrong[1, 2] = value
    with pytest.raises(
        CheckpointError, match=rf"{name.partition('.')[2]} is not a finite number for each of 3"
    ):
        load_scores(rewrite(file, {name: wrong}))


def test_a_row_too_few(file):
    few = load_file(file)["squared.rank"][:2]
    with pytest.raises(CheckpointError, match="rank is not a finite number for each of 3 rows"):
        load_scores(rewrite(file, {"squared.rank": few.clone()}))


@pytest.mark.parametrize("name", ["absolute.rank", "squared.units.1", "absolute.heads.0"])
def test_a_tensor_that_is_missing(file, name):
    tensors = load_file(file)
    del tensors[name]
    save_file(tensors, file, {"format": FORMAT, "about": json.dumps(asdict(ABOUT))})
    with pytest.raises(CheckpointError, match="has no right scores"):
        load_scores(file)
