"""`polyprune prune`, as a user types it."""

import json
import re

import pytest
import torch
import transformers
from safetensors.torch import load_file

import polyprune as pp
from support.commands import EXACT, answer, equal, largest_file, polyprune, refused
from support.models import batch

DENSE = 12_020
"""The parameters of the tiny model."""
HEAD, TOTAL = 24, 376
"""What a head, the largest component, weighs, and what all components weigh together."""


@pytest.mark.parametrize("sparsity", [0.1, 0.3, 0.5, 0.7, 0.9])
def test_a_sparsity_is_met_and_the_model_is_what_it_says(tmp_path, speaking, text, sparsity):
    out = tmp_path / "small"
    report = answer("prune", speaking, "--corpus", text, "--sparsity", sparsity, "--out", out)
    assert report["requested_sparsity"] == sparsity
    assert sparsity - 1e-9 <= report["gate_sparsity"] < sparsity + HEAD / TOTAL
    assert 0 < report["encoder_sparsity"] < 1
    assert report["largest_difference"] < EXACT
    assert set(report["differences"]) == {"en", "hi", "ru", "sw", "random tokens"}
    small, inputs = pp.load(out), batch("xlm-roberta")
    theirs = transformers.AutoModelForMaskedLM.from_pretrained(out).eval()
    assert small.num_parameters() == theirs.num_parameters() == report["parameters"] < DENSE
    assert (*small.shape.heads, *small.shape.units, small.shape.rank) == (
        *report["heads"],
        *report["units"],
        report["rank"],
    )
    assert torch.equal(small(**inputs).logits, theirs(**inputs).logits)
    measured = answer("measure", out)
    for field in ("parameters", "bytes", "multiply_adds"):
        assert report[field] == measured[field]
    assert polyprune("check", out)[0] == 0


def test_the_word_table_is_split_once(tmp_path, speaking, text, monkeypatch):
    split = []

    def counted(model, start, *more):
        split.append(start)
        return pp.factorize(model, start, *more)

    monkeypatch.setattr("polyprune.pruning.shrinking.factorize", counted)
    prune = ("prune", speaking, "--corpus", text, "--sparsity", 0.5)
    answer(*prune, "--rule", "fisher", "--out", tmp_path / "small")
    answer(*prune, "--rounds", 1, "--out", tmp_path / "made-up")
    assert split == ["spectral"] * 2
    answer(*prune, "--rounds", 4, "--out", tmp_path / "rounds")
    assert split == ["spectral"] * 3


def test_the_report_compares_with_the_original(tmp_path, speaking, text):
    report = answer(
        "prune", speaking, "--corpus", text, "--sparsity", 0.5, "--out", tmp_path / "small"
    )
    original = answer("measure", speaking)
    for field in ("parameters", "bytes", "multiply_adds"):
        assert report[f"{field}_before"] == original[field]
    assert report["density"] == pytest.approx(1 - report["gate_sparsity"])
    assert (report["method"], report["rule"]) == ("gradient", "second-order")
    assert (report["setting"], report["elastic"]) == ("shared", False)
    assert report["languages"] == ["en", "hi", "ru", "sw"]
    certificate = json.loads((tmp_path / "small" / "certificate.json").read_text())
    assert certificate["largest_difference"] == report["largest_difference"]


def test_a_pruned_model_reads_as_the_original_did(tmp_path, speaking, text):
    answer("prune", speaking, "--corpus", text, "--sparsity", 0.5, "--out", tmp_path / "small")
    old, new = (
        transformers.AutoTokenizer.from_pretrained(folder)
        for folder in (speaking, tmp_path / "small")
    )
    assert new("Maji ni baridi.") == old("Maji ni baridi.")


def test_people_see_what_was_asked_for_and_what_came_out(tmp_path, speaking, text):
    status, stdout, _ = polyprune(
        "prune", speaking, "--corpus", text, "--sparsity", "75%", "--out", tmp_path / "small"
    )
    assert status == 0
    assert "Asked for sparsity 75.00%, got 7" in stdout
    assert "Heads by layer: " in stdout
    assert max(map(len, stdout.partition("Asked")[0].splitlines())) <= 80


def test_a_percentage_gives_the_same_model(tmp_path, speaking, text):
    for sparsity in ("0.5", "50%"):
        out = tmp_path / sparsity
        answer("prune", speaking, "--corpus", text, "--sparsity", sparsity, "--out", out)
    assert equal(tmp_path / "0.5", tmp_path / "50%")


