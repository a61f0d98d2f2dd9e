"""Folders that hold every size for every language, and what is taken out of them."""

import json
import re
import shutil

import pytest
import torch
import transformers
from safetensors import safe_open
from safetensors.torch import load_file

import polyprune as pp
from polyprune.errors import CheckpointError
from polyprune.pruning.selection.ranking import density_of
from support.commands import EXACT, answer, polyprune, refused
from support.models import batch, speaking_model
from support.text import text_folder

LANGUAGES = ["en", "hi", "ru", "sw"]
SPARSITIES = (0.1, 0.3, 0.5, 0.7, 0.9)


@pytest.fixture(scope="module")
def elastic(tmp_path_factory):
    """The folder of an elastic model with a subnetwork a language; not to be changed."""
    folder = tmp_path_factory.mktemp("elastic")
    model, text = speaking_model(folder / "dense"), text_folder(folder / "text")
    out = folder / "elastic"
    answer("prune", model, "--corpus", text, "--setting", "non-shared", "--out", out)
    return out


def same(folder, model) -> bool:
    """Whether a folder holds this model, to the bit."""
    mine, theirs = pp.load(folder).state_dict(), model.state_dict()
    return mine.keys() == theirs.keys() and all(torch.equal(mine[n], theirs[n]) for n in mine)


def kept(elastic, sparsity, languages, combine="mean"):
    """What is kept of all components for these languages, and which share of their weight."""
    gates = elastic.gates(sparsity, languages, combine)
    return torch.cat(gates.leaves(), dim=1)[0].bool(), float(density_of(gates, elastic.weights))


def test_a_subnetwork_a_language_makes_the_folder_elastic(elastic):
    with safe_open(elastic / "gating.safetensors", "pt") as file:
        assert json.loads(file.metadata()["rows"]) == LANGUAGES
    assert polyprune("check", elastic)[0] == 0
    assert pp.load(elastic).elastic is not None


def test_an_elastic_folder_says_what_it_holds(tmp_path, speaking, text):
    prune = ("prune", speaking, "--corpus", text, "--setting", "non-shared")
    report = answer(*prune, "--out", tmp_path / "a")
    assert report["elastic"]
    assert report["languages"] == LANGUAGES
    assert report["rows"] == {}
    assert report["largest_difference"] < EXACT
    report = answer(*prune, "--sparsity", 0.5, "--out", tmp_path / "b")
    assert list(report["rows"]) == LANGUAGES
    for code, row in report["rows"].items():
        assert row["gate_sparsity"] >= 0.5 - 1e-9
        small = pp.load(tmp_path / "b").at(sparsity=0.5, language=code)
        assert small.num_parameters() == row["parameters"]


def test_people_see_how_languages_differ(tmp_path, speaking, text):
    prune = ("prune", speaking, "--corpus", text, "--setting", "non-shared", "--sparsity", 0.5)
    status, stdout, _ = polyprune(*prune, "--out", tmp_path / "elastic")
    assert status == 0
    table, _, rest = stdout.partition("Gates that differ")
    assert max(map(len, table.splitlines())) <= 80
    assert all(re.search(rf"^ *{code} .*5\d\.\d\d%", table, re.MULTILINE) for code in LANGUAGES)
    assert "one family" in rest
    assert f"polyprune shrink {tmp_path / 'elastic'} --sparsity 0.5" in rest


