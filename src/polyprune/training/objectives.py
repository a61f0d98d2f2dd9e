"""Training objectives: each loss is a function of the student's and the teacher's outputs."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from ..corpora.packing import Unit
from ..errors import ConfigError
from ..pruning.criteria.losses import logits_at, mean_by_example, task_loss
from .distillation import (
    attention_relation,
    cosine_distance,
    embedding_distance,
    hidden_error,
    relation_loss,
    similarity_relation,
    soft_binary_cross_entropy,
    soft_cross_entropy,
    squared_difference,
    value_relation,
)
from .lazy_outputs import LazyOutputs


@dataclass(frozen=True, slots=True)
class Objective:
    """The weight of each loss; 0 leaves it out."""

    mlm: float = 0.0
    """Predict masked words."""
    soft: float = 0.0
    """Predict every word as the teacher does (Sanh et al., 2019, use a weight of 5)."""
    cosine: float = 0.0
    """Match the teacher's last hidden states by cosine (Sanh et al., 2019, use a weight of 1)."""
    hidden: float = field(default=0.0, metadata={"absent": 0.0})
    """Match the teacher's last hidden states by squared error."""
    attention: float = 0.0
    """Attend in the last layer as the teacher does (MiniLM, Wang et al., 2020)."""
    values: float = 0.0
    """Relate values in the last layer as the teacher does."""
    relations: float = 0.0
    """Relate queries, keys and values, whatever the number of heads (Wang et al., 2021)."""
    embeddings: float = 0.0
    """Embed sentences as the teacher does."""
    translations: float = 0.0
    """Embed sentences as the teacher embeds their translations (Reimers and Gurevych, 2020)."""
    similarities: float = 0.0
    """Match which sentences of a batch the teacher finds similar, whatever the embedding's width.
    """
    outputs: float = 0.0
    """Predict the teacher's labels of sentences, words or spans."""
    labels: float = 0.0
    """Predict the gold labels: fine-tuning."""
    temperature: float = 2.0
    """The temperature of `soft` and `outputs`."""

    def __post_init__(self):
        if any(weight < 0 for weight in self.weights.values()) or self.temperature <= 0:
            raise ConfigError("Losses weigh 0 or more, and a temperature is more than 0.")

    @property
    def weights(self) -> dict[str, float]:
        """The weight of every loss by its name."""
        return {name: weight for name, weight in asdict(self).items() if name != "temperature"}

    @property
    def active(self) -> dict[str, float]:
        """The weights of the losses that are not 0."""
        return {name: weight for name, weight in self.weights.items() if weight}

    @property
    def needs_teacher(self) -> bool:
        """Whether a loss needs a teacher."""
        return bool(set(self.active) - {"mlm", "labels"})

    @property
    def compares_embeddings(self) -> bool:
        """Whether the losses use nothing of the teacher but sentence embeddings."""
        return self.needs_teacher and set(self.active) <= EMBEDDINGS | {"mlm"}

    @property
    def by_line(self) -> bool:
        """Whether examples are single lines rather than blocks."""
        return bool(set(self.active) & (EMBEDDINGS | {"outputs"}))

    @property
    def unit(self) -> Unit:
        """What an example is: a block, a line, or an input of a fine-tuned model."""
        if "outputs" in self.active:
            return "input"
        return "line" if self.by_line else "block"

    @property
    def masked(self) -> bool:
        """Whether input words are masked."""
        return bool(set(self.active) - EMBEDDINGS - {"outputs", "labels", "hidden"})

    @property
    def only_masked_lm(self) -> bool:
        """Whether masked-word prediction is the only loss on masked input."""
        return set(self.active) <= EMBEDDINGS | {"mlm"}

    @property
    def uses_readout(self) -> bool:
        """Whether a loss uses the readout's output, not only hidden states."""
        return bool({"mlm", "soft", "outputs", "labels"} & set(self.active))

    @property
    def uses_last_layer(self) -> bool:
        """Whether a loss uses the queries, keys and values of the last layer."""
        return bool({"attention", "values", "relations"} & set(self.active))


LOGITS = 2**26
"""The number of logits held in memory at a time: 256 MB in single precision."""

EMBEDDINGS = {"embeddings", "translations", "similarities"}


def mlm(student: LazyOutputs, teacher: LazyOutputs | None, objective: Objective) -> Tensor:
    """Masked LM: the mean over examples of the mean cross-entropy of their masked words."""
    labels = student.batch["labels"]
    chosen = labels != -100
    logits = logits_at(student.model, student.hidden, chosen, student.gates)
    losses = F.cross_entropy(logits.float(), labels[chosen], reduction="none")
    return mean_by_example(losses, chosen.nonzero()[:, 0], len(labels)).mean()


