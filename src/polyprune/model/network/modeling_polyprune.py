"""The encoder and its readouts as Hugging Face classes.

This file, with what it imports from beside it, is saved into every model folder, so that
`trust_remote_code=True` loads a pruned model where polyprune is not installed.
"""

# transformers' outputs are annotated FloatTensor, which no operation of torch is said to return.
# pyright: reportArgumentType=false

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

from torch import Tensor, nn
from transformers import PreTrainedModel, initialization
from transformers.modeling_outputs import (
    BaseModelOutputWithPooling,
    MaskedLMOutput,
    QuestionAnsweringModelOutput,
    SequenceClassifierOutput,
    TokenClassifierOutput,
)
from transformers.models import auto
from transformers.utils.generic import can_return_tuple

from .components import Gates
from .configuration_polyprune import PolypruneConfig as PolypruneConfig
from .elastic_protocol import ElasticProtocol
from .encoder import Constant, Encoder
from .folder import complete, swapped_in
from .readouts import MaskedWords, Pooler, Readout, SentenceLabel, TokenLabels
from .shape import EncoderShape
from .tensor_types import Float, Int

PUSH_ARGUMENTS = ("repo_id", "commit_message", "private", "token", "revision", "create_pr", "tags")
"""What `save_pretrained(…, push_to_hub=True)` hands on to `push_to_hub`."""


class PolyprunePreTrainedModel(PreTrainedModel):
    """An encoder with gates as an argument, and a readout."""

    config: PolypruneConfig  # pyright: ignore[reportIncompatibleVariableOverride]
    config_class = PolypruneConfig
    base_model_prefix = ""
    supports_gradient_checkpointing = True
    _supports_sdpa = True
    _no_split_modules = ["Layer", "Embedding"]  # noqa: RUF012
    _keys_to_ignore_on_load_unexpected = [r"^(?!encoder\.)"]  # noqa: RUF012

    readout_kind: ClassVar[Readout]
    readout_name: ClassVar[str]
    """What the readout's weights are called: another name a kind, lest one be taken for another."""
    elastic: ElasticProtocol | None = None
    """The sizes of an elastic checkpoint, which `polyprune.load` puts here."""

    def __init__(self, config: PolypruneConfig):
        super().__init__(config)
        self.encoder = Encoder(config.shape, config.wiring)
        self.add_module(self.readout_name, self._make_readout(config))
        self.post_init()

    @abstractmethod
    def _make_readout(self, config: PolypruneConfig) -> nn.Module | None:
        """The readout of this kind; None where there is nothing to read off."""

    @property
    def shape(self) -> EncoderShape:
        """The widths of the encoder."""
        return self.encoder.shape

    @property
    def readout(self) -> Any:
        """What is read off the hidden states; None where there is nothing."""
        return self._modules[self.readout_name]

    def at(
        self,
        sparsity: float | None = None,
        language: str | None = None,
        languages: Sequence[str] | None = None,
        combine: str = "mean",
    ) -> "PolyprunePreTrainedModel":
        """One size, for one language or several, taken out of an elastic checkpoint.

        `combine` says how languages agree: `mean` meets the sparsity with the components that they
        want most between them, `union` keeps whatever any of them would, and is larger.
        """
        if self.elastic is None:
            raise ValueError(
                "This model has one size: there was no gating.safetensors beside it, or it was not "
                "loaded with polyprune.load(). Make one with polyprune prune --setting non-shared."
            )
        if language is not None and languages is not None:
            raise ValueError("Give language= or languages=, not both.")
        wanted = [language] if language is not None else languages
        return self.elastic.take(self, sparsity=sparsity, languages=wanted, combine=combine)

    def get_input_embeddings(self) -> nn.Module:
        """Ê, or the plain word table."""
        return self.encoder.embedding.words

    def set_input_embeddings(self, value: nn.Module) -> None:
        """Replace Ê, or the plain word table."""
        self.encoder.embedding.words = value  # pyright: ignore[reportAttributeAccessIssue]

    def resize_token_embeddings(self, *args, **kwargs) -> nn.Embedding:
        """As in transformers; the masked-LM readout's bias and the shape follow."""
        words = super().resize_token_embeddings(*args, **kwargs)
        self.encoder.shape = replace(self.shape, vocab_size=words.num_embeddings)
        if isinstance(self.readout, MaskedWords):
            old = self.readout.bias.data
            bias = old.new_zeros(words.num_embeddings)
            kept = min(len(old), len(bias))
            bias[:kept] = old[:kept]
            self.readout.bias = nn.Parameter(bias)
        return words

    def _init_weights(self, module: nn.Module) -> None:
        super()._init_weights(module)
        if isinstance(module, (Constant, MaskedWords)):
            initialization.zeros_(module.bias)

    def _encode(
        self,
        input_ids: Int[Tensor, "batch seq"],
        attention_mask: Tensor | None,
        token_type_ids: Int[Tensor, "batch seq"] | None,
        gates: Gates | None,
        output_hidden_states: bool | None,
    ) -> tuple[Float[Tensor, "batch seq width"], tuple[Tensor, ...] | None]:
        states = [] if output_hidden_states or self.config.output_hidden_states else None
        mask = None if attention_mask is None else attention_mask.bool()
        hidden = self.encoder(input_ids, mask, token_type_ids, gates, states)
        return hidden, None if states is None else tuple(states)

    def save_pretrained(  # pyright: ignore[reportIncompatibleMethodOverride]
        self,
        save_directory: str | Path,
        *,
        differences: Mapping[str, float] | None = None,
        is_main_process: bool = True,
        push_to_hub: bool = False,
        **kwargs,
    ) -> None:
        """Write the whole model folder at once: weights, code, tokenizer, card, certificate.

        `differences` are what `certify` measured against the gated model, language by language.
        """
        if not is_main_process:
            super().save_pretrained(save_directory, is_main_process=False, **kwargs)
            return
        folder, source = Path(save_directory), Path(self.config.name_or_path or "?")
        push = {name: kwargs.pop(name) for name in PUSH_ARGUMENTS if name in kwargs}
        self.config.auto_map = dict(AUTO_MAP)
        with swapped_in(folder) as new:
            super().save_pretrained(new, **kwargs)
            if self.elastic is not None:
                self.elastic.save(new)
            complete(
                new, source, differences, newer=folder, describe=_describe(folder, differences)
            )
        if push_to_hub:
            self.push_to_hub(push.pop("repo_id", folder.name), **push)