def test_transformers_loads_the_dense_model(elastic, speaking):
    inputs = batch("xlm-roberta")
    dense, whole = (
        transformers.AutoModelForMaskedLM.from_pretrained(folder).eval()
        for folder in (speaking, elastic)
    )
    torch.testing.assert_close(whole(**inputs).logits, dense(**inputs).logits, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("sparsity", [0.3, 0.5, 0.9])
def test_a_language_of_its_own_is_pruned_or_taken_out_alike(
    tmp_path, speaking, text, elastic, sparsity
):
    prune = ("prune", speaking, "--corpus", text, "--setting", "non-shared", "--language", "sw")
    options = ("--rule", "fisher", "--sparsity", sparsity)
    pruned = answer(*prune, *options, "--out", tmp_path / "pruned")
    shrink = ("shrink", elastic, "--language", "sw", "--sparsity", sparsity)
    taken = answer(*shrink, "--out", tmp_path / "taken")
    assert pruned["languages"] == ["sw"]
    assert not pruned["elastic"]
    assert pruned["parameters"] == taken["parameters"]
    assert taken["largest_difference"] < EXACT
    small = pp.load(elastic).at(sparsity=sparsity, language="sw")
    assert same(tmp_path / "taken", small)
    assert same(tmp_path / "pruned", small)


def test_what_is_taken_out_is_an_ordinary_model(tmp_path, elastic):
    out = tmp_path / "small"
    answer("shrink", elastic, "--language", "sw", "--sparsity", "50%", "--out", out)
    assert not (out / "gating.safetensors").exists()
    assert polyprune("check", out)[0] == 0
    small = pp.load(out)
    assert small.elastic is None
    with pytest.raises(ValueError, match="This model has one size"):
        small.at(sparsity=0.5)


@pytest.mark.parametrize("combine", ["mean", "union"])
@pytest.mark.parametrize("languages", [["en", "sw"], ["hi", "ru", "sw"], None])
def test_several_languages_agree_on_one_model(tmp_path, elastic, languages, combine):
    given = [] if languages is None else ["--languages", ",".join(languages)]
    shrink = ("shrink", elastic, "--sparsity", 0.5, "--combine", combine, *given)
    answer(*shrink, "--out", tmp_path / "small")
    small = pp.load(elastic).at(sparsity=0.5, languages=languages, combine=combine)
    assert same(tmp_path / "small", small)


def test_the_mean_meets_the_budget_and_the_union_contains_everyone(elastic):
    sizes = pp.load(elastic).elastic
    for sparsity in SPARSITIES:
        own = {code: kept(sizes, sparsity, [code]) for code in LANGUAGES}
        for languages in (["en", "sw"], LANGUAGES):
            assert kept(sizes, sparsity, languages)[1] <= 1 - sparsity + 1e-6
            union, density = kept(sizes, sparsity, languages, "union")
            assert torch.equal(union, torch.stack([own[code][0] for code in languages]).any(0))
            assert density >= max(own[code][1] for code in languages)


def test_every_size_is_met_and_contains_the_smaller_ones(elastic):
    sizes = pp.load(elastic).elastic
    for code in LANGUAGES:
        smaller = torch.zeros(0)
        for sparsity in sorted(SPARSITIES, reverse=True):
            gates, density = kept(sizes, sparsity, [code])
            assert 1 - sparsity - 24 / 376 < density <= 1 - sparsity + 1e-6
            assert not len(smaller) or bool(gates[smaller].all())
            smaller = gates


def test_one_subnetwork_for_all_languages_can_be_elastic_too(tmp_path, speaking, text):
    out, prune = tmp_path / "elastic", ("prune", speaking, "--corpus", text)
    assert answer(*prune, "--elastic", "--out", out)["setting"] == "shared"
    answer(*prune, "--rule", "fisher", "--sparsity", 0.5, "--out", tmp_path / "pruned")
    assert same(tmp_path / "pruned", pp.load(out).at(sparsity=0.5))
    assert same(tmp_path / "pruned", pp.load(out).at(sparsity=0.5, language="sw"))


def test_methods_without_text_can_be_elastic_too(tmp_path, dense):
    out, prune = tmp_path / "elastic", ("prune", dense, "--method", "magnitude")
    answer(*prune, "--elastic", "--out", out)
    answer(*prune, "--sparsity", 0.7, "--out", tmp_path / "pruned")
    assert same(tmp_path / "pruned", pp.load(out).at(sparsity=0.7))


def test_an_elastic_model_stays_elastic_when_it_is_saved(tmp_path, elastic):
    pp.load(elastic).save_pretrained(tmp_path / "copy")
    small = pp.load(elastic).at(sparsity=0.7, language="hi")
    answer("shrink", tmp_path / "copy", *("--sparsity", 0.7, "--language", "hi"),
           "--out", tmp_path / "small")  # fmt: skip
    assert same(tmp_path / "small", small)


def test_an_elastic_folder_is_small_beside_its_weights(elastic):
    gating = load_file(elastic / "gating.safetensors")
    assert {name: tuple(tensor.shape) for name, tensor in gating.items()} == {
        "boundary": (4, 112),
        "share": (1, 112),
    }


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ([], "This checkpoint holds every size: say which"),
        (["--language", "sw"], "This checkpoint holds every size: say which"),
        (["--sparsity", "50"], "Did you mean 50%?"),
        (["--sparsity", "0.5", "--language", "ur"], "There are: en, hi, ru, sw."),
        (["--sparsity", "0.5", "--language", "swa"], "Did you mean 'sw'?"),
        (["--sparsity", "0.5", "--languages", "en,ur"], "There are: en, hi, ru, sw."),
        (["--sparsity", "0.5", "--languages", ""], "Name some of"),
        (["--sparsity", "0.5", "--combine", "onion"], "Did you mean 'union'?"),
        (["--sparsity", "0.5", "--layers", "0"], "--layers does not go with an elastic folder"),
    ],
)
def test_what_cannot_be_meant_is_refused(tmp_path, elastic, options, why):
    assert why in refused(tmp_path, "shrink", elastic, "--out", tmp_path / "small", *options)


def test_a_folder_of_one_size_has_no_other(tmp_path, dense):
    out = tmp_path / "small"
    error = refused(tmp_path, "shrink", dense, "--sparsity", 0.5, "--out", out)
    assert f"{dense} is not elastic" in error
    assert "polyprune prune" in error


@pytest.mark.parametrize("left", [0.0, 0.5, 0.99])
def test_a_gating_that_is_cut_off_is_found(tmp_path, elastic, left):
    elastic = shutil.copytree(elastic, tmp_path / "elastic")
    path = elastic / "gating.safetensors"
    whole = path.read_bytes()
    path.write_bytes(whole[: int(left * len(whole))])
    with pytest.raises(CheckpointError, match=r"gating\.safetensors"):
        pp.load(elastic)
    with pytest.raises(CheckpointError, match=r"gating\.safetensors is damaged"):
        pp.load(elastic, verify=False)
    status, stdout, _ = polyprune("check", elastic, "--json")
    problems = json.loads(stdout)["problems"]
    assert status == 2
    assert any("gating.safetensors" in problem and "certificate" in problem for problem in problems)
    assert any("gating.safetensors is damaged" in problem for problem in problems)
    shrink = ("shrink", elastic, "--sparsity", 0.5, "--out", tmp_path / "small")
    assert "gating.safetensors" in refused(tmp_path, *shrink)


def test_a_gating_of_another_model_is_found(tmp_path, elastic):
    half = tmp_path / "half"
    answer("shrink", elastic, "--sparsity", 0.5, "--language", "sw", "--out", half)
    (half / "gating.safetensors").write_bytes((elastic / "gating.safetensors").read_bytes())
    with pytest.raises(CheckpointError, match="made for another model"):
        pp.load(half)
    status, _, error = polyprune("check", half)
    assert status == 2
    assert "made for another model" in error