def soft(student: LazyOutputs, teacher: LazyOutputs, objective: Objective) -> Tensor:
    """DistilBERT's soft cross-entropy over all words, masked or not.

    A few at a time, each computed again when gradients are: the logits of all words of a batch, for
    a vocabulary of 250,000, would take more memory than anything else.
    """
    present = student.present.nonzero()
    total = student.hidden.new_zeros((), dtype=torch.float32)
    for some in present.split(max(1, LOGITS // student.model.shape.vocab_size)):
        chosen = torch.zeros_like(student.present)
        chosen[some[:, 0], some[:, 1]] = True
        loss = checkpoint(
            _soft, student, teacher, chosen, objective.temperature, use_reentrant=False
        )
        total = total + len(some) * loss
    return total / len(present)


def _soft(student: LazyOutputs, teacher: LazyOutputs, chosen: Tensor, temperature: float) -> Tensor:
    ours, theirs = (
        logits_at(seen.model, seen.hidden, chosen, seen.gates) for seen in (student, teacher)
    )
    return soft_cross_entropy(ours, theirs, temperature)


def cosine(student: LazyOutputs, teacher: LazyOutputs, objective: Objective) -> Tensor:
    """DistilBERT's cosine distance of hidden states, over all words."""
    return cosine_distance(student.hidden[student.present], teacher.hidden[student.present])


def hidden(student: LazyOutputs, teacher: LazyOutputs, objective: Objective) -> Tensor:
    """The squared error of hidden states, over all words."""
    return hidden_error(student.hidden[student.present], teacher.hidden[student.present])


def attention(student: LazyOutputs, teacher: LazyOutputs, objective: Objective) -> Tensor:
    """MiniLM's attention relation: queries with keys."""
    return attention_relation(student.inside, teacher.inside, student.present)


def values(student: LazyOutputs, teacher: LazyOutputs, objective: Objective) -> Tensor:
    """MiniLM's value relation: values with values."""
    return value_relation(student.inside, teacher.inside, student.present)


def relations(student: LazyOutputs, teacher: LazyOutputs, objective: Objective) -> Tensor:
    """MiniLM v2's relations of queries, keys and values, for any numbers of heads."""
    return relation_loss(student.inside, teacher.inside, mask=student.present)


def embeddings(student: LazyOutputs, teacher: LazyOutputs, objective: Objective) -> Tensor:
    """The distance to the teacher's embedding of the same sentence."""
    return embedding_distance(student.embeddings, teacher.embeddings)


def translations(student: LazyOutputs, teacher: LazyOutputs, objective: Objective) -> Tensor:
    """The distance to the teacher's embedding of the translation."""
    return embedding_distance(student.embeddings, teacher.translations)


def similarities(student: LazyOutputs, teacher: LazyOutputs, objective: Objective) -> Tensor:
    """The divergence of which sentences of a batch are similar."""
    return similarity_relation(student.embeddings, teacher.embeddings)


def outputs(student: LazyOutputs, teacher: LazyOutputs, objective: Objective) -> Tensor:
    """The distance to the teacher's labels: one for each row, any number of them, or numbers."""
    config = student.model.config
    kind = getattr(config, "problem_type", None)
    if kind == "regression" or (kind is None and config.num_labels == 1):
        return squared_difference(student.outputs, teacher.outputs)
    several = kind == "multi_label_classification"
    loss = soft_binary_cross_entropy if several else soft_cross_entropy
    return loss(student.outputs, teacher.outputs, objective.temperature)


def labels(student: LazyOutputs, teacher: LazyOutputs | None, objective: Objective) -> Tensor:
    """Cross-entropy with gold labels: mean over sentences or spans, or over tagged words."""
    if objective.outputs:  # of the same pass that the teacher is compared with
        losses = F.cross_entropy(student.outputs.float(), student.gold, reduction="none")
        return losses.sum() / max(len(losses), 1)
    losses = task_loss(student.model, student.batch, student.gates)
    if not student.model.readout_kind.labels_tokens:
        return losses.mean()
    words = (student.batch["labels"] != -100).sum(1)
    return (losses * words).sum() / words.sum().clamp(min=1)


_ALL = (
    mlm, soft, cosine, hidden, attention, values, relations,
    embeddings, translations, similarities, outputs, labels,
)  # fmt: skip
LOSSES: dict[str, Callable[[LazyOutputs, Any, Objective], Tensor]] = {
    loss.__name__: loss for loss in _ALL
}
"""Every loss by its name in `Objective`."""
