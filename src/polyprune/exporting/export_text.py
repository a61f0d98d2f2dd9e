"""The text that an export is compared on and calibrated with."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from ..corpora.corpus import Corpus, open_corpus
from ..corpora.languages import language
from ..corpora.masking import mask_words
from ..corpora.probes import probe_texts
from ..corpora.text import text_folder
from ..errors import ConfigError, DataError
from ..model.network.gated_model import PolyprunePreTrainedModel
from ..model.surgery.certify import RANDOM_TOKENS, random_probe

COMPARED, CALIBRATED = 6, 16
"""Lines per language for comparison and for calibration; no line serves both."""

SIDE_BY_SIDE = 4
"""Sentences per batch: small, so that logits over 250,000 words fit into memory."""

Batch = dict[str, Tensor]


@dataclass(frozen=True, slots=True)
class ComparisonBatch:
    """A batch to compare a model and its export on."""

    language: str
    batch: Batch
    counted: Tensor
    """A mask of the tokens whose predicted label or word counts: (batch, sequence)."""


@dataclass(frozen=True, slots=True)
class ExportTexts:
    """Lines by language, and how to turn them into batches."""

    tokenizer: Any
    compared: Mapping[str, Sequence[str]]
    calibrated: Mapping[str, Sequence[str]]
    prompt: str
    longest: int
    inputs: tuple[str, ...]
    """The model's input names; `token_type_ids` only if the tokenizer makes them."""
    masked: bool = False
    """Whether the model is a masked LM."""

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages with lines."""
        return tuple(self.compared)

    def to_compare(self) -> Iterator[ComparisonBatch]:
        """Yield batches with their language; for a masked LM, with masked words."""
        chance = torch.Generator().manual_seed(0)
        for code, lines in self.compared.items():
            for start in range(0, len(lines), SIDE_BY_SIDE):
                batch = self._batch(lines[start : start + SIDE_BY_SIDE])
                counted = batch["attention_mask"].bool()
                if self.masked:
                    ids, labels = mask_words(batch["input_ids"], self.tokenizer, chance)
                    batch, counted = batch | {"input_ids": ids}, labels != -100
                yield ComparisonBatch(code, batch, counted)

    def to_calibrate(self) -> Iterator[Batch]:
        """Yield calibration batches of one line each: padding must not affect the ranges."""
        for lines in self.calibrated.values():
            for line in lines:
                yield self._batch([line])

    def _batch(self, lines: Sequence[str]) -> Batch:
        tokens = self.tokenizer(
            [self.prompt + line for line in lines],
            padding=len(lines) > 1 and self.tokenizer.pad_token is not None,
            truncation=True,
            max_length=self.longest,
            return_tensors="pt",
        )
        return {name: tokens[name] for name in self.inputs}


@dataclass(frozen=True, slots=True)
class RandomTokens:
    """Random tokens, for a model without a tokenizer."""

    model: PolyprunePreTrainedModel
    inputs: tuple[str, ...] = ("input_ids", "attention_mask")
    languages: tuple[str, ...] = ()

    def to_compare(self) -> Iterator[ComparisonBatch]:
        """Yield one batch, the same every time."""
        batch = dict(random_probe(self.model.shape))
        yield ComparisonBatch(RANDOM_TOKENS, batch, batch["attention_mask"].bool())


def export_texts(
    model: PolyprunePreTrainedModel,
    corpus: str | Corpus = "sample",
    languages: Sequence[str] | None = None,
    longest: int = 64,
) -> ExportTexts | RandomTokens:
    """The text that a model is exported with: of a corpus, in these languages or all it has."""
    source = model.source
    for code in languages or ():
        language(code)  # a name that does not exist is told even where there is nothing to read
    tokenizer = source.tokenizer()
    if tokenizer is None:
        return RandomTokens(model)
    if len(tokenizer) > model.shape.vocab_size:
        raise ConfigError(
            f"The tokenizer in {source} knows {len(tokenizer):,} words, the model "
            f"{model.shape.vocab_size:,}: they do not belong together."
        )
    opened = corpus if isinstance(corpus, Corpus) else open_corpus(text_folder(corpus))
    compared, calibrated = {}, {}
    for code in opened.codes(languages):
        lines = list(opened.sentences(code, COMPARED + CALIBRATED))
        if not lines:
            raise DataError(
                f"{opened.files.get(code, code)} has no text. Give some lines, or leave it out."
            )
        # Of a handful of lines, all serve for both.
        kept = COMPARED if len(lines) > 2 * COMPARED else 0
        compared[code] = [*probe_texts([code]).get(code, []), *lines[:COMPARED]]
        calibrated[code] = lines[kept:]
    own = ("input_ids", "attention_mask")
    if model.shape.token_types > 1 and "token_type_ids" in tokenizer.model_input_names:
        own = (*own, "token_type_ids")
    masked = model.readout_kind.predicts_words and tokenizer.mask_token is not None
    longest = min(longest, model.longest_input)
    return ExportTexts(tokenizer, compared, calibrated, source.prompt, longest, own, masked)
