"""Gradient-based importance (Eq. 4): one backward pass scores every component."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import contextmanager
from typing import Any, Literal

import torch
from torch import Tensor
from torch.nn import functional as F

from ..errors import DataError
from ..model.axes import Float
from ..model.components import Gates, open_gates
from ..model.modeling_polyprune import PolyprunePreTrainedModel
from .budget import Scores

Batch = Mapping[str, Tensor]
"""What the model takes, `input_ids`, `attention_mask`, …, and what the loss needs: `labels`."""

PerExampleLoss = Callable[[Any, Batch, Gates], Float[Tensor, " batch"]]
"""L(X) of every example, each depending on its own row of gates alone."""

Statistic = Literal["absolute", "squared"]
"""What is averaged over examples: |gradient| as printed, or its square (the Fisher information)."""


def importance(
    model: PolyprunePreTrainedModel,
    batches: Iterable[Batch] | Mapping[str, Iterable[Batch]],
    loss: PerExampleLoss | None = None,
    statistic: Statistic = "absolute",
) -> Scores:
    """Mean over examples of |component · dL/dcomponent|, for every gate (Eq. 4).

    At an open gate dL/dg *is* component · dL/dcomponent, so one backward pass through a private
    copy of the gates per example yields every score, whatever the batch size. Batches by language
    give a row a language, in their order; plain batches give one row.
    """
    loss = loss or masked_lm_loss
    by_language: Mapping[str, Iterable[Batch]] = (
        batches if isinstance(batches, Mapping) else {"all languages": batches}  # pyright: ignore
    )
    if not by_language:
        raise DataError("There are no languages to score with. Give batches for at least one.")
    with _frozen(model):
        rows = [_row(model, name, own, loss, statistic) for name, own in by_language.items()]
    return rows[0].map(lambda *row: torch.cat(row), *rows[1:])


def _row(
    model: PolyprunePreTrainedModel,
    language: str,
    batches: Iterable[Batch],
    loss: PerExampleLoss,
    statistic: Statistic,
) -> Scores:
    total, seen = open_gates(model.shape).map(torch.zeros_like), 0
    for number, batch in enumerate(batches, start=1):
        examples = len(batch["input_ids"])
        gates = open_gates(model.shape, examples).map(
            lambda gate: gate.to(model.device).requires_grad_()
        )
        losses = loss(model, batch, gates)
        if not losses.isfinite().all():
            raise DataError(
                f"The loss of batch {number} of {language} is not a number. Look at that text, or "
                "load the model in a wider precision."
            )
        gradients = torch.autograd.grad(losses.sum(), gates.leaves(), materialize_grads=True)
        for sum_, gradient in zip(total.leaves(), gradients, strict=True):
            size = gradient.abs() if statistic == "absolute" else gradient.square()
            sum_ += size.sum(0, keepdim=True).cpu()
        seen += examples
    if not seen:
        raise DataError(
            f"There is no text in {language} to score with. Give it some, or leave it out."
        )
    return total.map(lambda score: score / seen)


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


def masked_lm_loss(model: Any, batch: Batch, gates: Gates) -> Float[Tensor, " batch"]:
    """Mean cross-entropy over the masked words of every example; only their logits are computed."""
    labels = batch["labels"]
    mask = batch["attention_mask"].bool() if "attention_mask" in batch else None
    hidden = model.encoder(batch["input_ids"], mask, batch.get("token_type_ids"), gates)
    example, place = (labels != -100).nonzero(as_tuple=True)
    logits = model.readout(
        hidden[example, place][:, None], model.encoder.embedding, gates.rank[example]
    )[:, 0]
    losses = F.cross_entropy(logits.float(), labels[example, place], reduction="none")
    words = torch.bincount(example, minlength=len(labels)).clamp(min=1)
    return losses.new_zeros(len(labels)).index_add(0, example, losses) / words


def contrastive_loss(temperature: float = 0.05) -> PerExampleLoss:
    """For sentence encoders: find a sentence's other view among those of the whole batch.

    The batch has `pair_input_ids` and `pair_attention_mask`: a translation, or the same sentence
    again. Gates act on the first view only, so that each loss depends on its own gates alone.
    """

    def loss(model: Any, batch: Batch, gates: Gates) -> Float[Tensor, " batch"]:
        queries = _pooled(model, batch["input_ids"], batch["attention_mask"], gates)
        with torch.no_grad():
            keys = _pooled(model, batch["pair_input_ids"], batch["pair_attention_mask"], None)
        similarity = queries @ keys.T / temperature
        return F.cross_entropy(
            similarity, torch.arange(len(keys), device=keys.device), reduction="none"
        )

    return loss


def _pooled(model: Any, ids: Tensor, mask: Tensor, gates: Gates | None) -> Tensor:
    hidden, present = model.encoder(ids, mask.bool(), gates=gates).float(), mask[:, :, None]
    return F.normalize((hidden * present).sum(1) / present.sum(1), dim=-1)
