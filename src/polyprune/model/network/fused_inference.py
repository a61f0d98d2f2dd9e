"""The layers once more, in fewer passes over memory, for when nobody will ask for gradients.

The residual stream is the one tensor that pruning never makes smaller: the smaller a model, the
more of its time goes into walking over it. Here products are added to it where it lies, activations
overwrite what they are taken of, and a mask is prepared once for all layers.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

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
        if layer.pre_norm:
            x = _attend(layer.attention, _norm(layer.attention_norm, x), x, size, keys)
            x = _feed(layer.feed_forward, _norm(layer.feed_forward_norm, x), x)
        else:
            x = _norm(layer.attention_norm, _attend(layer.attention, x, x, size, keys))
            x = _norm(layer.feed_forward_norm, _feed(layer.feed_forward, x, x))
    return x.view(*size, width)


def _attend(
    attention: Any, x: Tensor, stream: Tensor, size: torch.Size, keys: Tensor | None
) -> Tensor:
    """`stream` after what the heads see in `x` was added to it; both may be the same tensor."""
    if attention.project is None:
        return stream.add_(attention.output.bias)
    qkv = F.linear(x, attention.project.weight, attention.project.bias)
    q, k, v = qkv.view(*size, 3, attention.heads, -1).permute(2, 0, 3, 1, 4)  # 3 × (b, h, s, e)
    heads = F.scaled_dot_product_attention(q, k, v, attn_mask=keys)
    heads = heads.transpose(1, 2).reshape(len(x), -1)  # (b, h, s, e) -> (b*s, h*e)
    return _add_product(stream, attention.output, heads)


def _feed(network: Any, x: Tensor, stream: Tensor) -> Tensor:
    """`stream` after what the units make of `x` was added to it; both may be the same tensor."""
    if network.expand is None:
        return stream.add_(network.contract.bias)
    units = F.linear(x, network.expand.weight, network.expand.bias)
    if network.activation is F.gelu:
        torch.ops.aten.gelu_(units)  # which torch.nn.functional has no name for
    else:
        units = network.activation(units)
    return _add_product(stream, network.contract, units)


def _add_product(stream: Tensor, linear: nn.Linear, x: Tensor) -> Tensor:
    stream.add_(linear.bias)
    return torch.addmm(stream, x, linear.weight.t(), out=stream)  # nothing is copied


def _norm(norm: nn.LayerNorm, x: Tensor) -> Tensor:
    return F.layer_norm(x, norm.normalized_shape, norm.weight, norm.bias, norm.eps)


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
