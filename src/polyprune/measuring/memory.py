"""The most memory that a model needs while it runs, in a process of its own.

Within one process the peak of one model hides that of the next, and what was freed may not have
been given back. So a child loads the model, forgets its peak so far (Linux can), and runs a batch.
"""

import gc
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Protocol, TypeVar, runtime_checkable

import torch
from torch import nn
from torch.nn import functional as F

from ..errors import PolypruneError
from .calls import Call, Precision, Runnable, timed_call
from .workload import TokenBatch

STATUS = Path("/proc/self/status")
FORGET = Path("/proc/self/clear_refs")

FORGET_PEAK = "5"
"""What is written there to begin a new peak at what is resident now."""

PASSES = 2
"""Over a batch: libraries ask for memory of their own in the first."""

Found = TypeVar("Found")


@runtime_checkable
class Loader(Protocol):
    """Something picklable that loads a model in another process."""

    def prepare(self) -> None:
        """Import what loading needs, so that code is not taken for weights."""
        ...

    def __call__(self) -> Runnable:
        """The model, where it is to run."""
        ...


class OutOfMemory(PolypruneError):
    """A process that the system ended."""


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """Bytes, beside those of the process that runs the model."""

    weights: int
    """Of the loaded model before it runs."""
    peak: int
    """Of the model while it runs a batch."""


def peak_memory(
    loader: Loader, batch: TokenBatch, *, threads: int, precision: Precision = "float32"
) -> MemoryUse:
    """What a model needs for a batch, found in a child process."""
    return in_child(_peak_memory, loader, batch, threads, precision)


def in_child(function: Callable[..., Found], *arguments: object) -> Found:
    """What a function makes of arguments in a fresh process, which ends with it."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        try:
            return pool.submit(function, *arguments).result()
        except BrokenProcessPool as error:
            raise OutOfMemory(
                "The process that measured memory was ended by the system, which is what happens "
                "when memory is full. Choose smaller batches, or a smaller --memory."
            ) from error


class MemoryGauge:
    """A model in this process, and how much memory it takes."""

    def __init__(self, loader: Loader, threads: int, precision: Precision):
        loader.prepare()
        torch.set_num_threads(threads)
        _wake_libraries()
        self.before = resident()
        self.runner = loader()
        if isinstance(self.runner, nn.Module):
            self.runner.eval()
            _fetch(self.runner)
        self.precision: Precision = precision
        gc.collect()
        self.weights = self._now()

    def call(self, batch: TokenBatch) -> Call:
        """A pass over a batch."""
        return timed_call(self.runner, batch, self.precision)

    def peak(self, call: Call) -> int:
        """The most that is in use while something is called."""
        device = self._device()
        if device is not None:
            torch.cuda.reset_peak_memory_stats(device)
        else:
            forget_peak()
        for _ in range(PASSES):
            call()
        if device is not None:
            return torch.cuda.max_memory_allocated(device)
        return max(0, high_water() - self.before)

    def _now(self) -> int:
        device = self._device()
        if device is not None:
            return torch.cuda.memory_allocated(device)
        return max(0, resident() - self.before)

    def _device(self) -> torch.device | None:
        """The GPU that it runs on, if it does."""
        if not isinstance(self.runner, nn.Module):
            return None
        device = next(self.runner.parameters()).device
        return device if device.type == "cuda" else None


def resident() -> int:
    """Bytes of this process that are in memory."""
    return _status("VmRSS") or _most_ever()


def high_water() -> int:
    """The most bytes of this process that were in memory at once."""
    return _status("VmHWM") or _most_ever()


def forget_peak() -> None:
    """Begin a new peak at what is resident now, where the system can."""
    if FORGET.exists():
        FORGET.write_text(FORGET_PEAK, encoding="ascii")


def _peak_memory(
    loader: Loader, batch: TokenBatch, threads: int, precision: Precision
) -> MemoryUse:
    gauge = MemoryGauge(loader, threads, precision)
    return MemoryUse(gauge.weights, gauge.peak(gauge.call(batch)))


def _fetch(model: nn.Module) -> None:
    """Read all weights: those of a mapped file are in memory only once they were looked at."""
    with torch.no_grad():
        for weight in model.parameters():
            weight.sum()


def _wake_libraries() -> None:
    """Products and attention of no importance: libraries load code and keep buffers."""
    with torch.inference_mode():
        x = F.gelu(torch.ones(64, 256) @ torch.ones(256, 256)).view(1, 4, 64, 64)
        F.scaled_dot_product_attention(x, x, x)


def _status(field: str) -> int | None:
    """Bytes, as Linux tells them of this process."""
    if not STATUS.exists():
        return None
    lines = STATUS.read_text(encoding="utf-8").splitlines()
    found = [line.split()[1] for line in lines if line.startswith(f"{field}:")]
    return int(found[0]) * 1024 if found else None


def _most_ever() -> int:
    try:
        import resource
    except ImportError:  # not on Windows
        return 0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024
