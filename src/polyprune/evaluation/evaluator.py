"""Score a model in every language of a task."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import stdev
from typing import Any

from ..averages import mean_over_languages, mean_over_seeds
from ..device import on_device
from ..errors import ConfigError
from ..progress import SILENT, Progress
from .eval_config import EvalConfig, EvalData
from .gate_rows import is_borrowed
from .loaded_model import (
    EvalModel,
    LoadedModel,
    check_fallback,
    check_labels,
    check_model,
    expand_sizes,
    name_of,
    regime_of,
    seeds_of,
)
from .sentence_embedding import EmbeddingConfig
from .submission import write_predictions
from .task_types import Predictor
from .tasks import Task


@dataclass(frozen=True, slots=True)
class LanguageResult:
    """The scores of one language."""

    language: str
    examples: int
    """The number of examples; for retrieval, of sentences in the language."""
    scores: dict[str, float] | None
    """Scores in percent; None if the data has no gold labels."""
    gates: str | None = None
    """The language whose gates were used, if they were not its own."""


def evaluate(
    candidate: LoadedModel, task: Task, eval_config: EvalConfig, data: EvalData | None = None
) -> Iterator[LanguageResult]:
    """Score a loaded model on a task, whose data is read unless given; one result per language."""
    kind = eval_config.kind(task)
    if task.labels:
        check_labels(candidate.model.config, task, str(candidate.model.source))
    data = data or eval_config.read_all(task)
    for code, own in data.languages.items():
        model, row = candidate.for_language(code, eval_config.fallback)
        embedding = None
        if kind.readout.embeds:
            embedding = EmbeddingConfig.of(model, eval_config.layer)
        subject = Predictor(model, candidate.tokenizer, None, embedding, eval_config.device)
        with on_device(model, eval_config.device):
            predictions = kind.predict(subject, own.examples, own.dev)
        if eval_config.predictions is not None:
            write_predictions(eval_config.predictions, task, code, predictions, eval_config.split)
        yield LanguageResult(
            language=code,
            examples=kind.count(own.examples),
            scores=None if own.gold is None else task.score(own.gold, predictions, code),
            gates=row if row and is_borrowed(code, row) else None,
        )


@dataclass(frozen=True, slots=True)
class SystemResult:
    """The scores of a system: one model of one size, or several that differ in their seeds."""

    model: str
    sparsity: float | None
    seeds: list[list[LanguageResult]]
    regime: str | None = None
    """What the model was fine-tuned on, if it says so."""

    @property
    def languages(self) -> dict[str, LanguageResult]:
        """The results by language, with scores averaged over seeds."""
        return {
            same[0].language: replace(
                same[0], scores=mean_over_seeds(each.scores for each in same) or None
            )
            for same in zip(*self.seeds, strict=True)
        }

    @property
    def mean(self) -> dict[str, float] | None:
        """The mean of each score over the languages that have it."""
        return mean_scores(self.languages.values())

    @property
    def spread(self) -> dict[str, float] | None:
        """The standard deviation over seeds of the mean over languages."""
        if len(self.seeds) < 2 or self.mean is None:
            return None
        means = [mean_scores(own) or {} for own in self.seeds]
        return {name: stdev([each[name] for each in means]) for name in self.mean}

    def record(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "model": self.model,
            "sparsity": self.sparsity,
            "seeds": len(self.seeds),
            "regime": self.regime,
            "mean": self.mean,
            "spread": self.spread,
            "languages": language_records(self.languages.values()),
        }


def evaluate_all(
    models: Mapping[str, EvalModel] | Sequence[EvalModel],
    task: Task,
    eval_config: EvalConfig,
    sizes: Sequence[float] = (),
    progress: Progress = SILENT,
) -> list[SystemResult]:
    """Score models on a task side by side, elastic ones in each of these sizes.

    Models are a mapping from names, or called by their paths. The data is read once. Whatever is
    wrong with the models, the options or the data is raised before the first model is loaded.
    """
    names = list(models) if isinstance(models, Mapping) else [name_of(each) for each in models]
    several = list(models.values()) if isinstance(models, Mapping) else models
    for model in several:
        check_model(model, task)
    wanted = [
        (name, model, size)
        for name, model, own in zip(names, several, expand_sizes(several, sizes), strict=True)
        for size in own
    ]
    if eval_config.predictions is not None and len(wanted) > 1:
        raise ConfigError("`predictions` is for one model of one size.")
    eval_config.check(task)
    data = eval_config.read_all(task)
    check_fallback(several, list(data.languages), eval_config.fallback)
    total = len(data.languages) * sum(len(seeds_of(model)) for _, model, _ in wanted)
    with progress.stage("Evaluating", total):
        return [
            replace(evaluate_system(model, task, eval_config, size, progress, data), model=name)
            for name, model, size in wanted
        ]


def evaluate_system(
    model: EvalModel,
    task: Task,
    eval_config: EvalConfig,
    sparsity: float | None = None,
    progress: Progress = SILENT,
    data: EvalData | None = None,
) -> SystemResult:
    """Score a model on a task, or all seeds of one that was fine-tuned several times."""
    results, name = [], name_of(model)
    seeds = seeds_of(model)
    data = data or eval_config.read_all(task)
    if len(seeds) > 1 and eval_config.predictions is not None:
        raise ConfigError(f"{name} holds several seeds: write predictions of one, {seeds[0]}.")
    if eval_config.predictions is not None:  # if that cannot be, then now
        (eval_config.predictions / task.name).mkdir(parents=True, exist_ok=True)
    for seed in seeds:
        candidate = LoadedModel.load(seed, task, sparsity)
        languages = evaluate(candidate, task, eval_config, data)
        results.append(list(progress.track(name, languages)))
    return SystemResult(name, sparsity, results, regime_of(model, task))


def mean_scores(results: Iterable[LanguageResult]) -> dict[str, float] | None:
    """The mean of each score over the languages that have it; None if none has."""
    return mean_over_languages({each.language: each.scores for each in results}) or None


def language_records(results: Iterable[LanguageResult]) -> dict[str, dict[str, Any]]:
    """The results by language, as JSON has them."""
    return {
        each.language: {name: value for name, value in asdict(each).items() if name != "language"}
        for each in results
    }
