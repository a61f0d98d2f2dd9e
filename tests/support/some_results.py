"""Results of two systems in two sizes, with whatever figures are made of."""

from polyprune.reporting.results import (
    Curve,
    Distances,
    KeptComponents,
    LayerWidths,
    Results,
    Score,
    System,
    SystemSize,
)

DENSE = System("dense", "Dense")
WHOLE = LayerWidths((4, 4), (10, 10), 8)


def cut(name, sparsity, title=""):
    return System(name, title or name.capitalize(), sparsity)


def score(system, task="xnli", seed=1, regime="transfer", **languages):
    own = {code: {"accuracy": value} for code, value in languages.items()}
    known = [value for value in languages.values() if value is not None]
    mean = {"accuracy": sum(known) / len(known) if known else None}
    return Score(system, task, mean, own, regime, seed)


def whole_results():
    scores = [score(DENSE, sw=50.0, fr=80.0, de=80.0, th=None)]
    sizes = [SystemSize(DENSE, 4e6, sentences_per_second=10.0, faster=1.0)]
    kept = []
    for name, worse in (("grad", 1.0), ("l0", 2.0)):
        for i, sparsity in enumerate((0.3, 0.6), 1):
            system = cut(name, sparsity)
            lower = i * worse
            scores.append(
                score(system, sw=50.0 - 10 * lower, fr=80.0 - lower, de=78.0, th=40.0 - lower)
            )
            faster = 1.0 + sparsity
            sizes.append(
                SystemSize(
                    system, 4e6 - 1e6 * i, sentences_per_second=10 * faster,
                    faster=faster, low=faster - 0.1, high=faster + 0.2,
                )
            )  # fmt: skip
            for code in ("sw", "fr"):
                widths = LayerWidths((4 - i, 4), (10 - 2 * i, 10 - 4 * i), 8 - i)
                kept.append(KeptComponents(system, code, widths, WHOLE, head_width=2))
    matrix = ((0.0, 0.1, 0.3), (0.1, 0.0, 0.2), (0.3, 0.2, 0.0))
    curves = [
        Curve(cut("grad", 0.6), code, ((0, 5.0), (10, 4.0 - i), (20, None)))
        for i, code in enumerate(("sw", "fr"))
    ]
    return Results(
        "Some",
        tuple(scores),
        tuple(sizes),
        tuple(kept),
        (Distances(cut("l0", 0.6), ("fr", "sw", "de"), matrix),),
        tuple(curves),
    )
