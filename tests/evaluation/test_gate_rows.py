import pytest

from polyprune.corpora.languages import language, same_family
from polyprune.evaluation.gate_rows import gate_row, is_borrowed, related_row
from polyprune.model.files.gates_file import SHARED


@pytest.mark.parametrize(
    ("code", "rows", "row"),
    [
        ("sw", ("en", "ru", "sw"), "sw"),
        ("zh", ("en", "zh-Hans"), "zh-Hans"),
        ("zh_Hans", ("en", "zh-Hans"), "zh-Hans"),
        ("zh-Hans", ("en", "zh-Hans"), "zh-Hans"),
    ],
)
def test_a_language_has_its_own_row_however_it_is_spelled(code, rows, row):
    assert gate_row(code, rows) == row
    assert not is_borrowed(code, row)


def test_a_language_without_a_row_borrows_that_of_its_kin():
    assert same_family(language("xh"), language("sw"))
    assert gate_row("xh", ("en", "ru", "sw")) == "sw"
    assert is_borrowed("xh", "sw")


def test_of_several_kin_the_first_row_is_borrowed():
    assert gate_row("uk", ("zh-Hans", "ru", "en")) == gate_row("uk", ("ru", "en")) == "ru"


@pytest.mark.parametrize("code", ["zh", "yo", "qx"])
def test_without_kin_it_is_that_of_the_fallback(code):
    assert gate_row(code, ("ru", "sw", "en")) == "en"
    assert gate_row(code, ("ru", "sw", "en"), fallback="sw") == "sw"
    assert is_borrowed(code, "en")


def test_who_has_a_row_or_kin_needs_no_fallback():
    rows = ("en", "ru", "sw")
    found = {code: related_row(code, rows) for code in ("sw", "xh", "yo")}
    assert found == {"sw": "sw", "xh": "sw", "yo": None}
    assert related_row("yo", (SHARED,)) == SHARED


def test_the_fallback_may_be_spelled_as_xtreme_does():
    assert gate_row("yo", ("ru", "zh-Hans"), fallback="zh") == "zh-Hans"


def test_without_a_fallback_it_is_the_first():
    assert gate_row("yo", ("ru", "sw")) == "ru"
    assert gate_row("zh", ("ru", "sw")) == "ru"


def test_unknown_families_are_no_kin():
    assert language("fa").family is None
    assert language("mn").family is None
    assert gate_row("fa", ("mn", "ru", "en")) == "en"


def test_a_language_outside_cc100_may_have_a_row_all_the_same():
    assert gate_row("yo", ("en", "yo")) == "yo"
    assert not is_borrowed("yo", "yo")
    assert gate_row("xh", ("yo", "sw")) == "sw"
    assert gate_row("zh", ("yo", "en")) == "en"


@pytest.mark.parametrize("code", ["sw", "zh", "yo"])
def test_one_row_for_all_is_nobody_elses(code):
    assert gate_row(code, (SHARED,)) == SHARED
    assert not is_borrowed(code, SHARED)
