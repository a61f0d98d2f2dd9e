"""What losses look at: a model's outputs for a batch, each computed when it is first asked for."""

from collections.abc import Mapping
from contextlib import ExitStack
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from ..model.network.components import Gates
from ..model.network.tensor_types import Float
from ..pruning.criteria.losses import pool
from .distillation import Projections, capture_projections

CACHED = ("embeddings", "translations", "outputs", "hidden")
"""The outputs of a teacher that a batch may carry, as `teacher_embeddings` and so on."""


class LazyOutputs:
    """A model's outputs for a batch; each is computed once, when a loss first needs it."""

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

    def with_cached(self) -> "LazyOutputs":
        """Take over what a batch carries of the teacher, computed before."""
        for name in CACHED:
            if f"teacher_{name}" in self.batch:
                setattr(self, name, self.batch[f"teacher_{name}"])
        return self

    @cached_property
    def present(self) -> Tensor:
        """True at tokens, False at padding."""
        return self.batch["attention_mask"].bool()

    @cached_property
    def hidden(self) -> Float[Tensor, "batch seq width"]:
        """The last hidden states."""
        encoder = self.model.encoder
        with ExitStack() as stack:
            if self._look_inside:
                self._inside = stack.enter_context(capture_projections(encoder))
            types = self.batch.get("token_type_ids")
            return encoder(self.batch["input_ids"], self.present, types, gates=self.gates)

    @property
    def inside(self) -> Projections:
        """The queries, keys and values of the last layer."""
        _ = self.hidden
        return self._inside[0]

    @cached_property
    def embeddings(self) -> Float[Tensor, "batch width"]:
        """The embedding of every sentence, normalized to length 1."""
        return pool(self.hidden, self.batch["attention_mask"], self.pooling)

    @cached_property
    def translations(self) -> Float[Tensor, "batch width"]:
        """The embedding of every sentence's translation, normalized to length 1."""
        mask = self.batch["pair_attention_mask"]
        hidden = self.model.encoder(self.batch["pair_input_ids"], mask.bool(), gates=self.gates)
        return pool(hidden, mask, self.pooling)

    @cached_property
    def outputs(self) -> Float[Tensor, "rows labels"]:
        """A fine-tuned model's logits: per sentence, per word, or per end of a span."""
        names = ("input_ids", "attention_mask", "token_type_ids")
        inputs = {name: self.batch[name] for name in names if name in self.batch}
        output = self.model(**inputs, gates=self.gates)
        if self.model.readout_kind.finds_spans:
            ends = torch.cat([output.start_logits, output.end_logits])
            return ends.masked_fill(~self.present.repeat(2, 1), -1e4)
        if self.model.readout_kind.labels_tokens:
            return output.logits[self.tagged]
        return output.logits

    @property
    def tagged(self) -> Tensor:
        """True at tokens with a gold label, where there are such; else at all tokens."""
        labels = self.batch.get("labels")
        return self.present if labels is None else labels != -100

    @property
    def gold(self) -> Tensor:
        """The gold label of every row of `outputs`."""
        kind = self.model.readout_kind
        if kind.finds_spans:
            return torch.cat([self.batch["start_positions"], self.batch["end_positions"]])
        labels = self.batch["labels"]
        return labels[self.tagged] if kind.labels_tokens else labels
