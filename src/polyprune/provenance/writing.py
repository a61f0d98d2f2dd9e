"""What a smaller model is compared on, and the folder of one for plain transformers."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from transformers import PreTrainedModel

from ..corpora.probes import probe_texts
from ..model.network.folder import add_side_files, write_certificate
from ..model.network.gated_model import PolyprunePreTrainedModel
from ..model.network.source import ModelSource
from ..model.surgery.certify import RANDOM_TOKENS, Probe, random_probe, text_probes
from .card import write_card


def probes_for(
    model: PolyprunePreTrainedModel, languages: Sequence[str] | None = None
) -> Mapping[str, Probe]:
    """Return sentences in these languages for a model with a tokenizer, random tokens for any."""
    texts = probe_texts(languages)
    tokenizer = model.source.tokenizer()
    spoken = text_probes(tokenizer, texts, model.shape) if tokenizer is not None else {}
    return {**spoken, RANDOM_TOKENS: random_probe(model.shape)}


def write_stock(
    folder: Path, model: PreTrainedModel, source: ModelSource, differences: Mapping[str, float]
) -> None:
    """Write a model of plain transformers: with side files of its source, card and certificate."""
    model.save_pretrained(folder)
    add_side_files(folder, source.folder)
    write_card(folder, folder, differences)
    write_certificate(folder, differences)
