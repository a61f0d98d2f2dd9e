"""A source gives the same documents from any position on as it gave without a stop."""

import logging
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyprune.corpora.text_sources import LONGEST, TextFile, TextSource, TranslatedFiles
from polyprune.errors import DataError
from support.small_texts import PACK, cc100, endings, flat, numbered, pack, saved, shapes


def texts(source: TextSource) -> list[list]:
    return [list(document) for document, _ in source.documents()]


def assert_resumable(source: TextSource) -> None:
    whole = list(source.documents())
    for i, (_, position) in enumerate(whole, 1):
        assert position["document"] == i
        assert list(source.documents(saved(position))) == whole[i:]


def long_text() -> str:
    """Enough that a packed file can break in the middle, in documents of three lines."""
    return cc100([[f"{i} {j} {(i * j + 7) ** 9}" for j in range(3)] for i in range(4000)])


@given(shapes, endings)
def test_a_blank_line_separates_documents(tmp_path_factory, shape: list[int], ending: str):
    documents = numbered(shape)
    path = pack(tmp_path_factory.getbasetemp() / f"sw.txt{ending}", cc100(documents))
    source = TextFile(path)
    assert texts(source) == documents
    assert source.size == path.stat().st_size
    assert source.name == str(path)
    assert_resumable(source)


@given(st.lists(st.sampled_from(["", " ", "\t", "mvua", " mbuzi ", "羊\r"]), max_size=12))
def test_however_many_blank_lines_there_are(tmp_path_factory, lines: list[str]):
    path = pack(tmp_path_factory.getbasetemp() / "sw.txt", "\n".join(lines))
    source = TextFile(path)
    assert flat(texts(source)) == [line.rstrip("\r") for line in lines if line.strip()]
    assert all(texts(source))
    assert_resumable(source)


def test_a_file_of_a_sentence_a_line_is_cut_into_documents(tmp_path):
    lines = flat(numbered([2 * LONGEST + 3]))
    source = TextFile(pack(tmp_path / "sw.txt", "\n".join(lines)))
    assert [len(document) for document in texts(source)] == [LONGEST, LONGEST, 3]
    assert flat(texts(source)) == lines
    assert_resumable(source)


def test_a_document_of_exactly_the_longest_is_followed_by_no_empty_one(tmp_path):
    documents = numbered([LONGEST, 1])
    source = TextFile(pack(tmp_path / "sw.txt", cc100(documents)))
    assert texts(source) == documents


@pytest.mark.parametrize("ending", PACK)
@pytest.mark.parametrize("text", ["", "\n", " \n\n\t\n"])
def test_an_empty_file_has_no_documents(tmp_path, ending: str, text: str):
    assert texts(TextFile(pack(tmp_path / f"sw.txt{ending}", text))) == []


def test_a_mark_of_byte_order_counts_as_bytes_and_not_as_text(tmp_path):
    source = TextFile(pack(tmp_path / "sw.txt", "\ufeffmvua\n\nmbuzi\n"))
    assert texts(source) == [["mvua"], ["mbuzi"]]
    assert_resumable(source)


def break_in_the_middle(path: Path) -> Path:
    packed = bytearray(path.read_bytes())
    middle = len(packed) // 2
    packed[middle : middle + 40] = b"\x55" * 40
    path.write_bytes(packed)
    return path


@pytest.mark.parametrize("ending", [".xz", ".zst"])
def test_a_damaged_file_stops_the_reading(tmp_path, ending: str):
    path = break_in_the_middle(pack(tmp_path / f"sw.txt{ending}", long_text()))
    # What is unpacked from there on may be no text before it is known to be wrong.
    with pytest.raises(DataError, match=r"is damaged or cut off after line [1-9]|is not UTF-8"):
        texts(TextFile(path))


@pytest.mark.parametrize("ending", [".gz", ".xz", ".zst"])
def test_a_damaged_file_can_be_read_as_far_as_it_goes(tmp_path, caplog, ending: str):
    path = pack(tmp_path / f"sw.txt{ending}", long_text())
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    source = TextFile(path, "skip")
    read = flat(texts(source))
    whole = flat(texts(TextFile(pack(tmp_path / "whole.sw.txt", long_text()))))
    assert 1000 < len(read) < len(whole)
    assert read == whole[: len(read)]
    texts(source)
    (warning,) = caplog.records  # once, however often it is read
    assert warning.levelno == logging.WARNING
    assert re.fullmatch(
        rf"{re.escape(str(path))} is damaged or cut off after line \d+ \(.*\)\. What comes after "
        r"is left out\.",
        warning.message,
    )


@pytest.mark.parametrize("ending", [".xz", ".zst", ".gz"])
def test_a_damaged_file_breaks_off_at_the_same_place_from_wherever_it_is_read(tmp_path, ending):
    path = pack(tmp_path / f"sw.txt{ending}", long_text())
    if ending == ".gz":  # whose damage shows in its last bytes only
        path.write_bytes(path.read_bytes()[:-9])
    else:
        break_in_the_middle(path)
    source = TextFile(path, "skip")
    whole = list(source.documents())
    for i in [*range(0, len(whole), 97), *range(len(whole) - 5, len(whole))]:
        assert list(source.documents(whole[i][1])) == whole[i + 1 :]


def test_a_line_that_is_not_utf8_stops_the_reading(tmp_path):
    path = tmp_path / "sw.txt"
    path.write_bytes(b"mvua\n\n\xff\nmbuzi\n")
    with pytest.raises(DataError, match=r"^Line 3 of .*sw\.txt is not UTF-8 .* with iconv\.$"):
        texts(TextFile(path))


def test_lines_that_are_not_utf8_can_be_left_out(tmp_path, caplog):
    path = tmp_path / "sw.txt"
    path.write_bytes(b"mvua\n\xff\nna\n\nmbuzi\n\xfe\xfe\n\n\xff\n\nkondoo\n")
    caplog.set_level(logging.INFO)
    source = TextFile(path, "skip")
    assert texts(source) == [["mvua", "na"], ["mbuzi"], ["kondoo"]]
    assert_resumable(source)
    warnings = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert [record.message for record in warnings] == [
        f"Line 2 of {path} is not UTF-8 (invalid start byte). It is left out, as are any others."
    ]
    assert f"3 lines of {path} are not UTF-8 and were left out." in caplog.messages


lines = st.lists(st.sampled_from(["", " ", "mvua", "mbuzi", "羊"]), max_size=8)


@given(lines, lines, endings, endings)
def test_translations_are_the_lines_at_the_same_place(
    tmp_path_factory, ours: list[str], theirs: list[str], ending: str, other: str
):
    folder = tmp_path_factory.getbasetemp()
    source = TranslatedFiles(
        pack(folder / f"sw.txt{ending}", "".join(f"{line}\n" for line in ours)),
        pack(folder / f"en.txt{other}", "".join(f"{line}\n" for line in theirs)),
    )
    both = zip(ours, theirs, strict=False)
    assert texts(source) == [[pair] for pair in both if all(line.strip() for line in pair)]
    assert source.paired
    assert_resumable(source)


def test_a_translation_of_a_line_that_is_not_utf8_is_left_out_with_it(tmp_path):
    ours = tmp_path / "sw.txt"
    ours.write_bytes(b"mvua\n\xff\nkondoo\n")
    source = TranslatedFiles(ours, pack(tmp_path / "en.txt", "rain\ngoat\nsheep\n"), "skip")
    assert texts(source) == [[("mvua", "rain")], [("kondoo", "sheep")]]
    assert source.size == ours.stat().st_size
    assert str(ours) in source.name
