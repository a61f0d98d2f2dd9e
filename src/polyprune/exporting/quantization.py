"""Half precision and int8: smaller replacements for linear layers and word tables.

Half precision is a way of storing: processors without it compute in single precision all the same.
Bytes are a way of computing too: weights have one scale per column, inputs one scale and zero
point, from the largest and smallest values that real text brought there.
"""

import copy
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.onnx.ops import symbolic

from .export_graph import ExportGraph

WEIGHT_LEVELS = 63
"""Bytes would go to 127, but processors with AVX2 and without VNNI add two products of an input,
up to 255, and a weight in 16 bits: 2 · 255 · 127 does not fit, 2 · 255 · 64 does."""

INPUT_LEVELS = 255
WORD_LEVELS = 127


@dataclass(frozen=True, slots=True)
class ChannelRange:
    """The minimum and maximum of every channel of an input."""

    low: Tensor
    high: Tensor


def to_half_precision(graph: ExportGraph) -> ExportGraph:
    """Return the graph with weights stored in half precision."""
    words = HalfWords(graph.words.weight)

    def replace(name: str, linear: nn.Linear) -> nn.Module:
        # Of a masked LM, the table of words is the last product too, and is stored once.
        return HalfLinear(linear, words.rows if name == "vocabulary" else linear.weight)

    return _replaced(graph, replace, words)


def quantize(graph: ExportGraph, batches: Iterable[Mapping[str, Tensor]]) -> ExportGraph:
    """Return the graph quantized to int8; the batches calibrate the ranges."""
    ranges = observe_ranges(graph, batches)

    def replace(name: str, linear: nn.Linear) -> nn.Module:
        return Int8Linear(linear, ranges[name]) if name in ranges else linear

    return _replaced(graph, replace, Int8Words(graph.words.weight))


@torch.no_grad()
def observe_ranges(
    graph: ExportGraph, batches: Iterable[Mapping[str, Tensor]]
) -> dict[str, ChannelRange]:
    """Return the input range of each linear layer, by its name.

    A classifier is left as it is: it reads one token of a sentence, or has few columns.
    """
    found: dict[str, ChannelRange] = {}

    def watch(name: str):
        def see(_: nn.Module, inputs: tuple[Tensor, ...]) -> None:
            rows = inputs[0].flatten(0, -2)
            low, high = rows.amin(0), rows.amax(0)
            if name in found:
                low = torch.minimum(low, found[name].low)
                high = torch.maximum(high, found[name].high)
            found[name] = ChannelRange(low, high)

        return see

    hooks = [
        linear.register_forward_pre_hook(watch(name))
        for name, linear in _products(graph)
        if name.startswith("encoder.") or graph.kind.predicts_words
    ]
    try:
        for batch in batches:
            graph(**batch)
    finally:
        for hook in hooks:
            hook.remove()
    return found


class HalfLinear(nn.Module):
    """A linear layer whose weights are stored in half precision."""

    def __init__(self, linear: nn.Linear, weight: Tensor):
        super().__init__()
        self.weight = weight if weight.dtype == torch.half else _fixed(weight.half())
        self.bias = linear.bias

    def forward(self, x):
        """X Wᵀ + b, in single precision."""
        return F.linear(x, self.weight.float(), self.bias)


class HalfWords(nn.Module):
    """A word table in half precision, also in memory: only the rows that are read are converted."""

    def __init__(self, table: Tensor):
        super().__init__()
        self.rows = _fixed(table.half())

    def forward(self, ids):
        """Return the embeddings of these tokens."""
        return F.embedding(ids, self.rows).float()


class Int8Words(nn.Module):
    """A word table in a quarter of the memory: one byte per value, one scale per word."""

    def __init__(self, table: Tensor):
        super().__init__()
        table = table.detach()
        scale = table.abs().amax(1, keepdim=True).clamp(min=1e-12) / WORD_LEVELS
        self.rows = _fixed((table / scale).round().to(torch.int8))
        self.scale = _fixed(scale)

    def forward(self, ids):
        """Return the embeddings of these tokens."""
        return F.embedding(ids, self.rows).float() * F.embedding(ids, self.scale)


class Int8Linear(nn.Module):
    """A linear layer in int8: torch simulates it, the export writes ONNX's integer operations."""

    def __init__(self, linear: nn.Linear, seen: ChannelRange):
        super().__init__()
        weight = linear.weight.detach()
        scale = weight.abs().amax(1).clamp(min=1e-12) / WEIGHT_LEVELS
        self.weight = _fixed((weight / scale[:, None]).round().to(torch.int8).T.contiguous())
        self.scale = _fixed(scale)
        self.zeros = _fixed(torch.zeros_like(scale, dtype=torch.int8))
        low, high = seen.low.min().clamp(max=0), seen.high.max().clamp(min=0)
        step = ((high - low) / INPUT_LEVELS).clamp(min=1e-12)
        self.step = _fixed(step)
        self.zero = _fixed((-low / step).round().to(torch.uint8))
        self.bias = linear.bias

    def forward(self, x):
        """X Wᵀ + b."""
        if torch.onnx.is_in_onnx_export():
            x, weight = self._said(x)
        else:
            x, weight = self._done(x)
        product = x @ weight
        return product if self.bias is None else product + self.bias

    def _done(self, x: Tensor) -> tuple[Tensor, Tensor]:
        levels = (x / self.step).round() + self.zero
        x = (levels.clamp(0, INPUT_LEVELS) - self.zero.float()) * self.step
        return x, self.weight.float() * self.scale

    def _said(self, x: Tensor) -> tuple[Tensor, Tensor]:
        step = (self.step, self.zero)
        levels = _onnx("QuantizeLinear", (x, *step), torch.uint8)
        weight = _onnx(
            "DequantizeLinear", (self.weight, self.scale, self.zeros), torch.float32, axis=1
        )
        return _onnx("DequantizeLinear", (levels, *step), torch.float32), weight


def _onnx(name: str, inputs: tuple[Tensor, ...], dtype: torch.dtype, **attributes: int) -> Tensor:
    """Insert an ONNX operation that torch lacks; it keeps the shape of its first input."""
    return symbolic(name, inputs, {**attributes}, dtype=dtype, shape=inputs[0].shape)


def _fixed(tensor: Tensor) -> nn.Parameter:
    """Make a parameter that is not trained."""
    return nn.Parameter(tensor.detach(), requires_grad=False)


def _products(graph: ExportGraph) -> list[tuple[str, nn.Linear]]:
    return [(name, one) for name, one in graph.named_modules() if isinstance(one, nn.Linear)]


def _replaced(
    graph: ExportGraph, product: Callable[[str, nn.Linear], nn.Module], words: nn.Module
) -> ExportGraph:
    """Return a copy with replaced layers; the word table is shared, not copied."""
    made = copy.deepcopy(graph, {id(graph.words.weight): graph.words.weight})
    for name, linear in _products(made):
        parent, _, own = name.rpartition(".")
        setattr(made.get_submodule(parent), own, product(name, linear))
    made.words = words
    return made
