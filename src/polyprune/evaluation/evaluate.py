"""A model's scores in every language of a task, dense or pruned, of one size or of many."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import fmean, pstdev
from types import SimpleNamespace
from typing import Any

from ..errors import ConfigError, UnknownName
from ..model.hub import find, read_shape
from ..model.modeling_polyprune import PolyprunePreTrainedModel
from ..pruning.elastic import load
from ..pruning.gating import DynamicGating
from ..pruning.scoring import on_device
from ..training.prepare import tokenizer_of
from .checks import check_there, checked, place_of, telling
from .embedding import Embedding
from .kinds import Answering, Kind, Subject, check_labels
from .predict import Watch
from .readers.labels import with_labels
from .readers.splits import CALLED
from .rows import is_borrowed, row_of
from .submission import write_predictions
from .tasks import Task
from .tuning import finetuned

SPLITS = ("test", "dev")


@dataclass(frozen=True, slots=True)
class Asking:
    """What is asked, and how."""

    data: str
    split: Any = "test"
    languages: tuple[str, ...] | None = None
    """All that there is data for unless given."""
    limit: int | None = None
    """Examples of each language."""
    labels: str | None = None
    """A folder of labels in XTREME's layout, for test files without."""
    predictions: Path | None = None
    """Where prediction files are written."""
    compat: bool = False
    """Answers cut out as the official script does, not by character offsets."""
    layer: int | None = None
    """Of sentence embeddings; the eighth of twelve, or a sentence encoder's own, unless given."""
    fallback: str = "en"
    """Whose gates a language without any uses."""
    device: str = "auto"
    """Where models run."""

    def __post_init__(self):
        if self.split not in SPLITS:
            raise UnknownName("split", self.split, SPLITS, f"There are: {', '.join(SPLITS)}.")

    def check(self, task: Task) -> None:
        """Raise for what a task has no use for, and for all that is wrong with its data.

        Everything is read for that: rather now than after an hour.
        """
        retrieval = task.kind.readout == "hidden-states"
        if self.layer is not None and not retrieval:
            raise ConfigError(f"--layer is for retrieval: leave it out for {task.title}.")
        if self.limit is not None and retrieval:
            raise ConfigError(
                f"{task.title} looks for translations among all sentences: leave --limit out."
            )
        codes = task.find(self.data, self.split, self.languages)
        check_there(task, self.data, self.split, codes)
        for code in codes:
            _gold(task, self, code, _read(task, self, self.split, code))


@dataclass(frozen=True, slots=True)
class LanguageResult:
    """How one language did."""

    language: str
    examples: int
    scores: dict[str, float] | None
    """In percent; None where the data does not tell what is right."""
    gates: str | None = None
    """Whose gates were used, where they were not its own."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A loaded model, with all its sizes and subnetworks."""

    model: PolyprunePreTrainedModel
    tokenizer: Any
    sparsity: float | None = None
    _cut: dict[str, PolyprunePreTrainedModel] = field(default_factory=dict)

    @classmethod
    def load(cls, path: str | Path, task: Task, sparsity: float | None = None) -> "Candidate":
        """A model with what a task needs of it."""
        folder = find(path)
        readout = task.kind.readout
        model = load(folder, "hidden-states" if readout == "hidden-states" else None)
        _check_readout(path, model.readout_kind, task)
        check_size(model, sparsity)
        return cls(model, tokenizer_of(folder, model), sparsity)

    def for_language(self, code: str, fallback: str) -> tuple[PolyprunePreTrainedModel, str | None]:
        """The model of a language, cut to its gates, and whose they are."""
        elastic: Any = self.model.elastic
        if elastic is None:
            return self.model, None
        row = row_of(code, elastic.rows, fallback)
        if row not in self._cut:
            self._cut.clear()  # one at a time: each is as large as the others
            name = self.model.config.name_or_path
            cut = elastic.take(self.model, self.sparsity, None if row == "shared" else [row])
            cut.config.name_or_path = name
            self._cut[row] = cut
        return self._cut[row], row


def check_model(path: str, task: Task) -> None:
    """Raise unless a model, or each of its seeds, was fine-tuned for a task; from headers alone."""
    for folder in folders_of(path):
        config, readout = read_shape(folder)
        _check_readout(folder, readout, task)
        if task.labels:
            check_labels(Subject(SimpleNamespace(config=config), None), task.labels, task.name)


def _check_readout(path: str | Path, readout: str, task: Task) -> None:
    if task.kind.readout not in ("hidden-states", readout):
        raise ConfigError(
            f"{path} has the readout {readout}, and {task.title} needs {task.kind.readout}. "
            f"First: polyprune finetune {path} --task {task.name}."
        )


def folders_of(path: str) -> list[str | Path]:
    """The models that a path stands for: several if it was fine-tuned with several seeds."""
    return [*finetuned(Path(path))] if Path(path).is_dir() else [path]


