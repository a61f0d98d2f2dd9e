"""Models for evaluation: check them, expand their sizes, and select each language's subnetwork."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import ConfigError, UnknownName
from ..loading.finding import find
from ..loading.hub import load, read_shape
from ..loading.model_names import name_in_memory
from ..loading.reading import fitting_tokenizer
from ..model.files.gating_file import gating_header
from ..model.files.row_names import SHARED
from ..model.history import history_of
from ..model.network.gated_model import PolyprunePreTrainedModel
from ..model.network.readouts import Readout
from ..pruning.criteria.losses import ONE_LABEL, problem_type
from .gate_rows import gate_row, own_row, related_row
from .own_tasks.own_task import ModelFacts
from .task_types import FineTunedTask, labels_of
from .tasks import Task

EvalModel = str | Path | PolyprunePreTrainedModel
"""A folder, perhaps one that was fine-tuned in, a name, or a loaded model."""


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A loaded model with all its sizes and subnetworks."""

    model: PolyprunePreTrainedModel
    tokenizer: Any
    sparsity: float | None = None
    _cut: dict[str, PolyprunePreTrainedModel] = field(default_factory=dict)

    @classmethod
    def load(cls, model: EvalModel, task: Task, sparsity: float | None = None) -> "LoadedModel":
        """Load a model in one size unless it is loaded, and check that it fits the task."""
        name = name_of(model)
        if not isinstance(model, PolyprunePreTrainedModel):
            readout = task.kind.readout
            model = load(model, readout if readout.embeds else None)
        _check_readout(name, model.readout_kind, task)
        _check_size(name, _holds_every_size(model), sparsity is not None)
        return cls(model, fitting_tokenizer(model, strict=True), sparsity)

    def for_language(
        self, code: str, fallback: str | None = None
    ) -> tuple[PolyprunePreTrainedModel, str | None]:
        """Return the model shrunk to a language's gates, and the name of the row that was used."""
        elastic = self.model.elastic
        if elastic is None:
            return self.model, None
        row = gate_row(code, elastic.rows, fallback or "en")
        if row not in self._cut:
            self._cut.clear()  # one at a time: each is as large as the others
            cut = elastic.take(self.model, self.sparsity, None if row == SHARED else [row])
            self._cut[row] = cut
        return self._cut[row], row


def facts_of(model: EvalModel) -> ModelFacts:
    """Return what a model is for; headers only. Of several seeds, the first."""
    first = seeds_of(model)[0]
    if isinstance(first, PolyprunePreTrainedModel):
        return ModelFacts.of(name_of(model), first.config, first.readout_kind)
    return ModelFacts.of(name_of(model), *read_shape(first))


def name_of(model: EvalModel) -> str:
    """What a model is called: its path, or the one that it was loaded from."""
    if isinstance(model, PolyprunePreTrainedModel):
        return name_in_memory(model)
    return str(model)


def seeds_of(model: EvalModel) -> list[EvalModel]:
    """Return the models of a path: several if it was fine-tuned with several seeds."""
    if isinstance(model, str | Path) and Path(model).is_dir():
        return [*finetuned_models(Path(model))]
    return [model]


def regime_of(model: EvalModel, task: Task) -> str | None:
    """Return what a model was fine-tuned on for a task; None if it does not say. Headers only."""
    if task.defaults is None:
        return None
    first = seeds_of(model)[0]
    in_memory = isinstance(first, PolyprunePreTrainedModel)
    config = first.config if in_memory else read_shape(first)[0]
    for step in reversed(history_of(config).trainings):
        if step.on == task.title and step.languages:
            return "transfer" if len(step.languages) == 1 else "translate-train-all"
    folder = first.source.folder if in_memory else Path(first)
    return None if folder is None else _noted_regime(folder.parent / "tuning.json")


def _noted_regime(record: Path) -> str | None:
    """Return the regime that a fine-tuning noted beside its models, as older ones did."""
    try:
        return json.loads(record.read_text(encoding="utf-8"))["task"]["regime"]
    except (OSError, ValueError, KeyError, TypeError):
        return None


