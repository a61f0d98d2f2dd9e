"""A refit: from the bottom up, projections are solved again for the uncut model's residual stream.

Compensation knows one sublayer at a time. A refit sees what the cut model really computes: the
inputs of each sublayer come from the layers below *as they are now*. Two projections change.

- Where the stream enters, the components that are left once read x, the stream of the uncut model,
  and now get x', that of the cut one. x ≈ A x' + a is the best linear guess, so that W becomes W A
  and b becomes b + W a: they read the stream as it was.
- Where components leave, the target is the uncut model's stream after the same sublayer (after Park
  et al., 2024).

Both are least squares with a ridge towards what the projection was, no training; but there is text
to learn by heart, so that each ridge is the one with the least error on sentences that it is not
solved on.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

from ...errors import DataError
from ...model.network.gated_model import PolyprunePreTrainedModel
from ...progress import SILENT, Progress
from ..criteria.losses import Batch
from .least_squares import best_change
from .moments import sentences_alike
from .streams import Streams, StreamSublayer, sublayers_of

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
    parts = [own.part for layer in model.encoder.layers for own in sublayers_of(layer)]
    modules = [module for part in parts for module in (part.entering, part.leaving) if module]
    old = [{name: weight.clone() for name, weight in m.named_parameters()} for m in modules]
    before, ridges = hidden_error(model, uncut, held_out), []
    streams = [Streams(model, uncut, some, means) for some in (batches, held_out)]
    pairs = list(zip(model.encoder.layers, uncut.encoder.layers, strict=True))
    with progress.stage("Refitting", len(pairs)):
        for layer, other in progress.track("", pairs):
            for both in zip(sublayers_of(layer), sublayers_of(other), strict=True):
                ridges.append(_refit_sublayer(streams, *both))
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


def _refit_sublayer(
    streams: Sequence[Streams], own: StreamSublayer, whole: StreamSublayer
) -> float | None:
    """Change both projections and go on; the ridge of the last one, None if it stays as it was."""
    entering, leaving = own.part.entering, own.part.leaving
    if entering is not None:
        solving, choosing = (stream.before(own, whole) for stream in streams)
        found = best_change(solving, choosing)
        if found is not None:
            change = found[0].to(entering.weight)
            entering.bias.add_(entering.weight @ change[-1])
            entering.weight.add_(entering.weight @ change[:-1].T)
    solving, choosing = (stream.after(own, whole) for stream in streams)
    found = best_change(solving, choosing)
    if found is not None:
        change = found[0].to(leaving.bias)
        if isinstance(leaving, nn.Linear):
            leaving.weight.add_(change[:-1].T)
        leaving.bias.add_(change[-1])
    for stream in streams:
        stream.advance(own, whole)
    return None if found is None else found[1]
