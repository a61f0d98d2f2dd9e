"""Real models, exported: equal on real text in fifteen languages, and in bytes almost as good."""

import pytest

import polyprune as pp
from polyprune.corpora.batching import Batching
from polyprune.corpora.corpus import open_corpus
from polyprune.corpora.text import text_folder
from polyprune.evaluation.quality import find_translations, guess_words
from polyprune.exporting.export_model import ExportConfig, export
from polyprune.exporting.export_text import export_texts
from polyprune.exporting.runners import load_runner
from polyprune.model.network.source import ModelSource
from support import exported_quality

for _package in ("onnxscript", "onnxruntime", "openvino"):
    pytest.importorskip(_package, reason='needs pip install "polyprune[openvino]"')

pytestmark = pytest.mark.slow

LINES = 50
"""A language: of fourteen, a line is a seventh of a point."""


def lines() -> dict[str, list[str]]:
    """The last lines of the sample, which no range was taken from."""
    corpus = open_corpus(text_folder("sample"))
    return {code: list(corpus.sentences(code, 320))[-LINES:] for code in corpus.codes()}


def cut(model, every: int):
    """Uneven layers, one of them without heads and another without units, and a cut rank."""
    model = pp.factorize(model)
    gates = pp.open_gates(model.shape)
    for layer in range(model.shape.layers):
        gates.heads[layer][:, layer % every :: every] = 0
        gates.units[layer][:, : 7 * layer] = 0
    gates.heads[1].zero_()
    gates.units[2].zero_()
    gates.rank[:, -model.shape.rank // 4 :] = 0
    return pp.shrink(model, gates)


@pytest.fixture(scope="module")
def uneven(e5_folder):
    """Both models, cut once: splitting e5-small's table takes longer than exporting it."""
    found = {name: pp.load(path) for name, path in {"sprout": "sprout", "e5": e5_folder}.items()}
    small = {name: cut(model, 3) for name, model in found.items()}
    for name, model in found.items():
        small[name].source = model.source
    return small


@pytest.mark.parametrize("runtime", ["onnx", "openvino"])
@pytest.mark.parametrize("name", ["sprout", "e5"])
def test_uneven_emptied_and_rank_pruned_models_are_equal(tmp_path, uneven, runtime, name):
    small = uneven[name]
    made = export(small, tmp_path / "out", ExportConfig(runtime, threads=1), export_texts(small))
    assert len(made.differences) == 15
    assert made.largest < 1e-4


@pytest.mark.parametrize("runtime", ["onnx", "openvino"])
def test_sprout_guesses_words_as_well_in_bytes(tmp_path, runtime):
    model = pp.load("sprout")
    export(model, tmp_path / "out", ExportConfig(runtime, "int8", threads=1), export_texts(model))
    tokenizer, text = ModelSource.at(tmp_path / "out").tokenizer(), lines()
    before = guess_words(model, tokenizer, text)
    after = exported_quality.guess_words(load_runner(tmp_path / "out", 1), tokenizer, text)
    assert mean(before) - mean(after) < 2


@pytest.mark.parametrize("sparsity", [0, 0.5])
def test_e5_small_finds_translations_as_well_in_bytes(tmp_path, e5_folder, sparsity):
    model = pp.load(e5_folder)
    if sparsity:
        model = half(model, tmp_path)
    export(model, tmp_path / "out", ExportConfig("onnx", "int8", True, 1), export_texts(model))
    tokenizer, text = ModelSource.at(tmp_path / "out").tokenizer(), lines()
    before = find_translations(model, tokenizer, text, "en")
    batching = Batching(tokenizer, prefix="query: ")
    after = exported_quality.find_translations(
        load_runner(tmp_path / "out", 1), batching, text, "en"
    )
    assert len(after) == 14
    assert mean(before) - mean(after) < 1


def half(model, tmp_path):
    """What scores on a little text leave of it."""
    # The table as it is: splitting it takes longer than all the rest, and no rank has to go.
    return pp.prune(
        model,
        corpus="sample",
        languages=["en", "sw"],
        sentences=16,
        table="as it is",
        prefix="query: ",
        sparsity=0.5,
        out=tmp_path / "half",
    ).model


def mean(scores: dict[str, float]) -> float:
    return sum(scores.values()) / len(scores)
