"""The feed-forward network (Eq. 2): all that is to be known of it, down to its kernels."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .shape import EncoderShape, Wiring
from .sublayer import ACTIVATIONS, Constant, Kernel, State, add_product, by_token, scale_columns
from .tensor_types import Bool, Float


class FeedForward(nn.Module):
    """FFN(X) = (GeLU(X W₁ + b₁) ⊙ G_f) W₂ + b₂ (Eq. 2)."""

    CUT = ("expand", "contract")
    """The modules that `cut` makes anew."""

    def __init__(self, shape: EncoderShape, wiring: Wiring, units: int):
        super().__init__()
        width = shape.width
        self.activation = ACTIVATIONS[wiring.activation]
        self.expand = nn.Linear(width, units) if units else None
        self.contract: Any = nn.Linear(units, width) if units else Constant(width)

    def forward(
        self,
        x: Float[Tensor, "batch seq width"],
        gate: Float[Tensor, "#batch *seq units"] | None = None,
    ) -> Float[Tensor, "batch seq width"]:
        """What the units add to the residual stream."""
        return self.contract(x if self.expand is None else self.features(x, gate=gate))

    def features(
        self,
        x: Float[Tensor, "batch seq width"],
        mask: Bool[Tensor, "batch 1 1 seq"] | None = None,
        gate: Float[Tensor, "#batch *seq units"] | None = None,
    ) -> Float[Tensor, "batch seq units"]:
        """What the units make of each token; there have to be some. No unit needs the mask."""
        assert self.expand is not None
        units = self.activation(self.expand(x))
        return units if gate is None else units * by_token(gate).to(units)

    @property
    def entering(self) -> nn.Linear | None:
        """The projection through which units see the stream; none without any."""
        return self.expand

    @property
    def leaving(self) -> Any:
        """The projection through which all units leave, or what is left without any."""
        return self.contract

    @property
    def columns_each(self) -> int:
        """How many of its columns one unit has."""
        return 1

    def add_fused(self, stream: Tensor, x: Tensor) -> Tensor:
        """`stream` after what the units make of `x` was added; both may be the same tensor."""
        if self.expand is None:
            return stream.add_(self.contract.bias)
        units = F.linear(x, self.expand.weight, self.expand.bias)
        if self.activation is F.gelu:
            torch.ops.aten.gelu_(units)  # which torch.nn.functional has no name for
        else:
            units = self.activation(units)
        return add_product(stream, self.contract, units)

    def exportable(self, x: Tensor) -> Tensor:
        """What the units add, in operations that every runtime has."""
        if self.expand is None:
            return self.contract.bias
        return self.contract(self.activation(self.expand(x)))

    def cut(self, gate: Float[Tensor, " units"]) -> State:
        """The parameters without the units whose gate is 0; other gates go into W₂."""
        new = {"contract.bias": self.contract.bias.detach().clone()}
        keep = gate.nonzero()[:, 0]
        if self.expand is None or not len(keep):  # what is left is the bias
            return new
        new["expand.weight"] = self.expand.weight.detach()[keep]
        new["expand.bias"] = self.expand.bias.detach()[keep]
        new["contract.weight"] = scale_columns(self.contract.weight.detach(), gate)[:, keep]
        return new

    def put_back(self, gate: Float[Tensor, " units"], small: "FeedForward") -> State:
        """The parameters with those of `small`, which was cut by this gate, in their old places."""
        new = {name: parameter.detach().clone() for name, parameter in self.named_parameters()}
        new["contract.bias"] = small.contract.bias.detach()
        if self.expand is not None and small.expand is not None:
            kept = gate > 0
            new["contract.weight"][:, kept] = small.contract.weight.detach()
            for name, parameter in small.expand.named_parameters():
                new[f"expand.{name}"][kept] = parameter.detach()
        return new

    def padded(self, units: int) -> State:
        """The parameters with more units, whose weights are 0: the same function."""
        bias = self.contract.bias.detach()
        zeros = bias.new_zeros
        rows, columns, biases = zeros(0, len(bias)), zeros(len(bias), 0), zeros(0)
        if self.expand is not None:
            rows, biases = self.expand.weight.detach(), self.expand.bias.detach()
            columns = self.contract.weight.detach()
        missing = units - len(biases)
        return {
            "expand.weight": torch.cat([rows, zeros(missing, len(bias))]),
            "expand.bias": torch.cat([biases, zeros(missing)]),
            "contract.weight": torch.cat([columns, zeros(len(bias), missing)], dim=1),
            "contract.bias": bias,
        }

    def magnitudes(self) -> Float[Tensor, " units"]:
        """The root mean square of each unit's weights."""
        if self.expand is None:
            return torch.zeros(0)
        expand = self.expand.weight.detach().float()
        contract = self.contract.weight.detach().float().T
        return torch.cat([expand, contract], 1).square().mean(1).sqrt()

    @staticmethod
    def parameters_each(shape: EncoderShape) -> int:
        """The parameters of one unit: a row of W₁, a column of W₂, and a bias."""
        return 2 * shape.width + 1

    @staticmethod
    def parameters_always(shape: EncoderShape) -> int:
        """The parameters that stay without any unit: b₂."""
        return shape.width

    @staticmethod
    def multiply_adds_each(shape: EncoderShape) -> int:
        """The products of one unit for one token."""
        return 2 * shape.width

    @staticmethod
    def kernels(shape: EncoderShape, units: int, words: int) -> list[Kernel]:
        """What so many units launch on a GPU for so many tokens."""
        if not units:
            return []
        return [
            Kernel.product(words, shape.width, units),
            Kernel(0, 0, 2 * words * units),  # the activation: in and out
            Kernel.product(words, units, shape.width),
        ]


FEED_FORWARDS: dict[str, type[FeedForward]] = {"mlp": FeedForward}
"""Every kind of feed-forward network, by the name that a family picks it by."""
