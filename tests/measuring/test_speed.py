"""Models side by side, on a clock that only the models move."""

import numpy as np
import pytest
import torch
from conftest import batch

from polyprune.errors import ConfigError
from polyprune.measuring.speed import compare, ratios


@pytest.fixture(autouse=True)
def without_a_second_for_garbage(monkeypatch):
    """A test process has a lot of it, and nothing here is really timed."""
    monkeypatch.setattr("polyprune.measuring.turns.gc.collect", lambda: 0)


def test_ratios_are_to_the_first_and_within_their_interval():
    noise = np.random.default_rng(1).uniform(0.9, 1.1, (30, 2))
    (one, low, high), (ratio, lowest, highest) = ratios(noise * [2.0, 1.0])
    assert one == low == high == 1
    assert 1.8 < lowest < ratio < highest < 2.2


def test_what_slows_a_whole_round_down_does_not_touch_the_ratio():
    rounds = np.random.default_rng(1).uniform(1, 9, (31, 1))
    assert ratios(rounds * [3.0, 1.0])[1] == pytest.approx((3, 3, 3))


def test_models_are_compared_and_left_as_they_were(model):
    ids = batch("xlm-roberta", examples=4)["input_ids"]
    model.train()
    ticks = iter(range(1000))
    watched = []

    def watch(name, things):
        watched.append(name)
        return things

    found = compare(
        {"one": model, "two": model}, ids, rounds=2, watch=watch, clock=lambda: float(next(ticks))
    )
    assert list(found) == ["one", "two"]
    assert found["one"].sentences_per_second == 4  # a tick a call
    assert found["two"].ratio == found["two"].low == found["two"].high == 1
    assert model.training
    assert watched == ["speed"]
    assert torch.is_grad_enabled()


def test_nothing_to_measure_is_said(model):
    ids = batch("xlm-roberta")["input_ids"]
    with pytest.raises(ConfigError, match="no models to compare"):
        compare({}, ids)
    with pytest.raises(ConfigError, match="one round or more"):
        compare({"one": model}, ids, rounds=0)
