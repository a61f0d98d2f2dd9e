"""`polyprune export`, as a user types it."""

import pytest

import polyprune as pp
from polyprune.exporting import runtimes
from polyprune.exporting.runners import load_runner
from support.commands import answer, largest_file, polyprune, refused
from support.models import speaking_model, tiny_model

for _package in ("onnxscript", "onnxruntime", "openvino"):
    pytest.importorskip(_package, reason='needs pip install "polyprune[openvino]"')


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--to", "onxx"), "Unknown runtime 'onxx'. Did you mean 'onnx'?"),
        (("--precision", "fp8"), "Unknown precision 'fp8'"),
        (("--precision", "bf16"), "Choose one of fp32, fp16, int8."),
        (("--languages", "swa"), "Did you mean 'sw'?"),
        (("--languages", "ja"), "There are: "),
        (("--corpus", "nowhere"), "There is no folder nowhere."),
        (("--pooled",), "--pooled is for sentence encoders"),
    ],
)
def test_what_cannot_be_meant_is_refused(tmp_path, speaking, options, why):
    assert why in refused(tmp_path, "export", speaking, "--out", tmp_path / "out", *options)


def test_a_folder_that_exists_is_not_replaced(tmp_path, speaking):
    assert "--force" in refused(tmp_path, "export", speaking, "--out", speaking)


def test_bytes_need_text(tmp_path):
    tiny_model("bert").save_pretrained(tmp_path / "mute")
    export = ("export", tmp_path / "mute", "--precision", "int8", "--out", tmp_path / "out")
    assert "without a tokenizer" in refused(tmp_path, *export)


def test_elastic_folders_are_told_to_take_a_size(tmp_path, speaking, text):
    elastic = tmp_path / "elastic"
    answer("prune", speaking, "--corpus", text, "--elastic", "--out", elastic)
    error = refused(tmp_path, "export", elastic, "--out", tmp_path / "out")
    assert "polyprune shrink" in error


def test_a_missing_package_is_named_before_anything_is_loaded(tmp_path, monkeypatch):
    monkeypatch.setattr(runtimes.importlib.util, "find_spec", lambda _: None)
    error = refused(tmp_path, "export", "no/such/model", "--out", tmp_path / "out")
    assert 'pip install "polyprune[onnx]"' in error


@pytest.mark.slow
@pytest.mark.parametrize("runtime", ["onnx", "openvino"])
@pytest.mark.parametrize("precision", ["fp32", "fp16", "int8"])
def test_every_precision_for_every_runtime(tmp_path, text, runtime, precision):
    folder = speaking_model(tmp_path / "model", "token-classification")
    export = ("export", folder, "--to", runtime, "--precision", precision, "--corpus", text)
    made = answer(*export, "--languages", "sw,ru", "--threads", 1, "--out", tmp_path / "out")
    assert made["differences"].keys() == {"sw", "ru"}
    assert made["largest_difference"] < {"fp32": 1e-4, "fp16": 0.05, "int8": 2.0}[precision]
    runner = load_runner(tmp_path / "out", 1)
    assert runner.outputs == ("logits",)
    assert pp.load(folder).readout_kind.name == made["readout"]
    if (runtime, precision) == ("onnx", "fp32"):  # people get a table, whatever it is about
        status, table, _ = polyprune(*export, "--out", tmp_path / "out", "--force")
        assert status == 0
        assert "agreement" in table


@pytest.mark.slow
def test_a_full_disk_leaves_nothing(tmp_path, speaking, text):
    export = ("export", speaking, "--corpus", text, "--out", tmp_path / "out")
    with largest_file(20_000):
        status, _, error = polyprune(*export)
    assert status == 2, error
    assert {path.name for path in tmp_path.iterdir()} == {"speaking", "text"}
