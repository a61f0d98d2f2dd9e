"""How fast a GPU could run an encoder at best, and what keeps it from being faster; on paper.

A kernel computes no faster than the GPU multiplies, and no faster than it reads what it multiplies.
All kernels together are no faster than they are launched, one after the other. Pruning heads and
units makes the first two shorter and leaves the third as it is; fewer layers shorten all three.
"""

from dataclasses import dataclass
from typing import Literal

from ..errors import ConfigError, UnknownName
from ..model.footprint import layer_parameters
from ..model.network.shape import EncoderShape
from .calls import Precision

LAUNCH = 8e-6
"""Seconds a kernel, with Python between them; an estimate."""

LAUNCH_IN_GRAPH = 2e-6
"""Seconds a kernel that is replayed from a CUDA graph; an estimate."""

AROUND = 8
"""Kernels before the first layer and after the last: three tables, sums, norm, mask."""

IN_EMPTY_SUBLAYER = 2
"""What is left of it without heads or units: residual sum and norm."""

Binding = Literal["compute", "memory", "launch"]


@dataclass(frozen=True, slots=True)
class GPU:
    """Peaks of a GPU by its data sheet, without sparsity; docs/speed.md names the sheets."""

    float32: float
    """Multiplications and additions a second."""
    half: float
    """The same in tensor cores, in float16 and, where there is one, bfloat16."""
    bandwidth: float
    """Bytes a second."""
    bfloat16: bool = True
    """Whether it knows bfloat16."""


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
    """The least seconds that a batch takes."""

    compute: float
    """For all multiplications, at the GPU's peak."""
    memory: float
    """For reading weights and activations once, at its bandwidth."""
    weights: float
    """For reading the weights alone: what a batch of one sentence takes at least."""
    launch: float
    """For launching all kernels."""
    seconds: float
    """The longer of launching, and of all kernels in turn, each at the slower of its two roofs."""
    binds: Binding


@dataclass(frozen=True, slots=True)
class Kernel:
    """What a kernel multiplies, reads and writes."""

    multiply_adds: int
    weights: int
    """Values of matrices."""
    activations: int
    """Values that go in and come out."""


def bound(
    shape: EncoderShape,
    gpu: str,
    *,
    batch: int = 1,
    tokens: int = 128,
    precision: Precision = "float16",
    graphs: bool = False,
) -> RooflineBound:
    """The least time that a GPU takes for a batch of hidden states."""
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
    """Tokens in a batch up to which narrower layers change nothing: launching takes longer."""
    peak, _, _ = _peak(gpu, precision)
    launch = (LAUNCH_IN_GRAPH if graphs else LAUNCH) * len(kernels(shape, 1, 1))
    return round(launch * peak / (2 * max(1, layer_parameters(shape))))


def kernels(shape: EncoderShape, batch: int, tokens: int) -> list[Kernel]:
    """What a batch launches in eager mode, kernel by kernel."""
    words, stream = batch * tokens, batch * tokens * shape.width
    passed = Kernel(0, 0, 2 * stream)  # a sum or a norm: in and out
    found = [passed] * AROUND
    if shape.factorized:
        found.append(_product(words, shape.rank, shape.width))
    for heads, units in zip(shape.heads, shape.units, strict=True):
        found += _attention(shape, heads, batch, tokens) + [passed] * IN_EMPTY_SUBLAYER
        found += _feed_forward(shape, units, words) + [passed] * IN_EMPTY_SUBLAYER
    return found


def _attention(shape: EncoderShape, heads: int, batch: int, tokens: int) -> list[Kernel]:
    if not heads:
        return []
    words, inner = batch * tokens, heads * shape.head_width
    seen = Kernel(2 * words * tokens * inner, 0, 4 * words * inner)  # q, k, v in, one out
    return [
        _product(words, shape.width, 3 * inner),
        seen,
        _product(words, inner, shape.width),
    ]


def _feed_forward(shape: EncoderShape, units: int, words: int) -> list[Kernel]:
    if not units:
        return []
    activated = Kernel(0, 0, 2 * words * units)
    return [
        _product(words, shape.width, units),
        activated,
        _product(words, units, shape.width),
    ]


def _product(words: int, wide: int, out: int) -> Kernel:
    return Kernel(words * wide * out, wide * out, words * (wide + out))


def _peak(name: str, precision: Precision) -> tuple[float, int, float]:
    """Operations a second, bytes of a value, bytes a second."""
    gpu = gpu_named(name)
    if precision == "bfloat16" and not gpu.bfloat16:
        raise ConfigError(f"A {name} does not compute in bfloat16. Choose float16.")
    single = precision == "float32"
    return (gpu.float32 if single else gpu.half), (4 if single else 2), gpu.bandwidth


def gpu_named(name: str) -> GPU:
    """The GPU of this name, however it is spelt."""
    for known, gpu in GPUS.items():
        if known.casefold() == name.casefold():
            return gpu
    raise UnknownName("GPU", name, GPUS, f"There are: {', '.join(GPUS)}.")
