"""Decide whether the machine was quiet enough for its measurements to be reported.

Others that run beside a measurement show in Linux' own books: processor time that a host kept for
itself (steal), time that runnable threads had to wait (pressure), and how often ours were stopped.
What they do to the numbers shows in the numbers: how far rounds lie apart, and how wide the
interval of a ratio is.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..errors import PolypruneError
from .speed import SpeedResult

STAT = Path("/proc/stat")
PRESSURE = Path("/proc/pressure/cpu")
UPTIME = Path("/proc/uptime")

STEAL = 7
"""The index of stolen time in a line of /proc/stat, after the line's name."""


@dataclass(frozen=True, slots=True)
class NoiseLimit:
    """The levels at which noise causes a warning, and a refusal."""

    warn: float
    refuse: float
    message: str


LIMITS = {
    "spread": NoiseLimit(0.10, 0.25, "rounds of the same model lie {:.0%} apart"),
    "width": NoiseLimit(0.05, 0.10, "the interval of a ratio reaches {:.0%} to either side"),
    "steal": NoiseLimit(0.01, 0.10, "the host kept {:.0%} of the processor for others"),
    "pressure": NoiseLimit(0.05, 0.25, "threads waited for a processor {:.0%} of the time"),
    "switches": NoiseLimit(1.0, float("inf"), "a call was interrupted {:.1f} times on average"),
}
"""torch warns of spreads of 10 %, and calls 25 % gross."""

ADVICE = "ask for more `rounds`, or see the numbers with `allow_noisy`"
"""Advice for users of `polyprune.measure`."""


class TooNoisy(PolypruneError):
    """The machine is too noisy to measure on."""


@dataclass(frozen=True, slots=True)
class Noise:
    """The noise during a measurement; None where the system does not report it."""

    spread: float = 0.0
    """The interquartile range of the least steady model's rounds, as a share of their median."""
    width: float = 0.0
    """The half-width of the widest interval of a ratio, as a share of the ratio."""
    steal: float | None = None
    """The share of processor time that the host gave to others."""
    pressure: float | None = None
    """The share of time in which a thread waited for a processor."""
    switches: float = 0.0
    """Context switches per call."""

    def warnings(self) -> list[str]:
        """Return the warnings for readers of the numbers."""
        return [limit.message.format(value) for limit, value in self._over("warn")]

    def refusals(self) -> list[str]:
        """Return the reasons not to report numbers."""
        return [limit.message.format(value) for limit, value in self._over("refuse")]

    def check(self, advice: str = ADVICE) -> None:
        """Raise if the machine is too noisy to measure on."""
        reasons = self.refusals()
        if reasons:
            raise TooNoisy(
                f"This machine is too noisy to measure on now: {'; '.join(reasons)}. Stop what else"
                f" is running, {advice}."
            )

    def record(self) -> dict[str, Any]:
        """Return the noise as JSON."""
        return {**asdict(self), "warnings": self.warnings(), "too_noisy": bool(self.refusals())}

    def _over(self, which: str) -> Iterator[tuple[NoiseLimit, float]]:
        for name, limit in LIMITS.items():
            value = getattr(self, name)
            if value is not None and value > getattr(limit, which):
                yield limit, value


class NoiseMonitor:
    """Reads the system's counters before and after a measurement."""

    def __init__(self):
        self.before = _read_counters()
        self.after = self.before

    def noise(self, speeds: Iterable[SpeedResult]) -> Noise:
        """Return the noise, from the system's counters and from the measured rounds."""
        found = list(speeds)
        calls = max(1, sum(each.calls for each in found))
        return Noise(
            spread=max((each.spread for each in found), default=0.0),
            width=max(((each.high / each.low) ** 0.5 - 1 for each in found), default=0.0),
            steal=_share(self.before.stolen, self.after.stolen, self.before.all, self.after.all),
            pressure=_share(self.before.waited, self.after.waited, self.before.up, self.after.up),
            switches=(self.after.switches - self.before.switches) / calls,
        )


@contextmanager
def monitor_noise() -> Iterator[NoiseMonitor]:
    """Monitor the noise during the block."""
    watched = NoiseMonitor()
    yield watched
    watched.after = _read_counters()


@dataclass(frozen=True, slots=True)
class _Counters:
    stolen: float | None
    all: float | None
    waited: float | None
    up: float | None
    switches: int


def _read_counters() -> _Counters:
    jiffies = _numbers(STAT)
    # Guests' time, after steal, is in users' already.
    whole = sum(jiffies[: STEAL + 1]) if len(jiffies) > STEAL else None
    return _Counters(
        stolen=None if whole is None else jiffies[STEAL],
        all=whole,
        waited=_waited(),
        up=_up(),
        switches=_switches(),
    )


def _numbers(path: Path) -> list[float]:
    """Return the numbers in the first line of a file, after its name."""
    if not path.exists():
        return []
    return [float(word) for word in path.read_text(encoding="utf-8").split("\n")[0].split()[1:]]


def _waited() -> float | None:
    """Return the seconds in which a thread waited for a processor."""
    if not PRESSURE.exists():
        return None
    try:
        first = PRESSURE.read_text(encoding="utf-8").split("\n")[0]
    except OSError:  # there, but switched off
        return None
    return int(first.rpartition("total=")[2]) / 1e6


def _switches() -> int:
    """Return the number of involuntary context switches of this process."""
    try:
        import resource
    except ImportError:  # not on Windows
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw


def _up() -> float | None:
    """Return the seconds since boot."""
    return float(UPTIME.read_text(encoding="utf-8").split()[0]) if UPTIME.exists() else None


def _share(
    part: float | None, later: float | None, whole: float | None, whole_later: float | None
) -> float | None:
    if part is None or later is None or whole is None or whole_later is None:
        return None
    return (later - part) / (whole_later - whole) if whole_later > whole else 0.0
