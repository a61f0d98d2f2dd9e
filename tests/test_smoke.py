"""All verbs in turn, in Python, on a model of a few thousand weights: `make smoke` begins here."""

import sys
from functools import partial
from pathlib import Path

import pytest
import typer

import polyprune as pp
from polyprune.cli import app
from polyprune.demo.output_folder import next_commands
from polyprune.miniature.lexicon import languages
from support.models import speaking_model
from support.runs import tiny_run
from support.text import text_folder
from support.xtreme import xtreme_folder

SOURCE = Path(pp.__file__).parent
STUDY = """
model = "dense"
data = "xtreme"
corpus = "text"
[[systems]]
name = "dense"
[[tasks]]
name = "tatoeba"
"""


@pytest.fixture
def place(tmp_path, monkeypatch) -> Path:
    """A working directory with a model that can read, text and tasks."""
    speaking_model(tmp_path / "dense")
    text_folder(tmp_path / "text")
    xtreme_folder(tmp_path / "xtreme")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def quietly(verb):
    return partial(verb, progress=False)


def test_every_verb_in_turn(place):
    scores = quietly(pp.score)("dense", corpus="text", out="scores")
    assert list(scores.as_dict()["languages"]) == ["en", "hi", "ru", "sw"]
    pruned = quietly(pp.prune)("dense", scores="scores", sparsity=0.5)
    assert pruned.model.num_parameters() < pp.load("dense").num_parameters()
    learn = {"corpus": "text", "steps": 2, "batch_size": 2, "tokens": 24}
    quietly(pp.recover)(pruned, teacher="dense", out="half", **learn)
    assert pp.check("half").right
    tasks = {"data": "xtreme", "languages": "en"}
    tuned = quietly(pp.finetune)("half", task="xnli", epochs=1, batch=4, out="tuned", **tasks)
    scored = quietly(pp.evaluate)(tuned, task="xnli", **tasks)
    assert 0 <= scored.as_dict()["systems"][0]["mean"]["accuracy"] <= 100
    measured = quietly(pp.measure)(["dense", "half"])
    assert measured.as_dict()["models"][1]["parameters"] == pp.load("half").num_parameters()
    assert "xnli" in str(quietly(pp.report)(scored)).lower()


def test_runs_studies_and_exports(place):
    gating = {"kind": "dynamic", "sentences": 2}
    run = tiny_run(place / "dense", place / "text", gating=gating, phases=[{"steps": 2}])
    trained = quietly(pp.train)(run)
    elastic = trained.model.at(sparsity=0.5)
    assert elastic.num_parameters() < trained.model.num_parameters()
    (place / "study.toml").write_text(STUDY)
    plan = quietly(pp.study)("study.toml", plan=True)
    assert plan.as_dict()["plan"]["score"]["cells"] == 1
    exported = quietly(pp.export)(elastic, corpus="text", languages="en", out="exported")
    assert exported.as_dict()["largest_difference"] < 1e-3
    assert "sw" in languages()


def test_the_command_line_knows_every_verb_that_a_tour_names(place):
    verbs = typer.main.get_command(app).commands
    assert {command.split()[1] for _, command in next_commands(place)} <= verbs.keys()


def test_every_package_took_part():
    """After the others; by itself, it has nothing to say."""
    packages = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    loaded = {name.split(".")[1] for name in sys.modules if name.startswith("polyprune.")}
    assert packages <= loaded
