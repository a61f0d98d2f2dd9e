"""Claims: whether they hold, over seeds and over languages, and which tasks they rest on."""

import pytest

from polyprune.reporting.comparison import compare_all
from polyprune.reporting.figures.comparison import average_quality
from polyprune.reporting.read.lines import parse_results
from polyprune.reporting.report import report_of
from polyprune.reporting.website.summary import headline

CODES = ("de", "fr", "hi", "ru", "sw", "th", "tr", "zh")
NOISE = (0.0, 0.3, -0.2, 0.1, -0.1)


def scores(system, values, task="xnli", regime="transfer", *, guess=33.0):
    """A line for each seed, the languages a little apart."""
    head = {"study": "s", "system": system, "task": task, "regime": regime}
    return [
        head | {
            "seed": seed,
            "mean": {"accuracy": value},
            "languages": {c: {"accuracy": value + 0.1 * i} for i, c in enumerate(CODES)},
            "baseline": {c: {"accuracy": guess} for c in CODES},
        }
        for seed, value in enumerate(values, 1)
    ]  # fmt: skip


def claim(better, worse, **more):
    sides = {"better": {"system": better}, "worse": {"system": worse}}
    return {"study": "s", "claim": f"{better} beats {worse}", **sides, **more}


def seeds(level, noise=NOISE):
    return [level + each for each in noise]


def compared(*lines):
    flat = [each for line in lines for each in (line if isinstance(line, list) else [line])]
    return compare_all(parse_results(flat, "s"))


def test_a_clear_difference_holds_one_way_and_fails_the_other():
    a, b = scores("a", seeds(60)), scores("b", seeds(55, (0.1, 0.2, -0.1, 0, 0.1)))
    holds, fails = compared(a, b, claim("a", "b"), claim("b", "a"))
    assert (holds.verdict, fails.verdict) == ("holds", "fails")
    assert holds.difference.mean == pytest.approx(60.02 - 55.06)
    assert holds.difference.low < holds.difference.mean < holds.difference.high
    assert (holds.seeds, holds.languages) == (5, 8)
    assert holds.p == pytest.approx(2 * max(holds.p_seeds, holds.p_languages))  # two were asked


def test_a_difference_in_some_languages_or_some_seeds_only_is_undecided():
    a = scores("a", seeds(60))
    noisy = scores("b", [55, 65, 54, 66, 55])
    assert compared(a, noisy, claim("a", "b"))[0].verdict == "undecided"
    split = scores("c", seeds(60))
    for line in split:
        for i, code in enumerate(CODES):
            line["languages"][code]["accuracy"] += 3.0 if i == 0 else (-0.5 if i % 2 else 0.4)
    (found,) = compared(a, split, claim("c", "a"))
    assert found.p_seeds < 0.05 < found.p_languages
    assert found.verdict == "undecided"


def test_one_seed_decides_nothing():
    found = compared(scores("a", [60]), scores("b", [40]), claim("a", "b"))
    assert (found[0].verdict, found[0].p_seeds) == ("undecided", None)
    assert found[0].p_languages < 0.05


def test_a_margin_allows_a_little_loss():
    a, b = scores("a", seeds(60)), scores("b", seeds(59.5, (0.1, 0.2, -0.1, 0, 0.1)))
    plain, within = compared(a, b, claim("b", "a"), claim("b", "a", margin=2.0))
    assert (plain.verdict, within.verdict) == ("fails", "holds")
    assert plain.difference == within.difference


def test_what_dense_has_not_learned_is_in_no_claim_and_no_average():
    lines = [
        *scores("dense", seeds(60)), *scores("dense", seeds(34), "pawsx"),
        *scores("a", seeds(58)), *scores("a", seeds(80), "pawsx"),
        *scores("b", seeds(50)), *scores("b", seeds(20), "pawsx"),
    ]  # fmt: skip
    (found,) = compared(lines, claim("a", "b"))
    assert found.tasks == ("xnli",)
    assert found.difference.mean == pytest.approx(8)
    report = report_of(parse_results([*lines, claim("a", "b")], "s")).as_dict()["tables"]
    main = report["main"]
    row = dict(zip(main["columns"], main["rows"][1]["cells"], strict=True))
    assert row["PAWS-X"]["faint"]
    assert "faint" not in row["XNLI"]
    assert row["average"]["values"] == row["XNLI"]["values"]
    assert any(
        "has not learned (cross-lingual transfer): PAWS-X 34.4, a guess 33.0." in note
        for note in main["notes"]
    )
    assert report["claims"]["notes"][-1] == "Of 1 claim, 1 holds, 0 fail, 0 are undecided."


def test_no_mean_anywhere_counts_what_is_not_learned():
    """The headline of the page, its figures, and what `watch` shows."""
    lines = [
        *scores("dense", [60]), *scores("dense", [34], "pawsx"),
        *(line | {"sparsity": 0.5} for line in (*scores("a", [58]), *scores("a", [80], "pawsx"))),
    ]  # fmt: skip
    results = parse_results(lines, "s")
    found = headline(results)
    assert (found.tasks, found.before, found.after) == (("xnli",), 60, 58)
    assert average_quality(results, results.systems).values[results.systems[1]] == 58


def test_a_little_above_a_guess_is_not_learned():
    """The lower end of the interval over languages must be five points above the guess."""
    near = [*scores("dense", seeds(36)), *scores("a", seeds(36)), *scores("b", seeds(30))]
    assert compared(near, claim("a", "b"))[0].verdict == "not tested"
    known = [*scores("dense", seeds(39)), *scores("a", seeds(36)), *scores("b", seeds(30))]
    assert compared(known, claim("a", "b"))[0].tasks == ("xnli",)


def test_tasks_with_fewer_seeds_and_other_regimes_are_left_out():
    lines = [
        *scores("a", seeds(60)), *scores("b", seeds(50)),
        *scores("a", [10], "udpos"), *scores("b", [90], "udpos"),
        *scores("a", seeds(10), regime="translate-train-all"),
        *scores("b", seeds(90), regime="translate-train-all"),
    ]  # fmt: skip
    here, there = compared(lines, claim("a", "b"), claim("a", "b", regime="translate-train-all"))
    assert (here.tasks, here.verdict, there.verdict) == (("xnli",), "holds", "fails")
    assert compared(lines, claim("a", "nobody"))[0].verdict == "not tested"


def test_a_model_that_no_seed_changes_is_compared_with_every_seed():
    a, dense = scores("a", seeds(60), "tatoeba"), scores("dense", [70], "tatoeba")
    (found,) = compared(a, dense, claim("dense", "a"))
    assert (found.seeds, found.verdict) == (5, "holds")
