"""Tables of results: the paper's own are the paper's, and what is missing stays missing."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyprune.evaluation.metrics import average_flat, average_xtreme
from polyprune.reporting.read.paper import paper_results, read_paper
from polyprune.reporting.report import tables
from polyprune.reporting.results import Failure, Results, Score, System, SystemSize
from polyprune.reporting.tables.cells import common_sparsity, mark_best, rounded
from polyprune.reporting.tables.formats import cell_text
from polyprune.reporting.tables.table import TableCell

DENSE = System("dense", "Dense")
GRAD = System("grad-shared", "Grad, shared", 0.5)
L0 = System("l0-non-shared", "L0, non-shared", 0.5)


def named(results, beside_paper=True):
    found = tables(results)
    return {table.name: table if beside_paper else table.without_paper() for table in found}


def xnli(system, value, seed=None, regime="transfer", **languages):
    own = {code: {"accuracy": each} for code, each in languages.items()}
    return Score(system, "xnli", {"accuracy": value}, own, regime, seed)


def row(table, title, cut=None, group=""):
    """The cells of a row by the titles of their columns."""
    found = [
        dict(zip(table.columns, each.cells, strict=True))
        for each in table.rows
        if each.cells[0].text == title
        and (cut is None or each.cells[1].values == (cut,))
        and each.group.startswith(group)
    ]
    assert len(found) == 1, [[cell_text(cell) for cell in each.cells] for each in table.rows]
    return found[0]


def bold(table):
    """What is marked: title, heading and what is shown."""
    return {
        (each.group[:9], each.cells[0].text, column, cell_text(cell))
        for each in table.rows
        for column, cell in zip(table.columns, each.cells, strict=True)
        if cell.best
    }


@pytest.fixture(scope="module")
def paper():
    return named(paper_results())


def printed(number):
    return [each for each in read_paper()["score"] if each["table"] == number]


TITLES = {"transfer": "Cross", "translate-train-all": "Translate"}
COLUMNS = {
    "xnli": "XNLI",
    "pawsx": "PAWS-X",
    "udpos": "POS",
    "panx": "NER",
    "xquad": "XQuAD",
    "mlqa": "MLQA",
    "tydiqa": "TyDiQA",
    "bucc2018": "BUCC",
    "tatoeba": "Tatoeba",
}


@pytest.mark.parametrize("each", printed(1), ids=lambda each: f"{each['system']} {each['regime']}")
def test_the_papers_table_1_has_its_numbers_and_its_average(paper, each):
    cells = row(paper["main"], each["title"], group=TITLES[each["regime"]])
    for task, column in COLUMNS.items():
        value = each.get(task, None)
        assert cells[column].values == tuple(value if isinstance(value, list) else [value])
    assert cell_text(cells["average"]) == f"{each['average']:.1f}"


def test_the_papers_table_1_has_the_other_average_too(paper):
    shown = [cell_text(each.cells[-1]) for each in paper["main"].rows]
    assert [text for text in shown if text != "–"] == [
        *("63.1", "55.5", "54.6", "49.7", "56.6", "57.0"),
        *("75.2", "72.7", "72.5", "69.5", "72.6", "73.6"),
    ]


def test_bold_in_table_1_is_bold_in_the_paper(paper):
    transfer, every = "Cross-lin", "Translate"
    of_table_1 = {each["title"] for each in printed(1)}
    marked = {mark for mark in bold(paper["main"]) if mark[1] in of_table_1}
    assert {mark for mark in marked if mark[2] != "XTREME average"} == {
        (transfer, "Grad (non-shared)", "BUCC", "57.5"),
        (transfer, "Grad (non-shared)", "Tatoeba", "48.6"),
        (transfer, "Grad (shared)", "XNLI", "70.4"),
        (transfer, "Grad (shared)", "PAWS-X", "84.7"),
        (transfer, "Grad (shared)", "POS", "72.4"),
        (transfer, "Grad (shared)", "NER", "57.4"),
        (transfer, "Grad (shared)", "XQuAD", "64.2/48.3"),
        (transfer, "Grad (shared)", "MLQA", "56.1/40.5"),
        (transfer, "Grad (shared)", "TyDiQA", "45.2/28.0"),
        (transfer, "Grad (shared)", "average", "54.5"),
        (every, "DistilBERT", "POS", "88.9"),
        (every, "Grad (shared)", "XNLI", "76.8"),
        (every, "Grad (shared)", "PAWS-X", "88.4"),
        (every, "Grad (shared)", "NER", "88.0"),
        (every, "Grad (shared)", "XQuAD", "70.1/55.0"),
        (every, "Grad (shared)", "MLQA", "56.7/40.7"),
        (every, "Grad (shared)", "TyDiQA", "69.5/54.6"),
        (every, "Grad (shared)", "average", "68.8"),
    }


@pytest.mark.parametrize(("number", "name"), [(2, "improved-l0"), (3, "dynamic")])
def test_the_papers_tables_2_and_3_have_their_rows_numbers_and_averages(paper, number, name):
    shown = {tuple(cell_text(cell) for cell in each.cells[1:]) for each in paper[name].rows}
    assert shown == {
        (
            f"{100 * each['sparsity']:.0f}",
            *(f"{each[task]:.1f}" for task in ("xnli", "udpos", "panx")),
            "/".join(f"{value:.1f}" for value in each["tydiqa"]),
            f"{each['average']:.1f}",
        )
        for each in printed(number)
    }


def test_bold_in_tables_2_and_3_is_bold_in_the_paper(paper):
    assert {mark[1:] for mark in bold(paper["improved-l0"])} == {
        ("L0 (non-shared)", "POS", "87.9"),
        ("L0 (non-shared)", "NER", "86.8"),
        ("Improved L0 + distillation", "XNLI", "76.4"),
        ("Improved L0 + distillation", "TyDiQA", "69.5/54.6"),
        ("Improved L0 + distillation", "XTREME average", "78.2"),
    }
    assert {mark[1:3] for mark in bold(paper["dynamic"])} == {
        *(("Grad (shared)", column) for column in ("XNLI", "POS", "NER", "TyDiQA")),
        ("Grad (shared)", "XTREME average"),
        *(("L0 (non-shared)", column) for column in ("XNLI", "POS", "NER", "XTREME average")),
        *(("L0 (non-shared) + DS", column) for column in ("POS", "TyDiQA")),
    }


def test_the_papers_table_5_is_corrected_and_says_so(paper):
    table = paper["languages-xnli"]
    assert table.columns[2:] == (*read_paper()["languages"][0]["scores"], "average")
    for each in read_paper()["languages"]:
        cells = row(table, each["title"])
        assert {code: cells[code].values[0] for code in each["scores"]} == each["scores"]
        assert cell_text(cells["average"]) == f"{each['average']:.1f}"
    assert {mark[1] for mark in bold(table)} == {"L0 (non-shared) + DS"}
    assert len(bold(table)) == 16
    for part in ("every language one column too far", "the mean of the row is 72.5", "zero-shot"):
        assert any(part in note for note in table.all_notes)


def test_the_paper_is_not_shown_beside_itself(paper):
    cells = [c for table in paper.values() for each in table.rows for c in each.cells]
    assert not any(cell.paper for cell in cells)
    assert not any("brackets" in note for table in paper.values() for note in table.all_notes)


def test_known_errors_name_tables_that_there_are(paper):
    for error in read_paper()["error"]:
        for name in error.get("tables", ()):
            assert any(error["meant"] in note for note in paper[name].all_notes), error["where"]


def test_our_numbers_stand_beside_the_papers_for_the_same_system_size_task_and_regime():
    near, far = replace(GRAD, sparsity=0.49), replace(GRAD, sparsity=0.45)
    ours = Results(scores=(xnli(near, 40.0), xnli(far, 41.0), xnli(DENSE, 50.0, regime="other")))
    table = named(ours)["main"]
    assert cell_text(row(table, near.title, 49.0)["XNLI"]) == "40.0 (70.4)"
    assert cell_text(row(table, far.title, 45.0)["XNLI"]) == "41.0"
    assert cell_text(row(table, "Dense")["XNLI"]) == "50.0"
    assert any("brackets" in note for note in table.all_notes)
    alone = named(ours, beside_paper=False)["main"]
    assert not any(cell.paper for each in alone.rows for cell in each.cells)
    assert not any("brackets" in note for note in alone.all_notes)


def test_errors_of_the_print_are_told_only_where_what_they_touch_is_quoted():
    own = dict.fromkeys(("en", "fr"), 40.0)
    ds = System("l0-non-shared-ds", "L0 + DS", 0.7)
    table = named(Results(scores=(xnli(ds, 40.0, regime="translate-train-all", **own),)))
    notes = " ".join(table["languages-xnli"].all_notes)
    assert "the mean of the row is 72.5" in notes
    assert "one column too far" not in notes
    assert "one name for two rules" not in " ".join(table["main"].all_notes)


def test_several_seeds_are_a_mean_with_a_spread_and_one_is_a_number():
    scores = [xnli(GRAD, value, seed) for seed, value in enumerate((40.0, 42.0, 47.0))]
    table = named(Results(scores=(*scores, xnli(L0, 41.0, 1))), beside_paper=False)["main"]
    several, one = row(table, GRAD.title)["XNLI"], row(table, L0.title)["XNLI"]
    assert several.values == pytest.approx((43.0,))
    assert several.spread == pytest.approx(math.sqrt(13.0))
    assert (one.values, one.spread) == ((41.0,), None)


def test_a_seed_without_a_number_is_left_out_of_the_mean():
    scores = (xnli(GRAD, 40.0, 1), xnli(GRAD, math.nan, 2), xnli(GRAD, None, 3))
    cell = row(named(Results(scores=scores), beside_paper=False)["main"], GRAD.title)["XNLI"]
    assert (cell.values, cell.spread) == ((40.0,), None)


def test_an_average_is_only_given_where_no_task_is_missing():
    pos = Score(L0, "udpos", {"f1": 60.0, "precision": 1.0})
    answers = Score(L0, "tydiqa", {"f1": 30.0, "exact": 20.0})
    scores = (xnli(GRAD, 40.0), xnli(L0, 50.0), pos, answers)
    table = named(Results(scores=scores), beside_paper=False)["main"]
    whole, part = row(table, L0.title), row(table, GRAD.title)
    assert whole["average"].values == (40.0,)
    assert whole["XTREME average"].values == (45.0,)
    assert part["average"].values == part["XTREME average"].values == (None,)
    assert cell_text(part["POS"]) == "–"


def test_an_average_varies_as_the_averages_of_its_seeds_do():
    values = {1: (40.0, 50.0), 2: (44.0, 46.0)}
    scores = []
    for seed, (first, second) in values.items():
        scores += [xnli(GRAD, first, seed), Score(GRAD, "udpos", {"f1": second}, seed=seed)]
    cell = row(named(Results(scores=tuple(scores)))["main"], GRAD.title)["average"]
    assert (cell.values, cell.spread) == ((45.0,), 0.0)


def test_where_only_some_tasks_were_repeated_their_average_tells_how_much_seeds_matter():
    scores = [Score(GRAD, "udpos", {"f1": 90.0}, seed=1)]
    for seed, first, second in ((1, 40.0, 50.0), (2, 44.0, 52.0)):
        scores += [xnli(GRAD, first, seed), Score(GRAD, "tatoeba", {"accuracy": second}, seed=seed)]
        scores.append(xnli(DENSE, 60.0 + seed, seed))
    # What nothing was trained for has no seed.
    scores.append(Score(DENSE, "tatoeba", {"accuracy": 70.0}, seed=1))
    scores += [xnli(L0, 10.0, 1), Score(L0, "tatoeba", {"accuracy": 20.0}, seed=1)]
    table = named(Results(scores=tuple(scores)), beside_paper=False)["main"]
    cell = row(table, GRAD.title)["over seeds"]
    assert cell.values == (46.5,)
    assert cell.spread == pytest.approx(3 / math.sqrt(2))
    assert cell_text(row(table, "Dense")["over seeds"]) == "65.8 ±0.4"
    assert cell_text(row(table, L0.title)["over seeds"]) == "–"
    assert "(XNLI, Tatoeba)" in table.caption


def test_results_read_together_with_the_papers_are_not_mixed_with_them():
    ours = Results(scores=(xnli(GRAD, 40.0, 1), xnli(GRAD, 41.0, 2)))
    both = ours.with_more(paper_results())
    assert named(both)["main"] == named(ours)["main"]
    assert row(named(both)["main"], GRAD.title)["XNLI"].values == (40.5,)


def test_tasks_of_ones_own_come_after_the_papers():
    scores = (
        Score(GRAD, "retrieval", {"top1": 90.0}),
        Score(GRAD, "tatoeba", {"accuracy": 80.0}),
        xnli(GRAD, 70.0),
    )
    results = Results(scores=scores, tasks={"retrieval": "Translations found"})
    columns = named(results)["main"].columns
    assert columns == ("system", "cut %", "XNLI", "Tatoeba", "Translations found", "average")


def test_nothing_is_called_fine_tuned_that_was_not():
    results = Results(scores=(Score(GRAD, "tatoeba", {"accuracy": 80.0}),))
    assert {each.group for each in named(results)["main"].rows} == {""}


def test_what_failed_is_told_in_one_line_and_leaves_a_dash():
    failures = (Failure("fine-tuning l0 for POS", "\n Out of memory.\n  at line 3\n"),)
    pos = Score(GRAD, "udpos", {"f1": 60.0})
    results = Results(scores=(xnli(GRAD, 40.0), pos, xnli(L0, 41.0)), failures=failures)
    table = named(results)["main"]
    assert "Failed: fine-tuning l0 for POS: Out of memory." in table.all_notes
    assert cell_text(row(table, L0.title)["POS"]).startswith("–")


def test_nothing_gives_no_tables():
    assert tables(Results()) == []
    assert tables(Results(failures=(Failure("all", "of it"),))) == []


def test_tables_2_and_3_are_only_there_with_their_systems():
    assert not {"improved-l0", "dynamic"} & named(Results(scores=(xnli(L0, 1.0),))).keys()
    dynamic = System("l0-non-shared-ds", "DS", 0.7)
    unlike = named(Results(scores=(xnli(L0, 1.0), xnli(dynamic, 2.0))))
    assert "dynamic" not in unlike
    alike = named(Results(scores=(xnli(L0, 1.0), xnli(replace(dynamic, sparsity=0.5), 2.0))))
    assert [each.cells[0].text for each in alike["dynamic"].rows] == [L0.title, "DS"]


def test_many_languages_are_rows():
    codes = [f"x{i}" for i in range(17)]
    few = xnli(GRAD, 1.0, **dict.fromkeys(codes[:16], 1.0))
    table = named(Results(scores=(few,)))["languages-xnli"]
    assert table.columns[2:] == (*sorted(codes[:16]), "average")
    scores = (
        xnli(GRAD, 1.5, **dict.fromkeys(codes, 1.0)),
        xnli(L0, 2.5, **dict.fromkeys(codes[1:], 2.0)),
    )
    table = named(Results(scores=scores), beside_paper=False)["languages-xnli"]
    assert len(table.columns) == 4
    assert [each.cells[0].text for each in table.rows] == [*sorted(codes), "average"]
    first, second, *_, last = ([cell_text(c) for c in each.cells[2:]] for each in table.rows)
    assert (first, second, last) == (["1.0", "–"], ["1.0", "2.0"], ["1.5", "2.5"])
    assert table.rows[1].cells[3].best
    assert not table.rows[0].cells[2].best


def test_languages_that_lost_most_come_first_and_unknown_losses_last():
    scores = (
        xnli(DENSE, 70.0, en=80.0, sw=60.0, th=70.0, ur=50.0),
        xnli(GRAD, 60.0, en=79.0, sw=40.0, th=71.5, fr=33.0),
    )
    table = named(Results(scores=scores))["losses-xnli"]
    assert [each.cells[0].text for each in table.rows] == ["sw", "en", "th", "fr", "ur"]
    shown = [[cell_text(cell) for cell in each.cells[1:]] for each in table.rows]
    assert shown == [
        ["Swahili", "60.0", "40.0", "20.0"],
        ["English", "80.0", "79.0", "1.0"],
        ["Thai", "70.0", "71.5", "−1.5"],
        ["French", "–", "33.0", "–"],
        ["Urdu", "50.0", "–", "–"],
    ]


def test_losses_vary_from_seed_to_seed_only_where_both_have_the_same_seeds():
    scores = [xnli(DENSE, 1.0, seed, sw=value) for seed, value in ((1, 60.0), (2, 62.0))]
    scores += [xnli(GRAD, 1.0, seed, sw=value) for seed, value in ((1, 50.0), (2, 50.0))]
    scores.append(xnli(L0, 1.0, 1, sw=40.0))
    cells = named(Results(scores=tuple(scores)))["losses-xnli"].rows[0].cells
    assert cells[4].values == (11.0,)
    assert cells[4].spread == pytest.approx(math.sqrt(2.0))
    assert (cells[6].values, cells[6].spread) == ((21.0,), None)


def test_of_many_systems_only_losses_are_shown():
    others = [System("grad-shared-ds", "DS", size) for size in (0.1, 0.3, 0.5, 0.7, 0.9)]
    scores = (xnli(DENSE, 1.0, sw=60.0), *(xnli(each, 1.0, sw=50.0) for each in others))
    table = named(Results(scores=scores))["losses-xnli"]
    assert len(table.columns) == 3 + len(others)
    assert {cell.values for cell in table.rows[0].cells[3:]} == {(10.0,)}


def test_sizes_leave_out_what_nobody_measured_and_show_the_smallest_number():
    sizes = (
        SystemSize(GRAD, parameters=31_250.0, sentences_per_second=math.nan, faster=1.5),
        SystemSize(DENSE, parameters=4e6, bytes=16e6, faster=1.0, low=1.0, high=1.0),
    )
    table = named(Results(sizes=sizes))["sizes"]
    assert table.columns[2:] == ("parameters, M", "MB", "times as fast", "at least", "at most")
    shown = [[cell_text(cell) for cell in each.cells] for each in table.rows]
    assert shown == [
        ["Dense", "–", "4.000", "16", "1.00", "1.00", "1.00"],
        ["Grad, shared", "50", "0.031", "–", "1.50", "–", "–"],
    ]


def test_the_sizes_of_a_system_stand_together_below_the_dense_one():
    later = System("grad-shared", "Grad, shared", 0.3)
    scores = (xnli(GRAD, 1.0), xnli(L0, 2.0), xnli(later, 3.0), xnli(DENSE, 4.0))
    rows = named(Results(scores=scores))["main"].rows
    assert [cell_text(each.cells[2]).split()[0] for each in rows] == ["4.0", "3.0", "1.0", "2.0"]


def test_the_size_most_systems_share_is_the_one_compared():
    other = System("grad-shared-ds", "DS", 0.7)
    assert common_sparsity((DENSE, System("dense", "Dense", 0.0), other, GRAD, L0)) == 0.5
    assert common_sparsity((other, GRAD)) == 0.5
    assert common_sparsity((DENSE,)) is None


@given(
    st.lists(
        st.tuples(
            st.sampled_from((None, 0.3, 0.5)),
            st.one_of(st.none(), st.floats(0, 100)),
        ),
        max_size=8,
    )
)
def test_whatever_is_bold_is_best_among_several_of_its_size(lines):
    systems = [System(f"s{i}", "", cut) for i, (cut, _) in enumerate(lines)]
    grid = mark_best(
        systems, [[TableCell((value,))] for _, value in lines], common_sparsity(systems)
    )
    known = [
        rounded(value, 1)
        for cut, value in lines
        if cut == common_sparsity(systems) is not None and value is not None
    ]
    for (cut, value), (cell,) in zip(lines, grid, strict=True):
        fair = cut == common_sparsity(systems) is not None and value is not None
        assert cell.best == (fair and len(known) > 1 and rounded(value, 1) == max(known))


@given(st.integers(0, 10_000), st.integers(1, 3))
def test_halves_are_rounded_up(whole, digits):
    exact = (whole * 10 + 5) / 10 ** (digits + 1)
    assert int(rounded(exact, digits).scaleb(digits)) == whole + 1


def test_both_averages_are_those_of_the_evaluation(paper):
    each = printed(1)[0]
    numbers = {
        task: tuple(each[task]) if isinstance(each[task], list) else each[task] for task in COLUMNS
    }
    cells = row(paper["main"], each["title"], group="Cross")
    assert cells["average"].values == (pytest.approx(average_flat(numbers)),)
    assert cells["XTREME average"].values == (pytest.approx(average_xtreme(numbers)),)
