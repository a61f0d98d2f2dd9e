"""Recovery keeps what is best on held-out lines, and never makes a model worse."""

from pathlib import Path

import pytest
import torch

import polyprune as pp
from polyprune.errors import ConfigError
from polyprune.progress import Silent, Stopped
from polyprune.training.gating_config import GatingConfig
from polyprune.training.objectives import Objective
from polyprune.training.phases import Phase
from polyprune.training.run_config import Run
from polyprune.training.run_sections import SavingConfig
from polyprune.training.training_module import TrainingModule
from support.models import speaking_model
from support.text import SENTENCES

OPTIONS = {"corpus": SENTENCES, "tokens": 16, "batch_size": 8}
READOUTS = ("masked-lm", "hidden-states", "sentence-classification", "token-classification")


def halved(folder: Path, left: float = 0.0):
    """A model with some weights missing, from which there is a way back, and the whole one."""
    whole, cut = pp.load(folder), pp.load(folder)
    with torch.no_grad():
        cut.encoder.layers[0].feed_forward.contract.weight.mul_(left)
    return whole, cut


def same(one, other) -> bool:
    a, b = one.state_dict(), other.state_dict()
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


@pytest.mark.parametrize("readout", READOUTS)
@pytest.mark.parametrize("rate", [1.0, 1e4])
def test_a_rate_that_is_far_too_high_leaves_the_model_as_it_was(tmp_path, readout, rate):
    whole, cut = halved(speaking_model(tmp_path / "model", readout), 0.9)
    result = pp.recover(cut, teacher=whole, steps=12, learning_rate=rate, **OPTIONS)
    assert result.recovery.left_out
    assert same(result.model, cut)
    assert result.model.config.hidden_dropout_prob == cut.config.hidden_dropout_prob
    found = result.as_dict()
    assert found["kept_step"] == 0
    assert found["held_out"] == found["held_out_before"] != {}
    assert any("Recovery was left out" in str(part) for part in result.summary())
    # Without held-out lines there is nothing to choose by: what was trained is given back.
    if rate == 1.0:
        blind = pp.recover(cut, teacher=whole, steps=2, held_out=0, learning_rate=rate, **OPTIONS)
        assert blind.as_dict()["kept_step"] == 2
        assert not same(blind.model, cut)


def test_the_best_step_is_kept_and_not_the_last(tmp_path):
    whole, cut = halved(speaking_model(tmp_path / "model", "sentence-classification"))
    options = {"steps": 40, "learning_rate": 0.02, **OPTIONS}
    result = pp.recover(cut, teacher=whole, **options)
    measured = {each["step"]: each["held_out"] for each in result.log if each["held_out"]}
    means = {step: sum(own.values()) / len(own) for step, own in measured.items()}
    assert list(measured) == [10, 20, 30, 40]
    best = min(means, key=means.__getitem__)
    assert result.recovery.kept == best
    assert result.as_dict()["held_out"] == measured[best]
    assert means[best] < sum(result.recovery.before.values()) / len(result.recovery.before)
    # As the model that is given back says of itself, on the lines that were held out.
    system = TrainingModule(result.model.eval(), Objective(outputs=1.0), teacher=whole.eval())
    tokenizer, (code, loss) = whole.source.tokenizer(), next(iter(measured[best].items()))
    lines = tokenizer([SENTENCES[code][9]], truncation=True, max_length=16, return_tensors="pt")
    batch = {name: lines[name] for name in ("input_ids", "attention_mask")}
    assert system(batch)["outputs"].item() == pytest.approx(loss, rel=1e-4)


class Killed(Exception):
    """Stands for kill -9: nothing is saved any more."""


class Deadly(Silent):
    """Kills a run at a step."""

    def update(self, done: int, note: str = "") -> None:
        if done == 17:
            raise Killed


def test_the_best_state_survives_stops_and_kills(tmp_path):
    whole, cut = halved(speaking_model(tmp_path / "model", "sentence-classification"))
    options = {"teacher": whole, "steps": 40, "learning_rate": 0.05, **OPTIONS}
    straight = pp.recover(cut, out=tmp_path / "straight", **options)
    for stop in (5, 25, 35):
        asked = iter(range(100))
        silent = Silent(lambda asked=asked, stop=stop: next(asked) == stop % 10)
        with pytest.raises(Stopped, match="Stopped and saved"):
            pp.recover(cut, out=tmp_path / "stopped", progress=silent, **options)
    with pytest.raises(Killed):
        pp.recover(cut, out=tmp_path / "killed", progress=Deadly(), **options)
    for name in ("stopped", "killed"):
        again = pp.recover(cut, out=tmp_path / name, **options)
        assert again.as_dict() | {"out": ""} == straight.as_dict() | {"out": ""}
        assert same(pp.load(tmp_path / name), pp.load(tmp_path / "straight"))


def test_gates_do_not_go_with_it():
    saving = SavingConfig(final="never worse")
    with pytest.raises(ConfigError, match="for models without gates"):
        Run((Phase(1),), gating=GatingConfig("fixed"), saving=saving)
