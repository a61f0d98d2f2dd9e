"""L(X), example by example: what a component has to be important *for*."""

from collections.abc import Callable, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from ...model.network.components import Gates
from ...model.network.tensor_types import Bool, Float, Int

Batch = Mapping[str, Tensor]
"""What the model takes, `input_ids`, `attention_mask`, …, and what the loss needs: `labels`."""

PerExampleLoss = Callable[[Any, Batch, Gates], Float[Tensor, " batch"]]
"""L(X) of every example, each depending on its own row of gates alone."""


def masked_lm_loss(model: Any, batch: Batch, gates: Gates) -> Float[Tensor, " batch"]:
    """Mean cross-entropy over the masked words of every example; only their logits are computed."""
    labels = batch["labels"]
    mask = batch["attention_mask"].bool() if "attention_mask" in batch else None
    hidden = model.encoder(batch["input_ids"], mask, batch.get("token_type_ids"), gates)
    chosen = labels != -100
    logits = logits_at(model, hidden, chosen, gates)
    losses = F.cross_entropy(logits.float(), labels[chosen], reduction="none")
    return mean_by_example(losses, chosen.nonzero()[:, 0], len(labels))


def logits_at(
    model: Any,
    hidden: Float[Tensor, "batch seq width"],
    chosen: Bool[Tensor, "batch seq"],
    gates: Gates | None = None,
) -> Float[Tensor, "words vocab"]:
    """The masked-LM logits of the chosen words alone: most of the vocabulary's work saved."""
    example, place = chosen.nonzero(as_tuple=True)
    rank = None if gates is None else gates.rank
    if rank is not None and rank.ndim == 3:  # one for each token, be there one example or more
        rank = rank[example, place]
    elif rank is not None and len(rank) > 1:
        rank = rank[example]
    words = hidden[example, place]
    # Not [:, 0], which takes a second table of logits on the way back.
    return model.readout(words[:, None], model.encoder.embedding, rank).squeeze(1)


def task_loss(model: Any, batch: Batch, gates: Gates | None) -> Float[Tensor, " batch"]:
    """The loss of a fine-tuned classifier, tagger or answerer, whichever the model is.

    Without `labels` (`start_positions` and `end_positions` of a span) in the batch they are drawn
    from the model's own predictions. To *match* those would be of no use, the gradient is zero
    where the gates are open; single draws have one, and its mean square is the Fisher information.
    """
    inputs = {
        name: batch[name]
        for name in ("input_ids", "attention_mask", "token_type_ids")
        if name in batch
    }
    output = model(**inputs, gates=gates)
    if model.readout_kind.finds_spans:
        mask = inputs.get("attention_mask")
        starts, ends = (
            # The tokens of padding are no places for an answer.
            logits if mask is None else logits.masked_fill(~mask.bool(), -1e4)
            for logits in (output.start_logits, output.end_logits)
        )
        first = _cross_entropy(starts, batch.get("start_positions"))
        return (first + _cross_entropy(ends, batch.get("end_positions"))) / 2
    labels = batch.get("labels")
    if model.readout_kind.labels_sentences:
        return SENTENCE_LOSSES[problem_type(model.config)](output.logits, labels)
    counted = labels != -100 if labels is not None else batch["attention_mask"].bool()
    example, place = counted.nonzero(as_tuple=True)
    losses = _cross_entropy(
        output.logits[example, place], None if labels is None else labels[example, place]
    )
    return mean_by_example(losses, example, len(batch["input_ids"]))


def contrastive_loss(temperature: float = 0.05, pooling: str = "mean") -> PerExampleLoss:
    """For sentence encoders: find a sentence's other view among those of the whole batch.

    The other view is what the batch has as `pair_input_ids` and `pair_attention_mask`, such as a
    translation; without them, the same sentence under dropout (Gao et al., 2021). Gates act on the
    first view only, so that each loss depends on its own gates alone.
    """

    def loss(model: Any, batch: Batch, gates: Gates) -> Float[Tensor, " batch"]:
        queries = pooled(model, batch["input_ids"], batch["attention_mask"], gates, pooling)
        with torch.no_grad():
            keys = _other_view(model, batch, pooling)
        similarity = queries @ keys.T / temperature
        return F.cross_entropy(
            similarity, torch.arange(len(keys), device=keys.device), reduction="none"
        )

    return loss


