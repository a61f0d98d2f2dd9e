"""The bundled text: fifteen languages, line by line translations of each other."""

import unicodedata
from collections import Counter
from pathlib import Path

import pytest

from polyprune.corpora.text import text_folder
from support.paths import REPOSITORY

SCRIPTS = {
    "LATIN": ("en", "fr", "es", "de", "tr", "vi", "sw"),
    "CYRILLIC": ("bg", "ru"),
    "GREEK": ("el",),
    "ARABIC": ("ar", "ur"),
    "THAI": ("th",),
    "CJK": ("zh",),
    "DEVANAGARI": ("hi",),
}
SHARED = REPOSITORY.parent / "shared" / "data"
FILES = {path.stem: path.read_text(encoding="utf-8") for path in text_folder("sample").iterdir()}


def test_fifteen_languages_have_as_many_lines():
    assert set(FILES) == {code for codes in SCRIPTS.values() for code in codes}
    assert len({text.count("\n") for text in FILES.values()}) == 1
    assert FILES["en"].count("\n") >= 300


@pytest.mark.parametrize("code", sorted(FILES))
def test_lines_are_whole_and_said_once(code):
    lines = FILES[code].splitlines()
    assert FILES[code].endswith("\n")
    assert all(line == line.strip() and len(line) > 4 for line in lines)
    assert len({unicodedata.normalize("NFC", line).casefold() for line in lines}) == len(lines)
    assert unicodedata.is_normalized("NFC", FILES[code])


@pytest.mark.parametrize(
    ("script", "code"), [(s, c) for s, codes in SCRIPTS.items() for c in codes]
)
def test_every_line_is_in_its_script(script, code):
    for line in FILES[code].splitlines():
        letters = [letter for letter in line if letter.isalpha()]
        own = sum(unicodedata.name(letter).startswith(script) for letter in letters)
        assert own > 0.8 * len(letters), line


def test_no_file_is_another_one():
    lines = Counter(line for text in FILES.values() for line in set(text.splitlines()))
    assert max(lines.values()) == 1


@pytest.mark.slow
@pytest.mark.skipif(not SHARED.is_dir(), reason="needs the development data in ../shared/data")
def test_none_of_it_is_copied():
    own = {line for text in FILES.values() for line in text.splitlines()}
    for path in sorted(SHARED.rglob("*")):
        if path.is_file() and path.suffix in (".txt", ".tsv", ".csv", ".en", ".json"):
            assert not _copied(path, own), path


def _copied(path: Path, own: set[str]) -> set[str]:
    """Lines, and fields of lines, that are in both."""
    with path.open(encoding="utf-8", errors="replace") as file:
        fields = (field.strip() for line in file for field in (line, *line.split("\t")))
        return own.intersection(fields)
