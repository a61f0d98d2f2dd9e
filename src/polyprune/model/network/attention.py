"""Attention (Eq. 1): all that is to be known of it, from its forward pass to its kernels."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .shape import EncoderShape, Wiring
from .sublayer import Constant, Kernel, State, add_product, by_token, scale_columns
from .tensor_types import Bool, Float


class Attention(nn.Module):
    """MHA(X) = Σᵢ G_{h,i} headᵢ (Eq. 1)."""

    CUT = ("project", "output")
    """The modules that `cut` makes anew."""

    def __init__(self, shape: EncoderShape, wiring: Wiring, heads: int):
        super().__init__()
        width, head_width = shape.width, shape.head_width
        self.heads, self.head_width, self.dropout = heads, head_width, wiring.attention_dropout
        # One product for queries, keys and values, in this order.
        self.project = nn.Linear(width, 3 * heads * head_width) if heads else None
        self.output: Any = nn.Linear(heads * head_width, width) if heads else Constant(width)

    def forward(
        self,
        x: Float[Tensor, "batch seq width"],
        mask: Bool[Tensor, "batch 1 1 seq"] | None = None,
        gate: Float[Tensor, "#batch *seq heads"] | None = None,
    ) -> Float[Tensor, "batch seq width"]:
        """What the heads add to the residual stream."""
        return self.output(x if self.project is None else self.features(x, mask, gate))

    def features(
        self,
        x: Float[Tensor, "batch seq width"],
        mask: Bool[Tensor, "batch 1 1 seq"] | None = None,
        gate: Float[Tensor, "#batch *seq heads"] | None = None,
    ) -> Float[Tensor, "batch seq features"]:
        """What the heads see, side by side; there have to be some."""
        assert self.project is not None
        q, k, v = (  # (b, s, 3*h*e) -> 3 × (b, h, s, e)
            self.project(x).unflatten(-1, (3, self.heads, self.head_width)).permute(2, 0, 3, 1, 4)
        )
        dropout = self.dropout if self.training else 0.0
        heads = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=dropout)
        if gate is not None:
            # (b, 1 or s, h) -> (b, h, 1 or s, 1)
            heads = heads * by_token(gate).transpose(1, 2)[..., None].to(heads)
        return heads.transpose(1, 2).flatten(2)  # (b, h, s, e) -> (b, s, h*e)

    @property
    def entering(self) -> nn.Linear | None:
        """The projection through which heads see the stream; none without any."""
        return self.project

    @property
    def leaving(self) -> Any:
        """The projection through which all heads leave, or what is left without any."""
        return self.output

    @property
    def columns_each(self) -> int:
        """How many of its columns one head has."""
        return self.head_width

    def add_fused(self, stream: Tensor, x: Tensor, size: torch.Size, keys: Tensor | None) -> Tensor:
        """`stream` after what the heads see in `x` was added to it; both may be the same tensor.

        `size` is (batch, seq): both tensors have these axes as one. `keys` is added to scores.
        """
        if self.project is None:
            return stream.add_(self.output.bias)
        qkv = F.linear(x, self.project.weight, self.project.bias)
        q, k, v = qkv.view(*size, 3, self.heads, -1).permute(2, 0, 3, 1, 4)  # 3 × (b, h, s, e)
        heads = F.scaled_dot_product_attention(q, k, v, attn_mask=keys)
        heads = heads.transpose(1, 2).reshape(len(x), -1)  # (b, h, s, e) -> (b*s, h*e)
        return add_product(stream, self.output, heads)

    def exportable(self, x: Tensor, keys: Tensor) -> Tensor:
        """What the heads add, in operations that every runtime has; `keys` is added to scores."""
        if self.project is None:
            return self.output.bias
        heads, width = self.heads, self.head_width
        q, k, v = self.project(x).split(heads * width, dim=-1)
        q = q.unflatten(-1, (heads, width)).transpose(1, 2) * width**-0.5  # (b, h, s, e)
        k = k.unflatten(-1, (heads, width)).permute(0, 2, 3, 1)  # (b, h, e, s)
        v = v.unflatten(-1, (heads, width)).transpose(1, 2)  # (b, h, s, e)
        weights = torch.softmax(q @ k + keys, dim=-1)
        return self.output((weights @ v).transpose(1, 2).flatten(2))  # (b, s, h*e)

    def cut(self, gate: Float[Tensor, " heads"]) -> State:
        """The parameters without the heads whose gate is 0; other gates go into the output."""
        new, e = {"output.bias": self.output.bias.detach().clone()}, self.head_width
        keep = gate.nonzero()[:, 0]
        if self.project is None or not len(keep):  # what is left is the bias
            return new
        # Head i owns columns i*e .. (i+1)*e of the output, and as many rows of q, of k and of v.
        columns = (keep[:, None] * e + torch.arange(e, device=keep.device)).flatten()
        for name, parameter in self.project.named_parameters():
            q, k, v = parameter.detach().chunk(3)
            new[f"project.{name}"] = torch.cat([q[columns], k[columns], v[columns]])
        output = scale_columns(self.output.weight.detach(), gate.repeat_interleave(e))
        new["output.weight"] = output[:, columns]
        return new

    def put_back(self, gate: Float[Tensor, " heads"], small: "Attention") -> State:
        """The parameters with those of `small`, which was cut by this gate, in their old places."""
        new = {name: parameter.detach().clone() for name, parameter in self.named_parameters()}
        new["output.bias"] = small.output.bias.detach()
        if self.project is not None and small.project is not None:
            kept = gate.repeat_interleave(self.head_width) > 0
            new["output.weight"][:, kept] = small.output.weight.detach()
            for name, parameter in small.project.named_parameters():
                new[f"project.{name}"][kept.repeat(3)] = parameter.detach()
        return new

    def magnitudes(self) -> Float[Tensor, " heads"]:
        """The root mean square of each head's weights."""
        if self.project is None:
            return torch.zeros(0)
        e = self.head_width
        project = self.project.weight.detach().float().unflatten(0, (3, -1, e))
        output = self.output.weight.detach().float().T.unflatten(0, (-1, e))
        parts = torch.cat([project, output[None]])  # (4, h, e, w)
        return parts.square().mean((0, 2, 3)).sqrt()

    @staticmethod
    def parameters_each(shape: EncoderShape) -> int:
        """The parameters of one head: its part of four matrices, and of the biases of q, k, v."""
        return 4 * shape.head_width * shape.width + 3 * shape.head_width

    @staticmethod
    def parameters_always(shape: EncoderShape) -> int:
        """The parameters that stay without any head: the output bias."""
        return shape.width

    @staticmethod
    def multiply_adds_each(shape: EncoderShape, tokens: int) -> int:
        """The products of one head for one of so many tokens."""
        # q, k, v, output; then QKᵀ and its product with V
        return shape.head_width * (4 * shape.width + 2 * tokens)

    @staticmethod
    def kernels(shape: EncoderShape, heads: int, batch: int, tokens: int) -> list[Kernel]:
        """What so many heads launch on a GPU for a batch."""
        if not heads:
            return []
        words, inner = batch * tokens, heads * shape.head_width
        seen = Kernel(2 * words * tokens * inner, 0, 4 * words * inner)  # q, k, v in, one out
        return [
            Kernel.product(words, shape.width, 3 * inner),
            seen,
            Kernel.product(words, inner, shape.width),
        ]


ATTENTIONS: dict[str, type[Attention]] = {"softmax": Attention}
"""Every kind of attention, by the name that a family picks it by."""
