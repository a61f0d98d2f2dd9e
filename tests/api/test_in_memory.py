"""Verbs take models that are in memory, and write nothing unless a place is given."""

import json
import re
from pathlib import Path

import pytest

import polyprune as pp
from polyprune.config import read_run
from polyprune.errors import ConfigError
from polyprune.measuring import measurement
from polyprune.measuring.memory import MemoryUse
from support.models import speaking_model
from support.recorded import Recorded
from support.text import SENTENCES
from support.xtreme import xtreme_folder


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("place")
    speaking_model(folder / "speaking")
    xtreme_folder(folder / "xtreme")
    return folder


@pytest.fixture
def model(place):
    return pp.load(place / "speaking")


@pytest.fixture
def nothing_is_written(place, tmp_path, monkeypatch):
    """The folders of models, of data and the one that we are in stay as they are."""
    monkeypatch.chdir(tmp_path)
    before = sorted(place.rglob("*"))
    yield
    assert sorted(place.rglob("*")) == before
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("nothing_is_written")
def test_a_loaded_model_is_scored_like_its_folder(place, model):
    asked = pp.EvaluateRequest(task="tatoeba", data=place / "xtreme", languages="ru")
    by_name, by_object = pp.evaluate(place / "speaking", asked), pp.evaluate(model, asked)
    assert by_object.as_dict() == by_name.as_dict()
    named = pp.evaluate({"dense": model, "same": model}, asked)
    assert [system.model for system in named.systems] == ["dense", "same"]
    assert named.names() == ["dense", "same"]


@pytest.mark.usefixtures("nothing_is_written")
def test_a_model_is_fine_tuned_in_memory_and_scored_by_what_came_out(place, model):
    progress = Recorded()
    asked = {"task": "xnli", "data": place / "xtreme"}
    tuned = pp.finetune(model, **asked, epochs=1, limit=8, seeds=(1, 2), progress=progress)
    assert len(tuned.models) == len(tuned.results) == 2
    assert tuned.model.readout_kind.name == "sentence-classification"
    assert "Training on en." in progress.messages
    both = pp.evaluate(tuned, **asked, limit=3)
    assert both.as_dict()["systems"][0]["seeds"] == 2
    one = pp.evaluate(tuned.model, **asked, limit=3)
    assert one.as_dict()["systems"][0]["seeds"] == 1


def test_a_result_that_is_a_model_can_be_saved(place, model, tmp_path):
    tuned = pp.finetune(model, task="xnli", data=place / "xtreme", epochs=1, limit=4)
    folder = tuned.save(tmp_path / "kept")
    del tuned  # and with it the folder that was worked in
    assert pp.load(folder).readout_kind.name == "sentence-classification"


@pytest.mark.usefixtures("nothing_is_written")
def test_models_in_memory_are_measured_beside_each_other(model, monkeypatch):
    monkeypatch.setattr(measurement, "peak_memory", lambda *_, **__: MemoryUse(50, 60))
    monkeypatch.setattr("polyprune.measuring.speed.SHORTEST", 1e-9)
    found = pp.measure(
        {"dense": model, "again": model},
        speed=True,
        rounds=8,
        tokens=9,
        threads=1,
        allow_noisy=True,
        corpus={"sw": ["habari ya asubuhi"] * 3, "en": ["good morning to all of you"] * 3},
    ).as_dict()
    assert [each["model"] for each in found["models"]] == ["dense", "again"]
    assert found["models"][0]["speed"]["ratio"] == 1
    assert found["measured"]["corpus"] == "sentences"


@pytest.mark.usefixtures("nothing_is_written")
def test_one_model_that_is_not_run_is_measured_alone(model):
    found = pp.measure(model, tokens=9)
    assert found.as_dict()["parameters"] == sum(weight.numel() for weight in model.parameters())
    assert "one sequence of 9 tokens" in repr(found)
    assert "<table>" in found._repr_html_()


def test_a_run_is_trained_in_a_folder_that_goes_away(place, text, tmp_path):
    path = tmp_path / "run.toml"
    path.write_text(
        f'[model]\nstart = "{place / "speaking"}"\n[corpus]\nsource = "{text}"\nblock = 24\n'
        "held_out = 4\n[objective]\nmlm = 1.0\n[[phases]]\nsteps = 3\n[batch]\nsize = 4\n"
        "[saving]\ntrackers = []\n"
    )
    result = pp.train(read_run(path), steps=2)
    folder = result.folder
    assert (result.steps, len(result.log)) == (2, 2)
    assert result.as_dict()["out"] is None
    assert result.save(tmp_path / "kept") == tmp_path / "kept"
    assert result.model.readout_kind.name == "masked-lm"
    del result
    assert not folder.exists()
    with pytest.raises(ConfigError, match="change the Run itself"):
        pp.train(read_run(path), changes=["seed=3"])


@pytest.mark.usefixtures("nothing_is_written")
def test_answers_become_a_report_without_a_file(place, model):
    scores = pp.evaluate({"dense": model}, task="tatoeba", data=place / "xtreme", languages="ru,sw")
    sizes = pp.measure({"dense": model}, tokens=9)
    report = pp.report([scores, sizes])
    assert "dense" in json.dumps(report.as_dict())
    assert report.results.scores
    assert "<html" in report._repr_html_()


@pytest.mark.slow
def test_a_model_in_memory_is_exported_and_the_folder_kept_if_wanted(model, tmp_path, text):
    pytest.importorskip("onnxscript")
    pytest.importorskip("onnxruntime")
    result = pp.export(model, corpus=text, languages="sw", threads=1)
    assert result.as_dict()["out"] is None
    folder = result.save(tmp_path / "kept")
    del result
    assert pp.measure(folder, tokens=9).as_dict()["model"] == str(folder)


@pytest.mark.usefixtures("nothing_is_written")
def test_a_model_in_memory_is_called_by_what_was_done_to_it(place, model):
    half = pp.prune(model, corpus=SENTENCES, sentences=2, sparsity=0.5)
    names = [each["model"] for each in pp.measure([place / "speaking", model, half]).models]
    assert names[:2] == [str(place / "speaking"), f"{place / 'speaking'} (2)"]
    assert re.fullmatch("speaking, (4|5).% cut", names[2])
    scores = pp.evaluate(half, task="tatoeba", data=place / "xtreme", languages="ru")
    assert scores.systems[0].model == names[2]
