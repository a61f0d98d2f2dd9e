"""When the layers may be computed in fewer passes over memory: nobody will ask for gradients.

The residual stream is the one tensor that pruning never makes smaller: the smaller a model, the
more of its time goes into walking over it. In `Layer.fused`, products are added to it where it lies
and activations overwrite what they are taken of; here a mask is prepared once for all layers.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch import Tensor, nn

from .tensor_types import Bool, Float

_PLAIN = (nn.Parameter, type(None))


def can_be_fused(encoder: Any, kinds: frozenset[type]) -> bool:
    """Whether weights may be used directly: nobody differentiates, and all modules are our own.

    Adapters and quantizers put other modules in their places; hooks, and libraries that move
    weights about, expect every module to be called; a compiler saves memory in its own way.
    `kinds` are those that are known here.
    """
    if torch.is_grad_enabled() or encoder.training or torch.compiler.is_compiling():
        return False
    if torch.is_autocast_enabled(encoder.embedding.words.weight.device.type):
        return False
    return all(_is_untouched(module, kinds) for module in _within(encoder.layers))


def fused_layers(
    layers: Iterable[Any],
    x: Float[Tensor, "batch seq width"],
    mask: Bool[Tensor, "batch 1 1 seq"] | None,
) -> Float[Tensor, "batch seq width"]:
    """What the layers make of `x`."""
    size, width = x.shape[:2], x.shape[2]
    keys = None if mask is None else _added(mask, x.dtype)
    x = x.reshape(-1, width).clone()  # whoever watched the embedding keeps what was seen
    for layer in layers:
        x = layer.fused(x, size, keys)
    return x.view(*size, width)


def _added(mask: Bool[Tensor, "batch 1 1 seq"], dtype: torch.dtype) -> Tensor | None:
    """What is added to the scores of keys: attention would make this anew in every layer."""
    if mask.device.type == "cpu" and bool(mask.all()):  # elsewhere, looking would be waiting
        return None
    return torch.zeros_like(mask, dtype=dtype).masked_fill_(~mask, -torch.inf)


def _within(layers: Any) -> Iterator[Any]:
    """The modules that are not called, found the short way: this happens at every pass."""
    for layer in layers._modules.values():
        yield layer
        for part in layer._modules.values():
            yield part
            yield from (piece for piece in part._modules.values() if piece is not None)


def _is_untouched(module: Any, kinds: frozenset[type]) -> bool:
    """Whether calling the module would do nothing but what is known of its kind."""
    own = module.__dict__
    if type(module) not in kinds or own["_forward_hooks"] or own["_forward_pre_hooks"]:
        return False
    if "forward" in own:
        return False
    # Some quantizers leave the module and replace its weight.
    return type(own["_parameters"].get("weight")) in _PLAIN
