"""Compare a smaller model with the uncut one on plain text, by language: what did it keep?

A readout decides what is compared: labels, words, spans, embeddings. Each has two functions: what
of a model's outputs is looked at, and how those of two models compare, sentence by sentence.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F

from ..corpora.batching import Batching
from ..corpora.task_inputs import encode_inputs
from ..device import on_device
from ..estimates import Interval, mean_interval, share_interval
from ..model.fidelity import Fidelity, LanguageFidelity, Measure
from ..model.network.gated_model import PolyprunePreTrainedModel
from ..progress import SILENT, Progress
from ..pruning.criteria.losses import logits_at, mean_by_example
from .encoded_input import EncodedInput
from .examples import TaggedSentence
from .prediction import predict
from .sentence_embedding import EmbeddingConfig, embed
from .tagging import TaggingPreprocessor
from .task_types import labels_of

OUTSIDE = "O"
"""The label of words that are nothing in particular."""

LONGEST_WORD = 32
"""Letters of a word that is tagged; what is written without spaces is cut into such pieces."""

Columns = dict[str, np.ndarray]
"""What was found, one number a sentence."""


@dataclass(frozen=True, slots=True)
class HeldOutText:
    """Sentences to compare on, by language."""

    name: str
    lines: Mapping[str, Sequence[str]]
    seen: frozenset[str] = frozenset()
    """Languages whose sentences were read when the model was made."""


@dataclass(frozen=True, slots=True)
class Yardstick:
    """What two models with one readout are compared by."""

    outputs: Callable[[Any, Sequence[str], Batching], Any]
    """What is looked at of a model's outputs for some lines."""
    compare: Callable[[Any, Any, Any], Columns]
    """The outputs of the uncut and of the smaller model, and the uncut one's config."""


def compare_with_uncut(
    uncut: PolyprunePreTrainedModel,
    small: PolyprunePreTrainedModel,
    text: HeldOutText,
    batching: Batching,
    device: str = "cpu",
    progress: Progress = SILENT,
) -> Fidelity:
    """Compare two models with the same readout on some sentences of each language."""
    stick = YARDSTICKS[uncut.readout_kind.name]
    rows: dict[str, LanguageFidelity] = {}
    every: list[Columns] = []
    with ExitStack() as stack:
        stack.enter_context(progress.stage("Comparing with the uncut model", len(text.lines)))
        for model in (uncut, small):
            stack.enter_context(on_device(model, device))
        for code in progress.track("languages", list(text.lines)):
            lines = text.lines[code]
            theirs, ours = (stick.outputs(model, lines, batching) for model in (uncut, small))
            every.append(stick.compare(theirs, ours, uncut.config))
            rows[code] = LanguageFidelity(len(lines), _measures(every[-1]), code in text.seen)
    pooled = {name: np.concatenate([each[name] for each in every]) for name in every[0]}
    count = sum(row.sentences for row in rows.values())
    overall = LanguageFidelity(count, _measures(pooled), bool(text.seen))
    return Fidelity(text.name, rows, overall)


def _measures(found: Columns) -> tuple[Measure, ...]:
    """Sum up what was found, the measure that languages are compared by first."""
    measures = []
    if "cosine" in found:
        measures.append(Measure("cosine", _rounded(mean_interval(found["cosine"].tolist()))))
    if "neighbour" in found:
        measures.append(Measure("neighbours", _share(found["neighbour"], None), "%"))
    if "same" in found:
        measures.append(Measure("agreement", _share(found["same"], found["asked"]), "%"))
    if "score" in found:
        measures.append(Measure("correlation", _correlation(found["uncut_score"], found["score"])))
    if "loss" in found:
        known = np.isfinite(found["loss"]) & np.isfinite(found["uncut_loss"])
        before, after = found["uncut_loss"][known], found["loss"][known]
        change = _rounded(mean_interval((after - before).tolist())) if len(before) else None
        own = round(float(before.mean()), 5) if len(before) else None
        measures.append(Measure("loss", change, before=own))
    return tuple(measures)


def _share(same: np.ndarray, asked: np.ndarray | None) -> Interval | None:
    counts = np.ones_like(same) if asked is None else asked
    return _rounded(share_interval(same.tolist(), counts.tolist()), 100)


def _correlation(a: np.ndarray, b: np.ndarray) -> Interval | None:
    """Pearson's, with Fisher's interval; None where one of the models always says the same."""
    if len(a) < 4 or not np.ptp(a) or not np.ptp(b):
        return None
    from scipy.stats import pearsonr

    found: Any = pearsonr(a, b)
    between = found.confidence_interval()
    return _rounded(Interval(float(found.statistic), float(between.low), float(between.high)))


def _rounded(interval: Interval | None, factor: int = 1) -> Interval | None:
    """To what can be measured: it is written into a config."""
    if interval is None or not np.isfinite(interval.mean):
        return None
    ends = (
        None if end is None else round(factor * end, 5) for end in (interval.low, interval.high)
    )
    return Interval(round(factor * interval.mean, 5), *ends)


def _classes(model: Any, lines: Sequence[str], batching: Batching) -> np.ndarray:
    return np.stack(predict(model, _encoded(lines, batching), batching.tokenizer))


def _spans(model: Any, lines: Sequence[str], batching: Batching) -> np.ndarray:
    """The first and the last token of each answer."""
    found = predict(model, _encoded(lines, batching), batching.tokenizer)
    return np.stack([ends.argmax(-1) for ends in found])


