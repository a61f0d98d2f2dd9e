"""A roofline model: how fast a GPU could run an encoder at best, and what limits it.

A kernel computes no faster than the GPU multiplies, and no faster than it reads what it multiplies.
All kernels together are no faster than they are launched, one after the other. Pruning heads and
units makes the first two shorter and leaves the third as it is; fewer layers shorten all three.
"""

from dataclasses import dataclass
from typing import Literal

from ..errors import ConfigError, UnknownName
from ..model.footprint import layer_parameters
from ..model.network.embedding import Embedding
from ..model.network.encoder import Layer
from ..model.network.shape import EncoderShape
from ..model.network.sublayer import Kernel
from .calls import Precision

LAUNCH = 8e-6
"""Estimated seconds per kernel launch from Python."""

LAUNCH_IN_GRAPH = 2e-6
"""Estimated seconds per kernel launch in a CUDA graph."""

AROUND = 8
"""Kernels before the first layer and after the last: three tables, sums, norm, mask."""

Binding = Literal["compute", "memory", "launch"]


@dataclass(frozen=True, slots=True)
class GPU:
    """Peaks of a GPU by its data sheet, without sparsity; docs/speed.md names the sheets."""

    float32: float
    """Multiplications and additions per second."""
    half: float
    """The same on tensor cores, in float16 and, if supported, bfloat16."""
    bandwidth: float
    """Bytes per second."""
    bfloat16: bool = True
    """Whether it supports bfloat16."""


GPUS = {
    "T4": GPU(8.1e12, 65e12, 320e9, bfloat16=False),
    "V100": GPU(15.7e12, 125e12, 900e9, bfloat16=False),
    "A100": GPU(19.5e12, 312e12, 1555e9),
    "A100-80GB": GPU(19.5e12, 312e12, 2039e9),
    "L4": GPU(30.3e12, 121e12, 300e9),
    "H100": GPU(67e12, 989e12, 3350e9),
}


@dataclass(frozen=True, slots=True)
class RooflineBound:
    """The minimum seconds of a batch, by what limits it."""

    compute: float
    """Seconds for all multiplications, at the GPU's peak."""
    memory: float
    """Seconds for reading weights and activations once, at its bandwidth."""
    weights: float
    """Seconds for reading the weights alone: the minimum for a single sentence."""
    launch: float
    """Seconds for launching all kernels."""
    seconds: float
    """The larger of launching and of all kernels in turn, each limited by compute or memory."""
    binds: Binding


def bound(
    shape: EncoderShape,
    gpu: str,
    *,
    batch: int = 1,
    tokens: int = 128,
    precision: Precision = "float16",
    graphs: bool = False,
) -> RooflineBound:
    """Return the minimum time of a GPU for a batch of hidden states."""
    peak, width, bandwidth = _peak(gpu, precision)
    every = kernels(shape, batch, tokens)
    launch = (LAUNCH_IN_GRAPH if graphs else LAUNCH) * len(every)
    compute = [2 * kernel.multiply_adds / peak for kernel in every]
    memory = [width * (each.weights + each.activations) / bandwidth for each in every]
    roofs = sum(map(max, compute, memory))
    multiplied, moved = sum(compute), sum(memory)
    slower: Binding = "compute" if multiplied >= moved else "memory"
    return RooflineBound(
        compute=multiplied,
        memory=moved,
        weights=width * layer_parameters(shape) / bandwidth,
        launch=launch,
        seconds=max(launch, roofs),
        binds="launch" if launch >= roofs else slower,
    )


def break_even_tokens(
    shape: EncoderShape, gpu: str, *, precision: Precision = "float16", graphs: bool = False
) -> int:
    """Return the tokens per batch below which launching dominates, so pruning gains nothing."""
    peak, _, _ = _peak(gpu, precision)
    launch = (LAUNCH_IN_GRAPH if graphs else LAUNCH) * len(kernels(shape, 1, 1))
    return round(launch * peak / (2 * max(1, layer_parameters(shape))))


def kernels(shape: EncoderShape, batch: int, tokens: int) -> list[Kernel]:
    """What a batch launches in eager mode, kernel by kernel."""
    words = batch * tokens
    found = [Kernel.stream(shape.width, words)] * AROUND + Embedding.kernels(shape, words)
    for heads, units in zip(shape.heads, shape.units, strict=True):
        found += Layer.kernels(shape, heads, units, batch, tokens)
    return found


def _peak(name: str, precision: Precision) -> tuple[float, int, float]:
    """Return operations per second, bytes per value, bytes per second."""
    gpu = gpu_named(name)
    if precision == "bfloat16" and not gpu.bfloat16:
        raise ConfigError(f"A {name} does not compute in bfloat16. Choose float16.")
    single = precision == "float32"
    return (gpu.float32 if single else gpu.half), (4 if single else 2), gpu.bandwidth


def gpu_named(name: str) -> GPU:
    """Return the GPU of this name, however it is spelled."""
    for known, gpu in GPUS.items():
        if known.casefold() == name.casefold():
            return gpu
    raise UnknownName("GPU", name, GPUS, f"There are: {', '.join(GPUS)}.")
