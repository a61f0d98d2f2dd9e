"""`polyprune.finetune`: a model for a task, dense or pruned, on one language or on all."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from ..evaluation.finetune_config import FineTuneConfig, SearchSpace, TaskTeacher
from ..evaluation.hyperparameter_search import HyperparameterSearch
from ..evaluation.loaded_model import facts_of
from ..evaluation.own_tasks.choosing import choose_task
from ..evaluation.run_search import run_search
from ..loading.hub import load
from ..model.network.gated_model import PolyprunePreTrainedModel
from ..progress import Progress
from ..reporting.tables.table import Table
from .inputs import ModelLike, model_folder, quiet_loading, work_folder
from .requests.tasks import FinetuneRequest
from .result import ModelResult, make_table
from .verb import verb


@dataclass(frozen=True, repr=False)  # without slots, so that the model is loaded once
class FinetuneResult(ModelResult):
    """The models that were kept, one per seed, and all that was tried."""

    title: str
    """The task, and the regime or the metric."""
    folder: Path
    """The folder that was worked in: `polyprune.evaluate` scores all its seeds."""
    models: tuple[Path, ...]
    results: tuple[dict[str, Any], ...]
    """Every trial: its setting, its dev score and those of every language."""
    scores: tuple[float | None, ...]
    """The dev score of each model; None without labelled dev data."""
    temporary: Any = None
    """Keeps the folder for as long as the result, where no place was given."""

    @cached_property
    def model(self) -> PolyprunePreTrainedModel:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The model of the first seed."""
        return load(self.models[0])

    def as_dict(self) -> dict[str, Any]:
        """The folders of the models, and every trial."""
        return {"models": [str(path) for path in self.models], "results": list(self.results)}

    def summary(self) -> Iterator[Table | str]:
        """What was tried, the best first, and where the models are."""
        best_first = sorted(self.results, key=lambda trial: -(trial["score"] or 0))
        columns = ["learning rate", "epochs", "seed", "dev", "at step"]
        yield make_table(columns, map(_row, best_first), title=self.title)
        known = [score for score in self.scores if score is not None]
        if len(known) == len(self.scores) > 1:
            yield f"dev {mean(known):.1f} ± {stdev(known):.1f} over {len(known)} seeds"
        if not self.temporary:
            yield f"Written to {', '.join(map(str, self.models))}."

    def complaints(self) -> Iterator[str]:
        """Whether there was anything to choose by."""
        if None in self.scores:
            yield "There is no dev data with labels: the last model is kept."


@verb(FinetuneRequest)
def finetune(model: ModelLike, request: FinetuneRequest, progress: Progress) -> FinetuneResult:
    """Fine-tune a model for a task of XTREME or of your own, and keep what is best on dev.

    Pruned models are fine-tuned like dense ones; those with gates for every language under their
    gates, and elastic ones in all sizes at once. With a `teacher`, such as the uncut model, its
    outputs are learned besides gold labels. In a folder that is given, fine-tuning that was
    stopped goes on where it was.
    """
    quiet_loading()
    with model_folder(model) as start, _teacher(request) as teacher:
        task, data = choose_task(
            request.task,  # pyright: ignore[reportArgumentType]
            request.data,  # pyright: ignore[reportArgumentType]
            facts_of(start),
            request.metric,
            trained=True,
        )
        setup = FineTuneConfig(
            model=start,
            task=task,
            data=data,
            regime=request.regime or task.regime,
            languages=tuple(request.languages) if request.languages else None,
            limit=request.limit,
            sparsity=request.sparsity,  # pyright: ignore[reportArgumentType]
            words=not request.freeze_words,
            fallback=request.fallback,
            teacher=teacher,
            precision=request.precision,
        )
        space = _search_space(setup, request)
        folder, temporary = work_folder(request.out)
        search = HyperparameterSearch(setup, space, folder, force=request.force)
        run_search(search, progress)
    return FinetuneResult(
        title=f"{setup.task.title}, {setup.task.metric or setup.regime}",
        folder=folder,
        models=tuple(search.models),
        results=tuple(search.results),
        scores=tuple(search.score(seed) for seed in space.seeds),
        temporary=temporary,
    )


@contextmanager
def _teacher(request: FinetuneRequest) -> Iterator[TaskTeacher | None]:
    """The teacher that a request names, as a folder or an id for as long as it is needed."""
    if request.teacher is None:
        yield None
        return
    with model_folder(request.teacher) as name:
        yield TaskTeacher(name, request.teacher_weight, request.temperature)


def _search_space(setup: FineTuneConfig, request: Any) -> SearchSpace:
    """What is tried: what the request names, else the task's own settings or the paper's search."""
    usual = SearchSpace.of(setup, request.grid)
    return replace(
        usual,
        learning_rates=request.learning_rate or usual.learning_rates,
        epochs=request.epochs or usual.epochs,
        seeds=request.seeds or usual.seeds,
        batch=request.batch,
    )


def _row(trial: dict[str, Any]) -> list[object]:
    setting, score = trial["setting"], trial["score"]
    without = "diverged" if trial.get("diverged") else "–"
    return [
        f"{setting['learning_rate']:g}",
        setting["epochs"],
        setting["seed"],
        without if score is None else f"{score:.1f}",
        f"{trial['step']:,} of {trial['steps']:,}",
    ]
