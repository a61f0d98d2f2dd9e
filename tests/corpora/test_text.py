"""Text is found where the user says: in a folder, in the sample, in a data set."""

from pathlib import Path

import pytest

import polyprune.corpora.text as text
from polyprune.corpora.text import open_text, text_folder
from polyprune.corpora.text_sources import TextFile, TranslatedFiles
from polyprune.errors import DataError, UnknownName
from support.small_texts import pack


@pytest.fixture
def folder(tmp_path) -> Path:
    pack(tmp_path / "en.txt", "rain\ngoat\n")
    pack(tmp_path / "sw.txt.xz", "mvua\nmbuzi\n")
    pack(tmp_path / "ur.txt", "بارش\nبکری\n")
    return tmp_path


def test_a_folder_has_a_source_a_language(folder):
    assert open_text(str(folder), None) == {
        "en": TextFile(folder / "en.txt"),
        "sw": TextFile(folder / "sw.txt.xz"),
        "ur": TextFile(folder / "ur.txt"),
    }
    skipping = open_text(str(folder), ["sw"], damaged="skip")
    assert skipping == {"sw": TextFile(folder / "sw.txt.xz", "skip")}


def test_the_home_folder_may_be_a_tilde(folder, monkeypatch):
    monkeypatch.setenv("HOME", str(folder))
    assert open_text("~", ["ur"]) == {"ur": TextFile(folder / "ur.txt")}


def test_translations_are_with_the_pivot_and_the_pivot_is_with_itself(folder):
    sources = open_text(str(folder), None, parallel="en")
    assert sources["sw"] == TranslatedFiles(folder / "sw.txt.xz", folder / "en.txt")
    pairs = {code: [pair for (pair,), _ in source.documents()] for code, source in sources.items()}
    assert pairs == {
        "en": [("rain", "rain"), ("goat", "goat")],
        "sw": [("mvua", "rain"), ("mbuzi", "goat")],
        "ur": [("بارش", "rain"), ("بکری", "goat")],
    }


def test_the_pivot_need_not_be_among_the_languages(folder):
    assert list(open_text(str(folder), ["ur"], parallel="en")) == ["ur"]


@pytest.mark.parametrize("given", [{"languages": ["fi"]}, {"languages": None, "parallel": "fi"}])
def test_a_language_without_text_is_answered_with_those_that_have_some(folder, given):
    with pytest.raises(
        UnknownName, match=r"^Unknown language of .* 'fi'\. There are: en, sw, ur\.$"
    ):
        open_text(str(folder), **given)


@pytest.mark.parametrize("name", ["/nowhere/to/be/found", "./nowhere", "~/nowhere", "a/b/c"])
def test_a_folder_that_is_missing(name: str):
    with pytest.raises(DataError, match=r"^There is no folder .*\. A corpus is a folder"):
        open_text(name, None)


def test_a_folder_with_a_readme_is_still_a_folder_of_text(folder):
    (folder / "README.md").touch()
    assert list(open_text(str(folder), None)) == ["en", "sw", "ur"]


def test_the_sample_is_part_of_the_package(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(text, "files", lambda _: tmp_path / "package")
    with pytest.raises(DataError, match=r"^The bundled sample text is missing from this install"):
        open_text("sample", None)
    pack(tmp_path / "package" / "bundled" / "sample" / "sw.txt", "Mvua.\n")
    assert list(open_text("sample", None)) == ["sw"]
    assert text_folder("sample") == tmp_path / "package" / "bundled" / "sample"
    assert text_folder("~/x") == Path.home() / "x"
