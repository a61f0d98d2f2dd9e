"""`polyprune.prune`, `recover`, `score` and `shrink` on models in memory."""

import json

import pytest
import torch

import polyprune as pp
from polyprune.corpora.batching import Batching
from polyprune.errors import ConfigError
from polyprune.loading import hub
from polyprune.model.network.gated_model import PolyprunePreTrainedModel
from polyprune.progress import Silent, Stopped
from support.models import speaking_model
from support.text import SENTENCES

RECOVERY = {"sparsity": 0.5, "sentences": 6, "tokens": 16, "recover": 4}


def same(one, other) -> bool:
    """Whether two models have the same weights, to the bit."""
    a, b = one.state_dict(), other.state_dict()
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


@pytest.fixture
def counts(monkeypatch):
    """How often weights are read, and model folders written, from now on."""
    counts = {"read": 0, "written": 0}

    def counting(what, function):
        def call(*args, **kwargs):
            counts[what] += 1
            return function(*args, **kwargs)

        return call

    monkeypatch.setattr(hub, "read_weights", counting("read", hub.read_weights))
    monkeypatch.setattr(hub, "_load_own", counting("read", hub._load_own))
    save = PolyprunePreTrainedModel.save_pretrained
    monkeypatch.setattr(PolyprunePreTrainedModel, "save_pretrained", counting("written", save))
    return counts


def test_pruning_and_recovering_reads_once_and_writes_once(speaking, text, tmp_path, counts):
    result = pp.prune(speaking, corpus=text, out=tmp_path / "half", **RECOVERY)
    assert counts == {"read": 1, "written": 1}
    assert same(result.model, pp.load(tmp_path / "half"))
    assert {path.name for path in tmp_path.iterdir()} == {"speaking", "text", "half"}


def test_nothing_is_read_or_written_for_a_model_in_memory(speaking, text, tmp_path, counts):
    model = pp.load(speaking)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    found = sorted(tmp_path.rglob("*"))
    result = pp.prune(model, corpus=text, **RECOVERY)
    assert counts == {"read": 1, "written": 0}
    assert sorted(tmp_path.rglob("*")) == found
    assert all(torch.equal(before[name], tensor) for name, tensor in model.state_dict().items())
    assert all(parameter.requires_grad for parameter in model.parameters())
    assert result.out is None
    assert result.model.num_parameters() == result.as_dict()["parameters"]
    assert [entry["step"] for entry in result.recovery.log] == [1, 2, 3, 4]
    pp.prune(speaking, corpus=text, out=tmp_path / "half", **RECOVERY)
    assert same(result.model, pp.load(tmp_path / "half"))


def test_recovering_by_itself_is_what_prune_does(speaking, text, tmp_path):
    whole = pp.prune(speaking, corpus=text, **RECOVERY)
    options = {name: value for name, value in RECOVERY.items() if name != "recover"}
    pruned = pp.prune(speaking, corpus=text, **options)
    again = pp.recover(pruned, teacher=speaking, corpus=text, steps=4, tokens=16)
    assert same(whole.model, again.model)
    assert not same(pruned.model, again.model)
    again.save(tmp_path / "saved")
    log = (tmp_path / "saved" / "training.jsonl").read_text().splitlines()
    assert [json.loads(line)["step"] for line in log] == [1, 2, 3, 4]


def test_the_teacher_is_the_model_that_was_pruned(tmp_path, text):
    encoder = speaking_model(tmp_path / "encoder", "hidden-states")
    pruned = pp.prune(encoder, corpus=text, sentences=6, sparsity=0.5)
    options = {"corpus": text, "steps": 2, "tokens": 16}
    named = pp.recover(pruned, teacher=encoder, **options)
    assert same(pp.recover(pruned, **options).model, named.model)
    with pytest.raises(ConfigError, match="cut from: give `teacher`"):
        pp.recover(pruned.model, **options)


