"""Gates in, model folder out: shrink, compare in every language, save whole or not at all."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..corpora.probes import probe_texts
from ..errors import ConfigError
from ..model.card import describe
from ..model.certificate import Probe, certify, random_probe, text_probes
from ..model.components import Gates
from ..model.folder import complete
from ..model.hub import load_tokenizer
from ..model.modeling_polyprune import PolyprunePreTrainedModel
from ..model.shrink import shrink
from ..model.stock import to_transformers
from ..model.story import Cut, add_cut
from ..storage import whole_folder
from .budget import ComponentWeights, density_of

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


def cut(
    model: PolyprunePreTrainedModel,
    gates: Gates,
    target: Target,
    *,
    languages: Sequence[str] | None = None,
    stock: Stock | None = None,
    how: Cut | None = None,
) -> dict[str, float]:
    """Write what `gates` keep of `model`; the largest difference to it in each language.

    `how` is what the card tells of where the gates came from.
    """
    probes = probes_for(model, languages)
    try:
        small = shrunk(model, gates, how)
    except ValueError as error:
        raise ConfigError(f"These gates cannot be cut: {error}") from error
    with whole_folder(target.folder, force=target.force) as folder:
        if stock is None:
            differences = certify(model, gates, small, probes)
            small.save_pretrained(folder, differences=differences)
        else:
            plain = to_transformers(small, pad=stock.pad)
            differences = certify(model, gates, plain, probes)
            plain.save_pretrained(folder)
            source = Path(model.config.name_or_path or "?")
            complete(folder, source, differences, describe=describe(folder, differences))
    return differences


def shrunk(
    model: PolyprunePreTrainedModel, gates: Gates, how: Cut | None = None
) -> PolyprunePreTrainedModel:
    """`shrink`, and a word of it for the card that the smaller model will have."""
    small = shrink(model, gates)
    sparsity = 1 - float(density_of(gates, ComponentWeights.of(model.shape)))
    if sparsity > 0 or how is not None:
        add_cut(small.config, replace(how or Cut(), sparsity=sparsity))
    return small


def probes_for(
    model: PolyprunePreTrainedModel, languages: Sequence[str] | None = None
) -> Mapping[str, Probe]:
    """Sentences in these languages for a model with a tokenizer, and random tokens for any."""
    texts = probe_texts(languages)
    tokenizer = load_tokenizer(model.config.name_or_path)
    spoken = text_probes(tokenizer, texts, model.shape) if tokenizer is not None else {}
    return {**spoken, RANDOM: random_probe(model.shape)}