def embedding_loss(pooling: str = "mean") -> PerExampleLoss:
    """For sentence encoders: a step of each embedding in a direction that is drawn by chance.

    Its value says nothing, its gradient does: over draws, the mean square is the curvature of
    ½ ‖f − f₀‖², f being the embedding and f₀ what it is now; of the Fisher information, if
    embeddings had noise. To take ½ ‖f − f₀‖² itself would be of no use: where the gates are open,
    its gradient is zero. It needs no other view of a sentence, and no other sentences.
    """

    def loss(model: Any, batch: Batch, gates: Gates) -> Float[Tensor, " batch"]:
        found = pooled(model, batch["input_ids"], batch["attention_mask"], gates, pooling)
        return (found * torch.randn(found.shape).to(found)).sum(1)  # the same on every device

    return loss


def pooled(
    model: Any,
    ids: Int[Tensor, "batch seq"],
    mask: Int[Tensor, "batch seq"],
    gates: Gates | None = None,
    pooling: str = "mean",
) -> Float[Tensor, "batch width"]:
    """Sentence embeddings of length 1: the mean over tokens, or the first token."""
    return pool(model.encoder(ids, mask.bool(), gates=gates), mask, pooling)


def pool(
    hidden: Float[Tensor, "batch seq width"], mask: Int[Tensor, "batch seq"], pooling: str = "mean"
) -> Float[Tensor, "batch width"]:
    """Sentence embeddings of length 1 from hidden states: their mean, or the first token's."""
    hidden = hidden.float()
    if pooling == "first":
        return F.normalize(hidden[:, 0], dim=-1)
    present = mask[:, :, None]
    return F.normalize((hidden * present).sum(1) / present.sum(1), dim=-1)


def _other_view(model: Any, batch: Batch, pooling: str) -> Tensor:
    if "pair_input_ids" in batch:
        ids, mask = batch["pair_input_ids"], batch["pair_attention_mask"]
        return pooled(model, ids, mask, pooling=pooling)
    with _dropout(model):
        return pooled(model, batch["input_ids"], batch["attention_mask"], pooling=pooling)


@contextmanager
def _dropout(model: Any):
    """Dropout as in training, the same each time: scores must not depend on what ran before."""
    training = model.training
    with torch.random.fork_rng(devices=[model.device] if model.device.type == "cuda" else []):
        torch.manual_seed(0)
        model.train()
        try:
            yield
        finally:
            model.train(training)


def _cross_entropy(logits: Tensor, labels: Tensor | None) -> Tensor:
    """The cross-entropy of every row; labels are drawn from the logits if there are none."""
    if labels is None:
        labels = torch.distributions.Categorical(logits=logits.detach().float()).sample()
    return F.cross_entropy(logits.float(), labels, reduction="none")


def mean_by_example(
    losses: Float[Tensor, " words"], example: Int[Tensor, " words"], examples: int
) -> Float[Tensor, " examples"]:
    """The mean loss of each example's words; 0 where it has none."""
    words = torch.bincount(example, minlength=examples).clamp(min=1)
    return losses.new_zeros(examples).index_add(0, example, losses) / words


ONE_LABEL = "single_label_classification"


def problem_type(config: Any) -> str:
    """What the readout of sentences is trained for, as transformers names it and finds it out."""
    return config.problem_type or ("regression" if config.num_labels == 1 else ONE_LABEL)


def _squared_error(
    outputs: Float[Tensor, "batch outputs"], labels: Tensor | None
) -> Float[Tensor, " batch"]:
    """The squared error of every row; without labels, of a draw from N(output, 1)."""
    outputs = outputs.float()
    if labels is None:
        labels = torch.normal(outputs.detach(), 1.0)
    return (outputs - labels.reshape(outputs.shape).float()).square().mean(1)


def _binary_cross_entropy(
    logits: Float[Tensor, "batch labels"], labels: Tensor | None
) -> Float[Tensor, " batch"]:
    """The mean over labels of whether each is there; without labels, each is drawn."""
    logits = logits.float()
    if labels is None:
        labels = torch.bernoulli(logits.detach().sigmoid())
    return F.binary_cross_entropy_with_logits(logits, labels.float(), reduction="none").mean(1)


SENTENCE_LOSSES = {
    ONE_LABEL: _cross_entropy,
    "multi_label_classification": _binary_cross_entropy,
    "regression": _squared_error,
}
"""The loss of every sentence, by what transformers calls the problem."""
