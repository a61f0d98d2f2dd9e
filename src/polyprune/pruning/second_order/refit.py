"""A refit: from the bottom up, projections are solved again for the uncut model's residual stream.

Compensation knows one sublayer at a time. A refit sees what the cut model really computes: the
inputs of each projection come from the layers below *as they are now*, and the target is what the
uncut model's stream is after the same sublayer (after Park et al., 2024). It is least squares with
a ridge towards what the projection was, no training; but it has text to learn by heart, so that the
ridge of each projection is the one with the least error on sentences that it is not solved on.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from ...errors import DataError
from ...model.network.gated_model import PolyprunePreTrainedModel
from ...model.network.tensor_types import Float
from ...progress import SILENT, Progress
from ..criteria.losses import Batch
from .moments import sentences_alike

RIDGES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
"""Tried for every projection, as shares of the mean diagonal of E[u uᵀ]."""

MEANS = 10.0
"""What the mean of a sentence weighs beside its tokens where embeddings are what counts: errors
that stay when tokens are averaged are all that these consist of. Words are read one by one: there,
means weigh nothing."""


@dataclass(frozen=True, slots=True)
class RefitReport:
    """What a refit did on sentences that it was not solved on."""

    before: float
    """The mean squared error of the last hidden states against the uncut model's."""
    after: float
    ridges: tuple[float | None, ...] = ()
    """The ridge of every projection, from the bottom up; None where it stayed as it was."""

    @property
    def helped(self) -> bool:
        """Whether the error fell; if not, the model is left as it was."""
        return self.after < self.before

    def as_dict(self) -> dict[str, Any]:
        """The errors, and whether the refit was kept."""
        return {"error_before": self.before, "error_after": self.after, "kept": self.helped}

    def __str__(self) -> str:
        if not self.helped:
            return (
                "Repair was left out: on held-out sentences it came no nearer to the uncut model."
            )
        nearer = 1 - self.after / self.before
        return (
            f"Repair: on held-out sentences, hidden states are {nearer:.0%} nearer (squared error) "
            "to those of the uncut model."
        )


@dataclass(frozen=True, slots=True)
class Refit:
    """The text of a refit, and the model that nothing was cut from, at which it always aims."""

    uncut: PolyprunePreTrainedModel
    batches: Sequence[Batch]
    held_out: Sequence[Batch]
    progress: Progress = SILENT
    means: float = MEANS
    """What the mean of a sentence weighs beside its tokens."""
    reports: list[RefitReport] = field(default_factory=list)
    """What each refit did, in their order."""

    @property
    def helped(self) -> bool:
        """Whether any refit was kept."""
        return any(report.helped for report in self.reports)

    def solve(self, model: PolyprunePreTrainedModel) -> RefitReport:
        """Refit a model in place, if that helps, and say what came of it."""
        text = self.batches, self.held_out
        self.reports.append(refit(model, self.uncut, *text, self.progress, self.means))
        return self.reports[-1]


@torch.no_grad()
def refit(
    model: PolyprunePreTrainedModel,
    uncut: PolyprunePreTrainedModel,
    batches: Sequence[Batch],
    held_out: Sequence[Batch],
    progress: Progress = SILENT,
    means: float = MEANS,
) -> RefitReport:
    """Solve the projections of `model` for the stream of `uncut`, in place, if that helps."""
    if not batches or not held_out:
        raise DataError("A refit needs sentences to solve on, and others to choose its ridge on.")
    modules = [part.part.leaving for layer in model.encoder.layers for part in _sublayers(layer)]
    old = [{name: weight.clone() for name, weight in m.named_parameters()} for m in modules]
    before, ridges = hidden_error(model, uncut, held_out), []
    streams = [_Streams(model, uncut, some, means) for some in (batches, held_out)]
    pairs = list(zip(model.encoder.layers, uncut.encoder.layers, strict=True))
    with progress.stage("Refitting", len(pairs)):
        for layer, other in progress.track("", pairs):
            for own, whole in zip(_sublayers(layer), _sublayers(other), strict=True):
                solving, choosing = (stream.sums(own, whole) for stream in streams)
                ridges.append(_change(own.part.leaving, solving, choosing))
                for stream in streams:
                    stream.advance(own, whole)
    report = RefitReport(before, hidden_error(model, uncut, held_out), tuple(ridges))
    if not report.helped:
        for module, weights in zip(modules, old, strict=True):
            module.load_state_dict(weights)
    return report


@torch.no_grad()
def hidden_error(
    model: PolyprunePreTrainedModel, uncut: PolyprunePreTrainedModel, batches: Sequence[Batch]
) -> float:
    """The mean squared distance of the last hidden states of two models, sentences alike."""
    total, sentences = 0.0, 0
    for batch in batches:
        mask = batch["attention_mask"].bool()
        types = batch.get("token_type_ids")
        ours, theirs = (each.encoder(batch["input_ids"], mask, types) for each in (model, uncut))
        square = (ours - theirs).float().square().mean(-1)[mask]
        total += float((square * sentences_alike(mask)[mask]).sum())
        sentences += len(mask)
    return total / sentences


