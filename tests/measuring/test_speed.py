"""Models side by side, on a clock that only the models move."""

import numpy as np
import pytest
import torch

from polyprune.errors import ConfigError
from polyprune.measuring.speed import compare_speed, ratios
from polyprune.measuring.workload import TokenBatch
from support.clocks import Time
from support.models import batch
from support.recorded import Recorded


@pytest.fixture(autouse=True)
def without_a_second_for_garbage(monkeypatch):
    """A test process has a lot of it, and nothing here is really timed."""
    monkeypatch.setattr("polyprune.measuring.turns.gc.collect", lambda: 0)


def a_runner(time: Time, per_sentence: float, seen: list | None = None):
    """What an export is: a function of arrays; one that takes its time."""

    def run(arrays):
        time.now += per_sentence * len(arrays["input_ids"])
        if seen is not None:
            seen.append(arrays)

    return run


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
    progress = Recorded()
    found = compare_speed(
        {"one": model, "two": model},
        ids,
        rounds=2,
        progress=progress,
        clock=lambda: float(next(ticks)),
    )
    assert list(found) == ["one", "two"]
    assert found["one"].sentences_per_second == 4  # a tick a call
    assert found["one"].tokens_per_second == ids.numel()
    assert found["two"].ratio == found["two"].low == found["two"].high == 1
    assert model.training
    assert progress.items == [0, 1]
    assert torch.is_grad_enabled()


def test_functions_are_compared_with_models(model):
    """As exported models are: they take arrays, with a mask of their own."""
    time, seen = Time(), []
    ids = batch("xlm-roberta", examples=2)["input_ids"]
    model.register_forward_hook(lambda *_: setattr(time, "now", time.now + 8.0))
    found = compare_speed(
        {"model": model, "exported": a_runner(time, 1.0, seen)}, ids, rounds=3, clock=time
    )
    assert found["exported"].ratio == 4
    assert seen[0]["attention_mask"].tolist() == np.ones(ids.shape).tolist()
    assert not seen[0]["token_type_ids"].any()


def test_a_round_goes_through_all_batches():
    time = Time()
    sizes = [TokenBatch(torch.ones(n, 5, dtype=torch.long)) for n in (1, 3)]
    found = compare_speed({"a": a_runner(time, 2.0), "b": a_runner(time, 1.0)}, sizes, clock=time)[
        "b"
    ]
    assert found.ratio == 2
    assert found.sentences_per_second == 1
    assert found.tokens_per_second == 5
    assert found.seconds == 2  # a batch of two on average
    assert found.calls == 60
    assert found.percentiles == {50: 2.0, 90: 3.0}
    assert found.spread == 0


def test_it_is_the_whole_turn_of_a_model_that_is_long_enough():
    time, seen = Time(), []
    four = [TokenBatch(torch.ones(1, 5, dtype=torch.long))] * 4
    compare_speed({"a": a_runner(time, 2**-9, seen)}, four, rounds=2, clock=time)  # about 2 ms
    assert len(seen) == 4 * (3 + 2)
    seen.clear()
    compare_speed({"a": a_runner(time, 2**-9, seen)}, four[:1], rounds=2, clock=time)
    assert len(seen) == 3 + 3 * 2


def test_each_on_batches_of_its_own_is_compared_by_sentences():
    time = Time()
    own = {
        name: [TokenBatch(torch.ones(n, 2, dtype=torch.long))]
        for name, n in {"a": 1, "b": 8}.items()
    }
    found = compare_speed({"a": a_runner(time, 1.0), "b": a_runner(time, 0.5)}, own, clock=time)
    assert found["b"].ratio == 2
    assert found["b"].seconds == 4


def test_padding_is_masked_and_not_counted(model):
    ids = torch.randint(10, 60, (2, 6))
    mask = torch.tensor([[1] * 6, [1] * 2 + [0] * 4])
    passed, ticks = [], iter(range(1000))
    model.register_forward_hook(lambda _, __, inputs, ___: passed.append(inputs), with_kwargs=True)
    found = compare_speed(
        {"one": model}, [TokenBatch(ids, mask)], rounds=2, clock=lambda: float(next(ticks))
    )["one"]
    assert found.tokens_per_second == 8
    assert passed[0]["attention_mask"].equal(mask)


def test_nothing_to_measure_is_said(model):
    ids = batch("xlm-roberta")["input_ids"]
    with pytest.raises(ConfigError, match="no models to compare"):
        compare_speed({}, ids)
    with pytest.raises(ConfigError, match="one round or more"):
        compare_speed({"one": model}, ids, rounds=0)


def test_half_precision_is_for_gpus(model):
    ids = batch("xlm-roberta")["input_ids"]
    with pytest.raises(ConfigError, match=r"float16 is for CUDA.*on cpu"):
        compare_speed({"one": model}, ids, precision="float16")
