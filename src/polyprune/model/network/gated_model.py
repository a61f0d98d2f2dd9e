"""A gated encoder with its readout, as transformers knows models: the class that others extend."""

import copy
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel, initialization

from .components import Gates
from .configuration_polyprune import PolypruneConfig
from .elastic_protocol import ElasticProtocol
from .encoder import Encoder
from .folder import add_side_files, swapped_in, write_certificate
from .readouts import AUTO_MAP, MaskedWords, Readout
from .shape import EncoderShape
from .source import ModelSource
from .sublayer import Constant
from .tensor_types import Float, Int

Own = TypeVar("Own", bound="PolyprunePreTrainedModel")

PUSH_ARGUMENTS = ("repo_id", "commit_message", "private", "token", "revision", "create_pr", "tags")
"""What `save_pretrained(…, push_to_hub=True)` hands on to `push_to_hub`."""


class Provenance(Protocol):
    """What the installed package adds to a folder that is saved; it does not travel."""

    def before_saving(self, model: "PolyprunePreTrainedModel") -> None:
        """Write into the config what is known of the original."""
        ...

    def describe(self, new: Path, folder: Path, differences: Mapping[str, float] | None) -> None:
        """Write the card of a new folder that has everything else, and will be `folder`."""
        ...


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
    provenance: ClassVar[Provenance | None] = None
    """What writes history and card; `import polyprune` puts it here."""
    elastic: ElasticProtocol | None = None
    """The sizes of an elastic checkpoint, which `polyprune.load` puts here."""
    _source: ModelSource | None = None

    def __init__(self, config: PolypruneConfig):
        super().__init__(config)
        self.encoder = Encoder(config.shape, config.wiring)
        self.add_module(self.readout_kind.module, self._make_readout(config))
        self.post_init()

    @abstractmethod
    def _make_readout(self, config: PolypruneConfig) -> nn.Module | None:
        """The readout of this kind; None where there is nothing to read off."""

    @classmethod
    def empty(cls: type[Own], config: PolypruneConfig) -> Own:
        """A model in evaluation mode whose weights take no memory yet."""
        with torch.device("meta"):
            return cls(config).eval()

    @classmethod
    def assemble(
        cls: type[Own],
        config: PolypruneConfig,
        state: Mapping[str, Tensor],
        source: ModelSource | None = None,
    ) -> Own:
        """A model in evaluation mode that owns the tensors of `state`, and is not initialized.

        A readout that `state` does not have, because the checkpoint was trained for something else,
        starts from random weights.
        """
        model = cls.empty(config)
        model.load_state_dict(state, strict=False, assign=True)
        model._start_missing_readout()
        model.requires_grad_(True)
        dtype = next(iter(state.values())).dtype
        model.config.dtype = str(dtype).removeprefix("torch.")
        model._source = source
        return model

    def rebuilt(self: Own, shape: EncoderShape, state: Mapping[str, Tensor]) -> Own:
        """The model with an encoder of another shape, made of the tensors of `state`."""
        return self.assemble(self.config.reshaped(shape), state, self.source)

    def sharing_weights(self: Own) -> Own:
        """A second model over the same weights, whose config, sizes and source are its own."""
        second = copy.copy(self)
        second.config = copy.deepcopy(self.config)
        return second

    @property
    def shape(self) -> EncoderShape:
        """The widths of the encoder."""
        return self.encoder.shape

    @property
    def source(self) -> ModelSource:
        """Where the model came from: its folder, tokenizer, prompt and pooling."""
        return self._source or ModelSource.at(self.config.name_or_path)

    @source.setter
    def source(self, source: ModelSource) -> None:
        self._source = source

    @property
    def longest_input(self) -> int:
        """The most tokens that an example may have."""
        return self.config.longest_input

    @property
    def readout(self) -> Any:
        """What is read off the hidden states; None where there is nothing."""
        return self._modules[self.readout_kind.module]

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
            self.readout.resize(words.num_embeddings)
        return words

    def _init_weights(self, module: nn.Module) -> None:
        super()._init_weights(module)
        if isinstance(module, (Constant, MaskedWords)):
            initialization.zeros_(module.bias)

    def _start_missing_readout(self) -> None:
        words = self.encoder.embedding.words.weight
        if self.readout is None or words.is_meta:
            return
        for module in self.readout.modules():
            if any(parameter.is_meta for parameter in module.parameters(recurse=False)):
                module.to_empty(device="cpu", recurse=False).to(words.dtype)
                self._init_weights(module)

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
        folder, provenance = Path(save_directory), self.provenance
        push = {name: kwargs.pop(name) for name in PUSH_ARGUMENTS if name in kwargs}
        self.config.auto_map = dict(AUTO_MAP)
        if provenance is not None:
            provenance.before_saving(self)
        with swapped_in(folder) as new:
            super().save_pretrained(new, **kwargs)
            if self.elastic is not None:
                self.elastic.save(new)
            add_side_files(new, self.source.folder, newer=folder)
            if provenance is not None:
                provenance.describe(new, folder, differences)
            write_certificate(new, differences)
        if push_to_hub:
            self.push_to_hub(push.pop("repo_id", folder.name), **push)


Model = TypeVar("Model", bound=PolyprunePreTrainedModel)
"""For what makes a model of a model: both are of the same class."""
