"""What `polyprune.prune` returns."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ..measuring.speed_target import MeasuredSelection
from ..model.fidelity import Fidelity
from ..model.network.components import Gates
from ..model.network.gated_model import PolyprunePreTrainedModel
from ..pruning.ranker import Ranker
from ..pruning.second_order.refit import RefitReport
from ..pruning.selection.audit import Audit
from ..pruning.selection.fairness import Fairness
from ..reporting.tables.table import Table
from ..storage import atomic_folder
from .fidelity_table import describe_fidelity
from .recover import RecoverResult
from .result import ModelResult
from .selecting import describe_speed
from .sizes import (
    describe_differences,
    describe_kinship,
    describe_layers,
    describe_place,
    describe_request,
    describe_smaller,
    language_table,
    size_table,
)


@dataclass(frozen=True, slots=True, repr=False)
class PruneResult(ModelResult):
    """A pruned model, how large it is, and how exactly it computes what the gated one does."""

    model: PolyprunePreTrainedModel
    """Smaller; or, where it is elastic, dense with every size in it: `model.at(sparsity=0.5)`."""
    ranker: Ranker
    """The criterion, the setting and the scores that it was ranked by."""
    audits: dict[str, Audit]
    """The sizes of each subnetwork, by language, or under `shared`."""
    differences: dict[str, float]
    """The largest |gated − shrunk| on a probe in each language."""
    gates: Gates | None = None
    """What stays: one row per language, or one for all; None for every size."""
    languages: tuple[str, ...] = ()
    speed: MeasuredSelection | None = None
    """What was measured, where a speed was asked for."""
    fairness: Fairness | None = None
    """What a floor for languages does, where that was asked for."""
    repair: RefitReport | None = None
    """What the last refit did, where that was asked for."""
    recovery: RecoverResult | None = None
    """How the model was trained on, where that was asked for."""
    fidelity: Fidelity | None = None
    """What is kept of the uncut model, by language; None where nothing was compared."""
    binds: tuple[str, ...] = ()
    """The limits that keep it from being larger: `sparsity`, `parameters`, `time`."""
    original: PolyprunePreTrainedModel | None = None
    """The model that was pruned, which teaches the smaller one where that is recovered."""
    out: Path | None = None

    @property
    def elastic(self) -> bool:
        """Whether the model holds every size."""
        return self.model.elastic is not None

    def save(self, folder: str | Path, *, force: bool = False) -> Path:
        """Write the model's folder with its certificate, and return its path."""
        if self.recovery is not None:
            return self.recovery.save(folder, force=force)
        with atomic_folder(Path(folder), force=force) as new:
            self.model.save_pretrained(new, differences=self.differences)
        return Path(folder)

    def as_dict(self) -> dict[str, Any]:
        """Return the sizes, at the top where there is only one, and the differences."""
        audits = {name: asdict(audit) for name, audit in self.audits.items()}
        only = next(iter(audits.values())) if len(audits) == 1 else {"rows": audits}
        answer = {
            "out": None if self.out is None else str(self.out),
            "elastic": self.elastic,
            "method": self.ranker.criterion.method,
            "rule": self.ranker.criterion.rule or None,
            "setting": self.ranker.setting.name,
            "languages": list(self.languages),
            "fidelity": None if self.fidelity is None else self.fidelity.as_dict(),
            **only,
            "binds": list(self.binds),
            "largest_difference": max(self.differences.values()),
            "differences": self.differences,
        }
        if self.speed is not None:
            answer["speed"] = self.speed.as_dict()
        if self.fairness is not None:
            answer["fairness"] = asdict(self.fairness)
        if self.repair is not None:
            answer["repair"] = self.repair.as_dict()
        if self.recovery is not None:
            answer["recovery"] = replace(self.recovery, fidelity=None).as_dict()
        return answer

    def summary(self) -> Iterator[Table | str]:
        """Yield what was kept of the uncut model, what is left of it, and what was measured."""
        if not self.elastic:
            yield from describe_fidelity(self.fidelity)
        yield from self._sizes()
        if self.elastic:
            place = "this model" if self.out is None else self.out
            yield f"Every size for {', '.join(self.languages)} is in {place}."
        else:
            yield describe_differences(self.differences)
            yield from describe_place(self.out)
        yield from (str(each) for each in (self.fairness, self.repair) if each is not None)
        if self.speed is not None:
            yield from describe_speed(self.speed)
        if self.recovery is not None:
            yield from replace(self.recovery, fidelity=None, out=None).summary()

    def _sizes(self) -> Iterator[Table | str]:
        """Yield sizes before and after, and what is left of every layer; or sizes by language."""
        if len(self.audits) == 1:
            (audit,) = self.audits.values()
            speed = self.speed
            yield size_table(audit, None if speed is None else (speed.before, speed.after))
            yield describe_request(audit, self.binds)
            yield from describe_layers(audit)
            if not self.elastic:
                yield from describe_smaller(self.model, audit)
        elif self.gates is not None:
            yield language_table(self.audits)
            yield describe_kinship(self.gates, list(self.audits))