@pytest.mark.parametrize(
    ("sparsity", "why"),
    [
        ("50", "Did you mean 50%?"),
        ("1.3", "Did you mean 1.3%?"),
        ("-0.1", "from 0 to less than 1"),
        ("100%", "less than 100%, not 100%"),
        ("abc", "a number such as 0.5 or 50%, not 'abc'"),
    ],
)
def test_what_cannot_be_a_sparsity_is_refused(tmp_path, dense, sparsity, why):
    prune = ("prune", dense, "--method", "magnitude", "--out", tmp_path / "small")
    assert why in refused(tmp_path, *prune, "--sparsity", sparsity)


@pytest.mark.parametrize("parameters", [11_900, 9_000, 4_000])
def test_a_number_of_parameters_is_met(tmp_path, speaking, text, parameters):
    out = tmp_path / "small"
    report = answer("prune", speaking, "--corpus", text, "--parameters", parameters, "--out", out)
    head = 4 * 6 * 24 + 3 * 6  # the largest component
    assert parameters - head < report["parameters"] <= parameters
    assert pp.load(out).num_parameters() == report["parameters"]
    assert (report["requested_parameters"], report["requested_sparsity"]) == (parameters, None)
    assert report["largest_difference"] < EXACT


def test_a_number_of_parameters_may_have_a_letter(tmp_path, dense):
    prune = ("prune", dense, "--method", "magnitude", "--parameters")
    report = answer(*prune, "5k", "--out", tmp_path / "letter")
    assert report["requested_parameters"] == 5_000
    answer(*prune, "5_000", "--out", tmp_path / "plain")
    assert equal(tmp_path / "letter", tmp_path / "plain")


def test_more_parameters_than_there_are_keep_the_model_whole(tmp_path, dense):
    out = tmp_path / "whole"
    report = answer("prune", dense, "--method", "magnitude", "--parameters", "1M", "--out", out)
    assert report["parameters"] == DENSE
    inputs = batch("xlm-roberta")
    torch.testing.assert_close(pp.load(out)(**inputs).logits, pp.load(dense)(**inputs).logits)


def test_too_few_parameters_say_how_few_are_possible(tmp_path, speaking, text):
    out = tmp_path / "small"
    prune = ("prune", speaking, "--corpus", text, "--out", out, "--parameters")
    least = re.search(r"The smallest possible is ([\d,]+)\.", refused(tmp_path, *prune, "100"))
    report = answer(*prune, least[1])
    assert report["parameters"] == int(least[1].replace(",", ""))
    assert report["rank"] == 1


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ([], "Give a budget"),
        (["--sparsity", "0.5", "--size", "5kB", "--worst"], "--exact and --worst go with a"),
        (["--parameters", "many"], "such as 60M or 60,000,000, not 'many'"),
        (["--parameters", "0"], "such as 60M"),
        (["--parameters", "5k", "--exact"], "go with a --sparsity, not with another"),
        (["--sparsity", "0.9", "--min-heads", "4"], "The largest sparsity possible is 0.4867"),
        (["--sparsity", "0.5", "--rule", "fischer"], "Did you mean 'fisher'?"),
        (["--sparsity", "0.5", "--method", "magnitud"], "Did you mean 'magnitude'?"),
        (["--sparsity", "0.5", "--setting", "nonshared"], "Did you mean 'non-shared'?"),
        (["--sparsity", "0.5", "--language", "sw"], "--language sw is for --setting non-shared"),
        (["--sparsity", "0.5", "--setting", "non-shared"], "magnitude' knows no languages"),
    ],
)
def test_what_cannot_be_meant_is_refused(tmp_path, dense, options, why):
    prune = ("prune", dense, "--method", "magnitude", "--out", tmp_path / "small")
    assert why in refused(tmp_path, *prune, *options)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--device", "nonsense"], "--device is auto, cpu, cuda, cuda:1 or mps, not 'nonsense'"),
        (["--languages", "ur"], "There are: en, hi, ru, sw."),
        (["--languages", "swa"], "Did you mean 'sw'?"),
        (["--scores", "scores"], "There is no scores file scores."),
        (["--setting", "non-shared", "--language", "ur"], "There are: en, hi, ru, sw."),
        (["--setting", "non-shared", "--language", "swa"], "Did you mean 'sw'?"),
    ],
)
def test_what_does_not_fit_the_text_is_refused(tmp_path, speaking, text, options, why):
    prune = ("prune", speaking, "--corpus", text, "--sparsity", 0.5, "--out", tmp_path / "small")
    assert why in refused(tmp_path, *prune, *options)


def test_gradients_need_text(tmp_path, speaking):
    prune = ("prune", speaking, "--sparsity", 0.5, "--out", tmp_path / "small")
    assert "give --scores, --corpus with a folder" in refused(tmp_path, *prune)
    nothing = tmp_path / "nothing"
    assert f"There is no scores file {nothing}" in refused(tmp_path, *prune, "--scores", nothing)
    assert f"There is no folder {nothing}" in refused(tmp_path, *prune, "--corpus", nothing)


