"""Translation retrieval: nearest sentences, and pairs by ratio margin."""

from collections.abc import Hashable, Iterable, Sequence
from typing import TypeVar

import torch
from torch import Tensor

from ..errors import DataError
from ..model.network.tensor_types import Float, Int
from .examples import Bitext

Source = TypeVar("Source", bound=Hashable)
Target = TypeVar("Target", bound=Hashable)

BLOCK = 2**26
"""The number of similarities held in memory at a time: 256 MB. A row is never split."""


def nearest(
    keys: Float[Tensor, "keys width"],
    queries: Float[Tensor, "queries width"],
    *,
    device: str = "auto",
    block: int = BLOCK,
) -> Int[Tensor, " queries"]:
    """Return for each query the position of the key with the highest cosine.

    Args:
        keys: sentences to choose from, of any length.
        queries: sentences to look for.
        device: where to compute; `auto` is a GPU if there is one, or else where the keys are.
        block: how many similarities to hold at a time.
    """
    if not len(keys):
        raise DataError("There are no sentences to search in. Give at least one.")
    place = _place(device, keys)
    database = _directions(keys, place)
    found = [(rows @ database.T).argmax(1) for rows in _rows(queries, len(keys), place, block)]
    return torch.cat(found).to(queries.device)


def mine_pairs(
    source: Float[Tensor, "sources width"],
    target: Float[Tensor, "targets width"],
    k: int = 4,
    *,
    device: str = "auto",
    block: int = BLOCK,
) -> list[tuple[int, int, float]]:
    """Return source position, target position and score of likely translations, best first.

    The score is the cosine of a pair over the mean cosine with the `k` nearest of either side
    (ratio margin). Each sentence proposes the one among its `k` nearest that it scores highest
    with. The proposals of both sides are taken from the best on, each sentence once.
    """
    if k < 1:
        raise ValueError(f"k is {k}. Compare with one neighbour or more.")
    if not len(source) or not len(target):
        return []
    place = _place(device, source)
    forward, forward_positions = _neighbours(source, target, k, place, block)
    backward, backward_positions = _neighbours(target, source, k, place, block)
    there, there_scores = _propose(forward, forward_positions, backward.mean(1))
    back, back_scores = _propose(backward, backward_positions, forward.mean(1))
    sources = torch.cat((torch.arange(len(source), device=place), back)).tolist()
    targets = torch.cat((there, torch.arange(len(target), device=place))).tolist()
    return _greedy(sources, targets, torch.cat((there_scores, back_scores)))


def mine_ids(
    bitext: Bitext,
    source_embeddings: Float[Tensor, "sources width"],
    target_embeddings: Float[Tensor, "targets width"],
    k: int = 4,
    *,
    device: str = "auto",
) -> list[tuple[str, str, float]]:
    """Return source id, target id and score of likely translations in a bitext, best first.

    A sentence that occurs more than once is one sentence to `mine`, so it takes its partner away
    from others, but is left out afterwards: nobody could say which of its ids is meant.
    """
    _check_count(bitext.sources, source_embeddings)
    _check_count(bitext.targets, target_embeddings)
    source_rows, target_rows = unique_positions(bitext.sources), unique_positions(bitext.targets)
    source_ids = _ids_of_unique(bitext.sources, bitext.source_ids)
    target_ids = _ids_of_unique(bitext.targets, bitext.target_ids)
    pairs = mine_pairs(
        source_embeddings[source_rows], target_embeddings[target_rows], k, device=device
    )
    named = (
        (source_ids[source_rows[a]], target_ids[target_rows[b]], score) for a, b, score in pairs
    )
    return [(a, b, score) for a, b, score in named if a is not None and b is not None]


def unique_positions(sentences: Sequence[str]) -> list[int]:
    """Return the last position of each distinct sentence, in order of first occurrence."""
    return list({sentence: position for position, sentence in enumerate(sentences)}.values())


