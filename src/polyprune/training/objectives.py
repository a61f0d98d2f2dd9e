"""What a model is trained to do: each loss a function of what student and teacher see."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from ..errors import ConfigError
from ..model.network.components import Gates
from ..model.network.tensor_types import Float
from ..pruning.criteria.losses import logits_at, mean_by_example, pool, task_loss
from .distillation import (
    Projections,
    attention_relation,
    capture_projections,
    cosine_distance,
    embedding_distance,
    relation_loss,
    similarity_relation,
    soft_cross_entropy,
    value_relation,
)


@dataclass(frozen=True, slots=True)
class Objective:
    """How much each loss weighs; 0 leaves it out."""

    mlm: float = 0.0
    """Predict masked words."""
    soft: float = 0.0
    """Predict every word as the teacher does (Sanh et al., 2019; theirs is 5)."""
    cosine: float = 0.0
    """Have the teacher's last hidden states (theirs is 1)."""
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
    """Find the same sentences alike, whatever the width of the embedding."""
    outputs: float = 0.0
    """Label sentences, words or spans as the teacher does."""
    labels: float = 0.0
    """Label them as people did: fine-tuning."""
    temperature: float = 2.0
    """Of `soft` and `outputs`."""

    def __post_init__(self):
        if any(weight < 0 for weight in self.weights.values()) or self.temperature <= 0:
            raise ConfigError("Losses weigh 0 or more, and a temperature is more than 0.")

    @property
    def weights(self) -> dict[str, float]:
        """Of every loss."""
        return {name: weight for name, weight in asdict(self).items() if name != "temperature"}

    @property
    def wanted(self) -> dict[str, float]:
        """Of those that count."""
        return {name: weight for name, weight in self.weights.items() if weight}

    @property
    def taught(self) -> bool:
        """Whether there has to be a teacher."""
        return bool(set(self.wanted) - {"mlm", "labels"})

    @property
    def compares_embeddings(self) -> bool:
        """Whether sentence embeddings are all that is asked of the teacher."""
        return self.taught and set(self.wanted) <= EMBEDDINGS | {"mlm"}

    @property
    def by_line(self) -> bool:
        """Whether single lines are read."""
        return bool(set(self.wanted) & (EMBEDDINGS | {"outputs"}))

    @property
    def masked(self) -> bool:
        """Whether words are masked: in blocks of lines, or in single ones if others need those."""
        return bool(set(self.wanted) - EMBEDDINGS - {"outputs", "labels"})

    @property
    def only_masked_lm(self) -> bool:
        """Whether masked words are all that is asked of what is masked, and nothing inside."""
        return set(self.wanted) <= EMBEDDINGS | {"mlm"}

    @property
    def uses_readout(self) -> bool:
        """Whether what the model says counts, not only its hidden states."""
        return bool({"mlm", "soft", "outputs", "labels"} & set(self.wanted))

    @property
    def uses_last_layer(self) -> bool:
        """Whether the queries, keys and values of the last layer are looked at."""
        return bool({"attention", "values", "relations"} & set(self.wanted))


LOGITS = 2**26
"""That are held at a time: 256 MB in single precision."""

EMBEDDINGS = {"embeddings", "translations", "similarities"}