def test_a_model_without_a_tokenizer_needs_a_method_without_text(tmp_path, dense, text):
    prune = ("prune", dense, "--sparsity", 0.5, "--out", tmp_path / "small")
    assert "There is no tokenizer" in refused(tmp_path, *prune, "--corpus", text)
    report = answer(*prune, "--method", "magnitude")
    assert report["differences"].keys() == {"random tokens"}
    assert report["rule"] is None
    assert report["largest_difference"] < EXACT


def test_chance_is_the_same_for_the_same_seed(tmp_path, dense):
    prune = ("prune", dense, "--method", "random", "--sparsity", 0.5)
    for name, seed in {"a": 3, "b": 3, "c": 4}.items():
        assert answer(*prune, "--seed", seed, "--out", tmp_path / name)["method"] == "random"
    assert equal(tmp_path / "a", tmp_path / "b")
    assert not equal(tmp_path / "a", tmp_path / "c")


def test_every_listed_method_and_rule_prunes(tmp_path, speaking, text):
    listed = answer("ls", "methods")
    prune = ("prune", speaking, "--corpus", text, "--sparsity", 0.5)
    for rule in listed["rules"]:
        report = answer(*prune, "--rule", rule, "--out", tmp_path / rule)
        assert report["rule"] == rule
        assert 0.5 <= report["gate_sparsity"] < 0.5 + HEAD / TOTAL
    for method in listed["methods"].keys() - {"gradient"}:
        prune = ("prune", speaking, "--sparsity", 0.5, "--method", method)
        assert answer(*prune, "--out", tmp_path / method)["method"] == method


OWN = """
from dataclasses import replace
from polyprune.pruning.criteria.criterion import RULES
mine = replace(RULES["fisher"], name="mine", about="Fisher's, whatever components weigh.",
               by_weight=False, per="token")
"""


