"""How often words occur in a text, by which a weighted split of the word table goes."""

import torch
from torch import Tensor

from ...errors import ConfigError
from ...model.network.gated_model import PolyprunePreTrainedModel
from ...model.network.tensor_types import Float
from ..shrinking import WEIGHTED
from .scoring import ReadyBatches, ScoringText

LINES = 1000
"""Sentences of each language that are counted."""

FLOOR = 0.5
"""The share of the weight that all words have alike, so that unseen ones are kept nearly too."""


def frequencies_for(
    model: PolyprunePreTrainedModel, text: ScoringText, table: str
) -> Float[Tensor, " words"] | None:
    """What the error of each word weighs where a table is split so; None where words weigh alike.

    It takes one reading of the text, and no pass through the model.
    """
    if table != WEIGHTED or model.shape.factorized:
        return None
    return word_frequencies(text, model.shape.vocab_size)


def word_frequencies(text: ScoringText, vocabulary: int) -> Float[Tensor, " words"]:
    """What the error of each word weighs: its frequency, the mean over languages, and a floor.

    f = (1 − a) · mean over languages of (its occurrences / all occurrences) + a / words, times the
    number of words: 1 on average, and `FLOOR` for a word that does not occur. Only the counts of a
    vocabulary are held, however long the text.
    """
    if isinstance(text, ReadyBatches):
        raise ConfigError(
            "A weighted table counts words before it scores: give sentences instead of batches, or "
            "`table='spectral'`."
        )
    codes = text.corpus.codes(text.languages)
    shares = torch.zeros(vocabulary, dtype=torch.float64)
    for code in codes:
        counts = torch.zeros(vocabulary, dtype=torch.float64)
        for batch in text.batching.plain(text.corpus.sentences(code, LINES)):
            words = batch["input_ids"][batch["attention_mask"].bool()]
            counts += torch.bincount(words, minlength=vocabulary)
        shares += counts / counts.sum().clamp(min=1) / len(codes)
    return ((1 - FLOOR) * vocabulary * shares + FLOOR).float()
