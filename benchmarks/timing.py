"""Honest comparisons: interleaved, warmed up, threads pinned, ratios with an interval."""

import gc
import json
import platform
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np
import torch

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
    for _ in range(warmup):
        first()
        second()
    gc.collect()
    gc.disable()
    times = []
    for i in range(rounds):
        if i % 2:
            b, a = clock(second), clock(first)
        else:
            a, b = clock(first), clock(second)
        times.append((a, b))
    gc.enable()
    samples = np.array(times)
    draws = np.random.default_rng(0).integers(0, rounds, (2000, rounds))
    medians = np.median(samples[draws], axis=1)  # (draws, 2)
    low, high = np.percentile(medians[:, 0] / medians[:, 1], [2.5, 97.5])
    first_median, second_median = np.median(samples, axis=0)
    return Ratio(
        (float(first_median), float(second_median)),
        float(first_median / second_median),
        float(low),
        float(high),
    )


def clock(run: Callable[[], object]) -> float:
    """Seconds that one call takes."""
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


def machine() -> dict:
    """What the numbers were measured on."""
    cpu = platform.processor()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        cpu = names[0].partition(":")[2].strip() if names else cpu
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=RESULTS.parent
    )
    return {
        "cpu": cpu,
        "threads": torch.get_num_threads(),
        "python": platform.python_version(),
        "commit": commit.stdout.strip(),
        **{name: version(name) for name in ("torch", "transformers", "polyprune")},
    }


def record(name: str, results: list[dict]) -> None:
    """Append results, with their machine, to a file of JSON lines."""
    RESULTS.mkdir(exist_ok=True)
    with (RESULTS / f"{name}.jsonl").open("a", encoding="utf-8") as file:
        for result in results:
            file.write(json.dumps(result | {"machine": machine()}) + "\n")
