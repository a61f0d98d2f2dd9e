"""A clock for tests: nothing in them is really timed."""

from polyprune.measuring import latency_timing, speed, speed_target
from polyprune.measuring.noise import Noise, NoiseMonitor


class Time:
    """Stands still but for what is said to take a while."""

    def __init__(self):
        self.now = 0.0
        self.called: list[str] = []

    def __call__(self) -> float:
        return self.now

    def takes(self, name: str, seconds: float):
        def call() -> None:
            self.called.append(name)
            self.now += seconds

        return call


class Machine(Time):
    """Takes 1 ms a pass, 2 ms a head and 0.2 ms a unit; sublayers beside others take longer."""

    def __init__(self, mixed: float = 1.0):
        super().__init__()
        self.mixed = mixed
        self.timed = 0

    def seconds(self, shape) -> float:
        heads, units = sum(shape.heads), sum(shape.units)
        together = 1 + (self.mixed - 1) * (heads / 8 * units / 80) ** 0.5  # the more, the more
        rank = 1e-5 * shape.rank if shape.factorized else 0.0
        return 1e-3 + rank + together * (2e-3 * heads + 2e-4 * units)

    def call_of(self, model, batch, precision="float32"):
        def call() -> None:
            self.timed += 1
            self.now += self.seconds(model.shape)

        return call


def put(machine, monkeypatch):
    for module in (latency_timing, speed_target, speed):
        monkeypatch.setattr(module, "timed_call", machine.call_of)
    monkeypatch.setattr("polyprune.measuring.turns.gc.collect", lambda: 0)
    monkeypatch.setattr(NoiseMonitor, "noise", lambda self, speeds: Noise())
    return machine
