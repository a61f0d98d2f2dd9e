"""What the removal of components costs is computed from: moments of what enters and leaves.

For every projection through which heads or units leave: the mean μ and the covariance C of its
inputs, and G = E[Σ g gᵀ] of the loss's gradient at its output, streamed over batches. In all of
them sentences count alike, however long, and languages too, however many sentences they have.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from ...errors import DataError
from ...model.network.gated_model import PolyprunePreTrainedModel
from ...model.network.tensor_types import Float
from ..criteria.losses import Batch

Place = tuple[str, int]
"""`heads` or `units`, and the layer."""


@dataclass(slots=True)
class InputMoments:
    """Mean and covariance of what enters a projection."""

    mean: Float[Tensor, " n"]
    second: Float[Tensor, "n n"]
    """E[u uᵀ]."""

    def add(self, other: "InputMoments", share: float) -> None:
        """Add a share of others."""
        self.mean.add_(other.mean, alpha=share)
        self.second.add_(other.second, alpha=share)

    def clear(self) -> None:
        """Start again from nothing."""
        self.mean.zero_()
        self.second.zero_()


class Moments:
    """The moments of all projections of a model, over languages."""

    def __init__(self, model: PolyprunePreTrainedModel):
        self.model = model
        self.places = dict(_projections(model))
        self.inputs = {place: _nothing(module) for place, module in self.places.items()}
        self.gradients: dict[Place, list[Tensor]] = {place: [] for place in self.places}
        """One G for each language."""
        self.languages = 0
        self._own = {place: _nothing(module) for place, module in self.places.items()}
        self._squares = {
            place: torch.zeros(len(module.weight), len(module.weight))
            for place, module in self.places.items()
        }
        self._sentences = 0
        self._weights: Tensor | None = None

    @contextmanager
    def watching(self) -> Iterator["Moments"]:
        """Note what passes through the projections, batch by batch, forwards and backwards."""
        hooks = []
        for place, module in self.places.items():
            hooks.append(module.register_forward_pre_hook(self._entered(place)))
            hooks.append(module.register_full_backward_hook(self._came_back(place)))
        try:
            yield self
        finally:
            for hook in hooks:
                hook.remove()

    def start(self, batch: Batch) -> None:
        """The next batch; without an attention mask, all of its tokens count."""
        mask = batch.get("attention_mask")
        mask = torch.ones_like(batch["input_ids"]) if mask is None else mask
        self._weights = sentences_alike(mask).flatten()
        self._sentences += len(mask)

    def close(self, language: str) -> None:
        """The language is done: its moments are added to those of all."""
        if not self._sentences:
            return
        share = 1 / self._sentences
        for place, own in self._own.items():
            if not own.second.isfinite().all() or not self._squares[place].isfinite().all():
                kind, layer = place
                raise DataError(
                    f"What enters or leaves the {kind} of layer {layer} in {language} is not a "
                    "number. Look at that text, or load the model in a wider precision."
                )
            self.inputs[place].add(own, share)
            self.gradients[place].append(self._squares[place] * share)
            own.clear()
            self._squares[place].zero_()
        self._sentences = 0
        self.languages += 1

    def covariance(self, place: Place) -> tuple[Float[Tensor, " n"], Float[Tensor, "n n"]]:
        """Mean and covariance over all languages."""
        found, share = self.inputs[place], 1 / max(1, self.languages)
        mean = found.mean * share
        return mean, found.second * share - torch.outer(mean, mean)

    def gradient(self, place: Place) -> Float[Tensor, "rows width width"]:
        """G of every language."""
        return torch.stack(self.gradients[place])

    def _entered(self, place: Place) -> Any:
        own = self._own[place]

        def hook(module: nn.Module, arguments: tuple[Tensor, ...]) -> None:
            if not torch.is_grad_enabled() or self._weights is None:
                return  # a teacher's pass, or the other view of a sentence
            u = arguments[0].detach().flatten(0, 1).float()
            weighted = u * self._weights[:, None].to(u)
            own.mean.add_(weighted.sum(0).cpu())
            own.second.add_((weighted.T @ u).cpu())

        return hook

    def _came_back(self, place: Place) -> Any:
        squares = self._squares[place]

        def hook(module: nn.Module, _: Any, gradients: tuple[Tensor, ...]) -> None:
            if self._weights is not None:
                g = gradients[0].detach().flatten(0, 1).float()
                g = g[self._weights.to(g) > 0]
                squares.add_((g.T @ g).cpu())

        return hook


def sentences_alike(mask: Tensor) -> Float[Tensor, "batch seq"]:
    """A weight for each token: those of a sentence sum to 1, padding has none."""
    return mask.float() / mask.sum(1, keepdim=True).clamp(min=1)


def _projections(model: PolyprunePreTrainedModel) -> Iterator[tuple[Place, nn.Linear]]:
    sublayers = model.encoder.sublayers()
    for kind, parts in (("heads", sublayers.heads), ("units", sublayers.units)):
        for layer, part in enumerate(parts):
            if isinstance(part.leaving, nn.Linear):
                yield (kind, layer), part.leaving


def _nothing(module: nn.Linear) -> InputMoments:
    width = module.in_features
    return InputMoments(torch.zeros(width), torch.zeros(width, width))
