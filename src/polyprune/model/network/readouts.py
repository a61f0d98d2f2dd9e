"""What is read off the hidden states: masked words, a label, one label per token, a span."""

from typing import Literal, get_args

import torch
from torch import Tensor, nn

from .encoder import ACTIVATIONS, Embedding
from .tensor_types import Float

Readout = Literal[
    "masked-lm", "sentence-classification", "token-classification", "span", "hidden-states"
]
READOUTS: tuple[Readout, ...] = get_args(Readout)


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


class TokenLabels(nn.Module):
    """Logits over labels at every token; with two labels, over the start and end of a span."""

    def __init__(self, width: int, labels: int, dropout: float):
        super().__init__()
        self.output = nn.Linear(width, labels)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Float[Tensor, "batch seq width"]) -> Float[Tensor, "batch seq labels"]:
        """Logits of every token."""
        return self.output(self.dropout(x))


class Pooler(nn.Module):
    """tanh(W x + b) of the first token, which BERT's checkpoints carry."""

    def __init__(self, width: int):
        super().__init__()
        self.dense = nn.Linear(width, width)

    def forward(self, x: Float[Tensor, "batch seq width"]) -> Float[Tensor, "batch width"]:
        """The pooled state of every sentence."""
        return torch.tanh(self.dense(x[:, 0]))
