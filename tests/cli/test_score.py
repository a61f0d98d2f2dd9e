"""`polyprune score`, as a user types it."""

import pytest
import torch
import transformers
from safetensors.torch import load_file

from support.commands import answer, polyprune, refused
from support.models import speaking_model

LANGUAGES = ["en", "hi", "ru", "sw"]


@pytest.fixture
def out(tmp_path):
    return tmp_path / "scores.safetensors"


def test_scores_say_how_they_came_about(speaking, text, out):
    about = answer("score", speaking, "--corpus", text, "--seed", 7, "--out", out)
    assert len(about.pop("model")) == 64
    assert about == {
        "out": str(out),
        "table": "spectral",
        "loss": "masked-lm",
        "per": "example",
        "languages": LANGUAGES,
        "examples": [12, 12, 12, 12],
        "corpus": str(text),
        "seed": 7,
    }


def test_every_component_has_a_score_in_every_language(speaking, text, out):
    answer("score", speaking, "--corpus", text, "--out", out)
    scores = load_file(out)
    counts = {"heads.0": 4, "heads.1": 4, "units.0": 40, "units.1": 40, "rank": 24}
    for statistic in ("absolute", "squared"):
        for name, count in counts.items():
            assert scores[f"{statistic}.{name}"].shape == (4, count)
    assert all(score.isfinite().all() and (score >= 0).all() for score in scores.values())
    assert (scores["absolute.rank"].sum(1) > 0).all()


def test_only_the_languages_that_are_asked_for_in_that_order(speaking, text, out):
    about = answer("score", speaking, "--corpus", text, "--languages", "sw, hi", "--out", out)
    assert about["languages"] == ["sw", "hi"]
    everything = out.with_name("all")
    answer("score", speaking, "--corpus", text, "--out", everything)
    some, scores = load_file(out), load_file(everything)
    rows = [LANGUAGES.index(code) for code in about["languages"]]
    for name in some:
        torch.testing.assert_close(some[name], scores[name][rows])


def test_no_more_sentences_than_asked_for_and_no_blank_ones(speaking, text, out):
    sentences = (text / "sw.txt").read_text().splitlines()
    (text / "sw.txt").write_text("\n\n".join(sentences[:3]) + "\n \n")
    about = answer("score", speaking, "--corpus", text, "--sentences", 5, "--out", out)
    assert dict(zip(about["languages"], about["examples"], strict=True)) == {
        "en": 5,
        "hi": 5,
        "ru": 5,
        "sw": 3,
    }


def test_the_same_words_are_masked_every_time(speaking, text, out):
    paths = [out.with_name(name) for name in ("a", "b", "c")]
    for path, seed in zip(paths, (0, 0, 1), strict=True):
        answer("score", speaking, "--corpus", text, "--seed", seed, "--out", path)
    first, second, other = (load_file(path) for path in paths)
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert not torch.equal(first["absolute.rank"], other["absolute.rank"])


@pytest.mark.parametrize("per", ["token", "batch"])
def test_absolute_values_can_be_taken_per_token_or_batch(speaking, text, out, per):
    answer("score", speaking, "--corpus", text, "--out", out.with_name("example"))
    about = answer("score", speaking, "--corpus", text, "--per", per, "--out", out)
    assert about["per"] == per
    scores, per_example = load_file(out), load_file(out.with_name("example"))
    assert not torch.allclose(scores["absolute.rank"], per_example["absolute.rank"])


@pytest.mark.parametrize(
    ("readout", "loss"),
    [
        ("masked-lm", "masked-lm"),
        ("hidden-states", "contrastive"),
        ("sentence-classification", "task"),
        ("token-classification", "task"),
        ("span", "task"),
    ],
)
def test_the_loss_fits_the_readout_unless_given(tmp_path, text, out, readout, loss):
    model = speaking_model(tmp_path / "model", readout)
    about = answer("score", model, "--corpus", text, "--languages", "sw", "--out", out)
    assert about["loss"] == loss


def test_translations_are_views_of_the_same_sentence(tmp_path, text, out):
    model = speaking_model(tmp_path / "model", "hidden-states")
    alone = out.with_name("alone")
    answer("score", model, "--corpus", text, "--out", alone)
    about = answer("score", model, "--corpus", text, "--parallel", "en", "--out", out)
    assert about["loss"] == "contrastive"
    assert about["examples"] == [12, 12, 12, 12]
    paired, alone = (load_file(path)["absolute.rank"] for path in (out, alone))
    english = LANGUAGES.index("en")
    torch.testing.assert_close(paired[english], alone[english])  # it has no other view but its own
    for code in set(LANGUAGES) - {"en"}:
        assert not torch.allclose(paired[LANGUAGES.index(code)], alone[LANGUAGES.index(code)])


