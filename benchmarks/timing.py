"""Honest comparisons: interleaved, warmed up, threads pinned, ratios with an interval."""

import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np

from polyprune.parts import describe_machine, in_turns, ratios, time_call

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Ratio:
    """How many times faster the second is than the first."""

    seconds: tuple[float, float]
    """Median of each."""
    ratio: float
    low: float
    high: float

    def __str__(self) -> str:
        first, second = self.seconds
        return (
            f"{1e3 * first:8.1f} ms {1e3 * second:8.1f} ms   "
            f"{self.ratio:5.3f}×  [{self.low:.3f}, {self.high:.3f}]"
        )


def interleaved(
    first: Callable[[], object], second: Callable[[], object], rounds: int = 30, warmup: int = 3
) -> Ratio:
    """Time two functions in turns, so that whatever else the machine does meets both alike."""
    seconds = in_turns([first, second], range(rounds), warmup=warmup)
    medians = np.median(seconds, axis=0)
    return Ratio((float(medians[0]), float(medians[1])), *ratios(seconds)[1])


def clock(run: Callable[[], object]) -> float:
    """Seconds that one call takes."""
    return time_call(run)


def machine() -> dict:
    """What the numbers were measured on."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=RESULTS.parent
    )
    packages = {name: version(name) for name in ("torch", "transformers", "polyprune")}
    return {**describe_machine(), "commit": commit.stdout.strip(), **packages}


def record(name: str, results: list[dict]) -> None:
    """Append results, with their machine, to a file of JSON lines."""
    RESULTS.mkdir(exist_ok=True)
    with (RESULTS / f"{name}.jsonl").open("a", encoding="utf-8") as file:
        for result in results:
            file.write(json.dumps(result | {"machine": machine()}) + "\n")
