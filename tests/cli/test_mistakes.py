"""What was once done wrong: options that do not go together, text and weights that say nothing."""

import pytest
import torch
import transformers
from safetensors.torch import load_file

import polyprune as pp
from polyprune.errors import ConfigError
from polyprune.quantities import parse_count
from support.commands import answer, equal, largest_file, refused
from support.models import batch, speaking_model


def test_check_finds_scores_right(tmp_path, speaking, text):
    answer("score", speaking, "--corpus", text, "--out", tmp_path / "scores")
    assert answer("check", tmp_path / "scores")["right"]


def test_scores_serve_any_budget_and_set_of_languages(tmp_path, speaking, text):
    scores = tmp_path / "scores"
    answer("score", speaking, "--corpus", text, "--out", scores)
    for i, options in enumerate((["--sparsity", 0.3], ["--sparsity", 0.7, "--languages", "sw,ru"])):
        taken = answer("prune", speaking, "--scores", scores, *options, "--out", tmp_path / f"s{i}")
        prune = ("prune", speaking, "--corpus", text, "--rule", "fisher")
        made = answer(*prune, *options, "--out", tmp_path / f"c{i}")
        assert taken["languages"] == made["languages"]
        assert equal(tmp_path / f"s{i}", tmp_path / f"c{i}")


def test_scores_of_another_model_are_refused(tmp_path, speaking, text):
    scores, other = tmp_path / "scores", speaking_model(tmp_path / "other", "hidden-states")
    answer("score", other, "--corpus", text, "--out", scores)
    prune = ("prune", speaking, "--scores", scores, "--sparsity", 0.5, "--out", tmp_path / "small")
    error = refused(tmp_path, *prune)
    assert "scores of another model" in error
    assert "polyprune score" in error


@pytest.mark.parametrize(("rule", "per"), [("michel", "token"), ("prasanna", "batch")])
def test_a_rule_says_what_scores_it_needs(tmp_path, speaking, text, rule, per):
    scores = tmp_path / "scores"
    answer("score", speaking, "--corpus", text, "--out", scores)
    prune = ("prune", speaking, "--scores", scores, "--sparsity", 0.5, "--rule", rule)
    error = refused(tmp_path, *prune, "--out", tmp_path / "small")
    assert "taken per example" in error
    assert f"--per {per}" in error
    answer("score", speaking, "--corpus", text, "--per", per, "--out", scores, "--force")
    assert answer(*prune, "--out", tmp_path / "small")["rule"] == rule


@pytest.mark.parametrize(
    ("languages", "why"), [("ur", "There are: en, hi, ru, sw."), ("swa", "Did you mean 'sw'?")]
)
def test_languages_that_scores_do_not_have(tmp_path, speaking, text, languages, why):
    scores = tmp_path / "scores"
    answer("score", speaking, "--corpus", text, "--out", scores)
    prune = ("prune", speaking, "--scores", scores, "--sparsity", 0.5, "--out", tmp_path / "small")
    assert why in refused(tmp_path, *prune, "--languages", languages)


def test_the_gates_make_the_same_model_again_with_a_split_table(tmp_path, speaking, text):
    out, gates = tmp_path / "small", tmp_path / "gates"
    prune = ("prune", speaking, "--corpus", text, "--sparsity", 0.95, "--gates", gates)
    answer(*prune, "--rule", "fisher", "--out", out)
    answer("shrink", speaking, "--gates", gates, "--out", tmp_path / "again")
    inputs = batch("xlm-roberta")
    torch.testing.assert_close(
        pp.load(tmp_path / "again")(**inputs).logits,
        pp.load(out)(**inputs).logits,
        atol=1e-4,
        rtol=1e-4,
    )


def test_a_refused_or_failed_run_leaves_no_gates(tmp_path, speaking, text):
    prune = ("prune", speaking, "--corpus", text, "--sparsity", 0.5, "--gates", tmp_path / "gates")
    own = ("--setting", "non-shared", "--language", "ur", "--out", tmp_path / "small")
    assert "'ur'. There are: en, hi, ru, sw." in refused(tmp_path, *prune, *own)
    assert "'/proc/x'" in refused(tmp_path, *prune, "--out", "/proc/x/y")
    with largest_file(9_000):
        assert "File too large" in refused(tmp_path, *prune, "--out", tmp_path / "small")


def test_a_language_may_be_named_twice(tmp_path, speaking, text):
    score = ("score", speaking, "--corpus", text, "--languages", "sw,sw")
    assert answer(*score, "--out", tmp_path / "scores")["languages"] == ["sw"]


def test_a_language_may_be_named_twice_in_prune(tmp_path, speaking, text):
    prune = ("prune", speaking, "--corpus", text, "--languages", "sw,sw", "--sparsity", 0.5)
    named = answer(*prune, "--setting", "non-shared", "--out", tmp_path / "small")["languages"]
    assert named == ["sw"]


def test_text_that_says_nothing_about_the_model_is_refused(tmp_path, speaking):
    (tmp_path / "strange").mkdir()
    (tmp_path / "strange" / "am.txt").write_text("ሰላም ነው።\nሰላም\n", encoding="utf-8")
    score = ("score", speaking, "--corpus", tmp_path / "strange")
    assert "am" in refused(tmp_path, *score, "--out", tmp_path / "scores")


def test_one_sentence_cannot_be_told_from_others(tmp_path, text):
    model = speaking_model(tmp_path / "model", "hidden-states")
    score = ("score", model, "--corpus", text, "--sentences", 1)
    assert "two sentences or more" in refused(tmp_path, *score, "--out", tmp_path / "scores")


