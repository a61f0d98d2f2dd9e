"""From a model and its scores to a folder: one size for some languages, or all sizes for each."""

from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from ..errors import ConfigError
from ..model.files.gates_file import save_gates
from ..model.history import add_pruning, history_of, write_history
from ..model.network.components import Gates, open_gates
from ..model.network.gated_model import PolyprunePreTrainedModel
from ..model.surgery.certify import certify
from ..provenance.writing import Target, probes_for
from ..storage import atomic_folder
from .prune import apply_selection, check_finite, describe_selection, elastic_gates
from .ranker import Ranker
from .selection.audit import Audit
from .selection.budgets import Budget
from .selection.selection import Selection
from .shrinking import with_ranks


@dataclass(frozen=True, slots=True)
class Report:
    """What was written, how large it is, and how exactly it computes what the gated model did."""

    out: Path
    ranker: Ranker
    audits: dict[str, Audit]
    """By language, or `shared`."""
    differences: dict[str, float]
    """The largest |gated − shrunk| on a probe in each language."""
    gates: Gates | None
    elastic: bool = False
    languages: tuple[str, ...] = field(default=())

    def as_dict(self) -> dict[str, Any]:
        """For JSON: the sizes at the top where there is only one."""
        audits = {name: asdict(each) for name, each in self.audits.items()}
        only = next(iter(audits.values())) if len(audits) == 1 else {"rows": audits}
        return {
            "out": str(self.out),
            "elastic": self.elastic,
            "method": self.ranker.criterion.method,
            "rule": self.ranker.criterion.rule or None,
            "setting": self.ranker.setting.name,
            "languages": list(self.languages),
            **only,
            "largest_difference": max(self.differences.values()),
            "differences": self.differences,
        }


def write_model(
    model: PolyprunePreTrainedModel,
    selection: Selection,
    ranker: Ranker,
    target: Target,
    language: str | None = None,
    uncut: PolyprunePreTrainedModel | None = None,
) -> Report:
    """Write the folder of what was selected; where languages have a row each, of the given one."""
    pruned = apply_selection(model, selection, ranker, language=language, uncut=uncut)
    history = history_of(pruned.model.config)
    *before, last = history.cuts
    last = replace(last, command=target.command)
    write_history(pruned.model.config, replace(history, cuts=(*before, last)))
    probes = probes_for(pruned.uncut, pruned.languages or None)
    with atomic_folder(target.folder, force=target.force) as folder:
        differences = certify(pruned.uncut, pruned.selection.gates, pruned.model, probes)
        pruned.model.save_pretrained(folder, differences=differences)
    _save_gates(target, selection, ranker)
    return Report(
        target.folder,
        ranker,
        pruned.selection.audits,
        differences,
        pruned.selection.gates,
        languages=pruned.languages,
    )


def write_elastic(
    model: PolyprunePreTrainedModel,
    ranker: Ranker,
    target: Target,
    budget: Budget | None = None,
    uncut: PolyprunePreTrainedModel | None = None,
) -> Report:
    """Write dense weights and a gating for every size; a budget only says which one to report."""
    check_finite(model)
    uncut = with_ranks(model, ranker.table) if uncut is None else uncut
    sizes, languages = elastic_gates(uncut, ranker), ranker.languages
    selection = None if budget is None else budget.select(model, ranker)
    probes = probes_for(model, languages or None)
    differences = certify(model, open_gates(model.shape), uncut, probes)
    before, uncut.elastic = uncut.elastic, sizes
    history = history_of(uncut.config)
    try:
        add_pruning(uncut.config, describe_selection(ranker, languages, target.command))
        with atomic_folder(target.folder, force=target.force) as folder:
            uncut.save_pretrained(folder, differences=differences)
    finally:
        uncut.elastic = before
        write_history(uncut.config, history)
    if selection is not None:
        _save_gates(target, selection, ranker)
    return Report(
        target.folder,
        ranker,
        {} if selection is None else selection.audits,
        differences,
        None if selection is None else selection.gates,
        True,
        languages or ranker.rows,
    )


def check_every_size(sparsity: float | None, gates: Path | None, special: bool) -> None:
    """Raise if an elastic folder is asked for something that makes sense for one size only."""
    if special:
        raise ConfigError(
            "An elastic folder holds every size of one ranking: --parameters, --size, --speedup, "
            "--latency, --exact, --multiple, --least-heads and --least-units are for one size."
        )
    if gates is not None and sparsity is None:
        raise ConfigError("Gates are of one size: give --sparsity too, or leave --gates out.")


def _save_gates(target: Target, selection: Selection, ranker: Ranker) -> None:
    if target.gates is not None:
        save_gates(
            target.gates,
            selection.gates,
            selection.names,
            table=ranker.table,
            force=target.force,
        )
