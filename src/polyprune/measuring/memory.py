"""The peak memory of a model while it runs, measured in a process of its own.

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
"""What to write there to reset the peak to what is resident now."""

PASSES = 2
"""Passes over a batch: in the first, libraries allocate memory of their own."""

Found = TypeVar("Found")


@runtime_checkable
class Loader(Protocol):
    """Something picklable that loads a model in another process."""

    def prepare(self) -> None:
        """Import what loading needs, so that code is not taken for weights."""
        ...

    def __call__(self) -> Runnable:
        """Load the model onto its device."""
        ...


class OutOfMemory(PolypruneError):
    """A child process was killed for want of memory."""


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """The bytes that a model takes, beyond those of the process itself."""

    weights: int
    """The bytes of the loaded model before it runs."""
    peak: int
    """The peak bytes while it runs a batch."""


def peak_memory(
    loader: Loader, batch: TokenBatch, *, threads: int, precision: Precision = "float32"
) -> MemoryUse:
    """Measure a model's peak memory for a batch in a child process."""
    return in_child(_peak_memory, loader, batch, threads, precision)


def in_child(function: Callable[..., Found], *arguments: object) -> Found:
    """Call a function in a fresh process, and return its result."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        try:
            return pool.submit(function, *arguments).result()
        except BrokenProcessPool as error:
            raise OutOfMemory(
                "The process that measured memory was ended by the system, which is what happens "
                "when memory is full. Choose smaller batches, or a smaller `memory`."
            ) from error


class MemoryGauge:
    """A model in this process, and its memory use."""

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
        """Run one pass over a batch."""
        return timed_call(self.runner, batch, self.precision)

    def peak(self, call: Call) -> int:
        """Return the peak memory during a call."""
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
        """Return the model's GPU, if it is on one."""
        if not isinstance(self.runner, nn.Module):
            return None
        device = next(self.runner.parameters()).device
        return device if device.type == "cuda" else None


def resident() -> int:
    """Return the resident bytes of this process."""
    return _status("VmRSS") or _most_ever()


def high_water() -> int:
    """Return the peak resident bytes of this process."""
    return _status("VmHWM") or _most_ever()


def forget_peak() -> None:
    """Reset the peak to what is resident now, if the system supports it."""
    if FORGET.exists():
        FORGET.write_text(FORGET_PEAK, encoding="ascii")


def _peak_memory(
    loader: Loader, batch: TokenBatch, threads: int, precision: Precision
) -> MemoryUse:
    gauge = MemoryGauge(loader, threads, precision)
    return MemoryUse(gauge.weights, gauge.peak(gauge.call(batch)))


def _fetch(model: nn.Module) -> None:
    """Touch all weights: those of a mapped file enter memory only when they are read."""
    with torch.no_grad():
        for weight in model.parameters():
            weight.sum()


def _wake_libraries() -> None:
    """Run small products and attention, so that libraries load their code and buffers."""
    with torch.inference_mode():
        x = F.gelu(torch.ones(64, 256) @ torch.ones(256, 256)).view(1, 4, 64, 64)
        F.scaled_dot_product_attention(x, x, x)


def _status(field: str) -> int | None:
    """Return a field of /proc/self/status in bytes."""
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