def test_no_languages_at_all_are_refused(tmp_path, speaking, text):
    scores = tmp_path / "scores"
    answer("score", speaking, "--corpus", text, "--out", scores)
    prune = ("prune", speaking, "--scores", scores, "--languages", "", "--sparsity", 0.5)
    assert "languages" in refused(tmp_path, *prune, "--out", tmp_path / "small")


@pytest.mark.parametrize(
    ("verb", "options", "why"),
    [
        ("score", ["--corpus"], "embeddings are not finite numbers"),
        ("prune", ["--sparsity", 0.5, "--corpus"], "embedding.words.weight holds"),
        ("prune", ["--sparsity", 0.5, "--method", "magnitude"], "embedding.words.weight holds"),
        ("prune", ["--sparsity", 0.5, "--method", "random"], "embedding.words.weight holds"),
    ],
)
def test_a_weight_that_is_not_a_number_is_told(tmp_path, speaking, text, verb, options, why):
    model = transformers.AutoModelForMaskedLM.from_pretrained(speaking)
    with torch.no_grad():
        model.get_parameter("roberta.embeddings.word_embeddings.weight")[7, 0] = torch.nan
    model.save_pretrained(speaking)
    corpus = [text] if options[-1] == "--corpus" else []
    assert why in refused(tmp_path, verb, speaking, *options, *corpus, "--out", tmp_path / "out")


@pytest.mark.parametrize("options", [["--unit-multiple", 8], ["--min-heads", 2], ["--exact"]])
def test_what_is_for_one_size_is_refused_for_every_size(tmp_path, speaking, text, options):
    out = tmp_path / "elastic"
    prune = ("prune", speaking, "--corpus", text, "--elastic", "--sparsity", 0.7, *options)
    assert "one size" in refused(tmp_path, *prune, "--out", out)


def test_gates_of_every_size_are_refused(tmp_path, speaking, text):
    gates = tmp_path / "gates"
    prune = ("prune", speaking, "--corpus", text, "--setting", "non-shared", "--gates", gates)
    assert "--sparsity" in refused(tmp_path, *prune, "--out", tmp_path / "elastic")


def test_elastic_and_language_do_not_go_together(tmp_path, speaking, text):
    prune = ("prune", speaking, "--corpus", text, "--setting", "non-shared", "--language", "sw")
    assert "--elastic" in refused(tmp_path, *prune, "--elastic", "--out", tmp_path / "elastic")


def test_gates_and_a_sparsity_do_not_go_together(tmp_path, speaking, text):
    out, gates = tmp_path / "elastic", tmp_path / "gates"
    prune = ("prune", speaking, "--corpus", text, "--elastic", "--sparsity", 0.5)
    answer(*prune, "--gates", gates, "--out", out)
    shrink = ("shrink", out, "--gates", gates, "--sparsity", 0.5, "--out", tmp_path / "small")
    assert "leave --sparsity out, or --gates" in refused(tmp_path, *shrink)


def test_a_multiple_that_no_layer_can_have_is_refused(tmp_path, dense):
    prune = ("prune", dense, "--method", "magnitude", "--sparsity", 0.1, "--unit-multiple", 64)
    assert "64" in refused(tmp_path, *prune, "--out", tmp_path / "small")


def test_a_minimum_that_is_no_multiple_of_anything_a_layer_has(tmp_path, dense):
    prune = ("prune", dense, "--method", "magnitude", "--sparsity", 0.1, "--unit-multiple", 16)
    error = refused(tmp_path, *prune, "--min-units", 40, "--out", tmp_path / "small")
    assert "multiples of 16" in error


@pytest.mark.parametrize("text", ["5kk", "12mk", "60,5M"])
def test_a_count_has_one_letter_and_whole_thousands(text):

    with pytest.raises(ConfigError, match=f"60,000,000, not '{text}'"):
        parse_count(text)


def test_task_scores_are_the_same_every_time(tmp_path, text):

    model = speaking_model(tmp_path / "model", "sentence-classification")
    for name in ("a", "b"):
        answer("score", model, "--corpus", text, "--languages", "sw", "--out", tmp_path / name)
    first, second = load_file(tmp_path / "a"), load_file(tmp_path / "b")
    assert all(torch.equal(first[name], second[name]) for name in first)


@pytest.mark.parametrize("method", ["random", "gradient"])
def test_a_seed_that_is_too_large(tmp_path, speaking, text, method):
    options = ("--corpus", text) if method == "gradient" else ()
    prune = ("prune", speaking, *options, "--sparsity", 0.5, "--method", method)
    error = refused(tmp_path, *prune, "--seed", 2**70, "--out", tmp_path / "small")
    assert f"from 0 to 2⁶³, not {2**70}" in error


def test_a_device_that_holds_nothing(tmp_path, speaking, text):
    score = ("score", speaking, "--corpus", text, "--device", "meta")
    error = refused(tmp_path, *score, "--out", tmp_path / "scores")
    assert "auto, cpu, cuda, cuda:1 or mps, not 'meta'" in error


def test_a_folder_is_refused_before_scoring(tmp_path, speaking, text):
    (tmp_path / "folder").mkdir()
    score = ("score", speaking, "--corpus", text, "--out", tmp_path / "folder", "--force")
    error = refused(tmp_path, *score)
    assert str(tmp_path / "folder") in error
    assert "/.folder." not in error


def test_scores_that_a_method_does_not_read_and_text_that_is_not_there(tmp_path, speaking):
    prune = ("prune", speaking, "--method", "random", "--sparsity", 0.5, "--out", tmp_path / "s")
    assert "reads no text" in refused(tmp_path, *prune, "--scores", tmp_path / "scores")
    assert "There is no folder" in refused(tmp_path, *prune, "--corpus", tmp_path / "nowhere")
