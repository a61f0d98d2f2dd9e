"""Results as large as anybody has: 100 languages, ten sizes, nine tasks, gates a language."""

import random

from polyprune.corpora.languages import languages
from polyprune.evaluation.tasks import TASKS
from polyprune.reporting.results import (
    Distances,
    KeptComponents,
    LayerWidths,
    Results,
    Score,
    System,
    SystemSize,
)

LAYERS, HEADS, UNITS, RANK = 12, 12, 3072, 768
SIZES = tuple(i / 10 for i in range(1, 11))
DRAWN = (0.1, 0.3, 0.5, 0.7, 0.9)
"""The sizes whose distances are known."""

ANSWERS = ("xquad", "mlqa", "tydiqa")


def large_results(codes: tuple[str, ...] = tuple(languages()), seed: int = 0) -> Results:
    """Made up, but with the spread of digits that real ones have."""
    chance = random.Random(seed)
    dense = System("dense", "XLM-R base", None)
    cut = [System("l0", "Improved L0, non-shared", size, "non-shared") for size in SIZES]
    level = {code: chance.uniform(50, 90) for code in codes}
    kept = [_kept(system, code, chance) for system in cut for code in codes]
    return Results(
        title="Every language, every size",
        scores=tuple(
            _score(system, task, level, chance) for system in (dense, *cut) for task in TASKS
        ),
        sizes=tuple(_size(system) for system in (dense, *cut)),
        kept=tuple(kept),
        distances=tuple(
            _distances(system, codes, chance) for system in cut if system.sparsity in DRAWN
        ),
        about={"model": "xlm-roberta-base", "command": "polyprune study study.toml"},
    )


def _score(system: System, task: str, level: dict[str, float], chance: random.Random) -> Score:
    names = ("f1", "exact") if task in ANSWERS else ("accuracy",)
    lost = 40 * (system.sparsity or 0) ** 2
    own = {
        code: {name: value - lost * chance.uniform(0.5, 1.5) for name in names}
        for code, value in level.items()
    }
    mean = {name: sum(each[name] for each in own.values()) / len(own) for name in names}
    return Score(system, task, mean, own, seed=1)


def _size(system: System) -> SystemSize:
    left = 1 - (system.sparsity or 0)
    faster = None if system.sparsity is None else 1 / (left + 0.2)
    return SystemSize(
        system,
        parameters=192e6 + 86e6 * left,
        layer_parameters=86e6 * left,
        bytes=4 * (192e6 + 86e6 * left),
        multiply_adds=1e10 * left,
        sentences_per_second=40.0 * (faster or 1),
        faster=faster,
        low=faster and 0.97 * faster,
        high=faster and 1.03 * faster,
    )


def _kept(system: System, code: str, chance: random.Random) -> KeptComponents:
    left = 1 - (system.sparsity or 0)
    shares = [min(1.0, max(0.0, chance.gauss(left, 0.15))) for _ in range(LAYERS)]
    kept = LayerWidths(
        tuple(round(HEADS * share) for share in shares),
        tuple(round(UNITS * share) for share in shares),
        round(RANK * (0.5 + left / 2)),
    )
    return KeptComponents(
        system, code, kept, LayerWidths((HEADS,) * LAYERS, (UNITS,) * LAYERS, RANK)
    )


def _distances(system: System, codes: tuple[str, ...], chance: random.Random) -> Distances:
    known = languages()
    matrix = [[0.0] * len(codes) for _ in codes]
    for i, a in enumerate(codes):
        for j in range(i):
            kin = a in known and codes[j] in known and known[a].family == known[codes[j]].family
            apart = chance.uniform(0.05, 0.2) if kin else chance.uniform(0.15, 0.35)
            matrix[i][j] = matrix[j][i] = apart
    return Distances(system, codes, tuple(map(tuple, matrix)))