def check_model(model: EvalModel, task: Task) -> None:
    """Raise unless a model, with all its seeds, is fine-tuned for the task. Reads headers only."""
    for seed in seeds_of(model):
        if isinstance(seed, PolyprunePreTrainedModel):
            config, readout = seed.config, seed.readout_kind
        else:
            config, readout = read_shape(seed)
        _check_readout(name_of(seed), readout, task)
        _check_problem(name_of(seed), config, task)
        if task.labels:
            check_labels(config, task, name_of(seed))


def expand_sizes(
    models: Sequence[EvalModel], sizes: Sequence[float]
) -> list[tuple[float | None, ...]]:
    """Return the sizes to score each model in: None for one that has one size. Headers only."""
    every = [_holds_every_size(model) for model in models]
    for model, elastic in zip(models, every, strict=True):
        if elastic or (sizes and not any(every)):
            _check_size(name_of(model), elastic, bool(sizes))
    return [tuple(sizes) if elastic else (None,) for elastic in every]


def check_fallback(models: Sequence[EvalModel], codes: Sequence[str], fallback: str | None) -> None:
    """Raise if a language needs the gates of a fallback that a model lacks. Reads headers only."""
    banks = {name_of(seed): rows for model in models for seed, (_, rows) in _gatings(model)}
    if fallback is None or any(own_row(fallback, rows) for rows in banks.values()):
        return
    for name, rows in banks.items():
        if not all(related_row(code, rows) for code in codes):
            see = f"{name} has gates of: {', '.join(rows)}."
            raise UnknownName("fallback", fallback, rows, see)


def _gatings(model: EvalModel) -> list[tuple[EvalModel, tuple[bool, tuple[str, ...]]]]:
    """For each seed that has gates: whether they hold every size, and the names of their rows."""
    found = [(seed, _gating(seed)) for seed in seeds_of(model)]
    return [(seed, gating) for seed, gating in found if gating is not None]


def _gating(seed: EvalModel) -> tuple[bool, tuple[str, ...]] | None:
    if not isinstance(seed, PolyprunePreTrainedModel):
        header = gating_header(find(seed))
        return None if header is None else (header.holds_every_size, header.rows)
    elastic = seed.elastic
    return None if elastic is None else (elastic.holds_every_size, elastic.rows)


def _holds_every_size(model: EvalModel) -> bool:
    return any(every for _, (every, _) in _gatings(model))


def _check_readout(path: str, readout: Readout, task: Task) -> None:
    if not task.kind.readout.embeds and task.kind.readout != readout:
        raise ConfigError(
            f"{path} has the readout {readout}, and {task.title} needs {task.kind.readout}. "
            f"First: polyprune finetune {path} {task.option}."
        )


def _check_problem(path: str, config: Any, task: Task) -> None:
    """Raise if a model gives one label where there may be several, or a number, or such."""
    if not isinstance(task.kind, FineTunedTask) or not task.kind.readout.labels_sentences:
        return
    own, wanted = problem_type(config), task.kind.problem or ONE_LABEL
    if own != wanted:
        raise ConfigError(
            f"{path} is for {own.replace('_', ' ')}, and {task.title} for "
            f"{wanted.replace('_', ' ')}: score it by itself."
        )


def _check_size(path: str, every: bool, asked: bool) -> None:
    if every and not asked:
        raise ConfigError(f"{path} holds every size: say which, such as `sparsity=0.5`.")
    if asked and not every:
        raise ConfigError(f"{path} has one size: leave `sparsity` out.")


def finetuned_models(folder: Path) -> list[Path]:
    """Return the model folders of a fine-tuning, or the folder itself if it is a model."""
    if not (folder / "tuning.json").is_file():
        return [folder]
    found = [folder / "model"] if (folder / "model").is_dir() else sorted(folder.glob("seed-*"))
    if not found:
        raise ConfigError(f"Fine-tuning in {folder} is not finished: give the same command again.")
    return found


def check_labels(config: Any, task: Task, model: str = "This model") -> None:
    """Raise if a model has a label that the task does not have; `config` is the model's."""
    own = labels_of(config)
    if not set(own) <= set(task.labels):
        says = ", ".join(own[:8]) + (", …" if len(own) > 8 else "")
        raise ConfigError(
            f"{model} was not fine-tuned for {task.name}: "
            f"it says {says}. First: polyprune finetune MODEL {task.option}."
        )
