"""All that is measured of several models, on a clock of their own."""

from dataclasses import dataclass, field

import pytest
from clocks import Time

from polyprune.errors import ConfigError
from polyprune.measuring import batches, report
from polyprune.measuring.memory import Memory
from polyprune.measuring.report import Asked, Entrant, ideal, measure, ticks
from polyprune.measuring.workload import Workload
from polyprune.model.shape import EncoderShape

DENSE = EncoderShape(60, 34, 0, 24, 6, (4, 4), (40, 40), 24)
HALF = DENSE.keeping((2, 2), (20, 20), 24)
TIME = Time()


@dataclass(frozen=True)
class Fake:
    """A model of so many seconds a batch and a sentence."""

    batch: float
    sentence: float
    seen: list = field(default_factory=list)

    def prepare(self) -> None:
        pass

    def __call__(self):
        def run(arrays):
            self.seen.append(arrays["input_ids"].shape)
            TIME.now += self.batch + self.sentence * len(arrays["input_ids"])

        return run


class FakeGauge:
    """A hundred bytes, and ten a sentence."""

    def __init__(self, loader, *_):
        self.runner = loader()

    def call(self, batch):
        self.size = len(batch)
        return lambda: self.runner(batch.arrays())

    def peak(self, _):
        return 100 + 10 * self.size


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch):
    monkeypatch.setattr("polyprune.measuring.turns.gc.collect", lambda: 0)
    monkeypatch.setattr(
        report, "peak_memory", lambda _, batch, **__: Memory(100, 100 + 10 * len(batch))
    )
    monkeypatch.setattr(batches, "Gauge", FakeGauge)
    monkeypatch.setattr(
        batches, "in_child", lambda function, *arguments: function(*arguments, clock=TIME)
    )


def entrants():
    return [Entrant("dense", Fake(1.0, 2.0), DENSE), Entrant("half", Fake(1.0, 1.0), HALF)]


def test_everything_is_measured_beside_the_first():
    both = entrants()
    asked = Asked(Workload(60, 9), batch=4, rounds=30, memory=1000)
    counted = []

    def watch(_, things):
        for thing in things:
            counted.append(thing)
            yield thing

    found = measure(both, asked, watch=watch, clock=TIME)
    dense, half = found.models["dense"], found.models["half"]
    assert dense.speed.ratio == dense.latency.ratio == dense.ideal == 1
    assert half.speed.ratio == pytest.approx(9 / 5)
    assert half.latency.ratio == pytest.approx(3 / 2)
    assert half.latency.calls == 100
    assert half.latency.percentiles == {50: 2.0, 90: 2.0, 95: 2.0}
    assert half.memory.peak == 140
    assert half.ideal == pytest.approx(2)
    assert half.best is not None
    assert half.at_best is not None
    assert half.best.best.batch == 32  # 64 and 128 bring less than 2 % each
    assert half.at_best.ratio == pytest.approx(65 / 33, rel=0.05)
    assert len(counted) == ticks(both, asked)
    assert both[0].loader.seen[-1] == (32, 9)


def test_at_batch_one_latency_is_the_speed():
    asked = Asked(Workload(60, 9), rounds=30)
    both = entrants()
    found = measure(both, asked, clock=TIME).models["half"]
    assert found.speed is found.latency
    assert found.best is found.at_best is None
    assert ticks(both, asked) == 2 + 100


def test_the_ideal_counts_padding_and_needs_both_shapes():
    first, second = entrants()
    padded = Workload(60, 9, ((5, 6, 7), (5, 6))).batches(2)
    assert ideal(first, second, padded) == pytest.approx(2)
    assert ideal(first, Entrant("export", Fake(1, 1), None), padded) is None


def test_no_models_are_refused():
    with pytest.raises(ConfigError, match="no models to measure"):
        measure([], Asked(Workload(60)))
