import json
from decimal import ROUND_HALF_UP, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyprune.errors import DataError
from polyprune.evaluation.metrics import average_flat, average_xtreme
from support.paths import VECTORS

TABLES = json.loads((VECTORS / "paper_tables.json").read_text())
TABLE_1 = [
    pytest.param(row, id=f"{setting} {name}")
    for setting, rows in TABLES["table1"].items()
    for name, row in rows.items()
]


def printed(number: float) -> float:
    # To nine decimals first: the mean of one row is exactly half way, but not in binary.
    decimal = Decimal(f"{number:.9f}")
    return float(decimal.quantize(Decimal("0.1"), ROUND_HALF_UP))


def table(values: list[float], columns: list[str]) -> dict:
    """Tasks with one score, or with a pair of F1 and exact match."""
    scores = {}
    for column, value in zip(columns, values, strict=True):
        task, _, kind = column.partition("_")
        if kind:
            scores.setdefault(task, {})["f1" if kind == "F1" else "exact"] = value
        else:
            scores[task] = value
    return scores


@pytest.mark.parametrize("row", TABLE_1)
def test_the_flat_average_is_that_of_table_1(row):
    scores = table(row["values"], TABLES["columns"][: len(row["values"])])
    assert average_flat(scores) == pytest.approx(row["flat_mean"], abs=1e-9)
    assert printed(average_flat(scores)) == row["paper_avg"]
    assert average_xtreme(scores) == pytest.approx(row["official_xtreme_mean"], abs=5e-5)


@pytest.mark.parametrize("row", TABLES["table2_3"].values(), ids=TABLES["table2_3"])
def test_the_average_of_xtreme_is_that_of_tables_2_and_3(row):
    scores = table(row["values"], ["XNLI", "POS", "NER", "TyDiQA_F1", "TyDiQA_EM"])
    assert average_xtreme(scores) == pytest.approx(row["mean_with_pair_average"], abs=1e-9)
    assert printed(average_xtreme(scores)) == row["paper_avg"]


def test_f1_and_exact_match_may_be_a_pair():
    named, paired = {"a": 3, "b": {"f1": 4, "exact": 2}}, {"a": 3, "b": (4, 2)}
    assert average_flat(named) == average_flat(paired) == 3.0
    assert average_xtreme(named) == average_xtreme(paired) == 3.0


def test_a_single_number_may_have_a_name():
    assert average_flat({"a": {"accuracy": 3.0}}) == average_xtreme({"a": {"f1": 3.0}}) == 3.0


@given(
    st.dictionaries(st.sampled_from(["xnli", "panx", "bucc2018"]), st.floats(0, 100), min_size=1)
)
def test_without_questions_the_averages_are_the_same(scores):
    assert average_flat(scores) == average_xtreme(scores)


@pytest.mark.parametrize("average", [average_flat, average_xtreme])
def test_scores_that_cannot_be_averaged_are_errors(average):
    with pytest.raises(DataError, match="no scores to average"):
        average({})
    with pytest.raises(DataError, match="The scores of panx are f1, precision, recall"):
        average({"panx": {"f1": 1.0, "precision": 1.0, "recall": 1.0}})
    with pytest.raises(DataError, match="The scores of panx are missing"):
        average({"panx": {}})
