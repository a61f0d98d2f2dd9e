"""Scores as a file of their own: measured once, good for any budget and set of languages."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor

from ...corpora.languages import find_languages
from ...errors import CheckpointError
from ...model.files.tensor_file import read_tensors
from ...model.network.components import PerComponent, sizes
from ...model.network.shape import EncoderShape
from ...storage import atomic_file
from ..second_order.curves import RemovalCurves
from ..second_order.moments import Covariances
from ..selection.ranking import Scores, counts_of
from .importance import GateGradients

FORMAT = "polyprune-scores-1"


@dataclass(frozen=True, slots=True)
class ScoringRecord:
    """How scores were measured."""

    model: str
    """The fingerprint of the model as it was loaded."""
    table: str
    """How its word table was split before: `spectral`, `identity`, or `as it is`."""
    loss: str
    per: str
    languages: tuple[str, ...]
    """One per row."""
    examples: tuple[int, ...]
    """How many in each language."""
    corpus: str = ""
    seed: int = 0

    @classmethod
    def from_json(cls, text: str) -> "ScoringRecord":
        """What `json.dumps(asdict(about))` was made of."""
        fields = json.loads(text)
        for name in ("languages", "examples"):
            fields[name] = tuple(fields[name])
        if len(fields["languages"]) != len(fields["examples"]):
            raise ValueError("as many numbers of examples as languages are needed")
        return cls(**fields)


@dataclass(frozen=True, slots=True)
class ScoreSheet:
    """Gate gradients of a model, one row per language, and how they were measured."""

    gradients: GateGradients
    about: ScoringRecord
    covariances: Covariances | None = None
    """What enters the projections that heads and units leave through: with it, what is left makes
    up for what goes. It is as large as the layers of a model, and written on request."""

    def only(self, codes: Sequence[str]) -> "ScoreSheet":
        """The rows of these languages alone."""
        known = self.about.languages
        rows = [known.index(code) for code in find_languages(codes, known, "these scores")]
        about = {
            **asdict(self.about),
            "languages": tuple(known[i] for i in rows),
            "examples": tuple(self.about.examples[i] for i in rows),
        }
        same = self.covariances if len(rows) == len(known) else None  # they are over languages
        return ScoreSheet(self.gradients.only(rows), ScoringRecord(**about), same)

    def check(self, fingerprint: str, shape: EncoderShape, name: str) -> None:
        """Raise if these scores are of another model."""
        if counts_of(self.gradients.absolute) != sizes(shape) or self.about.model != fingerprint:
            raise CheckpointError(
                f"{name} holds scores of another model (its fingerprint starts with "
                f"{self.about.model[:8]}, this model's with {fingerprint[:8]}). Score this one: "
                "polyprune score."
            )


def save_scores(
    path: str | Path, sheet: ScoreSheet, *, covariances: bool = False, force: bool = False
) -> None:
    """Write scores to a safetensors file, with covariances if these are wanted."""
    gradients, curves = sheet.gradients, sheet.gradients.curves
    parts = {"absolute": gradients.absolute, "squared": gradients.squared}
    if curves is not None:
        parts |= {"order": curves.order, "steps": curves.steps}
    tensors = {
        f"{part}.{name}": value.detach().clone().contiguous()
        for part, values in parts.items()
        for name, value in values.named().items()
    }
    if covariances and sheet.covariances is not None:
        for (kind, layer), (mean, matrix) in sheet.covariances.by_place.items():
            tensors[f"mean.{kind}.{layer}"] = mean.contiguous()
            tensors[f"covariance.{kind}.{layer}"] = matrix.contiguous()
    with atomic_file(Path(path), force=force) as temporary:
        save_file(tensors, temporary, {"format": FORMAT, "about": json.dumps(asdict(sheet.about))})


def load_scores(path: str | Path) -> ScoreSheet:
    """The scores in a file, whatever model they are of."""
    path = Path(path)
    make = "Make one with polyprune score."
    tensors, metadata = read_tensors(path, FORMAT, "scores", make)
    try:
        about = ScoringRecord.from_json(metadata["about"])
        rows = len(about.languages)
        gradients = GateGradients(
            _parts(tensors, "absolute", rows),
            _parts(tensors, "squared", rows),
            _curves(tensors, rows),
        )
        covariances = _covariances(tensors)
    except (KeyError, ValueError, TypeError) as error:
        raise CheckpointError(f"{path} has no right scores ({error}). Make it again.") from error
    return ScoreSheet(gradients, about, covariances)


def _covariances(tensors: dict[str, Tensor]) -> Covariances | None:
    """The covariances in a file that has any."""
    found = {}
    for name, mean in tensors.items():
        part, _, place = name.partition(".")
        if part == "mean":
            kind, layer = place.split(".")
            matrix = tensors[f"covariance.{place}"]
            if matrix.shape != (*mean.shape, *mean.shape) or not matrix.isfinite().all():
                raise ValueError(f"the covariance of {place} is not one of {len(mean)} inputs")
            found[kind, int(layer)] = mean, matrix
    return Covariances(found) if found else None


def _curves(tensors: dict[str, Tensor], rows: int) -> RemovalCurves | None:
    """The curves in a file that has any; each order has all components of its sublayer."""
    if "order.rank" not in tensors:
        return None
    steps = _parts(tensors, "steps", rows)
    orders = _parts(tensors, "order", 1 if len(tensors["order.rank"]) == 1 else rows)
    for order, step in zip(orders.leaves(), steps.leaves(), strict=True):
        everything = torch.arange(step.shape[1]).expand_as(order)
        if not torch.equal(order.sort(dim=1).values, everything):
            raise ValueError("an order is not one of all components")
    return RemovalCurves(orders, steps)


def _parts(tensors: dict[str, Tensor], part: str, rows: int) -> Scores:
    prefix = f"{part}."
    named = {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}
    for name, score in named.items():
        if score.ndim != 2 or len(score) != rows or not score.isfinite().all():
            raise ValueError(f"{name} is not a finite number for each of {rows} rows")
    layers = sum(name.startswith("heads.") for name in named)
    if len(named) != 2 * layers + 1:
        raise ValueError("as many layers of heads as of units are needed")
    return PerComponent(
        tuple(named[f"heads.{i}"] for i in range(layers)),
        tuple(named[f"units.{i}"] for i in range(layers)),
        named["rank"],
    )
