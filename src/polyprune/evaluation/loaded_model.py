"""Models for evaluation: check them, expand their sizes, and select each language's subnetwork."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from ..errors import ConfigError, UnknownName
from ..loading.hub import find, read_shape
from ..model.files.gates_file import SHARED
from ..model.network.modeling_polyprune import PolyprunePreTrainedModel
from ..pruning.gates.elastic import glance_gating, load
from ..pruning.gates.gatings import DynamicGating
from ..training.prepare import tokenizer_of
from .gate_rows import gate_row, own_row, related_row
from .hyperparameter_search import finetuned_models
from .task_types import Predictor, check_labels
from .tasks import Task


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A loaded model with all its sizes and subnetworks."""

    model: PolyprunePreTrainedModel
    tokenizer: Any
    sparsity: float | None = None
    _cut: dict[str, PolyprunePreTrainedModel] = field(default_factory=dict)

    @classmethod
    def load(cls, path: str | Path, task: Task, sparsity: float | None = None) -> "LoadedModel":
        """Load a model in one size, and check that it fits the task."""
        folder = find(path)
        readout = task.kind.readout
        model = load(folder, "hidden-states" if readout == "hidden-states" else None)
        _check_readout(path, model.readout_kind, task)
        elastic: Any = model.elastic
        every = elastic is not None and isinstance(elastic.gating, DynamicGating)
        _check_size(path, every, sparsity is not None)
        return cls(model, tokenizer_of(folder, model), sparsity)

    def for_language(
        self, code: str, fallback: str | None = None
    ) -> tuple[PolyprunePreTrainedModel, str | None]:
        """Return the model shrunk to a language's gates, and the name of the row that was used."""
        elastic: Any = self.model.elastic
        if elastic is None:
            return self.model, None
        row = gate_row(code, elastic.rows, fallback or "en")
        if row not in self._cut:
            self._cut.clear()  # one at a time: each is as large as the others
            name = self.model.config.name_or_path
            cut = elastic.take(self.model, self.sparsity, None if row == SHARED else [row])
            cut.config.name_or_path = name
            self._cut[row] = cut
        return self._cut[row], row


def seed_folders(path: str) -> list[str | Path]:
    """Return the model folders of a path: several if it was fine-tuned with several seeds."""
    return [*finetuned_models(Path(path))] if Path(path).is_dir() else [path]


def check_model(path: str, task: Task) -> None:
    """Raise unless a model, with all its seeds, is fine-tuned for the task. Reads headers only."""
    for folder in seed_folders(path):
        config, readout = read_shape(folder)
        _check_readout(folder, readout, task)
        if task.labels:
            check_labels(Predictor(SimpleNamespace(config=config), None), task.labels, task.name)


def expand_sizes(models: Sequence[str], sizes: Sequence[float]) -> list[tuple[str, float | None]]:
    """Combine each model with each size; a model of one size appears once. Reads headers only."""
    every = [model for model in models if _holds_every_size(model)]
    for model in every or models[:1]:
        _check_size(model, bool(every), bool(sizes))
    return [(model, size) for model in models for size in (sizes if model in every else (None,))]


def check_fallback(models: Sequence[str], codes: Sequence[str], fallback: str | None) -> None:
    """Raise if a language needs the gates of a fallback that a model lacks. Reads headers only."""
    banks = {str(folder): rows for model in models for folder, rows in _rows(model)}
    if fallback is None or any(own_row(fallback, rows) for rows in banks.values()):
        return
    for folder, rows in banks.items():
        if not all(related_row(code, rows) for code in codes):
            see = f"{folder} has gates of: {', '.join(rows)}."
            raise UnknownName("fallback", fallback, rows, see)


def _rows(model: str) -> list[tuple[str | Path, tuple[str, ...]]]:
    """Return the names of the gate rows of each seed of a model, if it has any."""
    glances = [(folder, glance_gating(find(folder))) for folder in seed_folders(model)]
    return [(folder, glance[1]) for folder, glance in glances if glance is not None]


def _holds_every_size(model: str) -> bool:
    glances = [glance_gating(find(folder)) for folder in seed_folders(model)]
    return any(glance is not None and glance[0] == "dynamic" for glance in glances)


def _check_readout(path: str | Path, readout: str, task: Task) -> None:
    if task.kind.readout not in ("hidden-states", readout):
        raise ConfigError(
            f"{path} has the readout {readout}, and {task.title} needs {task.kind.readout}. "
            f"First: polyprune finetune {path} --task {task.name}."
        )


def _check_size(path: str | Path, every: bool, asked: bool) -> None:
    if every and not asked:
        raise ConfigError(f"{path} holds every size: say which, such as --sparsity 0.5.")
    if asked and not every:
        raise ConfigError(f"{path} has one size: leave --sparsity out.")