def test_a_recovery_that_is_stopped_goes_on_to_the_same_bytes(speaking, text, tmp_path):
    options = {"corpus": text, **RECOVERY}
    pp.prune(speaking, out=tmp_path / "straight", **options)
    asked = iter([False, True])
    with pytest.raises(Stopped, match="after step 2 of 4"):
        pp.prune(speaking, out=tmp_path / "half", **options, progress=Silent(lambda: next(asked)))
    assert not (tmp_path / "half").exists()
    pp.prune(speaking, out=tmp_path / "half", **options)
    weights = [
        (tmp_path / name / "model.safetensors").read_bytes() for name in ("straight", "half")
    ]
    assert weights[0] == weights[1]
    assert not (tmp_path / "half.recovery").exists()


def test_sentences_in_memory_are_as_good_as_files(speaking, text):
    folder = pp.score(speaking, corpus=text, sentences=6).sheet
    memory = pp.score(speaking, corpus=SENTENCES, sentences=6).sheet
    named = {"en": SENTENCES["en"], "sw": SENTENCES["sw"]}
    some = pp.score(speaking, corpus=named, sentences=6).sheet
    assert memory.about.languages == tuple(SENTENCES)
    assert some.about.languages == ("en", "sw")
    for code in ("en", "sw"):
        rows = [sheet.about.languages.index(code) for sheet in (folder, memory, some)]
        first, *others = (
            sheet.gradients.absolute.rank[row]
            for sheet, row in zip((folder, memory, some), rows, strict=True)
        )
        assert all(torch.equal(first, other) for other in others)


def test_batches_are_scored_as_they_are(speaking, text):
    model = pp.load(speaking)
    batching = Batching(model.source.tokenizer(), 16, 32)
    ready = {code: list(batching.masked(lines, 0)) for code, lines in SENTENCES.items()}
    given = pp.score(model, corpus=ready).sheet
    read = pp.score(model, corpus=SENTENCES).sheet
    assert torch.equal(given.gradients.absolute.rank, read.gradients.absolute.rank)
    assert given.about.examples == read.about.examples
    with pytest.raises(ConfigError, match="Batches are for scoring alone"):
        pp.recover(model, corpus=ready, steps=2)


def test_sentences_in_memory_are_trained_on_too(speaking, tmp_path):
    result = pp.prune(speaking, corpus=SENTENCES, out=tmp_path / "half", **RECOVERY)
    assert result.recovery.as_dict()["steps"] == 4
    assert {path.name for path in tmp_path.iterdir()} == {"speaking", "half"}


def test_scores_serve_as_a_result_a_sheet_or_a_file(speaking, text, tmp_path):
    scores = pp.score(speaking, corpus=text)
    path = scores.save(tmp_path / "scores")
    models = [
        pp.prune(speaking, scores=given, sparsity=0.5).model
        for given in (scores, scores.sheet, path)
    ]
    assert all(same(models[0], model) for model in models[1:])


def test_a_bare_cut_returns_the_model_itself(speaking, text):
    model = pp.load(speaking)
    result = pp.prune(model, method="magnitude", sparsity=0.5)
    small = pp.shrink(model, result.gates)
    assert same(small, result.model)
    whole = pp.shrink(model, gates=result.gates, languages=["sw"])
    assert same(whole.model, small)
    assert set(whole.differences) == {"sw", "random tokens"}
    assert pp.prune(result, method="magnitude", sparsity=0.5).audits[
        "shared"
    ].parameters_before == (small.num_parameters())


def test_an_elastic_result_holds_every_size(speaking, text):
    result = pp.prune(speaking, corpus=text, setting="non-shared", sparsity=0.5)
    assert result.elastic
    small = result.model.at(sparsity=0.5, language="sw")
    assert small.num_parameters() == result.audits["sw"].parameters
    taken = pp.shrink(result, sparsity="50%", language="sw")
    assert same(taken.model, small)
    assert "language" in repr(result)
    assert "<table>" in result._repr_html_()


def test_a_stock_model_is_there_without_a_folder(speaking):
    result = pp.shrink(speaking, stock=True)
    assert result.stock.num_parameters() == result.as_dict()["parameters"]
