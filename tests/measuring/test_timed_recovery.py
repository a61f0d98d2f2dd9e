"""Minutes of recovery are spent on the best learning rate, and on as many steps as there is time.

The clock is the tests' own: nothing is really timed.
"""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

import polyprune as pp
from polyprune.errors import ConfigError
from polyprune.measuring.timed_recovery import FEWEST, PATIENCE, RATES, TimedRecovery
from polyprune.progress import Silent, Stopped
from polyprune.training.recovery import RecoverySettings, plan_recovery
from polyprune.training.run_sections import CorpusConfig
from polyprune.training.session import ModelsInMemory
from support.models import speaking_model


class Ticking:
    """A clock that goes on by half a second whenever somebody looks."""

    def __init__(self, tick: float = 0.5):
        self.now, self.tick = 0.0, tick

    def __call__(self) -> float:
        self.now += self.tick
        return self.now


class Killed(Exception):
    """Stands for kill -9: nothing is saved any more."""


class Deadly(Silent):
    """Kills the run at a step of it."""

    def update(self, done: int, note: str = "") -> None:
        if done == 9 and note.startswith("recovery"):
            raise Killed


@pytest.fixture
def models(tmp_path) -> ModelsInMemory:
    folder = speaking_model(tmp_path / "model", "sentence-classification")
    whole, cut = pp.load(folder), pp.load(folder)
    with torch.no_grad():
        cut.encoder.layers[0].feed_forward.contract.weight.mul_(0.0)
    return ModelsInMemory(cut, whole)


@pytest.fixture
def timed(models, text, tmp_path):
    def make(minutes: float = 0.8, work: str = "work", clock=None, **changes) -> TimedRecovery:
        corpus = CorpusConfig(source=str(text), block=16, held_out=changes.pop("held_out", 4))

        def plan(settings):
            return plan_recovery(models.student, "whole", corpus, settings)

        settings = RecoverySettings(1, batch=4, **changes)
        folder = tmp_path / work
        return TimedRecovery(minutes, plan, settings, models, folder, clock or Ticking())

    return make


def weights(recovery) -> dict[str, torch.Tensor]:
    return recovery.model.state_dict()


def same(one, other) -> bool:
    a, b = weights(one), weights(other)
    return all(torch.equal(a[name], b[name]) for name in a)


def mean(losses: dict[str, float]) -> float:
    return sum(losses.values()) / len(losses)


def test_the_best_rate_gets_the_rest_of_the_time(timed, models):
    found = timed().recover()
    choice = found.choice
    assert choice.trial_steps >= FEWEST
    assert 3 <= len(choice.trials) <= 4
    assert [trial.learning_rate for trial in choice.trials] == sorted(
        {trial.learning_rate for trial in choice.trials}
    )
    best = min(choice.trials, key=lambda trial: trial.loss)
    assert choice.learning_rate == best.learning_rate
    # 48 seconds at half a second a step, less what trials, measuring and caution took.
    assert 50 < choice.steps < 96
    assert found.entries[-1]["step"] <= choice.steps
    assert max(entry["learning_rate"] for entry in found.entries) == best.learning_rate
    assert found.entries[0]["learning_rate"] < best.learning_rate
    assert mean(found.after) < mean(found.before)
    assert same(found, timed(work="again").recover()), "the same clock, the same result"
    assert not same(found, replace(found, model=models.student))


def test_a_trial_is_what_a_recovery_of_so_many_steps_does(timed):
    """The loss that chose a rate is that of a run of its own with that rate."""
    found = timed().recover().choice
    trial = found.trials[-1]
    alone = pp.recover(
        timed().models.student,
        teacher=timed().models.teacher,
        corpus=timed().plan(RecoverySettings(1)).corpus.source,
        steps=found.trial_steps,
        learning_rate=trial.learning_rate,
        batch_size=4,
        tokens=16,
        held_out=4,
    )
    assert mean(alone.log[-1]["held_out"]) == pytest.approx(trial.loss, rel=1e-5)


def test_a_rate_that_is_given_is_not_chosen(timed):
    choice = timed(learning_rate=7e-4).recover().choice
    assert (choice.learning_rate, choice.trials) == (7e-4, ())


def test_without_time_for_trials_the_usual_rate_is_taken(timed):
    choice = timed(minutes=0.1).recover().choice
    assert choice.trials == ()
    assert choice.learning_rate == timed().plan(RecoverySettings(1)).phases[0].learning_rate
    assert "without trials" in str(choice)


def test_the_run_ends_when_time_is_up_and_keeps_what_is_best(timed):
    clock = Ticking()

    class Slower(Silent):
        def message(self, text: str) -> None:
            clock.tick = 7.0  # from when the choice is told

    found = timed(clock=clock).recover(Slower())
    done = found.entries[-1]
    assert done["step"] < found.choice.steps / 4
    assert done["held_out"], "the last step is measured, whenever it comes"
    assert found.kept in (0, done["step"])


def test_a_run_that_no_longer_gets_better_ends_early(timed):
    found = timed(minutes=4.0, learning_rate=0.5).recover()
    measured = [entry["step"] for entry in found.entries if entry["held_out"]]
    assert found.entries[-1]["step"] < found.choice.steps
    assert sum(step > found.kept for step in measured) == PATIENCE


def test_a_killed_one_keeps_its_choice_and_comes_to_the_same(timed):
    straight = timed(work="straight").recover()
    with pytest.raises(Killed):
        timed().recover(Deadly())
    again = timed(clock=Ticking(0.4)).recover()
    assert again.choice == straight.choice
    assert again.kept == straight.kept
    assert again.log == straight.log
    assert same(again, straight)
    anew = timed(clock=Ticking(0.4)).recover(force=True)
    assert anew.choice != straight.choice


def test_one_that_is_stopped_in_trials_begins_anew(timed, tmp_path):
    asked = iter([False, True])
    with pytest.raises(Stopped, match="while learning rates were tried"):
        timed().recover(Silent(lambda: next(asked)))
    assert not (tmp_path / "work" / "choice.json").exists()
    assert same(timed().recover(), timed(work="straight").recover())


def test_rates_that_diverge_are_not_chosen(timed, monkeypatch):
    monkeypatch.setattr("polyprune.measuring.timed_recovery.RATES", (*RATES[:3], 1e30, 1e35))
    choice = timed().recover().choice
    diverged = [trial for trial in choice.trials if trial.loss is None]
    assert [trial.learning_rate for trial in diverged] == [1e30]
    assert choice.learning_rate in RATES[:3]
    assert "1e+30: diverged" in str(choice)


def test_minutes_need_held_out_lines(timed, text):
    with pytest.raises(ConfigError, match="leave `held_out` at 100"):
        timed(held_out=0).recover()
    for path in Path(text).glob("*.txt"):
        path.write_text("\n".join(path.read_text().splitlines()[:8]), encoding="utf-8")
    with pytest.raises(ConfigError, match="No language has ten lines"):
        timed().recover()
