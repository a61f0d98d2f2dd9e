"""The model's forward pass in operations that every runtime supports.

`Encoder.forward` is written for training: boolean masks, fused attention, gates. An exporter makes
detours of these, and some of them are wrong in one runtime or another. So here is what the model
computes at use, over its own submodules, in products, sums and softmaxes; that it is the same
function is tested in torch, before any file is written.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.onnx.ops import symbolic

from ..model.network.modeling_polyprune import PolyprunePreTrainedModel

# No shapes in these signatures, and no calls of what has some: a checked shape would become a guard
# of the exported program.

MASK_VALUE = -1e4
"""Added where a key is padding: finite, so that nothing is ever ∞ − ∞, and exp makes it 0."""

OUTPUTS = {
    "hidden-states": ("last_hidden_state",),
    "masked-lm": ("logits",),
    "sentence-classification": ("logits",),
    "token-classification": ("logits",),
    "span": ("start_logits", "end_logits"),
}
"""The outputs of each readout, named as in transformers."""

POOLED = "sentence_embedding"
"""The output of a sentence encoder that is exported with its pooling."""


class ExportGraph(nn.Module):
    """Maps token ids and their mask to a tuple of outputs.

    Whatever multiplies by weights is an `nn.Linear` of this module, and words come from
    `self.words`, so that a precision is a matter of what stands in for these (`precision.py`).
    """

    def __init__(self, model: PolyprunePreTrainedModel, pooling: str | None = None):
        """`pooling`, `mean` or `first`, makes one vector of length 1 of every sentence."""
        super().__init__()
        self.encoder = model.encoder
        self.head: Any = None if pooling else model.readout
        self.kind, self.pooling = model.readout_kind, pooling
        self.words: Any = model.encoder.embedding.words
        self.narrow: nn.Module | None = None
        self.vocabulary: nn.Module | None = None
        if self.kind == "masked-lm" and not pooling:
            self._tie(model)

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of the outputs."""
        if self.pooling:
            return (POOLED,)
        pooler = self.kind == "hidden-states" and self.head is not None
        return (*OUTPUTS[self.kind], *(("pooler_output",) if pooler else ()))

    def forward(self, input_ids, attention_mask, token_type_ids=None):
        """Return the outputs in the order of `outputs`."""
        mask = attention_mask.to(torch.float32)
        keys = (1.0 - mask)[:, None, None, :] * MASK_VALUE  # (b, s) -> (b, 1, 1, s)
        x = self._embed(input_ids, token_type_ids)
        for layer in self.encoder.layers:
            x = _layer(layer, x, keys)
        if self.encoder.norm is not None:
            x = self.encoder.norm(x)
        return self._read(x, mask)

    def _embed(self, ids: Tensor, types: Tensor | None) -> Tensor:
        embedding = self.encoder.embedding
        x = self.words(ids)
        if embedding.project is not None:
            x = embedding.project(x)
        if embedding.wiring.padded_positions:
            padding = embedding.wiring.padding_id or 0
            present = ids.ne(padding).long()
            x = x + embedding.positions(present.cumsum(1) * present + padding)
        else:
            x = x + embedding.positions(torch.arange(ids.shape[1], device=ids.device))
        if embedding.types is not None:
            x = x + (embedding.types.weight[0] if types is None else embedding.types(types))
        return x if embedding.norm is None else embedding.norm(x)

    def _read(self, x: Tensor, mask: Tensor) -> tuple[Tensor, ...]:
        if self.pooling:
            return (F.normalize(_pool(x, mask, self.pooling), dim=-1),)
        head = self.head
        if self.kind == "hidden-states":
            return (x,) if head is None else (x, torch.tanh(head.dense(x[:, 0])))
        if self.kind == "masked-lm":
            return (self._unembed(head.norm(head.activation(head.dense(x)))),)
        if self.kind == "sentence-classification":
            return (head.output(head.activation(head.dense(x[:, 0]))),)
        out = head.output(x)
        return (out[..., 0], out[..., 1]) if self.kind == "span" else (out,)

    def _unembed(self, x: Tensor) -> Tensor:
        assert self.vocabulary is not None
        return self.vocabulary(x if self.narrow is None else self.narrow(x))

    def _tie(self, model: PolyprunePreTrainedModel) -> None:
        """X Eᵀ as one product, or two where the table is factorized, with the model's weights."""
        embedding = model.encoder.embedding
        if embedding.project is not None:
            self.narrow = _linear(nn.Parameter(embedding.project.weight.detach().T), None)
        self.vocabulary = _linear(embedding.words.weight, self.head.bias)


def _linear(weight: Any, bias: nn.Parameter | None) -> nn.Linear:
    """Make a linear layer from existing weights."""
    made = nn.Linear(weight.shape[1], weight.shape[0], bias=bias is not None, device="meta")
    made.weight = weight
    if bias is not None:
        made.bias = bias
    return made


def _layer(layer: Any, x: Tensor, keys: Tensor) -> Tensor:
    attention, feed_forward = layer.attention, layer.feed_forward
    if layer.pre_norm:
        x = _sum(x, _attend(attention, layer.attention_norm(x), keys))
        return _sum(x, _feed(feed_forward, layer.feed_forward_norm(x)))
    x = layer.attention_norm(_sum(x, _attend(attention, x, keys)))
    return layer.feed_forward_norm(_sum(x, _feed(feed_forward, x)))


def _sum(stream: Tensor, added: Tensor) -> Tensor:
    """Add a sublayer's output to the residual stream.

    ONNX Runtime makes one operation of an `Add` and the norm behind it, which on processors takes
    many times as long as the two. A `Sum`, which is the same, it leaves alone.
    """
    if not torch.onnx.is_in_onnx_export():
        return stream + added
    return symbolic("Sum", (stream, added), dtype=stream.dtype, shape=stream.shape)


def _attend(attention: Any, x: Tensor, keys: Tensor) -> Tensor:
    """Return the output of the heads (Eq. 1); without heads, the bias alone."""
    if attention.project is None:
        return attention.output.bias
    heads, width = attention.heads, attention.head_width
    q, k, v = attention.project(x).split(heads * width, dim=-1)
    q = q.unflatten(-1, (heads, width)).transpose(1, 2) * width**-0.5  # (b, h, s, e)
    k = k.unflatten(-1, (heads, width)).permute(0, 2, 3, 1)  # (b, h, e, s)
    v = v.unflatten(-1, (heads, width)).transpose(1, 2)  # (b, h, s, e)
    weights = torch.softmax(q @ k + keys, dim=-1)
    return attention.output((weights @ v).transpose(1, 2).flatten(2))  # (b, s, h*e)


def _feed(feed_forward: Any, x: Tensor) -> Tensor:
    """Return the output of the units (Eq. 2); without units, the bias alone."""
    if feed_forward.expand is None:
        return feed_forward.contract.bias
    return feed_forward.contract(feed_forward.activation(feed_forward.expand(x)))


def _pool(x: Tensor, mask: Tensor, pooling: str) -> Tensor:
    if pooling == "first":
        return x[:, 0]
    present = mask[:, :, None]
    return (x * present).sum(1) / present.sum(1).clamp(min=1.0)
