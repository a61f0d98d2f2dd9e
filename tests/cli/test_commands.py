"""The verbs, as a user types them."""

import json
import os
import resource
import subprocess
import sys

import pytest
import torch
import typer

import polyprune as pp
from polyprune import cli
from support.commands import COMMAND, polyprune
from support.models import batch, tiny_model


@pytest.fixture
def gates(dense):
    gates = pp.open_gates(pp.load(dense).shape, rows=2)
    gates.heads[0][:, 2:] = 0
    gates.units[1][1, ::2] = 0
    pp.save_gates(dense.parent / "gates.safetensors", gates, ["en", "sw"])
    return dense.parent / "gates.safetensors"


def test_help_is_quick_and_does_not_import_torch():
    script = (
        "import sys, polyprune.cli; assert 'torch' not in sys.modules and 'transformers' not in "
        "sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", script]).returncode == 0


def test_every_help_ends_in_an_example():
    for verb in typer.main.get_command(cli.app).commands:
        status, out, _ = polyprune(verb, "--help")
        assert status == 0
        assert f"polyprune {verb} " in out.rstrip().splitlines()[-1]


def test_ls_families_and_languages():
    families = json.loads(polyprune("ls", "families", "--json")[1])["families"]
    assert {"xlm-roberta", "bert", "distilbert"} <= {row["family"] for row in families}
    languages = json.loads(polyprune("ls", "languages", "--json")[1])["languages"]
    assert len(languages) == 100
    assert "Swahili" in polyprune("ls", "languages")[1]


def test_measure_counts_what_is_there(dense):
    answer = json.loads(polyprune("measure", dense, "--json")[1])
    model = pp.load(dense)
    assert answer["parameters"] == model.num_parameters()
    assert answer["bytes"] == 4 * answer["parameters"]
    parts = ("embedding_parameters", "encoder_parameters", "readout_parameters")
    assert sum(answer[part] for part in parts) == answer["parameters"]
    assert answer["multiply_adds"] > 0


def test_measure_compares_several_models(dense, gates):
    polyprune("shrink", dense, "--gates", gates, "--language", "sw", "--out", dense.parent / "sw")
    answers = json.loads(polyprune("measure", dense, dense.parent / "sw", "--json")[1])["models"]
    assert answers[1]["parameters"] < answers[0]["parameters"]
    table = polyprune("measure", dense, dense.parent / "sw")[1]
    assert "parameters" in table
    assert max(map(len, table.splitlines())) <= 80


def test_measure_counts_a_pooler_that_the_weights_have(tmp_path):
    tiny_model("bert", "hidden-states").save_pretrained(tmp_path)
    answer = json.loads(polyprune("measure", tmp_path, "--json")[1])
    assert answer["parameters"] == pp.load(tmp_path).num_parameters()


def test_shrink_writes_what_the_gates_keep(dense, gates):
    out = dense.parent / "small"
    status, stdout, _ = polyprune(
        "shrink", dense, "--gates", gates, "--language", "sw", "--out", out, "--json"
    )
    answer = json.loads(stdout)
    assert status == 0
    assert answer["largest_difference"] < 1e-5
    assert answer["parameters"] < answer["parameters_before"]
    model, row = pp.load(dense), pp.load_gates(gates, pp.load(dense).shape, "sw")
    inputs = batch("xlm-roberta")
    torch.testing.assert_close(pp.load(out)(**inputs).logits, model(**inputs, gates=row).logits)
    certificate = json.loads((out / "certificate.json").read_text())
    assert certificate["largest_difference"] == answer["largest_difference"]


def test_shrink_tells_people_what_is_left(dense):
    out = polyprune("shrink", dense, "--layers", "1", "--out", dense.parent / "one")[1]
    assert "parameters" in out
    assert "Cutting was exact" in out
    assert "Dropped layers change what a model computes" in out
    assert pp.load(dense.parent / "one").shape.layers == 1


