"""What is read off the hidden states: masked words, a label, one label per token, a span."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn

from .embedding import Embedding
from .shape import EncoderShape
from .sublayer import ACTIVATIONS
from .tensor_types import Float

Cost = tuple[int, int]
"""Parameters, and multiply–adds for one sequence."""


class MaskedWords(nn.Module):
    """Logits over the vocabulary, tied to the word table and its rank gate."""

    def __init__(self, width: int, vocab_size: int, norm_epsilon: float, activation: str):
        super().__init__()
        self.dense = nn.Linear(width, width)
        self.activation = ACTIVATIONS[activation]
        self.norm = nn.LayerNorm(width, eps=norm_epsilon)
        self.bias = nn.Parameter(torch.zeros(vocab_size))

    def forward(
        self,
        x: Float[Tensor, "*batch width"],
        embedding: Embedding,
        gate: Float[Tensor, "#rows rank"] | None = None,
    ) -> Float[Tensor, "*batch vocab"]:
        """Logits at every place of `x`."""
        return embedding.unembed(self.norm(self.activation(self.dense(x))), gate) + self.bias

    def exportable(self, x: Tensor, unembed: Any) -> tuple[Tensor, ...]:
        """The logits; `unembed` multiplies by the word table and adds the bias."""
        return (unembed(self.norm(self.activation(self.dense(x)))),)

    def resize(self, vocab_size: int) -> None:
        """Follow a word table that became longer or shorter."""
        old = self.bias.data
        bias = old.new_zeros(vocab_size)
        kept = min(len(old), len(bias))
        bias[:kept] = old[:kept]
        self.bias = nn.Parameter(bias)

    @staticmethod
    def cost(shape: EncoderShape, labels: int, pooler: bool, tokens: int) -> Cost:
        """Its parameters, the tied table not counted, and its products."""
        w = shape.width
        unembed = shape.rank * (shape.vocab_size + (w if shape.factorized else 0))
        return _dense(w) + 2 * w + shape.vocab_size, tokens * (w * w + unembed)


class SentenceLabel(nn.Module):
    """Logits over labels from the first token, through a hidden layer (BERT calls it a pooler)."""

    def __init__(
        self, width: int, labels: int, activation: str, dropout: float, dropout_first: bool
    ):
        super().__init__()
        self.dropout_first = dropout_first
        self.dense = nn.Linear(width, width)
        self.activation = ACTIVATIONS[activation]
        self.output = nn.Linear(width, labels)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Float[Tensor, "batch seq width"]) -> Float[Tensor, "batch labels"]:
        """Logits of every sentence."""
        first = self.dropout(x[:, 0]) if self.dropout_first else x[:, 0]
        return self.output(self.dropout(self.activation(self.dense(first))))

    def exportable(self, x: Tensor, unembed: Any) -> tuple[Tensor, ...]:
        """The logits of every sentence."""
        return (self.output(self.activation(self.dense(x[:, 0]))),)

    @staticmethod
    def cost(shape: EncoderShape, labels: int, pooler: bool, tokens: int) -> Cost:
        """Its parameters and its products."""
        w = shape.width
        return _dense(w) + labels * (w + 1), w * w + w * labels


class TokenLabels(nn.Module):
    """Logits over labels at every token."""

    def __init__(self, width: int, labels: int, dropout: float):
        super().__init__()
        self.output = nn.Linear(width, labels)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Float[Tensor, "batch seq width"]) -> Float[Tensor, "batch seq labels"]:
        """Logits of every token."""
        return self.output(self.dropout(x))

    def exportable(self, x: Tensor, unembed: Any) -> tuple[Tensor, ...]:
        """The logits of every token."""
        return (self.output(x),)

    @staticmethod
    def cost(shape: EncoderShape, labels: int, pooler: bool, tokens: int) -> Cost:
        """Its parameters and its products."""
        return labels * (shape.width + 1), tokens * shape.width * labels


class SpanEnds(TokenLabels):
    """Logits of every token to be the first, and to be the last, of an answer."""

    def __init__(self, width: int, dropout: float):
        super().__init__(width, 2, dropout)

    def exportable(self, x: Tensor, unembed: Any) -> tuple[Tensor, ...]:
        """The logits of starts and of ends."""
        out = self.output(x)
        return out[..., 0], out[..., 1]

    @staticmethod
    def cost(shape: EncoderShape, labels: int, pooler: bool, tokens: int) -> Cost:
        """Its parameters and its products."""
        return TokenLabels.cost(shape, 2, pooler, tokens)


class Pooler(nn.Module):
    """tanh(W x + b) of the first token, which BERT's checkpoints carry."""

    def __init__(self, width: int):
        super().__init__()
        self.dense = nn.Linear(width, width)

    def forward(self, x: Float[Tensor, "batch seq width"]) -> Float[Tensor, "batch width"]:
        """The pooled state of every sentence."""
        return torch.tanh(self.dense(x[:, 0]))

    def exportable(self, x: Tensor, unembed: Any) -> tuple[Tensor, ...]:
        """The hidden states, and the pooled state of every sentence."""
        return x, torch.tanh(self.dense(x[:, 0]))

    @staticmethod
    def cost(shape: EncoderShape, labels: int, pooler: bool, tokens: int) -> Cost:
        """Its parameters and its products, where there is one."""
        return (_dense(shape.width), shape.width * shape.width) if pooler else (0, 0)


