"""Real files of tiny models, in both runtimes."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

import polyprune as pp
from polyprune.corpora.batching import Batching
from polyprune.errors import CheckpointError, ConfigError, UnknownName
from polyprune.evaluation.quality import guess_words
from polyprune.exporting import export_model, runners
from polyprune.exporting.export_model import ExportConfig, export
from polyprune.exporting.export_text import export_texts
from polyprune.exporting.output_difference import OutputDifference
from polyprune.exporting.runners import load_runner
from polyprune.exporting.runtimes import RUNTIMES, Runtime
from polyprune.model.network.folder import checksum_mismatches
from polyprune.model.network.source import ModelSource
from support import exported_quality
from support.models import speaking_model
from support.pruned_models import pruned, said
from support.text import SENTENCES, text_folder

for _package in ("onnxscript", "onnxruntime", "openvino"):
    pytest.importorskip(_package, reason='needs pip install "polyprune[openvino]"')

pytestmark = pytest.mark.slow  # each worker would write its own files


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """A tiny masked LM that reads, text, and the model exported in three ways."""
    place = tmp_path_factory.mktemp("exports")
    speaking_model(place / "model")
    text = text_folder(place / "text")
    model = pp.load(place / "model")
    gates = pp.open_gates(model.shape)
    gates.heads[0][:, 1:] = 0
    gates.units[1].zero_()
    small = pp.shrink(model, gates)
    small.save_pretrained(place / "small")
    small = pp.load(place / "small")
    for name, plan in PLANS.items():
        with pytest.MonkeyPatch.context() as patch:
            if plan.runtime == "openvino":  # of the same file: writing it takes seconds
                made = place / "bytes" / "onnx" / "model.onnx"
                patch.setattr(
                    export_model, "write_onnx", lambda _, path, made=made, **__: copy(made, path)
                )
            export(small, place / name, plan, export_texts(small, str(text)))
    return place


def copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True)
    shutil.copy(source, target)


PLANS = {
    "single": ExportConfig("onnx", "fp32", threads=1),
    "bytes": ExportConfig("onnx", "int8", threads=1),
    "intel": ExportConfig("openvino", "int8", threads=1),
}


def arrays(examples: int, tokens: int) -> dict[str, np.ndarray]:
    ids = np.random.default_rng(0).integers(5, 60, (examples, tokens))
    mask = np.ones_like(ids)
    mask[-1, max(1, tokens // 2) :] = 0
    return {"input_ids": np.where(mask == 1, ids, 1), "attention_mask": mask}


@pytest.mark.parametrize("shape", [(1, 1), (1, 2), (2, 1), (3, 7), (1, 32), (8, 31)], ids=str)
def test_batches_of_any_size(place, shape):
    inputs = arrays(*shape)
    model = pp.load(place / "small").eval()
    expected = said(model, {name: torch.tensor(array) for name, array in inputs.items()})["logits"]
    found = load_runner(place / "single", 1)(inputs)["logits"]
    here = inputs["attention_mask"].astype(bool)
    assert np.abs(found - expected.numpy())[here].max() < 1e-4


def test_the_folder_says_what_was_compared(place):
    card = json.loads((place / "bytes" / "export.json").read_text())
    assert card["precision"] == "int8"
    assert card["differences"].keys() == SENTENCES.keys()
    assert all(each["largest"] > 0 for each in card["differences"].values())
    assert all(each["cosine"] > 0.98 for each in card["differences"].values())
    assert card["calibrated"] == dict.fromkeys(SENTENCES, 12)
    assert checksum_mismatches(place / "bytes") == []
    exact = json.loads((place / "single" / "export.json").read_text())
    assert exact["largest_difference"] < 1e-4
    assert all(each["agreement"] == 1 for each in exact["differences"].values())


@pytest.mark.parametrize("name", ["bytes", "intel"])
def test_the_lines_of_the_card_run(place, name):
    text = (place / name / "README.md").read_text(encoding="utf-8")
    lines = text.partition("```python\n")[2].partition("```")[0]
    assert len(lines.partition("\n\n")[2].splitlines()) == 3
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", lines],
        cwd=place, capture_output=True, text=True, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr[-1000:]
    assert run.stdout.startswith("[[")


@pytest.mark.parametrize("name", ["bytes", "intel"])
def test_bytes_do_not_depend_on_neighbours(place, name):
    runner, inputs = load_runner(place / name, 1), arrays(3, 9)
    together = runner(inputs)["logits"]
    alone = runner({key: array[:1] for key, array in inputs.items()})["logits"]
    assert np.abs(together[:1] - alone).max() < 1e-3


def test_bytes_compute_what_was_tried_in_torch(place):
    """The product of bytes in a runtime is the one that the graph computes in torch."""
    from polyprune.exporting.export_graph import ExportGraph
    from polyprune.exporting.quantization import quantize

    model = pp.load(place / "small")
    texts = export_texts(model, str(place / "text"))
    graph, inputs = quantize(ExportGraph(model), texts.to_calibrate()), arrays(3, 9)
    with torch.inference_mode():
        (expected,) = graph(**{name: torch.tensor(array) for name, array in inputs.items()})
    found = load_runner(place / "bytes", 1)(inputs)["logits"]
    here = inputs["attention_mask"].astype(bool)
    # A value between two steps may go either way; most do not.
    assert np.median(np.abs(found - expected.numpy())[here]) < 0.02


def test_an_export_leaves_no_trace_of_where_it_was_made(place):
    assert (
        str(Path(pp.__file__).parent).encode()
        not in (place / "single" / "onnx" / "model.onnx").read_bytes()
    )


def test_hidden_words_are_guessed_alike(place):
    model, tokenizer = pp.load(place / "small"), ModelSource.at(place / "small").tokenizer()
    lines = {code: SENTENCES[code] for code in ("en", "ru")}
    runner = load_runner(place / "single", 1)
    assert exported_quality.guess_words(runner, tokenizer, lines) == guess_words(
        model, tokenizer, lines
    )


def test_translations_are_found_by_what_a_runner_says():
    class Length:
        inputs, outputs = ("input_ids", "attention_mask"), ("sentence_embedding",)

        def __call__(self, batch):
            angle = batch["attention_mask"].sum(1) / 50
            return {"sentence_embedding": np.stack([np.cos(angle), np.sin(angle)], 1).astype("f")}

    class Letters:
        pad_token = "_"

        def __call__(self, texts, **_):
            longest = max(map(len, texts))
            mask = torch.tensor([[1] * len(t) + [0] * (longest - len(t)) for t in texts])
            return {"input_ids": mask, "attention_mask": mask}

    lines = {"en": ["aaa", "a", "aaaaa"], "sw": ["bbb", "b", "bbbbb"], "de": ["c", "ccc", "c"]}
    batching = Batching(Letters(), size=2)
    found = exported_quality.find_translations(Length(), batching, lines, "en")
    assert found == {"sw": 100.0, "de": 0.0}


def test_folders_of_something_else_have_no_runner(place):
    assert load_runner(place / "model") is None


def test_damaged_folders_are_refused(place, tmp_path):
    shutil.copytree(place / "single", tmp_path / "broken")
    file = tmp_path / "broken" / "onnx" / "model.onnx"
    file.write_bytes(file.read_bytes()[:1000])
    with pytest.raises(CheckpointError, match="does not open in ONNX Runtime"):
        load_runner(tmp_path / "broken", 1)
    file.unlink()
    with pytest.raises(CheckpointError, match="There is no"):
        load_runner(tmp_path / "broken", 1)
    (tmp_path / "broken" / "export.json").write_text("{")
    with pytest.raises(CheckpointError, match="is damaged"):
        load_runner(tmp_path / "broken", 1)


def test_a_runtime_that_is_not_installed_names_its_extra():
    runtime = Runtime("onnx", "ONNX Runtime", "?", ("no_such_package",), ())
    with pytest.raises(ConfigError, match=r'no_such_package.*pip install "polyprune\[onnx\]"'):
        runtime.need()


def test_a_runtime_that_dies_is_told(place, monkeypatch):
    monkeypatch.setattr(runners, "_alive", set())
    dead = subprocess.CompletedProcess([], -8)
    monkeypatch.setattr(runners.subprocess, "run", lambda *_, **__: dead)
    with pytest.raises(ConfigError, match=r"OpenVINO crashes .* \(signal 8\)"):
        load_runner(place / "intel", 1)


@pytest.mark.parametrize("largest", [2e-4, float("inf"), float("nan")])
def test_an_export_that_differs_is_not_kept(place, tmp_path, monkeypatch, largest):
    model = pp.load(place / "small")
    wrong = {"sw": OutputDifference(largest, 1.0, 1.0)}
    monkeypatch.setattr(export_model, "_write_model", lambda *_: export_model.ExportGraph(model))
    monkeypatch.setattr(export_model, "open_runner", lambda *_: None)
    monkeypatch.setattr(export_model, "compare_outputs", lambda *_: wrong)
    texts = export_texts(model, str(place / "text"))
    with pytest.raises(CheckpointError, match=r"differs from the model by .* in sw"):
        export(model, tmp_path / "out", ExportConfig(), texts)
    assert list(tmp_path.iterdir()) == []


def test_a_model_that_cannot_read_is_compared_on_random_tokens_and_has_no_bytes(tmp_path):
    model = pruned(tmp_path / "model", "xlm-roberta", "hidden-states", "dense")
    texts = export_texts(model)
    (probe,) = texts.to_compare()
    assert probe.language == "random tokens"
    with pytest.raises(ConfigError, match="without a tokenizer cannot read"):
        export(model, tmp_path / "out", ExportConfig(precision="int8"), texts)


def test_pooling_is_for_sentence_encoders(place, tmp_path):
    model = pp.load(place / "small")
    with pytest.raises(ConfigError, match="`pooled` is for sentence encoders"):
        export(
            model,
            tmp_path / "out",
            ExportConfig(pooled=True),
            export_texts(model, str(place / "text")),
        )


@pytest.mark.parametrize(
    ("plan", "error", "why"),
    [
        (("onxx", "fp32"), UnknownName, "Did you mean 'onnx'?"),
        (("onnx", "in8"), UnknownName, "Did you mean 'int8'?"),
        (("onnx", "bf16"), ConfigError, "does not load it"),
    ],
)
def test_what_does_not_exist_is_refused(plan, error, why):
    with pytest.raises(error, match=why.replace("?", r"\?")):
        ExportConfig(*plan)


def test_every_runtime_has_its_runner():
    assert RUNTIMES.keys() == runners.RUNNERS.keys()