class _Sublayer(NamedTuple):
    """A sublayer with its norm, which is before it or after its sum with the stream."""

    part: Any
    norm: Any
    pre_norm: bool

    def features(self, x: Tensor, keys: Tensor) -> Tensor:
        """What enters its projection; nothing where no component is left."""
        if not isinstance(self.part.leaving, nn.Linear):
            return x[..., :0]
        return self.part.features(self.norm(x) if self.pre_norm else x, keys)

    def sum(self, x: Tensor, features: Tensor) -> Tensor:
        """The stream and what the sublayer adds to it."""
        return x + self.part.leaving(features if features.shape[-1] else x)

    def after(self, total: Tensor) -> Tensor:
        """The stream that the next sublayer gets."""
        return total if self.pre_norm else self.norm(total)


def _sublayers(layer: Any) -> tuple[_Sublayer, _Sublayer]:
    return (
        _Sublayer(layer.attention, layer.attention_norm, layer.pre_norm),
        _Sublayer(layer.feed_forward, layer.feed_forward_norm, layer.pre_norm),
    )


class _Streams:
    """The residual streams of a model and of the uncut one, on the same batches."""

    def __init__(
        self,
        model: PolyprunePreTrainedModel,
        uncut: PolyprunePreTrainedModel,
        batches: Sequence[Batch],
        means: float,
    ):
        self.means = means
        self.masks = [batch["attention_mask"].bool() for batch in batches]
        self.features: list[Tensor] = []
        """What enters our projection of this sublayer: it serves before and after a refit."""
        self.ours, self.theirs = (
            [
                each.encoder.embedding(batch["input_ids"], batch.get("token_type_ids"))
                for batch in batches
            ]
            for each in (model, uncut)
        )

    def sums(self, own: _Sublayer, whole: _Sublayer) -> "_LeastSquares":
        """What our stream misses after this sublayer; theirs goes on to the sum."""
        found = _LeastSquares(self.means)
        self.features.clear()
        for i, mask in enumerate(self.masks):
            keys = mask[:, None, None]
            self.theirs[i] = whole.sum(self.theirs[i], whole.features(self.theirs[i], keys))
            self.features.append(own.features(self.ours[i], keys))
            entering, missing = (
                self.features[i].float(),
                self.theirs[i] - own.sum(self.ours[i], self.features[i]),
            )
            inputs = torch.cat([entering, torch.ones_like(entering[..., :1])], -1)
            found.add(inputs, missing.float(), sentences_alike(mask))
        return found

    def advance(self, own: _Sublayer, whole: _Sublayer) -> None:
        """Both go on to what the next sublayer gets."""
        for i, features in enumerate(self.features):
            self.ours[i] = own.after(own.sum(self.ours[i], features))
            self.theirs[i] = whole.after(self.theirs[i])


class _LeastSquares:
    """The sums of a ridge regression of what is missing on the inputs and, last of them, 1."""

    def __init__(self, means: float) -> None:
        self.means = means
        self.gram: Any = 0.0
        self.right: Any = 0.0

    def add(
        self,
        inputs: Float[Tensor, "batch seq inputs"],
        missing: Float[Tensor, "batch seq width"],
        weights: Float[Tensor, "batch seq"],
    ) -> None:
        """Add the tokens of sentences, and their means."""
        weighted = inputs * weights[..., None]
        means, means_missing = weighted.sum(1), (missing * weights[..., None]).sum(1)
        some = weights > 0
        inputs, missing, weighted = inputs[some], missing[some], weighted[some]
        self.gram = self.gram + (weighted.T @ inputs + self.means * means.T @ means).double()
        self.right = (
            self.right + (weighted.T @ missing + self.means * means.T @ means_missing).double()
        )

    def solve(self, ridge: float) -> Float[Tensor, "inputs width"]:
        """The change of weights and bias; the bias is free."""
        free = len(self.gram) - 1
        damping = torch.full((free + 1,), 1e-9, dtype=torch.float64)
        damping[:free] += ridge * self.gram.diagonal()[:free].sum() / max(1, free)
        return torch.linalg.solve(self.gram + damping.diag(), self.right)

    def error(self, change: Tensor) -> float:
        """How much the squared error grows; below 0 is better."""
        return float((change * (self.gram @ change - 2 * self.right)).sum())


def _change(module: Any, solving: _LeastSquares, choosing: _LeastSquares) -> float | None:
    """Change a projection by the ridge that others' sentences like best; None if they like none."""
    changes = {ridge: solving.solve(ridge) for ridge in RIDGES}
    errors = {ridge: choosing.error(change) for ridge, change in changes.items()}
    best = min(errors, key=errors.__getitem__)
    if not errors[best] < 0:
        return None
    change = changes[best].to(module.bias)
    if isinstance(module, nn.Linear):
        module.weight.add_(change[:-1].T)
    module.bias.add_(change[-1])
    return best
