"""Settings tried one after the other: which is tried, which is kept, what is refused."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from polyprune.errors import ConfigError, DataError
from polyprune.evaluation.evaluator import EvalConfig, evaluate_system
from polyprune.evaluation.finetune_config import FineTuneConfig, SearchSpace, Trial
from polyprune.evaluation.hyperparameter_search import HyperparameterSearch
from polyprune.evaluation.tasks import TASKS
from polyprune.training.loop import Diverged
from support.finetuning import QUICK, trained, tuned, weights
from support.models import speaking_model
from support.xtreme import xtreme_folder


@pytest.fixture
def data(tmp_path) -> Path:
    return xtreme_folder(tmp_path / "xtreme")


@pytest.fixture
def setup(speaking, data) -> FineTuneConfig:
    return FineTuneConfig(str(speaking), TASKS["xnli"], str(data))


@pytest.mark.slow
def test_seeds_give_models_with_a_mean_and_a_spread(setup, data, tmp_path):
    tuning = tuned(setup, tmp_path / "out", replace(QUICK, seeds=(1, 2), learning_rates=(0.03,)))
    assert [path.name for path in tuning.models] == ["seed-1", "seed-2"]
    one, two = (weights(path) for path in tuning.models)
    assert any(not torch.equal(one[name], two[name]) for name in one)
    system = evaluate_system(str(tuning.out), TASKS["xnli"], EvalConfig(str(data)))
    alone = [evaluate_system(str(p), TASKS["xnli"], EvalConfig(str(data))) for p in tuning.models]
    means = [each.mean["accuracy"] for each in alone]
    assert system.mean == {"accuracy": pytest.approx(np.mean(means))}
    assert system.spread == {"accuracy": pytest.approx(np.std(means, ddof=1))}
    assert alone[0].spread is None
    assert system.record()["seeds"] == 2


@pytest.mark.slow
def test_a_second_seed_may_come_later(setup, data, tmp_path):
    only = tuned(setup, tmp_path / "out")
    before = weights(only.models[0])
    assert [path.name for path in only.models] == ["model"]
    both = HyperparameterSearch(setup, replace(QUICK, seeds=(1, 2)), tmp_path / "out")
    (setting,) = both.pending()
    assert setting.seed == 2
    trained(both, setting)
    assert not (tmp_path / "out" / "model").exists()
    after = weights(tmp_path / "out" / "seed-1")
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert (
        evaluate_system(str(both.out), TASKS["xnli"], EvalConfig(str(data))).record()["seeds"] == 2
    )
    assert tuned(setup, tmp_path / "out").models == [tmp_path / "out" / "seed-1"]


@pytest.mark.slow
def test_the_grid_tries_every_cell_once_and_keeps_the_best_on_dev(setup, tmp_path):
    grid = SearchSpace((1e-7, 0.03), (1, 2), batch=4)
    tuning = HyperparameterSearch(setup, grid, tmp_path / "out")
    first = next(tuning.pending())
    trained(tuning, first)
    tuning = HyperparameterSearch(setup, grid, tmp_path / "out")  # as if it had been stopped
    assert first not in list(tuning.pending())
    tuned(setup, tmp_path / "out", grid)
    tried = [(r["setting"]["learning_rate"], r["setting"]["epochs"]) for r in tuning.results]
    assert tried == [(1e-7, 1), (0.03, 1), (1e-7, 2), (0.03, 2)]
    best = tuning.best(1)
    assert tuning.score(1) == max(result["score"] for result in tuning.results)
    alone = tuned(
        setup, tmp_path / "alone", SearchSpace((best.learning_rate,), (best.epochs,), batch=4)
    )
    kept, same = weights(tuning.models[0]), weights(alone.models[0])
    assert all(torch.equal(kept[name], same[name]) for name in kept)
    assert list(HyperparameterSearch(setup, grid, tmp_path / "out").pending()) == []


def test_other_seeds_take_the_best_of_the_first(setup, tmp_path):
    tuning = HyperparameterSearch(
        setup, SearchSpace((1e-5, 2e-5), (1, 2), (3, 4)), tmp_path / "out"
    )
    tuning.encode()
    lines = [
        {"setting": {"learning_rate": rate, "epochs": epochs, "seed": 3, "batch": 32}}
        | {"steps": 1, "step": 1, "score": score, "languages": {}}
        for rate, epochs, score in [(1e-5, 1, 5.0), (2e-5, 1, 6.0), (1e-5, 2, 6.0), (2e-5, 2, None)]
    ]
    text = "".join(f"{json.dumps(line)}\n" for line in lines)
    (tmp_path / "out" / "results.jsonl").write_text(text)
    assert list(tuning.pending()) == [Trial(2e-5, 1, 4)]  # of equals the first


def test_the_papers_grid(setup):
    grid = SearchSpace.of(setup, search=True)
    rates = [float(f"{digit}e-6") for digit in range(1, 10)]
    rates += [float(f"{digit}e-5") for digit in range(1, 6)]
    assert list(grid.learning_rates) == rates
    assert grid.epochs == (5, 10)
    assert len(grid.cells) == 28
    everything = replace(setup, regime="translate-train-all")
    assert (
        SearchSpace.of(everything, search=True).epochs == SearchSpace.of(everything).epochs == (3,)
    )
    assert SearchSpace.of(setup).cells == [Trial(2e-5, 5)]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"regime": "translate-train-all"}, "task.regime: 'transfer' there, 'translate-train-all'"),
        ({"limit": 3}, "task.limit: None there, 3 here"),
        ({"words": False}, "words: True there, False here"),
    ],
)
def test_another_setup_in_the_same_folder_is_refused(setup, tmp_path, change, told):
    HyperparameterSearch(setup, QUICK, tmp_path / "out").encode()
    with pytest.raises(ConfigError, match=rf"{told}.*`force`"):
        HyperparameterSearch(replace(setup, **change), QUICK, tmp_path / "out")


def test_another_model_in_the_same_place_is_another_setup(setup, speaking, tmp_path):
    HyperparameterSearch(setup, QUICK, tmp_path / "out").encode()
    other = speaking_model(tmp_path / "other", "hidden-states") / "model.safetensors"
    (speaking / "model.safetensors").write_bytes(other.read_bytes())
    with pytest.raises(ConfigError, match="start: "):
        HyperparameterSearch(setup, QUICK, tmp_path / "out")


def test_force_begins_anew_and_removes_nothing_else(setup, tmp_path):
    tuned(setup, tmp_path / "out")
    (tmp_path / "out" / "notes.txt").write_text("mine")
    limited = replace(setup, limit=5)
    again = tuned(limited, tmp_path / "out", force=True)
    assert (tmp_path / "out" / "notes.txt").read_text() == "mine"
    (result,) = again.results
    assert result["steps"] == 2
    broken = replace(setup, languages=("sw",), data=str(tmp_path / "nowhere"))
    with pytest.raises(DataError, match="nowhere"):
        HyperparameterSearch(broken, QUICK, tmp_path / "out", force=True).encode()
    assert HyperparameterSearch(limited, QUICK, tmp_path / "out").results == [result]
    assert again.models[0].is_dir()


@pytest.mark.parametrize("dev", ["no files", "no labels"])
def test_without_dev_the_last_model_is_kept(setup, data, tmp_path, dev):
    for path in data.glob("xnli/dev-*.tsv"):
        lines = path.read_text(encoding="utf-8").splitlines()
        path.write_text("\n".join(line.rpartition("\t")[0] for line in lines) + "\n")
        if dev == "no files":
            path.unlink()
    tuning = tuned(setup, tmp_path / "out")
    (result,) = tuning.results
    assert (result["score"], result["step"], result["languages"]) == (None, 3, {})
    assert tuning.models[0].is_dir()
    several = HyperparameterSearch(
        setup, replace(QUICK, learning_rates=(1e-7, 1e-2)), tmp_path / "several"
    )
    with pytest.raises(
        ConfigError, match=r"no labelled dev data to choose by.*: give one learning rate and"
    ):
        several.encode()
    assert not several.out.exists()
    other = HyperparameterSearch(setup, replace(QUICK, learning_rates=(1e-3,)), tuning.out)
    with pytest.raises(ConfigError, match=r"give one learning rate .*, and another `out` than"):
        other.encode()


def test_nothing_is_chosen_by_what_is_tested_with(setup, tmp_path):
    questions = replace(setup, task=TASKS["tydiqa"])
    with pytest.raises(ConfigError, match="TyDiQA are those that it is tested with"):
        HyperparameterSearch(
            questions, SearchSpace.of(questions, search=True), tmp_path / "out"
        ).encode()
    assert not (tmp_path / "out").exists()
    assert HyperparameterSearch(questions, SearchSpace.of(questions), tmp_path / "out").encode() > 0


@pytest.mark.parametrize("change", ["a label", "a word", "one more"])
def test_data_that_has_changed_on_the_way_is_noticed(setup, data, tmp_path, change):
    tuning = HyperparameterSearch(setup, QUICK, tmp_path / "out")
    assert tuning.encode() == 11
    tuning.finish()
    assert HyperparameterSearch(setup, QUICK, tmp_path / "out").encode() == 11
    tuning.finish()
    path = data / "xnli" / "train-en.tsv"
    text = path.read_text()
    first, _, label = text.splitlines()[0].split("\t")
    other = "neutral" if label == "entailment" else "entailment"
    new = {
        "a label": text.replace(label, other, 1),
        "a word": text.replace("water", "river", 1),
        "one more": text + f"{first}\t{first}\t{label}\n",
    }
    path.write_text(new[change])
    again = HyperparameterSearch(setup, replace(QUICK, seeds=(2,)), tmp_path / "out")
    with pytest.raises(ConfigError, match=f"in {data} has changed since .*`force`"):
        again.encode()
    assert not again.material.examples.exists()
    assert HyperparameterSearch(setup, QUICK, tmp_path / "out", force=True).encode() >= 11


def test_a_search_goes_on_after_a_setting_that_diverged(setup, tmp_path):
    tuning = HyperparameterSearch(
        setup, replace(QUICK, learning_rates=(1e-2, 1e-3)), tmp_path / "out"
    )
    tuning.encode()
    first, second = tuning.grid.cells
    diverge(tuning, first)
    assert list(tuning.pending()) == [second]
    (line,) = tuning.results
    assert (line["score"], line["diverged"], line["step"]) == (None, True, 7)
    trained(tuning, second)
    assert tuning.best(1) == second
    assert tuning.models[0].is_dir()
    assert list(HyperparameterSearch(setup, tuning.grid, tmp_path / "out").pending()) == []


def test_nothing_is_left_if_all_diverged(setup, tmp_path):
    tuning = HyperparameterSearch(
        setup, replace(QUICK, learning_rates=(1e-2, 1e-3)), tmp_path / "out"
    )
    tuning.encode()
    for setting in tuning.grid.cells:
        diverge(tuning, setting)
    with pytest.raises(ConfigError, match=r"All 2 settings diverged.*smaller than all of them"):
        list(tuning.pending())
    smaller = HyperparameterSearch(setup, replace(QUICK, learning_rates=(1e-4,)), tmp_path / "out")
    assert list(smaller.pending()) == smaller.grid.cells


def test_a_seed_that_diverges_leaves_nothing_to_choose(setup, tmp_path):
    tuning = HyperparameterSearch(setup, replace(QUICK, seeds=(1, 2)), tmp_path / "out")
    with pytest.raises(ConfigError, match="With seed 2, unlike the first: the loss of step 7 is"):
        tuning.record_failure(replace(tuning.grid.cells[0], seed=2), Diverged(7))


def diverge(tuning: HyperparameterSearch, setting: Trial) -> None:
    """A run that has begun, and came to nothing."""
    log = tuning.out / setting.name / "log.jsonl"
    log.parent.mkdir()
    log.write_text("")
    tuning.record_failure(setting, Diverged(7))


def with_scores(monkeypatch, scores: list[float]) -> None:
    """Let every look at dev find the next of these."""
    left = iter(scores)
    monkeypatch.setattr(
        "polyprune.evaluation.finetuning.TaskSession.held_out",
        lambda *_: {"en": 1 - next(left) / 100},
    )


def test_only_a_strictly_better_step_is_kept(setup, tmp_path, monkeypatch):
    with_scores(monkeypatch, [50, 70, 70, 60])
    tuning = tuned(setup, tmp_path / "out", SearchSpace((1e-2,), (4,), batch=4))
    (result,) = tuning.results
    assert (result["step"], result["steps"]) == (6, 12)
    assert result["score"] == pytest.approx(70)
    assert result["languages"] == {"en": pytest.approx(70)}
    run, _ = tuning.run(Trial(1e-2, 4, batch=4), 11)
    assert run.saving.final == "best"


def test_of_questions_the_last_model_is_kept(setup, tmp_path, monkeypatch):
    with_scores(monkeypatch, [70, 50])
    tuning = tuned(
        replace(setup, task=TASKS["xquad"]), tmp_path / "out", SearchSpace((1e-2,), (2,))
    )
    (result,) = tuning.results
    assert result["step"] == result["steps"]
    assert result["score"] == pytest.approx(50)


def test_the_result_of_a_run_is_written_down(setup, tmp_path):
    tuning = HyperparameterSearch(setup, QUICK, tmp_path / "out")
    setting = next(tuning.pending())
    reports = trained(tuning, setting)
    line = json.loads((tmp_path / "out" / "results.jsonl").read_text())
    assert tuning.results == [line]
    assert Trial(**line["setting"]) == setting
    assert line["score"] == pytest.approx(100 * (1 - reports[-1].held_out["en"]))
    assert sorted(path.name for path in (tmp_path / "out" / setting.name).iterdir()) == [
        "log.jsonl"
    ]
    tuning.finish()
    assert not (tmp_path / "out" / "examples.arrow").exists()


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"learning_rate": 0.0}, "more than 0"),
        ({"learning_rate": float("nan")}, "not nan"),
        ({"epochs": 0}, "1 epoch or more, not 0"),
        ({"batch": 0}, "1 example or more, not 0"),
        ({"seed": -1}, "from 0 to"),
    ],
)
def test_settings_that_cannot_be_meant(changes, told):
    with pytest.raises(ConfigError, match=told):
        Trial(**{"learning_rate": 1e-5, "epochs": 1, **changes})


def test_grids_that_cannot_be_meant():
    with pytest.raises(ConfigError, match="one learning rate"):
        SearchSpace((), (1,))
    with pytest.raises(ConfigError, match="2, 1, 2 are not all different"):
        SearchSpace((1e-5,), (1,), (2, 1, 2))
    with pytest.raises(ConfigError, match="more than 0"):
        SearchSpace((1e-5, -1.0), (1,))
