"""A model and the text that it reads: its tokenizer, its prompt, and scores on a corpus."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..corpora.batching import Batching
from ..corpora.corpus import Corpus
from ..corpora.probes import probe_texts
from ..errors import ConfigError
from ..model.network.gated_model import PolyprunePreTrainedModel
from ..model.surgery.certify import RANDOM_TOKENS, Probe, random_probe, text_probes
from ..pruning.criteria.scoring import ScoringText
from ..pruning.criteria.scoring_losses import loss_named


@dataclass(frozen=True, slots=True)
class Reading:
    """How sentences become batches."""

    batch_size: int = 16
    tokens: int = 128
    """That a sentence is cut to, or fewer where the model has fewer positions."""
    prefix: str | None = None
    """What sentences begin with; the model's own prompt for losses of embeddings unless given."""


def fitting_tokenizer(model: PolyprunePreTrainedModel, *, strict: bool = False) -> Any:
    """The tokenizer beside a model, which has to belong to it.

    With `strict`, as for training, it has about as many words as the model and pads alike.
    """
    folder, tokenizer = model.source, model.source.tokenizer()
    if tokenizer is None:
        raise ConfigError(f"There is no tokenizer in {folder}, so text cannot be read.")
    words = model.shape.vocab_size
    # A table may be rounded up, but not by more than this.
    fewest = 0.9 * words if strict else 0
    if not fewest <= len(tokenizer) <= words:
        raise ConfigError(
            f"The tokenizer in {folder} knows {len(tokenizer):,} words, the model {words:,}: they "
            "do not belong together."
        )
    padded = strict and model.config.padded_positions
    if padded and tokenizer.pad_token_id != model.config.pad_token_id:
        raise ConfigError(
            f"The tokenizer in {folder} pads with token {tokenizer.pad_token_id}, the model with "
            f"{model.config.pad_token_id}: they do not belong together."
        )
    return tokenizer


def scoring_text(
    model: PolyprunePreTrainedModel,
    corpus: Corpus,
    languages: Sequence[str] | None = None,
    loss: str | None = None,
    reading: Reading | None = None,
) -> ScoringText:
    """These languages of a corpus, or all it has, in batches that a model can be scored on."""
    reading = reading or Reading()
    tokenizer, prefix = fitting_tokenizer(model), reading.prefix
    if prefix is None and loss_named(loss or model.readout_kind.loss).embeds:
        prefix = model.source.prompt
    longest = min(reading.tokens, model.longest_input)
    batching = Batching(tokenizer, reading.batch_size, longest, prefix or "")
    return ScoringText(corpus, batching, languages)


def probes_for(
    model: PolyprunePreTrainedModel, languages: Sequence[str] | None = None
) -> Mapping[str, Probe]:
    """Sentences in these languages for a model with a tokenizer, and random tokens for any."""
    tokenizer, texts = model.source.tokenizer(), probe_texts(languages)
    spoken = {} if tokenizer is None else text_probes(tokenizer, texts, model.shape)
    return {**spoken, RANDOM_TOKENS: random_probe(model.shape)}
