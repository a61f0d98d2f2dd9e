"""From a model and its scores to a folder: one size for some languages, or all sizes for each."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..corpora.languages import find_language
from ..errors import CheckpointError, ConfigError
from ..model.files.gates_file import SHARED, save_gates
from ..model.history import PruningStep, add_pruning, history_of, write_history
from ..model.network.components import Gates, open_gates
from ..model.network.modeling_polyprune import PolyprunePreTrainedModel
from ..model.surgery.certify import certify
from ..storage import atomic_folder
from .criteria.scores_file import ScoreSheet
from .criteria.scoring import prepare
from .cut import Target, probes_for, write_shrunk
from .prune import Budget, Method, choose, every_size
from .selection.audit import Audit, audit


@dataclass(frozen=True, slots=True)
class Report:
    """What was written, how large it is, and how exactly it computes what the gated model did."""

    out: Path
    method: Method
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
            "method": self.method.name,
            "rule": self.method.rule if self.method.name == "gradient" else None,
            "setting": self.method.setting,
            "languages": list(self.languages),
            **only,
            "largest_difference": max(self.differences.values()),
            "differences": self.differences,
        }


def write_model(
    model: PolyprunePreTrainedModel,
    method: Method,
    sheet: ScoreSheet | None,
    target: Target,
    budget: Budget,
    language: str | None = None,
) -> Report:
    """Prune a model to a budget and write its folder; of a row a language, the given one's."""
    base, languages = _base(model, sheet)
    gates = choose(base, method, budget, sheet)
    rows = _row_names(method, languages)
    every_row, name = gates, rows[0]
    if method.setting == "non-shared":
        if language is None:
            raise ConfigError(f"There is a subnetwork for each of {', '.join(rows)}. Name one.")
        name = find_language(language, rows, "these scores")
        languages = (name,)
        gates = gates.map(lambda gate: gate[rows.index(name), None])
    differences = write_shrunk(
        base,
        gates,
        target,
        languages=languages or None,
        how=describe_selection(method, sheet, languages, target.command),
    )
    _save_gates(target, every_row, rows, sheet)
    audits = {name: _audit(model, gates, budget)}
    return Report(target.folder, method, audits, differences, gates, languages=languages)


def write_elastic(
    model: PolyprunePreTrainedModel,
    method: Method,
    sheet: ScoreSheet | None,
    target: Target,
    budget: Budget | None = None,
) -> Report:
    """Write dense weights and a gating for every size; a budget only says which one to report."""
    base, languages = _base(model, sheet)
    sizes = every_size(base, method, sheet)
    rows = _row_names(method, languages)
    gates = None if budget is None else choose(base, method, budget, sheet)
    probes = probes_for(model, languages or None)
    differences = certify(model, open_gates(model.shape), base, probes)
    before, base.elastic = base.elastic, sizes
    story = history_of(base.config)
    try:
        add_pruning(base.config, describe_selection(method, sheet, languages, target.command))
        with atomic_folder(target.folder, force=target.force) as folder:
            base.save_pretrained(folder, differences=differences)
    finally:
        base.elastic = before
        write_history(base.config, story)
    audits = {}
    if gates is not None and budget is not None:
        _save_gates(target, gates, rows, sheet)
        for i, name in enumerate(rows):
            audits[name] = _audit(model, gates.map(lambda gate, i=i: gate[i, None]), budget)
    return Report(target.folder, method, audits, differences, gates, True, languages or rows)


def describe_selection(
    method: Method, sheet: ScoreSheet | None, languages: Sequence[str] = (), command: str = ""
) -> PruningStep:
    """What a card tells of how gates were chosen; of the text its name, not where it lies."""
    about = None if sheet is None or method.name != "gradient" else sheet.about
    return PruningStep(
        method=method.name,
        rule=method.rule if method.name == "gradient" else "",
        setting=method.setting,
        languages=tuple(languages),
        loss="" if about is None else about.loss,
        corpus="" if about is None else Path(about.corpus).name,
        sentences=(min(about.examples), max(about.examples)) if about and about.examples else None,
        command=command,
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


def _save_gates(
    target: Target, gates: Gates, rows: tuple[str, ...], sheet: ScoreSheet | None
) -> None:
    if target.gates is not None:
        table = "as it is" if sheet is None else sheet.about.table
        save_gates(target.gates, gates, rows, table=table, force=target.force)


def _base(
    model: PolyprunePreTrainedModel, sheet: ScoreSheet | None
) -> tuple[PolyprunePreTrainedModel, tuple[str, ...]]:
    """What is gated and cut: the model as it was when it was scored."""
    for name, weight in model.named_parameters():
        if not weight.isfinite().all():
            raise CheckpointError(
                f"{name} holds what is not a number. Copy or make the model again."
            )
    if sheet is None:
        return model, ()
    return prepare(model, sheet.about.table), sheet.about.languages


def _row_names(method: Method, languages: tuple[str, ...]) -> tuple[str, ...]:
    """What each row of gates is for."""
    return languages if method.setting == "non-shared" else (SHARED,)


def _audit(model: PolyprunePreTrainedModel, gates: Gates, budget: Budget) -> Audit:
    return audit(model, gates, sparsity=budget.sparsity, parameters=budget.parameters)