@pytest.mark.slow
def test_stock_loads_without_polyprune(dense):
    out = dense.parent / "stock"
    assert polyprune("shrink", dense, "--layers", "0", "--stock", "--out", out)[0] == 0
    script = (
        "import sys; sys.modules['polyprune'] = None\n"
        "from transformers import AutoModelForMaskedLM, XLMRobertaForMaskedLM\n"
        "model = AutoModelForMaskedLM.from_pretrained(sys.argv[1])\n"
        "assert type(model) is XLMRobertaForMaskedLM and model.config.num_hidden_layers == 1"
    )
    run = subprocess.run([sys.executable, "-c", script, out], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_stock_says_why_not(dense, gates):
    status, _, error = polyprune(
        "shrink",
        dense,
        "--gates",
        gates,
        "--language",
        "en",
        "--stock",
        "--out",
        dense.parent / "x",
    )
    assert status == 2
    assert "layer 0 keeps 2 of 4 heads" in error
    assert not (dense.parent / "x").exists()


def test_stock_pads_units_and_ranks_on_request(dense):
    model = pp.load(dense)
    gates = pp.open_gates(model.shape)
    gates.units[0][:, 3:] = 0
    gates.units[1].zero_()
    gates.rank[:, 9:] = 0
    pp.save_gates(dense.parent / "g", gates)
    arguments = (
        "shrink",
        dense,
        "--gates",
        dense.parent / "g",
        "--stock",
        "--out",
        dense.parent / "s",
    )
    status, _, error = polyprune(*arguments)
    assert status == 2
    assert "--pad" in error
    assert polyprune(*arguments, "--pad")[0] == 0
    padded, inputs = pp.load(dense.parent / "s"), batch("xlm-roberta")
    assert padded.shape.units == (3, 3)
    assert not padded.shape.factorized
    expected = model(**inputs, gates=gates).logits
    torch.testing.assert_close(padded(**inputs).logits, expected, atol=1e-5, rtol=1e-4)


def test_nothing_is_overwritten_without_force(dense):
    status, _, error = polyprune("shrink", dense, "--layers", "0", "--out", dense)
    assert status == 2
    assert "--force" in error
    before = (dense / "model.safetensors").read_bytes()
    assert polyprune("shrink", dense, "--layers", "0", "--out", dense, "--force")[0] == 0
    assert (dense / "model.safetensors").read_bytes() != before
    assert pp.load(dense).shape.layers == 1


def test_several_rows_need_a_language(dense, gates):
    arguments = ("shrink", dense, "--gates", gates, "--out", dense.parent / "x")
    assert "--language" in polyprune(*arguments)[2]
    status, _, error = polyprune(*arguments, "--language", "swa")
    assert status == 2
    assert "Did you mean 'sw'?" in error


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--layers", "a"], "--layers takes numbers"),
        (["--layers", "0", "--pad"], "--pad is for --stock"),
        (["--layers", "0", "--language", "sw"], "give --gates too"),
    ],
)
def test_options_that_do_not_go_together(dense, options, why):
    status, _, error = polyprune("shrink", dense, *options, "--out", dense.parent / "x")
    assert status == 2
    assert why in error


def test_gates_that_leave_no_words(dense):
    gates, path = pp.open_gates(pp.load(dense).shape), dense.parent / "g"
    gates.rank.zero_()
    pp.save_gates(path, gates)
    status, _, error = polyprune("shrink", dense, "--gates", path, "--out", dense.parent / "x")
    assert status == 2
    assert "Keep at least one" in error


def test_a_place_where_nothing_can_be_written(dense):
    status, _, error = polyprune("shrink", dense, "--layers", "0", "--out", "/proc/x/y")
    assert status == 2
    assert "/proc/x" in error


@pytest.mark.parametrize("tokenizer", ["{}", '{"version": "1.0"}'], ids=["empty", "half"])
def test_a_broken_tokenizer_does_not_stop_the_cut(dense, tokenizer):
    (dense / "tokenizer.json").write_text(tokenizer)
    assert polyprune("shrink", dense, "--layers", "0", "--out", dense.parent / "x")[0] == 0


def test_nothing_to_cut(dense):
    status, _, error = polyprune("shrink", dense, "--out", dense.parent / "x")
    assert status == 2
    assert "give --gates, --layers or --stock" in error


def test_layers_that_are_not_there(dense):
    status, _, error = polyprune("shrink", dense, "--layers", "0,7", "--out", dense.parent / "x")
    assert status == 2
    assert "from 0 to 1" in error


def test_an_unknown_probe_language_is_named(dense):
    status, _, error = polyprune(
        "shrink", dense, "--layers", "0", "--languages", "swahilli", "--out", dense.parent / "x"
    )
    assert status == 2
    assert "'sw'" in error


def test_check_finds_everything_at_once(dense, gates):
    out = dense.parent / "small"
    pp.load(dense).save_pretrained(out)
    assert polyprune("check", out)[0] == 0
    assert polyprune("check", gates)[0] == 0
    config = json.loads((out / "config.json").read_text())
    (out / "config.json").write_text(json.dumps(config | {"units": [40, 39]}))
    status, stdout, _ = polyprune("check", out, "--json")
    problems = json.loads(stdout)["problems"]
    assert status == 2
    assert any("config.json in" in problem for problem in problems)
    assert any("layers.1.feed_forward.expand.weight" in problem for problem in problems)


@pytest.mark.slow
def test_a_full_disk_leaves_the_old_folder(dense):
    """A limit on file sizes stands for the full disk: the write fails half-way, as there."""
    out = dense.parent / "small"
    assert polyprune("shrink", dense, "--layers", "0", "--out", out)[0] == 0
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    run = subprocess.run(
        [*COMMAND, "shrink", dense, "--layers", "1", "--out", out, "--force"],
        capture_output=True, text=True,
        # Nor may Python write what it compiles: it would be cut off, and break the next import.
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (9_000, 9_000)),
    )  # fmt: skip
    assert run.returncode == 2, run.stderr
    assert "The disk is full" in run.stderr
    assert "Traceback" not in run.stderr
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    assert {path.name for path in out.parent.iterdir()} == {"dense", "small"}


def test_main_turns_a_mistake_into_one_sentence(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["polyprune", "measure", "./nowhere"])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    told = capsys.readouterr()
    assert (stop.value.code, told.out) == (2, "")
    assert told.err.splitlines() == [
        "polyprune: There is no folder ./nowhere. Give a folder that holds config.json."
    ]
