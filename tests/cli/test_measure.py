"""`polyprune measure`, as its users meet it."""

import json

import pytest

from polyprune.measuring import measurement
from polyprune.measuring.memory import MemoryUse
from polyprune.measuring.noise import Noise
from support.commands import answer, polyprune, refused

QUICK = ("--speed", "--rounds", "8", "--tokens", "9", "--threads", "1", "--allow-noisy")


@pytest.fixture(autouse=True)
def in_a_moment(monkeypatch):
    """A process that imports torch takes seconds; tests/measuring has one."""
    monkeypatch.setattr(measurement, "peak_memory", lambda *_, **__: MemoryUse(50_000, 60_000))
    monkeypatch.setattr(
        "polyprune.measuring.batch_search.in_child", lambda run, *given: run(*given)
    )
    # Nor is anything here timed in earnest.
    monkeypatch.setattr("polyprune.measuring.speed.SHORTEST", 1e-9)
    monkeypatch.setattr("polyprune.measuring.turns.gc.collect", lambda: 0)
    monkeypatch.setattr("polyprune.measuring.batch_search.LARGEST", 4)


def test_sizes_alone_run_nothing(dense, monkeypatch):
    monkeypatch.setattr(measurement, "peak_memory", None)
    found = answer("measure", dense)
    assert found["model"] == str(dense)
    assert "speed" not in found
    assert answer("measure", dense, dense)["models"][1]["model"] == f"{dense} (2)"


def test_speed_is_beside_the_first_and_says_where(dense):
    found = answer("measure", dense, dense, *QUICK)
    first, second = found["models"]
    assert first["speed"]["ratio"] == 1
    assert second["speed"]["low"] <= second["speed"]["ratio"] <= second["speed"]["high"]
    assert second["ideal_ratio"] == 1
    assert second["speed"]["calls"] >= 100
    assert set(second["latency"]["percentile_seconds"]) >= {"p50", "p90", "p95"}
    assert second["peak_memory_bytes"] == 60_000
    assert found["machine"]["threads"] == 1
    assert found["measured"]["rounds"] == 8
    assert found["noise"]["warnings"] == [*found["noise"]["warnings"]]


def test_best_batches_and_a_gpu_are_put_beside(dense):
    found = answer("measure", dense, *QUICK, "--memory", "10GB", "--gpu", "t4")
    (model,) = found["models"]
    assert model["best_batch"]["batch"] in (1, 2, 4)
    assert model["best_batch"]["tried"][0]["batch"] == 1
    assert model["gpu"]["binds"] == "launch"
    assert found["measured"]["memory_budget_bytes"] == 10**10


def test_a_gpu_needs_no_run(dense):
    found = answer("measure", dense, "--gpu", "A100", "--precision", "float16")
    assert found["models"][0]["gpu"]["ratio"] == 1
    assert "measured" not in found


def test_real_sentences_are_read_by_the_models_tokenizer(speaking, text):
    found = answer("measure", speaking, *QUICK, "--tokens", "20", "--corpus", text, "--batch", "2")
    assert found["measured"]["tokens"] is None
    assert found["models"][0]["speed"]["calls"] >= 8 * 16


def test_tables_fit_eighty_columns(dense, speaking, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    status, shown, error = polyprune(
        "measure", dense, speaking, *QUICK, "--memory", "10GB", "--gpu", "T4"
    )
    assert status == 0, error
    assert max(map(len, shown.splitlines())) <= 80
    for title in ("at a time on", "Latency:", "Best batch size within 10 GB", "A T4 on paper"):
        assert title in shown


def test_a_noisy_machine_says_so_instead_of_a_number(dense, tmp_path, monkeypatch):
    noisy = Noise(spread=0.5)
    monkeypatch.setattr("polyprune.measuring.noise.NoiseMonitor.noise", lambda *_: noisy)
    quick = [word for word in QUICK if word != "--allow-noisy"]
    told = refused(tmp_path, "measure", dense, *quick)
    assert "too noisy to measure on now: rounds of the same model lie 50% apart" in told
    status, shown, _ = polyprune("measure", dense, *QUICK)
    assert status == 0
    assert "Not a quiet machine: rounds of the same model lie 50% apart." in shown
    assert answer("measure", dense, *QUICK)["noise"]["too_noisy"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--memory", "2GB"), "it goes with --speed"),
        (("--speed", "--memory", "much"), "such as 2GB or 500MB, not 'much'"),
        (("--speed", "--memory", "1kB"), "One sentence at a time takes"),
        (("--speed", "--tokens", "600"), "reads up to 32 tokens, not --tokens 600"),
        (("--speed", "--corpus", "sample"), "None of the models has a tokenizer"),
        (("--speed", "--device", "tpu"), "--device is auto, cpu, cuda, cuda:1 or mps"),
        (("--speed", "--precision", "float16"), "float16 is for CUDA"),
        (("--precision", "int8"), "--precision is float32, bfloat16 or float16, not 'int8'"),
        (("--gpu", "T5"), "Unknown GPU 'T5'. There are: T4, V100"),
    ],
)
def test_what_cannot_be_meant_is_told(dense, tmp_path, options, told):
    tokens = () if "--tokens" in options else ("--tokens", "9")
    assert told in refused(tmp_path, "measure", dense, *options, *tokens)


def test_an_export_is_measured_through_its_runtime(dense, tmp_path, monkeypatch):
    folder = tmp_path / "exported"
    polyprune("shrink", dense, "--layers", "0,1", "--out", folder)
    (folder / "model.safetensors").unlink()
    (folder / "export.json").write_text(json.dumps({"runtime": "onnx"}))
    (folder / "onnx").mkdir()
    (folder / "onnx" / "model.onnx").write_bytes(b"1234")
    seen = []
    monkeypatch.setattr(
        "polyprune.exporting.export_loader.load_runner",
        lambda path, threads: lambda arrays: seen.append((path, threads, set(arrays))),
    )
    both = answer("measure", dense, folder, *QUICK)
    assert "was exported with its masked-lm readout" in both["measured"]["notes"][0]
    found = both["models"][1]
    assert found["bytes"] == 4
    assert found["ideal_ratio"] == 1
    assert seen[0] == (str(folder), 1, {"input_ids", "attention_mask", "token_type_ids"})
