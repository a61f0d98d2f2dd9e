"""The shape and the wiring of an encoder as a Hugging Face config; travels with every model."""

import copy
from typing import no_type_check

from transformers import PreTrainedConfig

from .shape import EncoderShape, Wiring


@no_type_check  # transformers checks configs itself, and lets them carry fields of others
class PolypruneConfig(PreTrainedConfig):
    """The shape and the wiring of an encoder, under the names that transformers' users know.

    Whatever else the original's config said, from labels to a tokenizer's class, is carried along.
    """

    model_type = "polyprune"

    family: str = ""
    """The transformers model type that the weights came from."""
    vocab_size: int = 0
    max_position_embeddings: int = 0
    type_vocab_size: int = 0
    hidden_size: int = 0
    head_width: int = 0
    heads: list[int] | tuple[int, ...] = ()
    units: list[int] | tuple[int, ...] = ()
    rank: int = 0
    factorized: bool = False
    attention_sublayer: str = "softmax"
    feed_forward_sublayer: str = "mlp"
    """Which sublayers its layers have, by the names in `ATTENTIONS` and `FEED_FORWARDS`."""

    pre_norm: bool = False
    padded_positions: bool = False
    layer_norm_eps: float = 0.0
    hidden_act: str = ""
    hidden_dropout_prob: float = 0.0
    attention_probs_dropout_prob: float = 0.0
    attention_output_dropout_prob: float = 0.0
    feed_forward_output_dropout_prob: float = 0.0

    masked_lm_act: str = "gelu"
    sentence_act: str = "tanh"
    sentence_dropout: float = 0.0
    sentence_dropout_first: bool = False
    """Whether the sentence readout drops before its hidden layer too, as RoBERTa's does."""
    token_dropout: float = 0.0
    span_dropout: float = 0.0
    pooler: bool = False
    """Whether `AutoModel` has BERT's pooler."""

    initializer_range: float = 0.02
    pad_token_id: int | None = None
    bos_token_id: int | None = None
    eos_token_id: int | list[int] | None = None

    @property
    def shape(self) -> EncoderShape:
        """The widths of the encoder."""
        return EncoderShape(
            vocab_size=self.vocab_size,
            positions=self.max_position_embeddings,
            token_types=self.type_vocab_size,
            width=self.hidden_size,
            head_width=self.head_width,
            heads=tuple(self.heads),
            units=tuple(self.units),
            rank=self.rank,
            factorized=self.factorized,
            attention=self.attention_sublayer,
            feed_forward=self.feed_forward_sublayer,
        )

    def reshaped(self, shape: EncoderShape) -> "PolypruneConfig":
        """A copy for an encoder of another shape."""
        new = copy.deepcopy(self)
        new.vocab_size, new.max_position_embeddings = shape.vocab_size, shape.positions
        new.heads, new.units = list(shape.heads), list(shape.units)
        new.rank, new.factorized = shape.rank, shape.factorized
        return new

    @property
    def wiring(self) -> Wiring:
        """How the encoder's pieces are put together."""
        return Wiring(
            pre_norm=self.pre_norm,
            padded_positions=self.padded_positions,
            padding_id=self.pad_token_id,
            norm_epsilon=self.layer_norm_eps,
            activation=self.hidden_act,
            dropout=self.hidden_dropout_prob,
            attention_dropout=self.attention_probs_dropout_prob,
            attention_output_dropout=self.attention_output_dropout_prob,
            feed_forward_output_dropout=self.feed_forward_output_dropout_prob,
        )

    @property
    def longest_input(self) -> int:
        """The most tokens that an example may have."""
        first = (self.pad_token_id or 0) + 1 if self.padded_positions else 0
        return self.max_position_embeddings - first

    # What other libraries ask any config for; of uneven layers, the widest.

    @property
    def num_hidden_layers(self) -> int:
        """The number of layers."""
        return len(self.heads)

    @property
    def num_attention_heads(self) -> int:
        """The most heads that a layer has."""
        return max(self.heads, default=0)

    @property
    def intermediate_size(self) -> int:
        """The most units that a layer has."""
        return max(self.units, default=0)
