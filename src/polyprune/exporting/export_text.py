"""What an export is compared on, and what ranges are taken from: lines of text, by language."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ..corpora.corpus import open_corpus
from ..corpora.languages import language
from ..corpora.masking import mask_words
from ..corpora.probes import probe_texts
from ..corpora.text import text_folder
from ..errors import ConfigError, DataError
from ..loading.hub import load_tokenizer, longest_input
from ..model.network.modeling_polyprune import PolyprunePreTrainedModel
from ..model.network.source import prompt_of
from ..model.surgery.certify import random_probe

RANDOM = "random tokens"
"""What a model without a tokenizer is compared on."""

COMPARED, CALIBRATED = 6, 16
"""Lines a language of either; none is of both, or ranges would fit what they are judged by."""

SIDE_BY_SIDE = 4
"""Sentences in a batch: some padding, and logits over 250,000 words still fit into memory."""

Batch = dict[str, Tensor]


@dataclass(frozen=True, slots=True)
class ComparisonBatch:
    """A batch to compare on."""

    language: str
    batch: Batch
    asked: Tensor
    """The tokens at which a choice between labels or words counts: (batch, sequence)."""


@dataclass(frozen=True, slots=True)
class ExportTexts:
    """Lines by language, and how they become batches."""

    tokenizer: Any
    compared: Mapping[str, Sequence[str]]
    calibrated: Mapping[str, Sequence[str]]
    prompt: str
    longest: int
    inputs: tuple[str, ...]
    """What the model is given: `token_type_ids` only where the tokenizer gives them."""
    masked: bool = False
    """Whether the model guesses words that are hidden from it."""

    @property
    def languages(self) -> tuple[str, ...]:
        """Those that there are lines of."""
        return tuple(self.compared)

    def to_compare(self) -> Iterator[ComparisonBatch]:
        """Batches with the language that each is in; to a masked LM, with words hidden."""
        chance = torch.Generator().manual_seed(0)
        for code, lines in self.compared.items():
            for start in range(0, len(lines), SIDE_BY_SIDE):
                batch = self._batch(lines[start : start + SIDE_BY_SIDE])
                asked = batch["attention_mask"].bool()
                if self.masked:
                    ids, labels = mask_words(batch["input_ids"], self.tokenizer, chance)
                    batch, asked = batch | {"input_ids": ids}, labels != -100
                yield ComparisonBatch(code, batch, asked)

    def to_calibrate(self) -> Iterator[Batch]:
        """One line at a time: what a model makes of padding is nobody's range."""
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
    """Random tokens, for a model that cannot read."""

    model: PolyprunePreTrainedModel
    inputs: tuple[str, ...] = ("input_ids", "attention_mask")
    languages: tuple[str, ...] = ()

    def to_compare(self) -> Iterator[ComparisonBatch]:
        """One batch, the same every time."""
        batch = dict(random_probe(self.model.shape))
        yield ComparisonBatch(RANDOM, batch, batch["attention_mask"].bool())


def export_texts(
    model: PolyprunePreTrainedModel,
    corpus: str = "sample",
    languages: Sequence[str] | None = None,
    longest: int = 64,
) -> ExportTexts | RandomTokens:
    """The text that a model is exported with: of a corpus, in these languages or all it has."""
    folder = model.config.name_or_path
    for code in languages or ():
        language(code)  # a name that does not exist is told even where there is nothing to read
    tokenizer = load_tokenizer(folder)
    if tokenizer is None:
        return RandomTokens(model)
    if len(tokenizer) > model.shape.vocab_size:
        raise ConfigError(
            f"The tokenizer in {folder} knows {len(tokenizer):,} words, the model "
            f"{model.shape.vocab_size:,}: they do not belong together."
        )
    opened = open_corpus(text_folder(corpus))
    compared, calibrated = {}, {}
    for code in opened.codes(languages):
        lines = list(opened.sentences(code, COMPARED + CALIBRATED))
        if not lines:
            raise DataError(f"{opened.files[code]} has no text. Give some lines, or leave it out.")
        # Of a handful of lines, all serve for both.
        kept = COMPARED if len(lines) > 2 * COMPARED else 0
        compared[code] = [*probe_texts([code]).get(code, []), *lines[:COMPARED]]
        calibrated[code] = lines[kept:]
    own = ("input_ids", "attention_mask")
    if model.shape.token_types > 1 and "token_type_ids" in tokenizer.model_input_names:
        own = (*own, "token_type_ids")
    prompt = prompt_of(folder) if Path(folder or "?").is_dir() else ""
    masked = model.readout_kind == "masked-lm" and tokenizer.mask_token is not None
    longest = min(longest, longest_input(model))
    return ExportTexts(tokenizer, compared, calibrated, prompt, longest, own, masked)
