"""Results for pages: a small study, and one whose every word wants to be markup."""

from dataclasses import replace

from polyprune.reporting.figures.figure import Axis, Figure, Matrix, Plot, Point, Series
from polyprune.reporting.results import (
    Distances,
    Failure,
    KeptComponents,
    LayerWidths,
    Results,
    Score,
    System,
    SystemSize,
)
from polyprune.reporting.tables.table import Table, TableCell, TableRow
from support.large_results import large_results

CODES = ("de", "en", "fr", "hi", "sw", "th")

DENSE = System("dense", "Dense", None)
SHARED = [System("grad", "Grad, shared", size, "shared") for size in (0.3, 0.5)]
OWN = [System("l0", "L0, non-shared", size, "non-shared") for size in (0.2, 0.5, 0.7)]

WHOLE = LayerWidths((12, 12), (3072, 3072), 768)


def small_results() -> Results:
    """Two methods in several sizes at two tasks; Swahili loses most, and Thai has no number."""
    scores = []
    for system in (DENSE, *SHARED, *OWN):
        lost = system.sparsity or 0.0
        languages = {
            code: {"accuracy": 80 - i - lost * (10 + 20 * (code == "sw"))}
            for i, code in enumerate(CODES)
        }
        languages["th"] = {"accuracy": 75.0 if system == DENSE else None}
        answers = {code: {"f1": 60 - 10 * lost, "exact": 40 - 10 * lost} for code in CODES[:3]}
        scores += [
            Score(system, "xnli", {"accuracy": 78 - 12 * lost}, languages, seed=1),
            Score(system, "xquad", {"f1": 60 - 10 * lost, "exact": 40 - 10 * lost}, answers),
        ]
    return Results(
        title="A small study",
        scores=tuple(scores),
        sizes=(
            SystemSize(DENSE, parameters=278e6, layer_parameters=86e6, bytes=1112e6),
            *(
                SystemSize(
                    each,
                    parameters=200e6,
                    layer_parameters=43e6,
                    bytes=800e6,
                    faster=1.5,
                    low=1.4,
                    high=1.6,
                )
                for each in (*SHARED, *OWN)
            ),
        ),
        kept=(
            *(
                KeptComponents(each, None, LayerWidths((6, 3), (900, 300), 700), WHOLE)
                for each in SHARED
            ),
            *(
                KeptComponents(each, code, LayerWidths((i, 12 - i), (500 * i, 100), 768), WHOLE)
                for each in OWN
                for i, code in enumerate(CODES)
            ),
        ),
        distances=(replace(large_results(CODES).distances[0], system=OWN[1]),),
        failures=(Failure("xnli, th", "out of memory"),),
        about={"model": "e5", "command": "polyprune study s.toml", "machine": {"threads": 2}},
    )


def small_tables() -> list[Table]:
    rows = (
        TableRow(
            (
                TableCell(text="Dense"),
                TableCell((60.0, 40.0)),
                TableCell((1.0,)),
                TableCell(text="10"),
            ),
            "transfer",
        ),
        TableRow(
            (
                TableCell(text="Grad"),
                TableCell((58.0, 45.0), spread=0.3, best=True, paper=(57.0, 44.0)),
                TableCell((None,)),
                TableCell(failed="out of memory"),
            ),
            "transfer",
        ),
        TableRow(
            (TableCell(text="L0"), TableCell((59.0, 30.0)), TableCell((3.0,)), TableCell(text="9")),
            "transfer",
        ),
        TableRow(
            (TableCell(text="Grad"), TableCell((88.0, 70.0)), TableCell((2.0,)), TableCell()),
            "all languages",
        ),
    )
    notes = ("A note below.",)
    columns = ("system", "XQuAD", "times", "words")
    return [Table("main", "All tasks", columns, rows, "In percent.", notes)]


def small_figures() -> list[Figure]:
    points = (
        Point(1.0, 10.0, 9.0, 11.0, "ten"),
        Point(10.0, None),
        Point(100.0, 30.5, label="thirty"),
    )
    plot = Plot(
        "Loss",
        Axis("bytes", log=True),
        Axis("points"),
        (
            Series("Grad", points),
            Series("Dense", (Point(1.0, 20.0),), "level", dashed=True),
            Series("L0", points[:1], "marks"),
        ),
        "r = −0.5",
    )
    values = ((0.0, 0.25, None), (0.25, 0.0, 0.5), (None, 0.5, 0.0))
    groups = ("Indo-European", "Indo-European", "Niger-Congo")
    matrix = Matrix("Differences", ("de", "en", "sw"), groups, values, "share of gates")
    return [
        Figure("loss", "Loss by size", "A caption.", (plot,)),
        Figure("distances", "Distances", "Another.", (matrix,)),
    ]


HOSTILE = (
    "</script><script>window.hacked=1</script><img src=x onerror='window.hacked=1'>"
    '"><svg onload=window.hacked=1>\u202e\x00\u2028&lt;b&gt; =1+1 \'" ]]> <!-- שלום'
)


def hostile_results(word: str = HOSTILE) -> Results:
    """Every place that a text can stand in."""
    dense, cut = System("dense", word, None, word), System(word, word, 0.5, word)
    other = System(f"{word}2", f"{word}2", 0.5)
    small, own = small_results(), {word: {word: 1.0}, "de": {word: 2.0}}
    return Results(
        title=word,
        scores=(
            *(Score(each, word, {word: 1.0}, own, word, 1, word) for each in (dense, cut, other)),
            Score(cut, f"{word}2", {word: 1.0}),
        ),
        sizes=(SystemSize(dense, parameters=2.0), SystemSize(cut, parameters=1.0, faster=2.0)),
        kept=tuple(replace(each, system=cut, language=word) for each in small.kept[:1]),
        distances=(
            Distances(cut, (word, "de", "fr"), ((0.0, 1.0, 1.0), (1.0, 0.0, 1.0), (1.0, 1.0, 0.0))),
        ),
        failures=(Failure(word, word),),
        tasks={word: word},
        about={"model": word, "command": word, word: {word: [word, {word: word}]}},
    )


def hostile_tables(word: str = HOSTILE) -> list[Table]:
    cells = (TableCell(text=word), TableCell(failed=word), TableCell((1.0,)))
    return [Table(word, word, (word, word, word), (TableRow(cells, word),), word, (word,))]


def hostile_figures(word: str = HOSTILE) -> list[Figure]:
    series = (Series(word, (Point(1.0, 1.0, label=word),), "marks", word), Series(word, ()))
    plot = Plot(word, Axis(word), Axis(word), series, word)
    matrix = Matrix(word, (word, word), (word, word), ((0.0, 1.0), (1.0, 0.0)), word)
    return [Figure(word, word, word, (plot, matrix))]
