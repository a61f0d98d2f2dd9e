"""Labels by name and by number."""

import pytest

from polyprune.evaluation.own_tasks.label_names import LabelNames, is_numbered, sorted_labels

FEELINGS = LabelNames(("negative", "neutral", "positive"), "feelings")


@pytest.mark.parametrize(
    ("label", "found"),
    [("neutral", "neutral"), ("0", "negative"), ("2", "positive"), ("3", None), ("Neutral", None)],
)
def test_names_and_numbers_are_labels(label, found):
    assert FEELINGS.find(label) == found


def test_numbers_that_are_names_are_no_numbers_of_others():
    stars = LabelNames(("1", "2", "3"))
    assert [stars.find(label) for label in ("1", "3", "0")] == ["1", "3", None]


def test_a_task_file_names_what_a_model_only_numbers():
    names = LabelNames(("LABEL_0", "LABEL_1"), given=("no", "yes"))
    assert [names.find(label) for label in ("yes", "1", "LABEL_0")] == [
        "LABEL_1",
        "LABEL_1",
        "LABEL_0",
    ]
    assert is_numbered(names.names)
    assert not is_numbered(())


def test_without_names_all_labels_are_right():
    assert LabelNames().find("anything") == "anything"


def test_unknown_labels_are_told_with_the_nearest():
    said = [("postive", "Line 7 of sw.tsv"), ("neutral", "Line 8"), ("mixed", "Line 9 of sw.tsv")]
    assert str(FEELINGS.unknown(said)) == (
        "Line 7 of sw.tsv has the label 'postive', which feelings does not have, nor mixed. "
        "Did you mean 'positive'? It has: negative, neutral, positive."
    )


def test_advice_for_a_first_line_and_for_numbered_labels():
    assert "call them text, pair and label" in str(FEELINGS.unknown([("x", "Line 1 of a.tsv")]))
    numbered = LabelNames(("LABEL_0", "LABEL_1"))
    assert "labels = [...] in a task.toml" in str(numbered.unknown([("yes", "Line 2 of a.tsv")]))


def test_labels_are_in_the_order_of_letters_or_of_numbers():
    assert sorted_labels(["b", "a", "b"]) == ("a", "b")
    assert sorted_labels(["10", "9"]) == ("9", "10")