def best_threshold(
    pairs: Sequence[tuple[Source, Target, float]], gold: Iterable[tuple[Source, Target]]
) -> float:
    """Return the score threshold with the highest F1 against gold pairs.

    It is half way to the next pair, or at the last pair itself. If no pair is right, 0: take all.
    """
    right = set(gold)
    if not pairs:
        raise DataError("There are no pairs to choose a threshold from. Mine some sentences first.")
    ordered = sorted(pairs, key=lambda pair: -pair[2])
    best, threshold, correct = 0.0, 0.0, 0
    for taken, (source, target, score) in enumerate(ordered, 1):
        if (source, target) not in right:
            continue  # F1 only rises at pairs that are right
        correct += 1
        # Not the shorter 2 * correct / (taken + len(right)): rounding decides between equals.
        precision, recall = correct / taken, correct / len(right)
        f1 = 2 * precision * recall / (precision + recall)
        if f1 > best:
            following = ordered[taken][2] if taken < len(ordered) else score
            best, threshold = f1, (score + following) / 2
    return threshold


def above_threshold(
    pairs: Iterable[tuple[Source, Target, float]], threshold: int | float
) -> list[tuple[Source, Target]]:
    """Return the pairs that score at least the threshold, without their scores."""
    return [(source, target) for source, target, score in pairs if score >= threshold]


def _place(device: str, tensor: Tensor) -> torch.device:
    if device != "auto":
        return torch.device(device)
    return torch.device("cuda") if torch.cuda.is_available() else tensor.device


def _directions(vectors: Tensor, place: torch.device) -> Tensor:
    return torch.nn.functional.normalize(vectors.detach().to(place, torch.float32), dim=1)


def _rows(queries: Tensor, keys: int, place: torch.device, block: int) -> Iterable[Tensor]:
    """The queries, normalised, so many at a time that their similarities fill a block."""
    for rows in queries.split(max(1, block // keys)):
        yield _directions(rows, place)


def _neighbours(
    queries: Tensor, keys: Tensor, k: int, place: torch.device, block: int
) -> tuple[Tensor, Tensor]:
    """The highest cosines of each query, and the positions of their keys: two of (queries, k)."""
    database = _directions(keys, place)
    k = min(k, len(keys))
    found = [(rows @ database.T).topk(k, dim=1) for rows in _rows(queries, len(keys), place, block)]
    return torch.cat([values for values, _ in found]), torch.cat([where for _, where in found])


def _propose(cosines: Tensor, positions: Tensor, means: Tensor) -> tuple[Tensor, Tensor]:
    """For each sentence its best partner among its nearest, and the score of the two."""
    usual = (cosines.mean(1, keepdim=True) + means[positions]) / 2
    scores, best = (cosines / usual).nan_to_num(nan=-torch.inf).max(1)  # 0 / 0 is no likeness
    return positions.gather(1, best[:, None])[:, 0], scores


def _greedy(sources: list[int], targets: list[int], scores: Tensor) -> list[tuple[int, int, float]]:
    ordered, order = scores.sort(descending=True, stable=True)
    seen_sources, seen_targets, pairs = set(), set(), []
    for score, proposal in zip(ordered.tolist(), order.tolist(), strict=True):
        source, target = sources[proposal], targets[proposal]
        # The official script leaves out what scores 0 or less, and from here on all does.
        if score <= 0:
            break
        if source not in seen_sources and target not in seen_targets:
            seen_sources.add(source)
            seen_targets.add(target)
            pairs.append((source, target, score))
    return pairs


def _ids_of_unique(sentences: Sequence[str], ids: Sequence[str]) -> list[str | None]:
    """The id of each sentence, None if another is the same but for space around it."""
    bare = [sentence.strip() for sentence in sentences]
    times: dict[str, int] = {}
    for sentence in bare:
        times[sentence] = times.get(sentence, 0) + 1
    return [
        name if times[sentence] == 1 else None for sentence, name in zip(bare, ids, strict=True)
    ]


def _check_count(sentences: Sequence[str], embeddings: Tensor) -> None:
    if len(sentences) != len(embeddings):
        raise ValueError(
            f"There are {len(embeddings)} embeddings for {len(sentences)} sentences. "
            "Give one for each."
        )
