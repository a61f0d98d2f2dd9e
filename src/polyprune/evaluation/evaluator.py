"""Score a model in every language of a task."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from statistics import stdev
from typing import Any

from ..averages import mean_over_languages, mean_over_seeds
from ..errors import ConfigError
from ..progress import SILENT, Progress
from ..pruning.criteria.scoring import on_device
from .eval_config import EvalConfig
from .gate_rows import is_borrowed
from .loaded_model import LoadedModel, seed_folders
from .sentence_embedding import EmbeddingConfig
from .submission import write_predictions
from .task_types import Predictor, check_labels
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
    candidate: LoadedModel, task: Task, eval_config: EvalConfig
) -> Iterator[LanguageResult]:
    """Score a loaded model on a task; yield one result per language."""
    kind = eval_config.kind(task)
    if task.labels:
        check_labels(Predictor(candidate.model, candidate.tokenizer), task.labels, task.name)
    for code in eval_config.codes(task):
        examples = eval_config.read(task, code)
        model, row = candidate.for_language(code, eval_config.fallback)
        embedding = None
        if kind.readout == "hidden-states":
            embedding = EmbeddingConfig.of(model, eval_config.layer)
        subject = Predictor(model, candidate.tokenizer, None, embedding, eval_config.device)
        with on_device(model, eval_config.device):
            predictions = kind.predict(
                subject, examples, partial(eval_config.dev, task, code, examples)
            )
        if eval_config.predictions is not None:
            write_predictions(
                eval_config.predictions, task.name, code, predictions, eval_config.split
            )
        gold = eval_config.gold(task, code, examples)
        yield LanguageResult(
            language=code,
            examples=kind.count(examples),
            scores=None if gold is None else task.score(gold, predictions, code),
            gates=row if row and is_borrowed(code, row) else None,
        )


@dataclass(frozen=True, slots=True)
class SystemResult:
    """The scores of a system: one model of one size, or several that differ in their seeds."""

    model: str
    sparsity: float | None
    seeds: list[list[LanguageResult]]

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
        return _over_languages(self.languages.values())

    @property
    def spread(self) -> dict[str, float] | None:
        """The standard deviation over seeds of the mean over languages."""
        if len(self.seeds) < 2 or self.mean is None:
            return None
        means = [_over_languages(own) or {} for own in self.seeds]
        return {name: stdev([each[name] for each in means]) for name in self.mean}

    def record(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "model": self.model,
            "sparsity": self.sparsity,
            "seeds": len(self.seeds),
            "mean": self.mean,
            "spread": self.spread,
            "languages": {
                code: {name: value for name, value in asdict(each).items() if name != "language"}
                for code, each in self.languages.items()
            },
        }


def evaluate_system(
    path: str,
    task: Task,
    eval_config: EvalConfig,
    sparsity: float | None = None,
    progress: Progress = SILENT,
) -> SystemResult:
    """Score a model on a task, or all seeds of one that was fine-tuned several times."""
    seeds = []
    folders = seed_folders(path)
    if len(folders) > 1 and eval_config.predictions is not None:
        raise ConfigError(f"{path} holds several seeds: write predictions of one, {folders[0]}.")
    if eval_config.predictions is not None:  # if that cannot be, then now
        (eval_config.predictions / task.name).mkdir(parents=True, exist_ok=True)
    for folder in folders:
        candidate = LoadedModel.load(folder, task, sparsity)
        seeds.append(list(progress.track(path, evaluate(candidate, task, eval_config))))
    return SystemResult(path, sparsity, seeds)


def _over_languages(results: Iterable[LanguageResult]) -> dict[str, float] | None:
    return mean_over_languages({each.language: each.scores for each in results}) or None
