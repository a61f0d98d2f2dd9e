"""The scores of XTREME's tasks: functions of gold, predictions and language, in percent."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from ..errors import DataError
from .metrics import PrecisionRecall, accuracy, chunk_scores, mlqa, set_scores, squad

Gold = Sequence[tuple[str, list[str]]]
"""Question ids with all their correct answers."""


def accuracy_score(
    gold: Sequence[str | int], predicted: Sequence[str | int], language: str
) -> dict[str, float]:
    """Accuracy of labels, or of retrieved line numbers."""
    return {"accuracy": 100 * accuracy(gold, predicted)}


def chunk_score(
    gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]], language: str
) -> dict[str, float]:
    """Return the tags, sentence by sentence."""
    return _percent(chunk_scores(gold, predicted))


def pair_score(
    gold: Sequence[tuple[str, str]], predicted: Sequence[tuple[str, str]], language: str
) -> dict[str, float]:
    """F1, precision and recall of pairs of ids."""
    return _percent(set_scores(gold, predicted))


def squad_score(gold: Gold, predicted: Mapping[str, str], language: str) -> dict[str, float]:
    """F1 and exact match by SQuAD's English rules, which XTREME uses in every language."""
    return _answers(gold, predicted, squad)


def mlqa_score(gold: Gold, predicted: Mapping[str, str], language: str) -> dict[str, float]:
    """F1 and exact match by MLQA's rules for the language."""
    return _answers(gold, predicted, partial(mlqa, language=language))


def _percent(scores: PrecisionRecall) -> dict[str, float]:
    return {
        "f1": 100 * scores.f1,
        "precision": 100 * scores.precision,
        "recall": 100 * scores.recall,
    }


def _answers(
    gold: Gold,
    given: Mapping[str, str],
    score: Callable[[str, list[str]], tuple[float, float]],
) -> dict[str, float]:
    if not gold:
        raise DataError("There are no questions to score. Give at least one.")
    f1 = exact = 0.0
    for name, answers in gold:
        if name in given:  # without a prediction a question scores 0, but counts
            scores = score(given[name], answers)
            f1, exact = f1 + scores[0], exact + scores[1]
    return {"f1": 100 * f1 / len(gold), "exact": 100 * exact / len(gold)}