def test_sentences_begin_with_the_models_own_prompt(tmp_path, text, out):
    model = speaking_model(tmp_path / "model", "hidden-states")
    score = ("score", model, "--corpus", text, "--languages", "sw")
    given, own, none = (out.with_name(name) for name in ("given", "own", "none"))
    answer(*score, "--prefix", "query: ", "--out", given)
    (model / "config_sentence_transformers.json").write_text('{"prompts": {"query": "query: "}}')
    answer(*score, "--out", own)
    answer(*score, "--prefix", "", "--out", none)
    given, own, none = (load_file(path)["absolute.rank"] for path in (given, own, none))
    assert torch.equal(given, own)
    assert not torch.allclose(given, none)


def test_people_see_a_table_of_80_columns(speaking, text, out):
    status, stdout, _ = polyprune("score", speaking, "--corpus", text, "--out", out)
    *table, _, _, last = stdout.rstrip().splitlines()
    assert status == 0
    assert max(map(len, table)) <= 80
    rows = {row[0]: row[1:] for row in map(str.split, table) if row}
    assert [rows[code][0] for code in LANGUAGES] == ["12"] * 4
    assert all(sum(cell.endswith("%") for cell in rows[code]) == 3 for code in LANGUAGES)
    assert last == f"polyprune prune {speaking} --scores {out} --sparsity 0.5 --out half"


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--languages", "swa"], "Unknown language 'swa'. Did you mean 'sw'?"),
        (["--languages", "swahilli"], "Did you mean 'sw'?"),
        (["--languages", "en,ur"], "'ur'. There are: en, hi, ru, sw."),
        (["--languages", ""], "no languages"),
        (["--sentences", "0"], "at least one sentence"),
        (["--loss", "masked"], "Unknown loss 'masked'. Did you mean 'masked-lm'?"),
        (["--loss", "task"], "has no task"),
        (["--per", "tokens"], "Did you mean 'token'?"),
        (["--table", "spectrum"], "Did you mean 'spectral'?"),
        (["--device", "nonsense"], "--device is auto, cpu, cuda, cuda:1 or mps, not 'nonsense'"),
        (["--parallel", "en"], "Parallel text is for the contrastive loss"),
        (["--batch-size", "0"], "at least 1 example"),
        (["--tokens", "2"], "at least 3 tokens"),
    ],
)
def test_what_cannot_be_meant_is_refused(tmp_path, speaking, text, out, options, why):
    error = refused(tmp_path, "score", speaking, "--corpus", text, "--out", out, *options)
    assert why in error


def test_a_loss_that_the_model_has_no_readout_for(tmp_path, text, out):
    model = speaking_model(tmp_path / "model", "hidden-states")
    score = ("score", model, "--corpus", text, "--out", out)
    assert "--loss contrastive" in refused(tmp_path, *score, "--loss", "masked-lm")
    assert "There are: en, hi, ru, sw." in refused(tmp_path, *score, "--parallel", "ur")


def test_a_corpus_that_is_not_there(tmp_path, speaking, out):
    nowhere = tmp_path / "nowhere"
    error = refused(tmp_path, "score", speaking, "--corpus", nowhere, "--out", out)
    assert f"There is no folder {nowhere}." in error


def test_a_folder_without_text(tmp_path, speaking, out):
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "notes.txt").write_text("no language\n")
    error = refused(tmp_path, "score", speaking, "--corpus", tmp_path / "empty", "--out", out)
    assert f"{tmp_path / 'empty'} has no text" in error


def test_a_language_without_text_is_named(tmp_path, speaking, text, out):
    (text / "ru.txt").write_text("\n \n")
    error = refused(tmp_path, "score", speaking, "--corpus", text, "--out", out)
    assert "There is no text in ru" in error
    some = ("--languages", "en,sw")
    assert answer("score", speaking, "--corpus", text, *some, "--out", out)["examples"] == [12, 12]


def test_text_that_is_not_text_is_named_with_its_line(tmp_path, speaking, text, out):
    (text / "hi.txt").write_bytes(b"one\n\xff\xfe\n")
    error = refused(tmp_path, "score", speaking, "--corpus", text, "--out", out)
    assert f"Line 2 of {text / 'hi.txt'} is not UTF-8" in error


def test_a_model_that_cannot_read(tmp_path, dense, text, out):
    error = refused(tmp_path, "score", dense, "--corpus", text, "--out", out)
    assert f"There is no tokenizer in {dense}" in error


def test_scores_are_not_overwritten_without_force(tmp_path, speaking, text, out):
    out.write_text("precious")
    score = ("score", speaking, "--corpus", text, "--out", out)
    assert "--force" in refused(tmp_path, *score)
    assert answer(*score, "--force")["languages"] == LANGUAGES
    assert "absolute.rank" in load_file(out)


def test_a_loss_that_is_not_a_number_is_named_with_its_batch(tmp_path, speaking, text, out):
    model = transformers.AutoModelForMaskedLM.from_pretrained(speaking)
    with torch.no_grad():
        model.get_parameter("roberta.encoder.layer.1.output.dense.weight")[3, 5] = torch.nan
    model.save_pretrained(speaking)
    score = ("score", speaking, "--corpus", text, "--languages", "sw,ru", "--out", out)
    assert "The loss of batch 1 of sw is not a number" in refused(tmp_path, *score)
