"""Half precision and bytes: what stands in for products and tables when a file should be smaller.

Half precision is a way of storing: processors without it compute in single precision all the same.
Bytes are a way of computing too: weights have a scale a column, inputs one scale and zero, taken
from the largest and smallest values that real text brought there.
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
    """The smallest and the largest value of every channel of an input."""

    low: Tensor
    high: Tensor


def to_half_precision(graph: ExportGraph) -> ExportGraph:
    """The same graph with weights stored in half precision."""
    words = HalfWords(graph.words.weight)

    def replace(name: str, linear: nn.Linear) -> nn.Module:
        # Of a masked LM, the table of words is the last product too, and is stored once.
        return HalfLinear(linear, words.rows if name == "vocabulary" else linear.weight)

    return _replaced(graph, replace, words)


def quantize(graph: ExportGraph, batches: Iterable[Mapping[str, Tensor]]) -> ExportGraph:
    """The same graph, computing with bytes; the batches are text like that it will be used on."""
    ranges = observe_ranges(graph, batches)

    def replace(name: str, linear: nn.Linear) -> nn.Module:
        return Int8Linear(linear, ranges[name]) if name in ranges else linear

    return _replaced(graph, replace, Int8Words(graph.words.weight))


@torch.no_grad()
def observe_ranges(
    graph: ExportGraph, batches: Iterable[Mapping[str, Tensor]]
) -> dict[str, ChannelRange]:
    """What range the inputs of each product have, by its name.

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
        if name.startswith("encoder.") or graph.kind == "masked-lm"
    ]
    try:
        for batch in batches:
            graph(**batch)
    finally:
        for hook in hooks:
            hook.remove()
    return found


class HalfLinear(nn.Module):
    """A product whose weights are kept in half precision."""

    def __init__(self, linear: nn.Linear, weight: Tensor):
        super().__init__()
        self.weight = weight if weight.dtype == torch.half else _fixed(weight.half())
        self.bias = linear.bias

    def forward(self, x):
        """X Wᵀ + b, in single precision."""
        return F.linear(x, self.weight.float(), self.bias)


class HalfWords(nn.Module):
    """A table in half precision: it stays so in memory, as only rows of it are made single."""

    def __init__(self, table: Tensor):
        super().__init__()
        self.rows = _fixed(table.half())

    def forward(self, ids):
        """The vectors of these words."""
        return F.embedding(ids, self.rows).float()


class Int8Words(nn.Module):
    """A table of words in a quarter of the room: a byte a value, and a scale a word."""

    def __init__(self, table: Tensor):
        super().__init__()
        table = table.detach()
        scale = table.abs().amax(1, keepdim=True).clamp(min=1e-12) / WORD_LEVELS
        self.rows = _fixed((table / scale).round().to(torch.int8))
        self.scale = _fixed(scale)

    def forward(self, ids):
        """The vectors of these words."""
        return F.embedding(ids, self.rows).float() * F.embedding(ids, self.scale)


class Int8Linear(nn.Module):
    """A product of bytes. In torch it computes what it will come to, in an export it says so."""

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
    """An operation of ONNX that torch has no word for; it keeps the shape of its first input."""
    return symbolic(name, inputs, {**attributes}, dtype=dtype, shape=inputs[0].shape)


def _fixed(tensor: Tensor) -> nn.Parameter:
    """Part of the module, never trained."""
    return nn.Parameter(tensor.detach(), requires_grad=False)


def _products(graph: ExportGraph) -> list[tuple[str, nn.Linear]]:
    return [(name, one) for name, one in graph.named_modules() if isinstance(one, nn.Linear)]


def _replaced(
    graph: ExportGraph, product: Callable[[str, nn.Linear], nn.Module], words: nn.Module
) -> ExportGraph:
    """A copy in which others do the work; the table of words is not copied."""
    made = copy.deepcopy(graph, {id(graph.words.weight): graph.words.weight})
    for name, linear in _products(made):
        parent, _, own = name.rpartition(".")
        setattr(made.get_submodule(parent), own, product(name, linear))
    made.words = words
    return made