def _dense(width: int) -> int:
    return width * (width + 1)


@dataclass(frozen=True, slots=True)
class Readout:
    """What a model is read for: its names here, in transformers and on the hub, and its cost."""

    name: str
    """What users type and what files say."""
    ending: str
    """What transformers puts behind the names of such models: `ForMaskedLM`."""
    pipeline: str
    """What the hub calls the task."""
    module: str
    """What its weights are called in a model: another name each, lest one be taken for another."""
    outputs: tuple[str, ...]
    """What comes out, as transformers names it."""
    loss: Literal["masked-lm", "contrastive", "task"]
    """What components can be scored with, given nothing but text."""
    labelled: Literal["sentence", "token", "span"] | None
    """What the labels of its task belong to; None where it has no task."""
    cost: Callable[[EncoderShape, int, bool, int], Cost]
    """Parameters and multiply–adds by shape, labels, whether there is a pooler, and tokens."""

    def __str__(self) -> str:
        return self.name

    @property
    def auto_class(self) -> str:
        """The class of transformers that loads such a model."""
        return f"AutoModel{self.ending}"

    @property
    def model_class(self) -> str:
        """Our class for it."""
        return f"Polyprune{self.ending or 'Model'}"

    @property
    def embeds(self) -> bool:
        """Whether hidden states are all that comes out, to be pooled into embeddings."""
        return self.loss == "contrastive"

    @property
    def predicts_words(self) -> bool:
        """Whether it guesses masked words, by a table that is tied to the embedding's."""
        return self.loss == "masked-lm"

    @property
    def has_task(self) -> bool:
        """Whether it was trained with the labels of a task."""
        return self.labelled is not None

    @property
    def labels_sentences(self) -> bool:
        """Whether it gives a label to every sentence."""
        return self.labelled == "sentence"

    @property
    def labels_tokens(self) -> bool:
        """Whether it gives a label to every token."""
        return self.labelled == "token"

    @property
    def finds_spans(self) -> bool:
        """Whether it gives the first and the last token of an answer."""
        return self.labelled == "span"


MASKED_LM = Readout(
    "masked-lm", "ForMaskedLM", "fill-mask", "masked_words", ("logits",), "masked-lm",
    None, MaskedWords.cost,
)  # fmt: skip
SENTENCE_CLASSIFICATION = Readout(
    "sentence-classification", "ForSequenceClassification", "text-classification",
    "sentence_label", ("logits",), "task", "sentence", SentenceLabel.cost,
)  # fmt: skip
TOKEN_CLASSIFICATION = Readout(
    "token-classification", "ForTokenClassification", "token-classification", "token_labels",
    ("logits",), "task", "token", TokenLabels.cost,
)  # fmt: skip
SPAN = Readout(
    "span", "ForQuestionAnswering", "question-answering", "span",
    ("start_logits", "end_logits"), "task", "span", SpanEnds.cost,
)  # fmt: skip
HIDDEN_STATES = Readout(
    "hidden-states", "", "feature-extraction", "pooler", ("last_hidden_state",), "contrastive",
    None, Pooler.cost,
)  # fmt: skip

READOUTS: dict[str, Readout] = {
    readout.name: readout
    for readout in (MASKED_LM, SENTENCE_CLASSIFICATION, TOKEN_CLASSIFICATION, SPAN, HIDDEN_STATES)
}
"""Every readout by its name."""

AUTO_MAP = {
    "AutoConfig": "configuration_polyprune.PolypruneConfig",
    **{each.auto_class: f"modeling_polyprune.{each.model_class}" for each in READOUTS.values()},
}
"""Where `trust_remote_code=True` finds each class in a saved folder."""
