"""What earlier versions wrote is read everywhere, and computes what it computed then."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import transformers
from safetensors.torch import load_file

import polyprune as pp
from polyprune.pruning.criteria.scores_file import load_scores
from polyprune.pruning.selection.latency import load_table
from support.commands import answer, polyprune, refused
from support.paths import REPOSITORY
from support.xtreme import xtreme_folder

FIXTURES = REPOSITORY / "tests" / "fixtures" / "old"
OUTPUTS = load_file(FIXTURES / "outputs.safetensors")
EXPECTED = json.loads((FIXTURES / "expected.json").read_text(encoding="utf-8"))
IDS = torch.tensor([[0, 6, 7, 8, 9, 2], [0, 10, 11, 2, 1, 1]])
INPUTS = {"input_ids": IDS, "attention_mask": IDS.ne(1).long()}
MODELS = ("pruned", "elastic", "learned", "fixed", "stock", "tuned")


@pytest.fixture
def old(tmp_path, monkeypatch) -> Path:
    """A copy of all of them, each model with its code again; the working directory."""
    folder = shutil.copytree(FIXTURES, tmp_path / "old")
    for certificate in folder.rglob("certificate.json"):
        for name in json.loads(certificate.read_text(encoding="utf-8"))["sha256"]:
            if (folder / "code" / name).is_file():
                shutil.copyfile(folder / "code" / name, certificate.parent / name)
    monkeypatch.chdir(folder)
    return folder


def assert_computes(model, name: str) -> None:
    with torch.inference_mode():
        torch.testing.assert_close(
            model(**INPUTS).logits, OUTPUTS[name], atol=1e-5, rtol=1e-4, msg=name
        )


def test_models_are_loaded(old):
    for name in MODELS:
        assert_computes(pp.load(old / name), name)


@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("elastic at 50% for sw", {"sparsity": 0.5, "language": "sw"}),
        ("learned for sw", {"language": "sw"}),
        ("fixed for sw", {"language": "sw"}),
    ],
)
def test_sizes_and_languages_are_taken_out(old, name, how):
    folder = old / name.split()[0]
    assert_computes(pp.load(folder).at(**how), name)
    options = [f"--{option}={value}" for option, value in how.items()]
    answer("shrink", folder, *options, "--out", old / "small")
    assert_computes(pp.load(old / "small"), name)


def test_transformers_loads_them(old):
    for name in ("pruned", "elastic", "stock"):
        model = transformers.AutoModelForMaskedLM.from_pretrained(old / name).eval()
        assert_computes(model, name)
    tuned = transformers.AutoModelForSequenceClassification.from_pretrained(old / "tuned").eval()
    assert_computes(tuned, "tuned")


@pytest.mark.slow
def test_the_code_that_travels_with_them_still_runs_by_itself(old):
    script = (
        "import sys; sys.modules['polyprune'] = None\n"
        "import torch\n"
        "from safetensors.torch import load_file\n"
        "from transformers import AutoModelForMaskedLM\n"
        "outputs = load_file('outputs.safetensors')\n"
        f"ids = torch.tensor({IDS.tolist()})\n"
        "for name in ('pruned', 'elastic'):\n"
        "    model = AutoModelForMaskedLM.from_pretrained(name, trust_remote_code=True).eval()\n"
        "    logits = model(ids, attention_mask=ids.ne(1).long()).logits\n"
        "    torch.testing.assert_close(logits, outputs[name], atol=1e-5, rtol=1e-4)\n"
    )
    run = subprocess.run([sys.executable, "-c", script], cwd=old, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_everything_is_right_by_check_and_of_the_same_size(old):
    for name in (*MODELS, "scores.safetensors", "gates.safetensors", "run.toml"):
        status, _, error = polyprune("check", old / name)
        assert status == 0, f"{name}: {error}"
    for name, sizes in EXPECTED["measure"].items():
        measured = answer("measure", old / name)
        assert {key: measured[key] for key in sizes} == sizes


def test_scores_and_gates_make_the_same_model_again(old):
    assert load_scores(old / "scores.safetensors").about.languages == ("en", "sw")
    answer("prune", "dense", "--scores", "scores.safetensors", "--sparsity", 0.5, "--out", "a")
    assert_computes(pp.load("a"), "pruned")
    answer("shrink", "dense", "--gates", "gates.safetensors", "--out", "b")
    assert_computes(pp.load("b"), "pruned")


def test_a_table_of_latencies_says_how_long_a_model_takes(old):
    table = load_table(old / "latency.json")
    assert table.seconds(pp.load("dense").shape) == EXPECTED["seconds"]


def test_a_run_goes_on_to_the_model_that_it_ended_in(old):
    assert answer("watch", "run", "--once")["step"] == 3
    told = refused(old, "train", "run.toml", "--out", "run")
    assert "penalties.overlap: None there" in told
    unchanged = ("--set", "penalties.overlap=pairs")
    reported = answer("train", "run.toml", "--out", "run", *unchanged)
    assert reported["losses"] == pytest.approx(EXPECTED["run"]["losses"], rel=1e-4)
    # Then the gates were measured before they were settled; now it is what is written.
    assert reported["held_out"] == pytest.approx(EXPECTED["run"]["held_out"], rel=1e-3)
    assert_computes(pp.load("run/model"), "learned")
    assert_computes(pp.load("run/model").at(language="sw"), "learned for sw")


def test_a_tuned_model_scores_what_it_scored(old):
    xtreme_folder(old / "xtreme")
    system = answer("evaluate", "tuned", "--task", "xnli", "--data", "xtreme")["systems"][0]
    found = {code: language["scores"] for code, language in system["languages"].items()}
    assert found == EXPECTED["evaluate"]["languages"]
    assert system["mean"] == EXPECTED["evaluate"]["mean"]


def test_an_export_is_read(old):
    onnxruntime = pytest.importorskip("onnxruntime")
    session = onnxruntime.InferenceSession("onnx/onnx/model.onnx")
    (logits,) = session.run(None, {name: value.numpy() for name, value in INPUTS.items()})
    torch.testing.assert_close(torch.tensor(logits), OUTPUTS["pruned"], atol=1e-4, rtol=1e-3)
    assert answer("measure", "onnx")["bytes"] > 0


@pytest.mark.parametrize("name", ["study", "demo"])
def test_results_are_reported_as_they_were(old, name):
    tables = answer("report", name, "--out", "page")["tables"]
    for table, rows in EXPECTED[name].items():
        found = [
            [cell.get("text", cell.get("values")) for cell in row["cells"]]
            for row in tables[table]["rows"]
        ]
        assert found == rows, table
