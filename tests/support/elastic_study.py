"""A study with an elastic system, which has an uncut size of its own, and a dense one."""

from polyprune.reporting.results import Results, Score, System, SystemSize

DENSE = System("dense", "Dense")
UNCUT, HALF = (System("ds", "Elastic", sparsity) for sparsity in (0.0, 0.5))
GRAD = System("grad", "Grad", 0.5)

POINTS = {
    DENSE: {"en": (90.0, 90.0), "fr": (85.0, 87.0), "sw": (70.0, 74.0)},
    UNCUT: {"en": (84.0, 86.0), "fr": (80.0, 82.0), "sw": (60.0, 64.0)},
    HALF: {"en": (80.0, 82.0), "fr": (74.0, 76.0), "sw": (42.0, 44.0)},
    GRAD: {"en": (70.0, 72.0), "fr": (60.0, 62.0), "sw": (30.0, 34.0)},
}
"""The scores of each system in each language, with two seeds."""


def elastic_study() -> Results:
    scores = []
    for system, languages in POINTS.items():
        for seed in (0, 1):
            own = {code: {"accuracy": values[seed]} for code, values in languages.items()}
            mean = sum(values[seed] for values in languages.values()) / len(languages)
            scores.append(Score(system, "xnli", {"accuracy": mean}, own, "transfer", seed))
    sizes = [SystemSize(DENSE, parameters=10e6, faster=1.0), SystemSize(UNCUT, 10e6, faster=0.9)]
    sizes += [SystemSize(each, 6e6, faster=1.5) for each in (HALF, GRAD)]
    return Results("An elastic study", tuple(scores), tuple(sizes))


def over_seeds(system: System, code: str) -> float:
    return sum(POINTS[system][code]) / 2


def over_languages(system: System) -> float:
    return sum(over_seeds(system, code) for code in POINTS[system]) / len(POINTS[system])