def _describe(
    folder: Path, differences: Mapping[str, float] | None
) -> Callable[[Path], None] | None:
    """What writes the card of a folder, where polyprune is installed: it does not travel."""
    if not __name__.startswith("polyprune."):
        return None
    return import_module("polyprune.provenance.card").describe(folder, differences)


class PolypruneModel(PolyprunePreTrainedModel):
    """Hidden states, to be pooled into sentence embeddings or read by something else."""

    readout_kind = "hidden-states"
    readout_name = "pooler"

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


class PolypruneForMaskedLM(PolyprunePreTrainedModel):
    """Logits over the vocabulary at every token."""

    readout_kind = "masked-lm"
    readout_name = "masked_words"

    def _make_readout(self, config: PolypruneConfig) -> MaskedWords:
        return MaskedWords(
            config.hidden_size, config.vocab_size, config.layer_norm_eps, config.masked_lm_act
        )

    @can_return_tuple
    def forward(
        self,
        input_ids: Int[Tensor, "batch seq"],
        attention_mask: Tensor | None = None,
        gates: Gates | None = None,
        token_type_ids: Int[Tensor, "batch seq"] | None = None,
        labels: Int[Tensor, "batch seq"] | None = None,
        output_hidden_states: bool | None = None,
    ) -> MaskedLMOutput:
        """Logits, and with `labels` the mean cross-entropy where they are not −100."""
        hidden, states = self._encode(
            input_ids, attention_mask, token_type_ids, gates, output_hidden_states
        )
        rank_gate = None if gates is None else gates.rank
        logits = self.readout(hidden, self.encoder.embedding, rank_gate)
        loss = None
        if labels is not None:
            loss = self.loss_function(logits, labels, vocab_size=self.config.vocab_size)
        return MaskedLMOutput(loss=loss, logits=logits, hidden_states=states)


