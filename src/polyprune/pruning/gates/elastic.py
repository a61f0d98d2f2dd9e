"""One checkpoint for every size and any set of languages: dense weights, a gating beside them."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor

from ...corpora.languages import find_languages, language
from ...errors import CheckpointError, ConfigError, UnknownName
from ...model.files.row_names import SHARED
from ...model.files.tensor_file import read_tensors
from ...model.history import PruningStep
from ...model.network.components import Gates, PerComponent, sizes
from ...model.network.folder import GATING
from ...model.network.gated_model import PolyprunePreTrainedModel
from ...model.network.shape import EncoderShape
from ...model.network.tensor_types import Float
from ..selection.ranking import ComponentWeights, Minimum, density_of, keep_best, unflatten
from ..shrinking import shrink_with_history
from ..subnetworks import union
from .dynamic_gating import DynamicGating
from .gating import Gating
from .gatings import GATINGS, FixedGating
from .hard_concrete import HardConcrete

FORMAT = "polyprune-gating-1"
COMBINE = ("mean", "union")


@dataclass(frozen=True, slots=True)
class Elastic:
    """A gating whose rows have names: languages, or `shared` for all."""

    gating: Gating
    rows: tuple[str, ...]
    weights: ComponentWeights

    def take(
        self,
        model: PolyprunePreTrainedModel,
        sparsity: float | None = None,
        languages: Sequence[str] | None = None,
        combine: str = "mean",
    ) -> PolyprunePreTrainedModel:
        """The model of this size for these languages: an ordinary, smaller one."""
        gates = self.gates(sparsity, languages, combine)
        own = () if self.rows == (SHARED,) else [self.rows[i] for i in self._rows(languages)]
        return shrink_with_history(model, gates, PruningStep(languages=tuple(own)))

    def gates(
        self,
        sparsity: float | None = None,
        languages: Sequence[str] | None = None,
        combine: str = "mean",
    ) -> Gates:
        """One row of gates for this sparsity and these languages; all of them unless given.

        By one rule, for one language or several: the components that they want most on average, as
        many as fit the size, which for gates of one size is what they have on average. What stays
        has its mean value in the rows where it is open: 1, unless fractions were learned.
        """
        density = self._density(sparsity)
        rows = self._rows(languages)
        if combine not in COMBINE:
            raise UnknownName("way to combine languages", combine, COMBINE, "mean or union.")
        with torch.no_grad():
            own = self._rows_at(density)[rows]
            if combine == "union":
                gates = union(unflatten(own, self.gating.counts))
            else:
                wanted = self.gating.preference(density)[rows].mean(0, keepdim=True).cpu()
                gates = self._most_wanted(wanted, own, density)
        if not gates.rank.any():
            raise ConfigError("These gates leave no rank of the words: train them again.")
        return gates

    def _most_wanted(self, wanted: Tensor, own: Tensor, density: float) -> Gates:
        """What fits of one ranking, each gate with its mean value where it is open."""
        counts = self.gating.counts
        if len(own) == 1 and not self.holds_every_size:
            return unflatten(own, counts)
        if not self.holds_every_size:  # as large as they are on average
            density = float(density_of(unflatten(own, counts), self.weights).mean())
        kept = keep_best(unflatten(wanted, counts), density, self.weights, Minimum(rank=1))
        opened = (own > 0).sum(0, keepdim=True)
        value = torch.where(opened > 0, own.sum(0, keepdim=True) / opened.clamp(min=1), 1.0)
        return kept.map(lambda gate, mean: gate * mean, unflatten(value, counts))

    @property
    def holds_every_size(self) -> bool:
        """Whether there are gates for every sparsity, not for one."""
        return self.gating.holds_every_size

    def at_one_size(self, sparsity: float | None = None) -> "Elastic":
        """The same rows as fixed gates of one size."""
        own = [self.gates(sparsity, [row]) for row in self.rows]
        return Elastic(FixedGating(stack_rows(own)), self.rows, self.weights)

    def every_row(self, sparsity: float | None = None) -> Gates:
        """The gates of this sparsity, one row for each name in `rows`."""
        return unflatten(self._rows_at(self._density(sparsity)), self.gating.counts)

    def save(self, folder: Path) -> None:
        """Write `gating.safetensors` into a model folder."""
        gating = self.gating
        tensors = {name: t.detach().cpu().contiguous() for name, t in gating.state_dict().items()}
        metadata = {
            "format": FORMAT,
            "kind": gating.kind,
            "rows": json.dumps(self.rows),
            "heads": json.dumps(gating.counts.heads),
            "units": json.dumps(gating.counts.units),
            "rank": json.dumps(gating.counts.rank),
            "weights": json.dumps(asdict(self.weights)),
            "distribution": json.dumps(asdict(gating.distribution)),
        }
        save_file(tensors, folder / GATING, metadata)

    def _density(self, sparsity: float | None) -> float:
        if not self.holds_every_size:
            if sparsity is not None:
                raise ConfigError(
                    "This checkpoint was trained for one size only: leave sparsity out. Dynamic "
                    "Sparsification makes one of all sizes."
                )
            return 1.0
        if sparsity is None:
            raise ConfigError("This checkpoint holds every size: say which, such as sparsity=0.5.")
        if not 0 <= sparsity < 1:
            raise ConfigError(f"A sparsity is a fraction from 0 to less than 1, got {sparsity}.")
        return 1 - sparsity

    def _rows(self, languages: Sequence[str] | None) -> list[int]:
        if self.rows == (SHARED,):  # which are one for every language there is
            for code in languages or ():
                language(code)
        if languages is None or self.rows == (SHARED,):
            return list(range(len(self.rows)))
        codes = find_languages(languages, self.rows, "this checkpoint")
        return [self.rows.index(code) for code in codes]

    def _rows_at(self, density: float) -> Float[Tensor, "rows components"]:
        """What each row keeps, as `gates` has it for one language."""
        with torch.no_grad():
            if not self.holds_every_size:
                return self.gating.flat(density).float().cpu()
            wanted = unflatten(self.gating.preference(density).cpu(), self.gating.counts)
            kept = keep_best(wanted, density, self.weights, Minimum(rank=1))
            return torch.cat(kept.leaves(), dim=1)


def stack_rows(gates: Sequence[Gates]) -> Gates:
    """Stack several rows of gates into one bank."""
    return gates[0].map(lambda *row: torch.cat(row), *gates[1:])


def load_elastic(path: Path, shape: EncoderShape) -> Elastic:
    """The gating in a file, checked against the shape of the model it lies beside."""
    make = "Make one with polyprune prune --setting non-shared."
    tensors, metadata = read_tensors(path, FORMAT, "gating", make)
    try:
        rows: list[str] = json.loads(metadata["rows"])
        counts = PerComponent(
            tuple(json.loads(metadata["heads"])),
            tuple(json.loads(metadata["units"])),
            int(json.loads(metadata["rank"])),
        )
        weights = ComponentWeights(**json.loads(metadata["weights"]))
        distribution = HardConcrete(**json.loads(metadata["distribution"]))
        gating = _gating(metadata["kind"], counts, len(rows), tensors, distribution)
        if isinstance(gating, DynamicGating) and "alpha" in tensors:  # whose shares were widened
            cost = torch.cat(weights.spread(counts).leaves()).double()
            gating.share.copy_(cost / cost.sum())
        gating.load_state_dict(tensors)
    except (KeyError, ValueError, TypeError, RuntimeError) as error:
        reason = str(error).partition("\n")[0]
        raise CheckpointError(f"{path} has no right gating ({reason}). Make it again.") from error
    if counts != sizes(shape) or not all(t.isfinite().all() for t in tensors.values()):
        raise CheckpointError(f"{path} was made for another model, or is damaged. {make}")
    return Elastic(gating, tuple(rows), weights)


def _gating(
    kind: str,
    counts: PerComponent[int],
    rows: int,
    tensors: dict[str, Tensor],
    distribution: HardConcrete,
) -> Gating:
    if kind not in GATINGS:
        raise ValueError(f"its kind is {kind!r}")
    if any(len(tensor) not in (1, rows) for tensor in tensors.values()):
        raise ValueError(f"it is not for {rows} rows")
    return GATINGS[kind].from_tensors(counts, rows, tensors, distribution)
