"""The encoder with each of its readouts, as Hugging Face classes.

This file, with what it imports from beside it, is saved into every model folder, so that
`trust_remote_code=True` loads a pruned model where polyprune is not installed.
"""

# transformers' outputs are annotated FloatTensor, which no operation of torch is said to return.
# pyright: reportArgumentType=false

from abc import abstractmethod
from typing import Any, ClassVar

from torch import Tensor
from transformers.modeling_outputs import (
    BaseModelOutputWithPooling,
    MaskedLMOutput,
    QuestionAnsweringModelOutput,
    SequenceClassifierOutput,
    TokenClassifierOutput,
)
from transformers.utils.generic import ModelOutput, can_return_tuple

from .components import Gates
from .configuration_polyprune import PolypruneConfig
from .gated_model import PolyprunePreTrainedModel
from .readouts import (
    HIDDEN_STATES,
    MASKED_LM,
    SENTENCE_CLASSIFICATION,
    SPAN,
    TOKEN_CLASSIFICATION,
    MaskedWords,
    Pooler,
    SentenceLabel,
    SpanEnds,
    TokenLabels,
)
from .tensor_types import Float, Int


class PolypruneModel(PolyprunePreTrainedModel):
    """Hidden states, to be pooled into sentence embeddings or read by something else."""

    readout_kind = HIDDEN_STATES

    def _make_readout(self, config: PolypruneConfig) -> Pooler | None:
        return Pooler(config.hidden_size) if config.pooler else None

    @can_return_tuple
    def forward(
        self,
        input_ids: Int[Tensor, "batch seq"],
        attention_mask: Tensor | None = None,
        gates: Gates | None = None,
        token_type_ids: Int[Tensor, "batch seq"] | None = None,
        output_hidden_states: bool | None = None,
    ) -> BaseModelOutputWithPooling:
        """The last hidden states, and the pooled first token where the model has a pooler."""
        hidden, states = self._encode(
            input_ids, attention_mask, token_type_ids, gates, output_hidden_states
        )
        pooled = None if self.readout is None else self.readout(hidden)
        return BaseModelOutputWithPooling(
            last_hidden_state=hidden, pooler_output=pooled, hidden_states=states
        )


class _ModelWithLabels(PolyprunePreTrainedModel):
    """Logits, and the loss of labels where there are some."""

    output: ClassVar[type[ModelOutput]]

    @abstractmethod
    def _loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        """What training with these labels makes smaller."""

    def _logits(self, hidden: Float[Tensor, "batch seq width"], gates: Gates | None) -> Tensor:
        return self.readout(hidden)

    @can_return_tuple
    def forward(
        self,
        input_ids: Int[Tensor, "batch seq"],
        attention_mask: Tensor | None = None,
        gates: Gates | None = None,
        token_type_ids: Int[Tensor, "batch seq"] | None = None,
        labels: Tensor | None = None,
        output_hidden_states: bool | None = None,
    ) -> Any:
        """Logits, and with `labels` their loss: of tokens, the mean where a label is not −100."""
        hidden, states = self._encode(
            input_ids, attention_mask, token_type_ids, gates, output_hidden_states
        )
        logits = self._logits(hidden, gates)
        loss = None if labels is None else self._loss(logits, labels)
        return self.output(loss=loss, logits=logits, hidden_states=states)


class PolypruneForMaskedLM(_ModelWithLabels):
    """Logits over the vocabulary at every token."""

    readout_kind = MASKED_LM
    output = MaskedLMOutput

    def _make_readout(self, config: PolypruneConfig) -> MaskedWords:
        return MaskedWords(
            config.hidden_size, config.vocab_size, config.layer_norm_eps, config.masked_lm_act
        )

    def _logits(self, hidden: Float[Tensor, "batch seq width"], gates: Gates | None) -> Tensor:
        return self.readout(hidden, self.encoder.embedding, None if gates is None else gates.rank)

    def _loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        return self.loss_function(logits, labels, vocab_size=self.config.vocab_size)


class PolypruneForSequenceClassification(_ModelWithLabels):
    """Logits over labels for every sentence or pair of sentences."""

    readout_kind = SENTENCE_CLASSIFICATION
    output = SequenceClassifierOutput

    def _make_readout(self, config: PolypruneConfig) -> SentenceLabel:
        return SentenceLabel(
            config.hidden_size,
            config.num_labels,
            config.sentence_act,
            config.sentence_dropout,
            config.sentence_dropout_first,
        )

    def _loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        """The loss of the config's problem type."""
        return self.loss_function(labels=labels, pooled_logits=logits, config=self.config)


class PolypruneForTokenClassification(_ModelWithLabels):
    """Logits over labels for every token."""

    readout_kind = TOKEN_CLASSIFICATION
    output = TokenClassifierOutput

    def _make_readout(self, config: PolypruneConfig) -> TokenLabels:
        return TokenLabels(config.hidden_size, config.num_labels, config.token_dropout)

    def _loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        return self.loss_function(logits, labels, self.config)


class PolypruneForQuestionAnswering(PolyprunePreTrainedModel):
    """Logits over the first and the last token of an answer."""

    readout_kind = SPAN

    def _make_readout(self, config: PolypruneConfig) -> SpanEnds:
        return SpanEnds(config.hidden_size, config.span_dropout)

    @can_return_tuple
    def forward(
        self,
        input_ids: Int[Tensor, "batch seq"],
        attention_mask: Tensor | None = None,
        gates: Gates | None = None,
        token_type_ids: Int[Tensor, "batch seq"] | None = None,
        start_positions: Int[Tensor, " batch"] | None = None,
        end_positions: Int[Tensor, " batch"] | None = None,
        output_hidden_states: bool | None = None,
    ) -> QuestionAnsweringModelOutput:
        """Start and end logits, and with both positions the mean of their cross-entropies."""
        hidden, states = self._encode(
            input_ids, attention_mask, token_type_ids, gates, output_hidden_states
        )
        start, end = self.readout(hidden).unbind(-1)
        loss = None
        if start_positions is not None and end_positions is not None:
            loss = self.loss_function(start, end, start_positions, end_positions)
        return QuestionAnsweringModelOutput(
            loss=loss, start_logits=start, end_logits=end, hidden_states=states
        )


MODELS: dict[str, type[PolyprunePreTrainedModel]] = {
    model.readout_kind.name: model
    for model in (
        PolypruneModel,
        PolypruneForMaskedLM,
        PolypruneForSequenceClassification,
        PolypruneForTokenClassification,
        PolypruneForQuestionAnswering,
    )
}
"""The class of each readout, by the readout's name."""

PolypruneConfig.register_for_auto_class("AutoConfig")
for _model in MODELS.values():
    _model.register_for_auto_class(_model.readout_kind.auto_class)
