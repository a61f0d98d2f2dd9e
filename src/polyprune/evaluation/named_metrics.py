"""The metrics that a task of one's own can be scored by, each by its name.

Those of XTREME's own tasks are the official ones; see `tasks`.
"""

import logging
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import DataError, UnknownName
from .metrics import accuracy, chunk_scores
from .score_functions import squad_score

logger = logging.getLogger(__name__)

Labels = Sequence[Hashable]
LabelSets = Sequence[Iterable[Hashable]]
Tags = Sequence[Sequence[str]]


def f1_by_label(gold: LabelSets, predicted: LabelSets) -> tuple[float, float]:
    """Micro- and macro-F1 of sets of labels, over the labels that are in any of them.

    As scikit-learn has them. Labels that are neither there nor predicted do not count: of a
    language that has none of them nothing can be said.
    """
    right, said = Counter[Hashable](), Counter[Hashable]()
    for one, other in zip(gold, predicted, strict=True):
        right.update(set(one) & set(other))
        said.update(set(one))
        said.update(set(other))
    if not said:  # nothing was to be said, and nothing was said
        return 1.0, 1.0
    macro = sum(2 * right[label] / times for label, times in said.items()) / len(said)
    return 2 * right.total() / said.total(), macro


def correlations(gold: Sequence[float], predicted: Sequence[float]) -> dict[str, float]:
    """Pearson's and Spearman's correlation; 0 if all predictions are the same."""
    from scipy.stats import pearsonr, spearmanr

    if np.ptp(predicted) == 0:
        return {"pearson": 0.0, "spearman": 0.0}
    found: list[Any] = [pearsonr(gold, predicted), spearmanr(gold, predicted)]
    pearson, spearman = (100 * float(each.statistic) for each in found)
    return {"pearson": pearson, "spearman": spearman}


def one_label(gold: Labels, predicted: Labels, language: str) -> dict[str, float]:
    """The scores of one label each."""
    micro, macro = f1_by_label([{label} for label in gold], [{label} for label in predicted])
    right = accuracy(gold, predicted)  # pyright: ignore[reportArgumentType]
    return {"accuracy": 100 * right, "macro_f1": 100 * macro, "micro_f1": 100 * micro}


def label_sets(gold: LabelSets, predicted: LabelSets, language: str) -> dict[str, float]:
    """The scores of sets of labels."""
    micro, macro = f1_by_label(gold, predicted)
    exact = np.mean([set(a) == set(b) for a, b in zip(gold, predicted, strict=True)])
    return {"micro_f1": 100 * micro, "macro_f1": 100 * macro, "exact_match": 100 * float(exact)}


def numbers(gold: Sequence[float], predicted: Sequence[float], language: str) -> dict[str, float]:
    """The scores of numbers."""
    return correlations(gold, predicted)


def tags(gold: Tags, predicted: Tags, language: str) -> dict[str, float]:
    """The scores of tags: of chunks, and of words."""
    chunks = chunk_scores(gold, predicted)
    right, said = ([tag for own in side for tag in own] for side in (gold, predicted))
    words = one_label(right, said, language)
    found = {"precision": 100 * chunks.precision, "recall": 100 * chunks.recall}
    return {"chunk_f1": 100 * chunks.f1, **found, **words}


def answers(gold: Any, predicted: Any, language: str) -> dict[str, float]:
    """The scores of answers, by SQuAD's rules."""
    return squad_score(gold, predicted, language)


def translations(gold: Labels, predicted: Labels, language: str) -> dict[str, float]:
    """The score of retrieved translations."""
    return {"accuracy": 100 * accuracy(gold, predicted)}  # pyright: ignore[reportArgumentType]


METRICS: dict[str, tuple[Callable[[Any, Any, str], dict[str, float]], tuple[str, ...]]] = {
    "classification": (one_label, ("accuracy", "macro-f1", "micro-f1")),
    "multi-label": (label_sets, ("micro-f1", "macro-f1", "exact-match")),
    "regression": (numbers, ("pearson", "spearman")),
    "tagging": (tags, ("chunk-f1", "accuracy", "macro-f1", "micro-f1")),
    "question answering": (answers, ("f1", "exact-match")),
    "retrieval": (translations, ("accuracy",)),
}
"""The scores of each kind of task, and the names of those that may count, the usual one first."""


@dataclass(frozen=True, slots=True)
class NamedMetric:
    """The scores of a kind of task, the one that counts first."""

    kind: str
    name: str

    def __call__(self, gold: Any, predicted: Any, language: str) -> dict[str, float]:
        """Return all scores in percent, the main one first."""
        scores = METRICS[self.kind][0](gold, predicted, language)
        key = self.name.replace("-", "_")
        key = key if key in scores else "exact"  # as answers have it
        return {key: scores[key], **scores}

    def check(self, gold: Any, place: str) -> None:
        """Raise if labels cannot be scored by this metric; warn if the score says little."""
        same = _only_value(self.kind, gold)
        if same is None:
            return
        if self.kind == "regression":
            raise DataError(
                f"{self.name.capitalize()} is not defined where all numbers are the same: they are "
                f"{same} in the {place}. Give others, or leave the language out."
            )
        logger.warning(
            "All examples have the label %r in the %s: their score says little.", same, place
        )


def find_metric(kind: str, name: str, labels: Sequence[str] = ()) -> NamedMetric:
    """Return the metric of this name, or the usual one; tags that are no chunks count by word."""
    known = METRICS[kind][1]
    if not name:
        chunked = any(label[:2] in ("B-", "I-") for label in labels)
        plain = kind == "tagging" and bool(labels) and not chunked
        return NamedMetric(kind, "accuracy" if plain else known[0])
    if name not in known:
        see = f"For {kind} there are: {', '.join(known)}."
        raise UnknownName("metric", name, known, see)
    return NamedMetric(kind, name)


def _only_value(kind: str, gold: Any) -> Any:
    """Return the one value that all examples have; None if there are several."""
    if kind not in ("classification", "regression", "tagging", "multi-label") or len(gold) < 2:
        return None
    flat = [tag for each in gold for tag in each] if kind == "tagging" else gold
    values = {tuple(each) if isinstance(each, list) else each for each in flat}
    return values.pop() if len(values) == 1 else None
