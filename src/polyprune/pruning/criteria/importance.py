"""Gradient-based importance (Eq. 4): one backward pass scores every component."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from ...errors import DataError
from ...model.network.components import Gates, open_gates, sizes
from ...model.network.gated_model import PolyprunePreTrainedModel
from ..second_order.curves import RemovalCurves
from ..selection.ranking import Scores
from .losses import Batch, PerExampleLoss, masked_lm_loss

Statistic = Literal["absolute", "squared"]
"""What is averaged: |gradient| as printed, or its square (the Fisher information)."""

Per = Literal["example", "token", "batch"]
"""What has gates of its own, and so over what the absolute value is taken.

`example` is Eq. 4 as printed; `token` is what Michel et al.'s code does, `batch` what Prasanna et
al.'s and transformers' own does, whose scores depend on the batch size.
"""


@dataclass(frozen=True, slots=True)
class GateGradients:
    """What one pass over the text says of dL/dg at the open gate: its mean size, mean square."""

    absolute: Scores
    squared: Scores
    curves: RemovalCurves | None = None
    """What removals cost where the rest makes up for them, if that was measured too."""

    def only(self, rows: Sequence[int]) -> "GateGradients":
        """Some of the rows."""
        return self._changed(
            lambda scores: scores.map(lambda score: score[list(rows)]),
            lambda curves: curves.only(rows),
        )

    def combined(self, combine: Callable[[Scores], Scores]) -> "GateGradients":
        """The rows of gates from those of languages."""
        return self._changed(combine, lambda curves: curves.combined(combine))

    def _changed(
        self,
        scores: Callable[[Scores], Scores],
        curves: Callable[[RemovalCurves], RemovalCurves],
    ) -> "GateGradients":
        own = None if self.curves is None else curves(self.curves)
        return GateGradients(scores(self.absolute), scores(self.squared), own)


def importance(
    model: PolyprunePreTrainedModel,
    batches: Iterable[Batch] | Mapping[str, Iterable[Batch]],
    loss: PerExampleLoss | None = None,
    statistic: Statistic = "absolute",
    per: Per = "example",
) -> Scores:
    """Mean over examples of |component · dL/dcomponent|, for every gate (Eq. 4).

    At an open gate dL/dg *is* component · dL/dcomponent, so one backward pass through a private
    copy of the gates per example yields every score, whatever the batch size. Batches by language
    give one row per language, in their order; plain batches give one row.
    """
    return getattr(gate_gradients(model, batches, loss, per), statistic)


def gate_gradients(
    model: PolyprunePreTrainedModel,
    batches: Iterable[Batch] | Mapping[str, Iterable[Batch]],
    loss: PerExampleLoss | None = None,
    per: Per = "example",
) -> GateGradients:
    """Both statistics of `importance`, from the same backward passes."""
    loss = loss or masked_lm_loss
    by_language: Mapping[str, Iterable[Batch]] = (
        batches if isinstance(batches, Mapping) else {"all languages": batches}  # pyright: ignore
    )
    if not by_language:
        raise DataError("There are no languages to score with. Give batches for at least one.")
    with _frozen(model):
        rows = [_row(model, name, own, loss, per) for name, own in by_language.items()]
    return stack_gradients(rows)


def stack_gradients(rows: Sequence[GateGradients]) -> GateGradients:
    """The rows of several languages together."""
    curves = [row.curves for row in rows if row.curves is not None]
    own = None
    if curves:
        own = RemovalCurves(_stack([c.order for c in curves]), _stack([c.steps for c in curves]))
    return GateGradients(
        _stack([row.absolute for row in rows]), _stack([row.squared for row in rows]), own
    )


def _row(
    model: PolyprunePreTrainedModel,
    language: str,
    batches: Iterable[Batch],
    loss: PerExampleLoss,
    per: Per,
) -> GateGradients:
    absolute, squared = (open_gates(model.shape).map(torch.zeros_like) for _ in range(2))
    seen = 0
    for number, batch in enumerate(batches, start=1):
        batch = {name: value.to(model.device) for name, value in batch.items()}
        gates = _private_gates(model, batch["input_ids"], per)
        losses = loss(model, batch, gates)
        if not losses.isfinite().all():
            raise DataError(
                f"The loss of batch {number} of {language} is not a number. Look at that text, or "
                "load the model in a wider precision."
            )
        gradients = torch.autograd.grad(losses.sum(), gates.leaves(), materialize_grads=True)
        for sizes_, squares, gradient in zip(
            absolute.leaves(), squared.leaves(), gradients, strict=True
        ):
            gradient = gradient.float().flatten(0, -2)  # (b, n) or (b, s, n) -> (b or b*s, n)
            sizes_ += gradient.abs().sum(0, keepdim=True).cpu()
            squares += gradient.square().sum(0, keepdim=True).cpu()
        seen += _count(batch, per)
    if not seen:
        raise DataError(
            f"There is no text in {language} to score with. Give it some, or leave it out."
        )
    if not all(sum_.isfinite().all() for sum_ in squared.leaves()):
        raise DataError(f"The gradients in {language} are not numbers; score in a wider precision.")
    return GateGradients(
        absolute.map(lambda total: total / seen), squared.map(lambda total: total / seen)
    )


def _private_gates(model: PolyprunePreTrainedModel, ids: Tensor, per: Per) -> Gates:
    leading = {"example": (len(ids),), "token": tuple(ids.shape), "batch": (1,)}[per]
    return sizes(model.shape).map(
        lambda n: torch.ones(*leading, n, device=model.device).requires_grad_()
    )


def _count(batch: Batch, per: Per) -> int:
    """What the sum is divided by: examples as printed, tokens as in the other two's code."""
    if per == "example":
        return len(batch["input_ids"])
    return (
        int(batch["attention_mask"].sum())
        if "attention_mask" in batch
        else batch["input_ids"].numel()
    )


def _stack(rows: list[Scores]) -> Scores:
    return rows[0].map(lambda *row: torch.cat(row), *rows[1:])


@contextmanager
def _frozen(model: PolyprunePreTrainedModel):
    """No dropout, and no gradients of weights: those of the gates are all that is wanted."""
    training, wanted = model.training, [p for p in model.parameters() if p.requires_grad]
    model.eval()
    for parameter in wanted:
        parameter.requires_grad_(False)
    try:
        yield
    finally:
        model.train(training)
        for parameter in wanted:
            parameter.requires_grad_(True)
