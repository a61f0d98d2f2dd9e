"""`polyprune.evaluate`: scores in every language, of one model or of several side by side."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..evaluation.eval_config import EvalConfig
from ..evaluation.evaluator import SystemResult, evaluate_all
from ..evaluation.loaded_model import EvalModel, facts_of
from ..evaluation.own_tasks.choosing import choose_task
from ..evaluation.tasks import Task
from ..progress import Progress
from ..reporting.tables.table import Table
from ..versions import versions
from .finetune import FinetuneResult
from .inputs import ModelLike, quiet_loading, resolve_model
from .requests.tasks import EvaluateRequest
from .result import Result, make_table
from .verb import verb


@dataclass(frozen=True, slots=True, repr=False)
class EvaluateResult(Result):
    """The scores of models on a task, one system per model and size."""

    task: Task
    config: EvalConfig
    systems: tuple[SystemResult, ...]
    versions: dict[str, str]

    @property
    def title(self) -> str:
        """The task, the split, and for a task of one's own the metric."""
        metric = f", {self.task.metric}" if self.task.metric else ""
        return f"{self.task.title}, {self.config.split}{metric}"

    @property
    def missing(self) -> list[str]:
        """The languages of the task that were not scored."""
        return [code for code in self.task.languages if code not in self.systems[0].languages]

    def as_dict(self) -> dict[str, Any]:
        """What was asked, and the scores of every system in every language."""
        return {
            "task": self.task.name,
            "version": self.task.version,
            **({"title": self.task.title, "metric": self.task.metric} if self.task.metric else {}),
            **self.config.record(),
            "missing": self.missing,
            "versions": self.versions,
            "systems": [system.record() for system in self.systems],
        }

    def summary(self) -> Iterator[Table | str]:
        """One row per language, one column per system, and what there is to say about them."""
        yield make_table(["language", *self.names()], self.rows(), title=self.title)
        yield from self.notes()

    def rows(self) -> list[list[str]]:
        """The scores of each language, and their mean last."""
        first = self.systems[0].languages
        rows = [
            [code, *(_cell(system.languages[code].scores) for system in self.systems)]
            for code in first
        ]
        scored = sum(each.scores is not None for each in first.values())
        means = (_cell(system.mean, system.spread) for system in self.systems)
        return [*rows, [f"mean ({scored})", *means]]

    def names(self, width: int = 80) -> list[str]:
        """What columns are called: models as given, or their last parts where there is no room."""
        paths = [system.model for system in self.systems]
        names, count = paths, 0
        room = (width - len("mean (40)")) // len(paths) - 2
        if max(map(len, paths)) > room:
            names = []
            while len(set(names)) < len(set(paths)):  # as many parts as tell them apart
                count += 1
                names = ["/".join(Path(path).parts[-count:]) for path in paths]
        names = [name if len(name) <= room else name.replace("/", "/\n") for name in names]
        return [
            name if system.sparsity is None else f"{name}\n{system.sparsity:.0%} cut"
            for name, system in zip(names, self.systems, strict=True)
        ]

    def notes(self) -> Iterator[str]:
        """What could not be scored, whose gates were used, and where predictions are."""
        first = self.systems[0].languages
        blank = [code for code, each in first.items() if each.scores is None]
        if blank:
            all_of_them = len(blank) == len(first)
            which = "Nothing can be scored" if all_of_them else f"No score for {', '.join(blank)}"
            yield f"{which}: the data does not tell what is right; see `labels`."
        for system in self.systems:
            lent = {code: own.gates for code, own in system.languages.items() if own.gates}
            if lent:
                those = ", ".join(f"{code} ({row})" for code, row in lent.items())
                yield f"{system.model}: gates of other languages for {those}."
        if self.missing and not self.config.languages:
            yield f"No data for {', '.join(self.missing)}."
        if self.config.predictions is not None:
            yield f"Predictions are in {self.config.predictions / self.task.name}."


@verb(EvaluateRequest)
def evaluate(
    models: ModelLike | Sequence[ModelLike] | Mapping[str, ModelLike],
    request: EvaluateRequest,
    progress: Progress,
) -> EvaluateResult:
    """Score models on a task of XTREME or of your own, language by language, side by side.

    One model, several, or a mapping from names to models. Retrieval takes any encoder, the other
    tasks a model fine-tuned for them. Of a folder with several seeds, mean and spread.
    """
    quiet_loading()
    resolved = _resolved(models)
    first = next(iter(resolved.values() if isinstance(resolved, dict) else resolved))
    task, data = choose_task(request.task, request.data, facts_of(first), request.metric)  # pyright: ignore[reportArgumentType]
    config = EvalConfig(
        data=data,
        split=request.split,
        languages=tuple(request.languages) if request.languages else None,
        limit=request.limit,
        labels=None if request.labels is None else str(request.labels),
        predictions=request.predictions,  # pyright: ignore[reportArgumentType]
        compat=request.compat,
        layer=request.layer,
        fallback=request.fallback,
        device=request.device,
    )
    sizes: Any = request.sparsity or ()
    systems = evaluate_all(resolved, task, config, sizes, progress)
    return EvaluateResult(task, config, tuple(systems), versions())


def _resolved(models: Any) -> dict[str, EvalModel] | list[EvalModel]:
    """The models that are meant, by the names that they were given, if they were."""
    if isinstance(models, Mapping):
        return {str(name): _resolve(model) for name, model in models.items()}
    return [_resolve(model) for model in (models if isinstance(models, list | tuple) else [models])]


def _resolve(model: ModelLike) -> EvalModel:
    """A path as it is, so that what is wrong with it is told before anything is loaded."""
    if isinstance(model, FinetuneResult):
        return model.folder
    return model if isinstance(model, str | Path) else resolve_model(model)


def _cell(scores: dict[str, float] | None, spread: dict[str, float] | None = None) -> str:
    """The score that counts; for answers, F1 and exact match."""
    if scores is None:
        return "–"
    shown = [scores["f1"], scores["exact"]] if "exact" in scores else [next(iter(scores.values()))]
    text = " / ".join(f"{value:.1f}" for value in shown)
    return text if spread is None else f"{text} ± {next(iter(spread.values())):.1f}"
