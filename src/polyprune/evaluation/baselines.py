"""What somebody scores who has learned nothing: the least that a model must beat clearly."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .examples import Bitext, Question, SentencePair, TaggedSentence
from .retrieval_types import BitextMining, TranslationSearch
from .sentence_types import MultiLabelClassification, Regression
from .task_types import PairClassification, SpanExtraction, TaskType, TokenTagging
from .tasks import Task


def baseline_scores(
    task: Task, examples: Sequence[Any], gold: Any, language: str
) -> dict[str, float] | None:
    """Return the scores of a guess that needs no model; None if the data has no labels."""
    return None if gold is None else task.score(gold, guess(task.kind, examples), language)


def guess(kind: TaskType, examples: Sequence[Any]) -> Any:
    """Return the guess for a type of task, as a model's predictions are."""
    return next(own for known, own in GUESSES.items() if isinstance(kind, known))(examples)


def _most_frequent(labels: Iterable[Any]) -> Any:
    return Counter(labels).most_common(1)[0][0]


def _same_label(pairs: Sequence[SentencePair]) -> list[Any]:
    label = _most_frequent(pair.label for pair in pairs)
    return [label for _ in pairs]


def _same_tag(sentences: Sequence[TaggedSentence]) -> list[list[str]]:
    tag = _most_frequent(tag for sentence in sentences for tag in sentence.tags or ())
    return [[tag for _ in sentence.words] for sentence in sentences]


def _whole_text(questions: Sequence[Question]) -> dict[str, str]:
    return {each.id: each.context for each in questions}


def _same_spelling(examples: Sequence[Bitext]) -> list[int]:
    """The sentence whose letters are most like those of the English one: names and numbers."""
    (bitext,) = examples
    sources, targets = _trigrams(bitext.sources, bitext.targets)
    nearest = (targets @ sources.T).toarray().argmax(1)
    return [int(bitext.source_ids[i]) for i in nearest]


def _trigrams(*texts: Sequence[str]) -> list[Any]:
    """Return a row for each sentence, with a 1 for every three letters in it, of length 1."""
    import numpy as np
    from scipy.sparse import csr_matrix

    known: dict[str, int] = {}
    found = []
    for sentences in texts:
        own = [{f" {s} "[i : i + 3].casefold() for i in range(len(s))} for s in sentences]
        rows = [i for i, each in enumerate(own) for _ in each]
        columns = [known.setdefault(three, len(known)) for each in own for three in each]
        values = [len(each) ** -0.5 for each in own for _ in each]
        found.append((values, (rows, columns), len(sentences)))
    return [
        csr_matrix((v, places), shape=(n, len(known)), dtype=np.float64) for v, places, n in found
    ]


def _no_pairs(examples: Sequence[Bitext]) -> list[tuple[str, str]]:
    return []


GUESSES: dict[type[TaskType], Callable[[Sequence[Any]], Any]] = {
    PairClassification: _same_label,
    MultiLabelClassification: _same_label,
    Regression: _same_label,
    TokenTagging: _same_tag,
    SpanExtraction: _whole_text,
    TranslationSearch: _same_spelling,
    BitextMining: _no_pairs,
}
"""The most frequent label, the most frequent tag, the whole text, the sentence that is spelt most
alike, no pairs.
"""