def check_size(model: PolyprunePreTrainedModel, sparsity: float | None) -> None:
    """Raise unless a model has this size, or needs none."""
    elastic: Any = model.elastic
    every = elastic is not None and isinstance(elastic.gating, DynamicGating)
    if every and sparsity is None:
        raise ConfigError("This model holds every size: say which, such as --sparsity 0.5.")
    if not every and sparsity is not None:
        raise ConfigError("This model has one size: leave --sparsity out.")


def evaluate(
    candidate: Candidate, task: Task, asking: Asking, watch: Watch = lambda _, things: things
) -> Iterator[LanguageResult]:
    """The scores of every language, one after the other."""
    kind = _kind(task, asking)
    codes = task.find(asking.data, asking.split, asking.languages)
    check_there(task, asking.data, asking.split, codes)
    for code in codes:
        examples = _read(task, asking, asking.split, code)
        model, row = candidate.for_language(code, asking.fallback)
        embedding = None
        if kind.readout == "hidden-states":
            embedding = Embedding.of(model, asking.layer)
        subject = Subject(model, candidate.tokenizer, None, embedding, watch)
        if task.labels:
            check_labels(subject, task.labels, task.name)
        dev = partial(_dev, task, asking, code, examples)
        with on_device(model, asking.device):
            predictions = kind.predict(subject, examples, dev)
        if asking.predictions is not None:
            write_predictions(asking.predictions, task.name, code, predictions, asking.split)
        gold = _gold(task, asking, code, examples)
        yield LanguageResult(
            language=code,
            examples=len(predictions),
            scores=None if gold is None else task.score(gold, predictions, code),
            gates=row if row and is_borrowed(code, row) else None,
        )


def _dev(task: Task, asking: Asking, code: str, examples: list[Any]) -> list[Any]:
    """What settings are chosen on; where dev itself is asked, that."""
    return examples if asking.split == "dev" else _read(task, asking, "dev", code)


def _read(task: Task, asking: Asking, split: Any, code: str) -> list[Any]:
    place = place_of(task, asking.data, split, code)
    # Files of labels are of all examples.
    most = asking.limit if asking.labels is None else None
    examples = list(islice(task.reader.read(asking.data, split, code), most))
    if asking.labels is not None and split == "test" and not _gold(task, asking, code, examples):
        examples = with_labels(task.name, examples, asking.labels, code)
        place = f"{CALLED[split]} of {task.name} for {code!r}, labelled by {asking.labels},"
    return list(checked(task, islice(examples, asking.limit), place))


def _gold(task: Task, asking: Asking, code: str, examples: list[Any]) -> Any:
    with telling(place_of(task, asking.data, asking.split, code)):
        return task.kind.gold(examples)


def _kind(task: Task, asking: Asking) -> Kind:
    kind = task.kind
    if asking.compat and isinstance(kind, Answering):
        return replace(kind, preprocessing=replace(kind.preprocessing, compat=True))
    return kind


@dataclass(frozen=True, slots=True)
class SystemResult:
    """How a system did: a model of one size, or several that differ in their seeds."""

    model: str
    sparsity: float | None
    seeds: list[list[LanguageResult]]

    @property
    def languages(self) -> dict[str, LanguageResult]:
        """Every language, its scores the mean over seeds."""
        return {
            same[0].language: replace(same[0], scores=_mean([each.scores for each in same]))
            for same in zip(*self.seeds, strict=True)
        }

    @property
    def mean(self) -> dict[str, float] | None:
        """Of each score over the languages that have one."""
        return _mean([each.scores for each in self.languages.values() if each.scores])

    @property
    def spread(self) -> dict[str, float] | None:
        """The deviation of that mean from seed to seed."""
        if len(self.seeds) < 2 or self.mean is None:
            return None
        means = [_mean([each.scores for each in own if each.scores]) or {} for own in self.seeds]
        return {name: pstdev([each[name] for each in means]) for name in self.mean}

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
    asking: Asking,
    sparsity: float | None = None,
    watch: Watch = lambda _, things: things,
) -> SystemResult:
    """The scores of a model, or of all seeds of one that was fine-tuned several times."""
    seeds = []
    folders = folders_of(path)
    if len(folders) > 1 and asking.predictions is not None:
        raise ConfigError(f"{path} holds several seeds: write predictions of one, {folders[0]}.")
    if asking.predictions is not None:  # if that cannot be, then now
        (asking.predictions / task.name).mkdir(parents=True, exist_ok=True)
    for folder in folders:
        candidate = Candidate.load(folder, task, sparsity)
        seeds.append(list(watch(f"{path}", evaluate(candidate, task, asking))))
    return SystemResult(path, sparsity, seeds)


def _mean(scores: Sequence[dict[str, float] | None]) -> dict[str, float] | None:
    known = [each for each in scores if each is not None]
    if not known:
        return None
    return {name: fmean(each[name] for each in known) for name in known[0]}