class PolypruneForSequenceClassification(PolyprunePreTrainedModel):
    """Logits over labels for every sentence or pair of sentences."""

    readout_kind = "sentence-classification"
    readout_name = "sentence_label"

    def _make_readout(self, config: PolypruneConfig) -> SentenceLabel:
        return SentenceLabel(
            config.hidden_size,
            config.num_labels,
            config.sentence_act,
            config.sentence_dropout,
            config.sentence_dropout_first,
        )

    @can_return_tuple
    def forward(
        self,
        input_ids: Int[Tensor, "batch seq"],
        attention_mask: Tensor | None = None,
        gates: Gates | None = None,
        token_type_ids: Int[Tensor, "batch seq"] | None = None,
        labels: Tensor | None = None,
        output_hidden_states: bool | None = None,
    ) -> SequenceClassifierOutput:
        """Logits, and with `labels` the loss of the config's problem type."""
        hidden, states = self._encode(
            input_ids, attention_mask, token_type_ids, gates, output_hidden_states
        )
        logits = self.readout(hidden)
        loss = None
        if labels is not None:
            loss = self.loss_function(labels=labels, pooled_logits=logits, config=self.config)
        return SequenceClassifierOutput(loss=loss, logits=logits, hidden_states=states)


class PolypruneForTokenClassification(PolyprunePreTrainedModel):
    """Logits over labels for every token."""

    readout_kind = "token-classification"
    readout_name = "token_labels"

    def _make_readout(self, config: PolypruneConfig) -> TokenLabels:
        return TokenLabels(config.hidden_size, config.num_labels, config.token_dropout)

    @can_return_tuple
    def forward(
        self,
        input_ids: Int[Tensor, "batch seq"],
        attention_mask: Tensor | None = None,
        gates: Gates | None = None,
        token_type_ids: Int[Tensor, "batch seq"] | None = None,
        labels: Int[Tensor, "batch seq"] | None = None,
        output_hidden_states: bool | None = None,
    ) -> TokenClassifierOutput:
        """Logits, and with `labels` the mean cross-entropy where they are not −100."""
        hidden, states = self._encode(
            input_ids, attention_mask, token_type_ids, gates, output_hidden_states
        )
        logits = self.readout(hidden)
        loss = None
        if labels is not None:
            loss = self.loss_function(logits, labels, self.config)
        return TokenClassifierOutput(loss=loss, logits=logits, hidden_states=states)


class PolypruneForQuestionAnswering(PolyprunePreTrainedModel):
    """Logits over the first and the last token of an answer."""

    readout_kind = "span"
    readout_name = "span"

    def _make_readout(self, config: PolypruneConfig) -> TokenLabels:
        return TokenLabels(config.hidden_size, 2, config.span_dropout)

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
    "AutoModel": PolypruneModel,
    "AutoModelForMaskedLM": PolypruneForMaskedLM,
    "AutoModelForSequenceClassification": PolypruneForSequenceClassification,
    "AutoModelForTokenClassification": PolypruneForTokenClassification,
    "AutoModelForQuestionAnswering": PolypruneForQuestionAnswering,
}
"""Our class for each of transformers' Auto classes."""

AUTO_MAP = {
    "AutoConfig": f"configuration_polyprune.{PolypruneConfig.__name__}",
    **{name: f"modeling_polyprune.{model.__name__}" for name, model in MODELS.items()},
}
"""Where `trust_remote_code=True` finds each of them in a saved folder."""

PolypruneConfig.register_for_auto_class("AutoConfig")
for _name, _model in MODELS.items():
    _model.register_for_auto_class(_name)

if __name__.startswith("polyprune."):  # installed, not travelling with a model
    auto.AutoConfig.register("polyprune", PolypruneConfig, exist_ok=True)
    for _name, _model in MODELS.items():
        getattr(auto, _name).register(PolypruneConfig, _model, exist_ok=True)
