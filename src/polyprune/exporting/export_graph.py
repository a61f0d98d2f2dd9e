"""The model's forward pass in operations that every runtime supports.

`Encoder.forward` is written for training: boolean masks, fused attention, gates. An exporter makes
detours of these, and some of them are wrong in one runtime or another. So every sublayer has an
`exportable` pass too: what it computes at use, in products, sums and softmaxes. That it is the same
function is tested in torch, before any file is written.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.onnx.ops import symbolic

from ..model.network.gated_model import PolyprunePreTrainedModel

# No shapes in these signatures, nor in those of `exportable`: a checked shape would become a guard
# of the exported program.

MASK_VALUE = -1e4
"""Added where a key is padding: finite, so that nothing is ever ∞ − ∞, and exp makes it 0."""

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
        if self.kind.predicts_words and not pooling:
            self._tie(model)

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of the outputs."""
        if self.pooling:
            return (POOLED,)
        pooler = self.kind.embeds and self.head is not None
        return (*self.kind.outputs, *(("pooler_output",) if pooler else ()))

    def forward(self, input_ids, attention_mask, token_type_ids=None):
        """Return the outputs in the order of `outputs`."""
        mask = attention_mask.to(torch.float32)
        keys = (1.0 - mask)[:, None, None, :] * MASK_VALUE  # (b, s) -> (b, 1, 1, s)
        x = self.encoder.embedding.exportable(input_ids, token_type_ids, self.words)
        x = self.encoder.exportable(x, keys, _sum)
        if self.pooling:
            return (F.normalize(_pool(x, mask, self.pooling), dim=-1),)
        return (x,) if self.head is None else self.head.exportable(x, self._unembed)

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


def _sum(stream: Tensor, added: Tensor) -> Tensor:
    """Add a sublayer's output to the residual stream.

    ONNX Runtime makes one operation of an `Add` and the norm behind it, which on processors takes
    many times as long as the two. A `Sum`, which is the same, it leaves alone.
    """
    if not torch.onnx.is_in_onnx_export():
        return stream + added
    return symbolic("Sum", (stream, added), dtype=stream.dtype, shape=stream.shape)


def _pool(x: Tensor, mask: Tensor, pooling: str) -> Tensor:
    if pooling == "first":
        return x[:, 0]
    present = mask[:, :, None]
    return (x * present).sum(1) / present.sum(1).clamp(min=1.0)
