"""All that is measured of several models, on a clock of their own."""

from dataclasses import dataclass, field

import pytest

from polyprune.errors import ConfigError
from polyprune.measuring import batch_search, measurement
from polyprune.measuring.measurement import Entry, MeasureConfig, ideal, measure
from polyprune.measuring.memory import MemoryUse
from polyprune.measuring.workload import Workload
from polyprune.model.network.shape import EncoderShape
from support.clocks import Time
from support.recorded import Recorded

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
        measurement, "peak_memory", lambda _, batch, **__: MemoryUse(100, 100 + 10 * len(batch))
    )
    monkeypatch.setattr(batch_search, "MemoryGauge", FakeGauge)
    monkeypatch.setattr(
        batch_search, "in_child", lambda function, *arguments: function(*arguments, clock=TIME)
    )


def entrants():
    return [Entry("dense", Fake(1.0, 2.0), DENSE), Entry("half", Fake(1.0, 1.0), HALF)]


def test_everything_is_measured_beside_the_first():
    both = entrants()
    asked = MeasureConfig(Workload(60, 9), batch=4, rounds=30, memory=1000)
    progress = Recorded()
    found = measure(both, asked, progress=progress, clock=TIME)
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
    assert [title for title, _ in progress.stages] == [
        "Measuring memory",
        "Finding batch sizes",
        "Measuring latency",
        "Measuring speed",
        "Measuring speed at the best batch",
    ]
    assert len(progress.items) == sum(total or 0 for _, total in progress.stages)
    assert both[0].loader.seen[-1] == (32, 9)


def test_at_batch_one_latency_is_the_speed():
    asked = MeasureConfig(Workload(60, 9), rounds=30)
    progress = Recorded()
    found = measure(entrants(), asked, progress=progress, clock=TIME).models["half"]
    assert found.speed is found.latency
    assert found.best is found.at_best is None
    assert len(progress.items) == 2 + 100


def test_the_ideal_counts_padding_and_needs_both_shapes():
    first, second = entrants()
    padded = Workload(60, 9, ((5, 6, 7), (5, 6))).batches(2)
    assert ideal(first, second, padded) == pytest.approx(2)
    assert ideal(first, Entry("export", Fake(1, 1), None), padded) is None


def test_no_models_are_refused():
    with pytest.raises(ConfigError, match="no models to measure"):
        measure([], MeasureConfig(Workload(60)))
