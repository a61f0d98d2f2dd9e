"""The two models that methods are compared on: their text, their loss, what they are good at.

The bundled sample is divided once: the first half of its lines is what methods may look at, the
second half is what they are measured on.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

import polyprune as pp
from polyprune.parts import (
    Batching,
    ModelSource,
    find_translations,
    guess_words,
    open_corpus,
    pool,
    read_lines,
    text_folder,
)

ENGLISH = "en"
SEEN = 160
"""Lines of the 320 that scores and training may use."""
SENTENCES = 16
"""Of those, in each language, that importance is computed from, by all who compute any."""
BATCH = 16

Batches = list[dict[str, Tensor]]


@dataclass(frozen=True)
class Subject:
    """A model, and how one tells what is left of it."""

    name: str
    measures: str
    """What its quality is, in words."""
    ask: Callable[["Subject", Any], dict[str, float]]
    """Percent by language."""
    work: Path = field(repr=False)
    """Where what was made of it lies."""

    @cached_property
    def original(self) -> Any:
        return pp.load(self.name, dtype=torch.float32).eval()

    @property
    def home(self) -> str:
        return str(self.original.source)

    @cached_property
    def tokenizer(self) -> Any:
        return ModelSource.at(self.home).tokenizer()

    @cached_property
    def lines(self) -> dict[str, list[str]]:
        """All of the sample, English first."""
        files = open_corpus(text_folder("sample")).files
        codes = [ENGLISH, *sorted(code for code in files if code != ENGLISH)]
        return {code: list(read_lines(files[code])) for code in codes}

    @property
    def held_out(self) -> dict[str, list[str]]:
        return {code: lines[SEEN:] for code, lines in self.lines.items()}

    @property
    def guesses_words(self) -> bool:
        return self.original.readout_kind.predicts_words

    @property
    def batching(self) -> Batching:
        prefix = "" if self.guesses_words else ModelSource.at(self.home).prompt
        return Batching(self.tokenizer, BATCH, prefix=prefix)

    def seen_text(self) -> Path:
        """A folder with the lines that may be looked at, a file a language."""
        folder = self.work / "text"
        folder.mkdir(parents=True, exist_ok=True)
        for code, lines in self.lines.items():
            text = "".join(f"{line}\n" for line in lines[:SEEN])
            (folder / f"{code}.txt").write_text(text, encoding="utf-8", newline="\n")
        return folder

    def batches(self) -> Batches:
        """What a loss of transformers' own model is computed from, language after language."""
        return [batch for code in self.lines for batch in self._of(code)]

    def _of(self, code: str) -> Iterator[dict[str, Tensor]]:
        own = self.lines[code][:SENTENCES]
        if self.guesses_words:
            yield from self.batching.masked(own)
        elif code != ENGLISH:
            yield from self.batching.pairs(zip(own, self.lines[ENGLISH], strict=False))

    def quality(self, model: Any) -> dict[str, float]:
        """Of a model that stands in for the original, language by language, in percent."""
        return self.ask(self, model)


class Loss(nn.Module):
    """Transformers' model with the loss that ours is scored with, for tools that want one module.

    The same as `polyprune.pruning.criteria.losses`: masked words, or finding the translation of a
    sentence
    among those of the batch.
    """

    TEMPERATURE = 0.05

    def __init__(self, model: Any):
        super().__init__()
        self.model, self.config = model, model.config
        # No tool here prunes the words, and their gradient would take longer than all else.
        model.get_input_embeddings().weight.requires_grad_(False)

    def forward(self, **batch: Tensor) -> dict[str, Tensor]:
        if "labels" in batch:
            return {"loss": self.model(**batch).loss}
        queries = self._embed(batch["input_ids"], batch["attention_mask"])
        with torch.no_grad():
            keys = self._embed(batch["pair_input_ids"], batch["pair_attention_mask"])
        similarity = queries @ keys.T / self.TEMPERATURE
        return {"loss": F.cross_entropy(similarity, torch.arange(len(keys)))}

    def _embed(self, ids: Tensor, mask: Tensor) -> Tensor:
        return pool(self.model(input_ids=ids, attention_mask=mask).last_hidden_state, mask)


def subjects(work: Path) -> list[Subject]:
    return [
        Subject(
            "e5-small",
            "translations found, %",
            lambda own, model: find_translations(model, own.tokenizer, own.held_out, ENGLISH),
            work / "e5-small",
        ),
        Subject(
            "sprout",
            "masked words guessed, %",
            lambda own, model: guess_words(model, own.tokenizer, own.held_out),
            work / "sprout",
        ),
    ]
