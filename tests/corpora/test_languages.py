import csv
import json
import re
from dataclasses import FrozenInstanceError
from importlib.resources import files
from itertools import permutations
from pathlib import Path

import pytest

from polyprune.corpora.languages import language, languages, same_family
from polyprune.errors import UnknownName

VECTORS = json.loads(
    (Path(__file__).parents[1] / "vectors" / "language_family.json").read_text(encoding="utf-8")
)
MISSING = {code for code, family in VECTORS["family"].items() if family == "Missing"}


def test_the_table_is_that_of_the_paper_in_its_order():
    ours = [(code, entry.family or "Missing") for code, entry in languages().items()]
    assert ours == list(VECTORS["family"].items())


def test_there_are_100_languages_in_15_families_and_nine_without():
    families = [entry.family for entry in languages().values()]
    assert len(families) == 100
    assert len(set(families) - {None}) == 15
    assert families.count(None) == len(MISSING) == 9


def test_every_row_has_six_filled_columns_and_says_where_its_family_comes_from():
    with files("polyprune.corpora").joinpath("languages.tsv").open(encoding="utf-8") as file:
        header, *rows = csv.reader(file, delimiter="\t")
    assert header == ["code", "name", "script", "family", "bytes", "source"]
    assert len(rows) == len({row[0] for row in rows}) == 100  # a dict would hide a repeated code
    for code, name, script, family, size, source in rows:
        assert name
        assert script
        assert int(size) > 0
        assert bool(family) == (code not in MISSING)
        assert source == ("App. C: Missing" if code in MISSING else "App. C")


@pytest.mark.parametrize(
    ("code", "size"),
    [("sw", 332 << 20), ("en", 82 << 30), ("as", 7_969_178), ("ar", 5_798_205_850)],
)
def test_sizes_are_those_printed_in_binary_units(code: str, size: int):
    assert language(code).bytes == size


def test_there_is_most_text_in_english_and_least_in_assamese():
    sizes = {code: entry.bytes for code, entry in languages().items()}
    assert max(sizes, key=sizes.__getitem__) == "en"
    assert min(sizes, key=sizes.__getitem__) == "as"
    assert 5.5e11 < sum(sizes.values()) < 6.5e11  # 2.2 TB, compressed to a quarter


def test_names_are_unique():
    assert len({entry.name for entry in languages().values()}) == 100


def test_scripts_are_spelled_as_in_iso_15924():
    assert all(re.fullmatch("[A-Z][a-z]{3}", entry.script) for entry in languages().values())


def test_romanized_languages_are_in_latin_script_and_their_originals_are_not():
    for code in ("bn", "hi", "ta", "te", "ur"):
        assert language(f"{code}-rom").script == "Latn" != language(code).script
        assert language(f"{code}-rom").name == f"{language(code).name} (romanized)"
        assert same_family(language(f"{code}-rom"), language(code))


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ("zh", "zh-Hans"),
        ("zh_Hans", "zh-Hans"),
        ("zh_Hant", "zh-Hant"),
        ("bn_rom", "bn-rom"),
        ("my_zaw", "my-zaw"),
        ("sw", "sw"),
    ],
)
def test_other_spellings_of_a_code_are_understood(given: str, code: str):
    assert language(given) is languages()[code]


@pytest.mark.parametrize(
    ("given", "nearest"),
    [
        ("Swahili", "sw"),
        ("swahilli", "sw"),
        ("EN", "en"),
        ("zh-hans", "zh-Hans"),
        ("bn_romm", "bn-rom"),
        ("Bengali", "bn"),
        ("bengali romanized", "bn-rom"),
        ("Burmese", "my"),
        ("Chinese", "zh-Hans"),
        ("Kurdish", "ku"),
    ],
)
def test_an_unknown_language_is_answered_with_the_nearest(given: str, nearest: str):
    message = (
        f"Unknown language {given!r}. Did you mean {nearest!r}? All 100: polyprune ls languages."
    )
    with pytest.raises(UnknownName, match=f"^{re.escape(message)}$"):
        language(given)


@pytest.mark.parametrize("given", ["yo", "", "12345"])
def test_a_language_like_no_other_is_answered_without_a_guess(given: str):
    message = f"Unknown language {given!r}. All 100: polyprune ls languages."
    with pytest.raises(UnknownName, match=f"^{re.escape(message)}$"):
        language(given)


def test_languages_of_one_family_are_kin():
    assert same_family(language("fi"), language("hu"))
    assert not same_family(language("fi"), language("sv"))


def test_an_unknown_family_is_like_no_other():
    assert not same_family(language("fa"), language("mg"))
    assert not same_family(language("fa"), language("en"))
    assert not same_family(language("en"), language("fa"))


def test_the_prior_is_zero_for_as_many_pairs_as_the_reference_counts():
    # Ordered pairs of different languages: Eq. 12 leaves the diagonal out.
    pairs = list(permutations(languages().values(), 2))
    zero = sum(same_family(a, b) for a, b in pairs)
    assert zero == VECTORS["n_zero_pairs_ordered"]["missing_is_unknown"]
    assert len(pairs) - zero == VECTORS["n_penalised_pairs_ordered"]["missing_is_unknown"]


def test_a_language_cannot_be_changed():
    with pytest.raises(FrozenInstanceError, match="family"):
        language("fa").family = "Indo-European"  # pyright: ignore[reportAttributeAccessIssue]


def test_the_languages_are_read_once():
    assert languages() is languages()
