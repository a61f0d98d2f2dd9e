import pytest

from polyprune.corpora.languages import language, same_family
from polyprune.evaluation.rows import is_borrowed, near_row, row_of
from polyprune.model.gates_file import SHARED


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
    assert row_of(code, rows) == row
    assert not is_borrowed(code, row)


def test_a_language_without_a_row_borrows_that_of_its_kin():
    assert same_family(language("xh"), language("sw"))
    assert row_of("xh", ("en", "ru", "sw")) == "sw"
    assert is_borrowed("xh", "sw")


def test_of_several_kin_the_first_row_is_borrowed():
    assert row_of("uk", ("zh-Hans", "ru", "en")) == row_of("uk", ("ru", "en")) == "ru"


@pytest.mark.parametrize("code", ["zh", "yo", "qx"])
def test_without_kin_it_is_that_of_the_fallback(code):
    assert row_of(code, ("ru", "sw", "en")) == "en"
    assert row_of(code, ("ru", "sw", "en"), fallback="sw") == "sw"
    assert is_borrowed(code, "en")


def test_who_has_a_row_or_kin_needs_no_fallback():
    rows = ("en", "ru", "sw")
    found = {code: near_row(code, rows) for code in ("sw", "xh", "yo")}
    assert found == {"sw": "sw", "xh": "sw", "yo": None}
    assert near_row("yo", (SHARED,)) == SHARED


def test_the_fallback_may_be_spelled_as_xtreme_does():
    assert row_of("yo", ("ru", "zh-Hans"), fallback="zh") == "zh-Hans"


def test_without_a_fallback_it_is_the_first():
    assert row_of("yo", ("ru", "sw")) == "ru"
    assert row_of("zh", ("ru", "sw")) == "ru"


def test_unknown_families_are_no_kin():
    assert language("fa").family is None
    assert language("mn").family is None
    assert row_of("fa", ("mn", "ru", "en")) == "en"


def test_a_language_outside_cc100_may_have_a_row_all_the_same():
    assert row_of("yo", ("en", "yo")) == "yo"
    assert not is_borrowed("yo", "yo")
    assert row_of("xh", ("yo", "sw")) == "sw"
    assert row_of("zh", ("yo", "en")) == "en"


@pytest.mark.parametrize("code", ["sw", "zh", "yo"])
def test_one_row_for_all_is_nobody_elses(code):
    assert row_of(code, (SHARED,)) == SHARED
    assert not is_borrowed(code, SHARED)