class LazyOutputs:
    """What a model makes of a batch: each part computed once, and only if a loss asks for it."""

    def __init__(
        self,
        model: Any,
        batch: Mapping[str, Tensor],
        gates: Gates | None = None,
        pooling: str = "mean",
        capture_inside: bool = False,
    ):
        self.model, self.batch, self.gates, self.pooling = model, batch, gates, pooling
        self._look_inside = capture_inside
        self._inside: list[Projections] = []

    @classmethod
    def cached(cls, batch: Mapping[str, Tensor]) -> "LazyOutputs":
        """What a teacher made of the sentences of a batch before training began."""
        seen = cls(None, batch)
        seen.embeddings = batch["teacher_embeddings"]
        if "teacher_translations" in batch:
            seen.translations = batch["teacher_translations"]
        return seen

    @cached_property
    def present(self) -> Tensor:
        """Where there is a token, not padding."""
        return self.batch["attention_mask"].bool()

    @cached_property
    def hidden(self) -> Float[Tensor, "batch seq width"]:
        """The last hidden states."""
        encoder = self.model.encoder
        with ExitStack() as stack:
            if self._look_inside:
                self._inside = stack.enter_context(capture_projections(encoder))
            return encoder(self.batch["input_ids"], self.present, gates=self.gates)

    @property
    def inside(self) -> Projections:
        """Queries, keys and values of the last layer."""
        _ = self.hidden
        return self._inside[0]

    @cached_property
    def embeddings(self) -> Float[Tensor, "batch width"]:
        """Of every sentence, of length 1."""
        return pool(self.hidden, self.batch["attention_mask"], self.pooling)

    @cached_property
    def translations(self) -> Float[Tensor, "batch width"]:
        """Of every sentence's translation."""
        mask = self.batch["pair_attention_mask"]
        hidden = self.model.encoder(self.batch["pair_input_ids"], mask.bool(), gates=self.gates)
        return pool(hidden, mask, self.pooling)

    @cached_property
    def outputs(self) -> Float[Tensor, "rows labels"]:
        """What a fine-tuned model says: of every sentence, every word, or every end of a span."""
        output = self.model(self.batch["input_ids"], self.batch["attention_mask"], self.gates)
        if self.model.readout_kind == "span":
            ends = torch.cat([output.start_logits, output.end_logits])
            return ends.masked_fill(~self.present.repeat(2, 1), -1e4)
        if self.model.readout_kind == "token-classification":
            return output.logits[self.present]
        return output.logits


def mlm(student: LazyOutputs, teacher: LazyOutputs | None, objective: Objective) -> Tensor:
    """The mean over examples of the mean cross-entropy of their masked words."""
    labels = student.batch["labels"]
    chosen = labels != -100
    logits = logits_at(student.model, student.hidden, chosen, student.gates)
    losses = F.cross_entropy(logits.float(), labels[chosen], reduction="none")
    return mean_by_example(losses, chosen.nonzero()[:, 0], len(labels)).mean()


def soft(student: LazyOutputs, teacher: LazyOutputs, objective: Objective) -> Tensor:
    """Over all words, masked or not, as DistilBERT's.

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
    """Over all words."""
    return cosine_distance(student.hidden[student.present], teacher.hidden[student.present])


def attention(student: LazyOutputs, teacher: LazyOutputs, objective: Objective) -> Tensor:
    """Of queries and keys."""
    return attention_relation(student.inside, teacher.inside, student.present)


def values(student: LazyOutputs, teacher: LazyOutputs, objective: Objective) -> Tensor:
    """Of values and values."""
    return value_relation(student.inside, teacher.inside, student.present)


def relations(student: LazyOutputs, teacher: LazyOutputs, objective: Objective) -> Tensor:
    """Of queries, of keys and of values, split alike for both."""
    return relation_loss(student.inside, teacher.inside, mask=student.present)


def embeddings(student: LazyOutputs, teacher: LazyOutputs, objective: Objective) -> Tensor:
    """To the teacher's embedding of the same sentence."""
    return embedding_distance(student.embeddings, teacher.embeddings)


def translations(student: LazyOutputs, teacher: LazyOutputs, objective: Objective) -> Tensor:
    """To the teacher's embedding of the translation."""
    return embedding_distance(student.embeddings, teacher.translations)


def similarities(student: LazyOutputs, teacher: LazyOutputs, objective: Objective) -> Tensor:
    """Of the sentences of a batch to each other."""
    return similarity_relation(student.embeddings, teacher.embeddings)


def outputs(student: LazyOutputs, teacher: LazyOutputs, objective: Objective) -> Tensor:
    """To the teacher's labels."""
    return soft_cross_entropy(student.outputs, teacher.outputs, objective.temperature)


def labels(student: LazyOutputs, teacher: LazyOutputs | None, objective: Objective) -> Tensor:
    """To the labels of sentences or spans, mean over examples, or of words, mean over words."""
    losses = task_loss(student.model, student.batch, student.gates)
    if student.model.readout_kind != "token-classification":
        return losses.mean()
    words = (student.batch["labels"] != -100).sum(1)
    return (losses * words).sum() / words.sum().clamp(min=1)


_ALL = (
    mlm, soft, cosine, attention, values, relations,
    embeddings, translations, similarities, outputs, labels,
)  # fmt: skip
LOSSES: dict[str, Callable[[LazyOutputs, Any, Objective], Tensor]] = {
    loss.__name__: loss for loss in _ALL
}
"""Every loss by its name in `Objective`."""
