"""Gates in, model folder out: shrink, compare in every language, save whole or not at all."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..corpora.probes import probe_texts
from ..errors import ConfigError
from ..loading.stock import to_transformers
from ..model.history import PruningStep
from ..model.network.components import Gates
from ..model.network.folder import add_side_files, write_certificate
from ..model.network.gated_model import PolyprunePreTrainedModel
from ..model.surgery.certify import Probe, certify, random_probe, text_probes
from ..pruning.shrinking import shrink_with_history
from ..storage import atomic_folder
from .card import write_card
from .origin import complete_history

RANDOM = "random tokens"
"""The probe that every model can be compared on, whether or not it has a tokenizer."""


@dataclass(frozen=True, slots=True)
class Stock:
    """Write what plain transformers can load by itself."""

    pad: bool = False
    """Fill up with zeros what transformers wants to be equal in all layers."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where to write."""

    folder: Path
    gates: Path | None = None
    force: bool = False
    command: str = ""
    """For the card."""


def write_shrunk(
    model: PolyprunePreTrainedModel,
    gates: Gates,
    target: Target,
    *,
    languages: Sequence[str] | None = None,
    stock: Stock | None = None,
    how: PruningStep | None = None,
) -> dict[str, float]:
    """Write what `gates` keep of `model`; the largest difference to it in each language.

    `how` is what the card tells of where the gates came from.
    """
    probes = probes_for(model, languages)
    try:
        small = shrink_with_history(model, gates, how)
    except ValueError as error:
        raise ConfigError(f"These gates cannot be cut: {error}") from error
    with atomic_folder(target.folder, force=target.force) as folder:
        if stock is None:
            differences = certify(model, gates, small, probes)
            small.save_pretrained(folder, differences=differences)
        else:
            complete_history(small)
            plain = to_transformers(small, pad=stock.pad)
            differences = certify(model, gates, plain, probes)
            plain.save_pretrained(folder)
            add_side_files(folder, model.source.folder)
            write_card(folder, folder, differences)
            write_certificate(folder, differences)
    return differences


def probes_for(
    model: PolyprunePreTrainedModel, languages: Sequence[str] | None = None
) -> Mapping[str, Probe]:
    """Sentences in these languages for a model with a tokenizer, and random tokens for any."""
    texts = probe_texts(languages)
    tokenizer = model.source.tokenizer()
    spoken = text_probes(tokenizer, texts, model.shape) if tokenizer is not None else {}
    return {**spoken, RANDOM: random_probe(model.shape)}