def test_a_rule_of_ones_own_is_listed_and_prunes(tmp_path, speaking, text, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own_rules_of_prune.py").write_text(OWN)
    name = "own_rules_of_prune:mine"
    assert answer("ls", "methods", name)["own"] == {name: "Fisher's, whatever components weigh."}
    report = answer("prune", speaking, "--corpus", text, "--sparsity", 0.5, "--rule", name,
                    "--out", "half")  # fmt: skip
    assert report["rule"] == "mine"
    assert "by the rule `mine`" in (tmp_path / "half" / "README.md").read_text(encoding="utf-8")
    prune = ("prune", speaking, "--sparsity", 0.5, "--out", tmp_path / "no", "--rule")
    assert "Did you mean 'mine'" in refused(tmp_path, *prune, "own_rules_of_prune:min")
    assert "There is no module nowhere" in refused(tmp_path, *prune, "nowhere:mine")


def test_the_exact_knapsack_keeps_at_least_as_much(tmp_path, speaking, text):
    scores, dense = tmp_path / "scores", pp.load(speaking)
    answer("score", speaking, "--corpus", text, "--out", scores)
    squared = {
        name.removeprefix("squared."): score.mean(0)
        for name, score in load_file(scores).items()
        if name.startswith("squared.")
    }
    kept = {}
    for name, options in {"greedy": [], "exact": ["--exact"]}.items():
        path = tmp_path / f"{name}.gates"
        prune = ("prune", speaking, "--corpus", text, "--sparsity", 0.6, "--gates", path, *options)
        assert answer(*prune, "--out", tmp_path / name)["gate_sparsity"] >= 0.6 - 1e-9
        gates = pp.load_gates(path, dense.shape).named()
        kept[name] = sum(float((squared[part] * gates[part][0]).sum()) for part in squared)
    assert kept["exact"] >= kept["greedy"] * (1 - 1e-6)


@pytest.mark.parametrize("budget", [("--sparsity", 0.5), ("--parameters", "7k")])
def test_units_are_a_multiple(tmp_path, speaking, text, budget):
    prune = ("prune", speaking, "--corpus", text, *budget, "--unit-multiple", 8)
    report = answer(*prune, "--out", tmp_path / "small")
    assert all(units % 8 == 0 for units in report["units"])
    assert sum(report["units"]) > 0
    assert report["gate_sparsity"] >= (report["requested_sparsity"] or 0) - 1e-9
    assert report["parameters"] <= (report["requested_parameters"] or DENSE)


def test_every_layer_keeps_what_it_must(tmp_path, speaking, text):
    prune = ("prune", speaking, "--corpus", text, "--sparsity", 0.8)
    assert 0 in answer(*prune, "--out", tmp_path / "free")["heads"]
    least = ("--min-heads", 1, "--min-units", 5)
    report = answer(*prune, *least, "--out", tmp_path / "small")
    assert min(report["heads"]) >= 1
    assert min(report["units"]) >= 5
    assert report["gate_sparsity"] >= 0.8 - 1e-9


def test_former_names_of_options_are_understood_with_a_warning(tmp_path, dense):
    prune = ("prune", dense, "--method", "magnitude", "--sparsity", 0.7)
    for name, option in {"old": "--least-heads", "new": "--min-heads"}.items():
        status, _, error = polyprune(*prune, option, 1, "--out", tmp_path / name)
        assert status == 0
        assert ("--least-heads is now --min-heads." in error) == (name == "old")
    assert equal(tmp_path / "old", tmp_path / "new")


@pytest.mark.parametrize("table", [None, "identity"])
def test_the_gates_make_the_same_model_again(tmp_path, speaking, text, table):
    out, gates = tmp_path / "small", tmp_path / "gates"
    prune = ("prune", speaking, "--sparsity", 0.9, "--gates", gates, "--out", out)
    scored = ("--corpus", text, "--table", table, "--rule", "fisher")  # nothing makes up for any
    options = ("--method", "magnitude") if table is None else scored
    answer(*prune, *options)
    assert polyprune("check", gates)[0] == 0
    answer("shrink", speaking, "--gates", gates, "--out", tmp_path / "again")
    assert equal(out, tmp_path / "again")


def test_the_gates_have_a_row_for_each_language(tmp_path, speaking, text):
    gates, shape = tmp_path / "gates", pp.load(speaking).shape
    prune = ("prune", speaking, "--corpus", text, "--setting", "non-shared", "--sparsity", 0.5)
    answer(*prune, "--gates", gates, "--out", tmp_path / "elastic")
    assert len(pp.load_gates(gates, shape).rank) == 4
    taken = pp.load(tmp_path / "elastic").elastic.gates(0.5, ["sw"])
    for mine, theirs in zip(
        pp.load_gates(gates, shape, "sw").leaves(), taken.leaves(), strict=True
    ):
        assert torch.equal(mine, theirs)


def test_nothing_is_overwritten_without_force(tmp_path, dense):
    out, gates = tmp_path / "small", tmp_path / "gates"
    prune = ("prune", dense, "--method", "magnitude", "--out", out, "--gates", gates)
    before = answer(*prune, "--sparsity", 0.3)["parameters"]
    assert f"{out} exists already" in refused(tmp_path, *prune, "--sparsity", 0.7)
    elsewhere = (*prune[:4], "--out", tmp_path / "other", "--gates", gates)
    assert f"{gates} exists already" in refused(tmp_path, *elsewhere, "--sparsity", 0.7)
    after = answer(*prune, "--sparsity", 0.7, "--force")["parameters"]
    assert pp.load(out).num_parameters() == after < before


def test_a_folder_of_something_else_is_never_replaced(tmp_path, dense, text):
    prune = ("prune", dense, "--method", "magnitude", "--sparsity", 0.5, "--out", text, "--force")
    assert f"{text} is a folder of something else" in refused(tmp_path, *prune)


def test_a_pruned_model_can_be_pruned_again(tmp_path, speaking, text):
    prune = ("--corpus", text, "--sparsity", 0.5)
    first = answer("prune", speaking, *prune, "--out", tmp_path / "half")
    second = answer("prune", tmp_path / "half", *prune, "--out", tmp_path / "quarter")
    assert second["parameters_before"] == first["parameters"]
    assert pp.load(tmp_path / "quarter").num_parameters() == second["parameters"]
    assert second["parameters"] < first["parameters"]


@pytest.mark.parametrize("options", [[], ["--elastic"]], ids=["one size", "elastic"])
def test_a_full_disk_leaves_the_old_folder(capsys, dense, options):
    """A limit on file sizes stands for the full disk: the write fails half-way, as there."""
    out = dense.parent / "small"
    prune = ("prune", dense, "--method", "magnitude", "--out", out, *options, "--sparsity")
    answer(*prune, 0.7)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    with largest_file(9_000):
        status, stdout, _ = polyprune(*prune, 0.5, "--force")
    assert (status, stdout) == (2, "")
    assert "The disk is full" in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    assert {path.name for path in out.parent.iterdir()} == {"dense", "small"}


def test_a_full_disk_leaves_nothing_half_written(dense):
    prune = ("prune", dense, "--method", "magnitude", "--sparsity", 0.5)
    with largest_file(9_000):
        error = refused(dense.parent, *prune, "--out", dense.parent / "small")
    assert "File too large" in error