def _encoded(lines: Sequence[str], batching: Batching) -> list[EncodedInput]:
    texts = [batching.prefix + line for line in lines]
    found = encode_inputs(texts, batching.tokenizer, batching.longest)
    return [EncodedInput(i, ids, types) for i, (ids, types) in enumerate(found)]


def _tags(model: Any, lines: Sequence[str], batching: Batching) -> list[np.ndarray]:
    """The label of the first piece of every word, by sentence."""
    sentences = [TaggedSentence(_words(line)) for line in lines]
    encode = TaggingPreprocessor(batching.longest).encode
    encoded = list(encode(sentences, batching.tokenizer))
    labels: list[list[int]] = [[] for _ in lines]
    for part, row in zip(encoded, predict(model, encoded, batching.tokenizer), strict=True):
        labels[part.example] += [int(row[place]) for place in part.about]
    return [np.array(each, dtype=int) for each in labels]


def _words(line: str) -> tuple[str, ...]:
    return tuple(
        word[i : i + LONGEST_WORD]
        for word in line.split()
        for i in range(0, len(word), LONGEST_WORD)
    )


def _embeddings(model: Any, lines: Sequence[str], batching: Batching) -> np.ndarray:
    way = EmbeddingConfig(
        model.shape.layers, model.source.pooling, batching.prefix, batching.longest
    )
    return embed(model, lines, batching.tokenizer, way).numpy()


@torch.inference_mode()
def _guesses(model: Any, lines: Sequence[str], batching: Batching) -> list[Columns]:
    """For every batch: the sentence of each masked word, its best guess, and sentences' losses."""
    found, training = [], model.training
    model.eval()
    for batch in batching.masked(lines):
        batch = {name: tensor.to(model.device) for name, tensor in batch.items()}
        chosen, labels = batch["labels"] != -100, batch["labels"]
        hidden = model.encoder(batch["input_ids"], batch["attention_mask"].bool())
        logits = logits_at(model, hidden, chosen).float()
        sentence = chosen.nonzero()[:, 0]
        losses = F.cross_entropy(logits, labels[chosen], reduction="none")
        mean = mean_by_example(losses, sentence, len(labels))
        mean[~chosen.any(1)] = torch.nan
        parts = {"sentence": sentence, "word": logits.argmax(-1), "loss": mean}
        found.append({name: tensor.cpu().numpy() for name, tensor in parts.items()})
    model.train(training)
    return found


def _compare_classes(theirs: np.ndarray, ours: np.ndarray, config: Any) -> Columns:
    kind = getattr(config, "problem_type", None)
    if kind == "regression" or ours.shape[1] == 1:
        return {"uncut_score": theirs.mean(1), "score": ours.mean(1)}
    if kind == "multi_label_classification":  # a label is given where its logit is above 0
        same = ((theirs > 0) == (ours > 0)).all(1)
    else:
        same = theirs.argmax(1) == ours.argmax(1)
    return {"same": same.astype(int), "asked": np.ones(len(same), dtype=int)}


def _compare_spans(theirs: np.ndarray, ours: np.ndarray, config: Any) -> Columns:
    same = (theirs == ours).all(1)
    return {"same": same.astype(int), "asked": np.ones(len(same), dtype=int)}


def _compare_tags(theirs: list[np.ndarray], ours: list[np.ndarray], config: Any) -> Columns:
    """Words that either model takes for something: most are nothing, and easy to agree on."""
    labels = labels_of(config)
    nothing = labels.index(OUTSIDE) if OUTSIDE in labels else -1
    asked = [(a != nothing) | (b != nothing) for a, b in zip(theirs, ours, strict=True)]
    same = [((a == b) & some).sum() for a, b, some in zip(theirs, ours, asked, strict=True)]
    return {"same": np.array(same), "asked": np.array([some.sum() for some in asked])}


def _compare_embeddings(theirs: np.ndarray, ours: np.ndarray, config: Any) -> Columns:
    kept = nearest_others(theirs) == nearest_others(ours)
    return {"cosine": cosines(theirs, ours).astype(float), "neighbour": kept.astype(int)}


def _compare_guesses(theirs: list[Columns], ours: list[Columns], config: Any) -> Columns:
    same, asked = [], []
    for a, b in zip(theirs, ours, strict=True):
        count = len(a["loss"])
        equal = a["word"] == b["word"]
        same.append(np.bincount(a["sentence"], equal, minlength=count).astype(int))
        asked.append(np.bincount(a["sentence"], minlength=count))
    columns = {"same": same, "asked": asked}
    columns |= {"uncut_loss": [a["loss"] for a in theirs], "loss": [b["loss"] for b in ours]}
    return {name: np.concatenate(parts) for name, parts in columns.items()}


def nearest_others(vectors: np.ndarray) -> np.ndarray:
    """Return the index of each vector's nearest other vector, by the angle between them."""
    directions = vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-12)
    near = directions @ directions.T
    np.fill_diagonal(near, -np.inf)
    return near.argmax(-1)


def cosines(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the cosine of each vector with the one at its place."""
    lengths = np.linalg.norm(a, axis=-1) * np.linalg.norm(b, axis=-1)
    return (a * b).sum(-1) / np.maximum(lengths, 1e-12)


YARDSTICKS = {
    "sentence-classification": Yardstick(_classes, _compare_classes),
    "token-classification": Yardstick(_tags, _compare_tags),
    "span": Yardstick(_spans, _compare_spans),
    "hidden-states": Yardstick(_embeddings, _compare_embeddings),
    "masked-lm": Yardstick(_guesses, _compare_guesses),
}
"""By readout."""
