"""A folder of text is found by its names, read lazily, and told exactly what is wrong with it."""

import gzip
import lzma
import os
import random
import re
import tracemalloc
from itertools import islice
from pathlib import Path

import pytest
from backports import zstd
from hypothesis import given
from hypothesis import strategies as st

from polyprune.corpora.corpus import Corpus, open_corpus, read_lines
from polyprune.corpora.languages import languages
from polyprune.errors import ConfigError, DataError, UnknownName

PACK = {"": bytes, ".gz": gzip.compress, ".xz": lzma.compress, ".zst": zstd.compress}

EN = ["The rain stopped.", "Our goat is asleep.", "Bring two cups.", "It is late."]
SW = ["Mvua imekwisha.", "Mbuzi wetu amelala.", "Lete vikombe viwili.", "Ni usiku sasa."]
UR = ["بارش رک گئی۔", "ہماری بکری سو رہی ہے۔", "دو پیالے لاؤ۔", "دیر ہو گئی۔"]
ZH = ["雨停了。", "我们的羊在睡觉。", "拿两个杯子来。", "很晚了。"]


def write(path: Path, lines: list[str]) -> Path:
    """A text file, packed as its name says."""
    ending = path.suffix if path.suffix in PACK else ""
    path.write_bytes(PACK[ending]("".join(f"{line}\n" for line in lines).encode()))
    return path


def corpus_of(folder: Path, **texts: list[str]) -> Corpus:
    for code, lines in texts.items():
        write(folder / f"{code}.txt", lines)
    return open_corpus(folder)


@pytest.fixture
def long_text() -> bytes:
    """Two thousand lines that do not compress to nothing."""
    draw = random.Random(0)
    return b"".join(b"%d %x\n" % (i, draw.getrandbits(200)) for i in range(2000))


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("sw.txt", "sw"),
        ("news.sw.txt", "sw"),
        ("2019.news.sw.txt.gz", "sw"),
        ("zh.txt", "zh-Hans"),
        ("zh-Hant.txt", "zh-Hant"),
        ("zh_Hant.txt.gz", "zh-Hant"),
        ("bn_rom.txt.xz", "bn-rom"),
        ("ur.txt.zst", "ur"),
    ],
)
def test_a_file_is_named_after_its_language(tmp_path, name: str, code: str):
    (tmp_path / name).touch()
    assert open_corpus(tmp_path).files == {code: tmp_path / name}


@pytest.mark.parametrize(
    "name",
    ["ar.dev.txt", "klingon.txt", "ar.tsv", "ar", "ar.txt.bz2", "ar.txt.gz.part", "ar.gz", ".txt"],
)
def test_other_files_are_ignored(tmp_path, name: str):
    (tmp_path / name).touch()
    assert list(corpus_of(tmp_path, sw=SW).files) == ["sw"]


def test_a_folder_is_no_text_whatever_its_name(tmp_path):
    (tmp_path / "ar.txt").mkdir()
    assert list(corpus_of(tmp_path, sw=SW).files) == ["sw"]


@pytest.mark.parametrize("other", ["news.sw.txt", "a.b.sw.txt.gz", "sw.txt.xz", "0.sw.txt"])
def test_the_plain_name_of_a_language_wins(tmp_path, other: str):
    write(tmp_path / other, EN)
    assert list(corpus_of(tmp_path, sw=SW).sentences("sw", 4)) == SW


def test_languages_are_in_the_order_of_the_paper(tmp_path):
    names = list(languages())
    random.Random(0).shuffle(names)
    assert list(corpus_of(tmp_path, **dict.fromkeys(names, EN)).files) == list(languages())


def test_the_home_folder_may_be_a_tilde(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert corpus_of(tmp_path, sw=SW) == open_corpus("~")


def test_a_folder_that_is_missing(tmp_path):
    message = f"There is no folder {tmp_path / 'text'}. A corpus is a folder with one file"
    with pytest.raises(DataError, match=f"^{re.escape(message)}"):
        open_corpus(tmp_path / "text")


def test_a_file_in_place_of_the_folder(tmp_path):
    with pytest.raises(DataError, match=r"There is no folder .*sw\.txt\. A corpus is a folder"):
        open_corpus(write(tmp_path / "sw.txt", SW))


@pytest.mark.parametrize("names", [[], ["readme.txt", "ar.dev.txt"]])
def test_a_folder_without_text(tmp_path, names: list[str]):
    for name in names:
        (tmp_path / name).touch()
    with pytest.raises(DataError, match=f"^{re.escape(str(tmp_path))} has no text: there is no"):
        open_corpus(tmp_path)


def test_all_languages_there_are_unless_some_are_given(tmp_path):
    corpus = corpus_of(tmp_path, ur=UR, bn_rom=EN, zh=ZH)
    assert corpus.codes() == ["bn-rom", "ur", "zh-Hans"]


def test_a_choice_of_no_languages_is_answered_with_those_there_are(tmp_path):
    message = "There are no languages to choose. Name some of: sw, ur."
    with pytest.raises(ConfigError, match=f"^{re.escape(message)}$"):
        corpus_of(tmp_path, ur=UR, sw=SW).codes([])


def test_a_language_given_twice_is_there_once(tmp_path):
    assert corpus_of(tmp_path, sw=SW, zh=ZH).codes(["zh", "sw", "zh-Hans"]) == ["zh-Hans", "sw"]


def test_given_languages_keep_their_order_and_may_be_spelled_otherwise(tmp_path):
    corpus = corpus_of(tmp_path, bn_rom=EN, sw=SW, zh=ZH)
    assert corpus.codes(["zh", "sw", "bn_rom"]) == ["zh-Hans", "sw", "bn-rom"]


def test_an_unknown_language_is_answered_with_the_nearest(tmp_path):
    message = "Unknown language 'swahilli'. Did you mean 'sw'? All 100: polyprune ls languages."
    with pytest.raises(UnknownName, match=f"^{re.escape(message)}$"):
        corpus_of(tmp_path, sw=SW).codes(["sw", "swahilli"])


def test_a_language_without_a_file_is_answered_with_those_that_have_one(tmp_path):
    message = f"Unknown language of {tmp_path} 'fi'. There are: sw, ur."
    with pytest.raises(UnknownName, match=f"^{re.escape(message)}$"):
        corpus_of(tmp_path, ur=UR, sw=SW).codes(["fi"])


@pytest.mark.parametrize("ending", PACK)
@pytest.mark.parametrize("lines", [EN, UR, ZH, []])
def test_text_is_the_same_however_it_is_packed(tmp_path, ending: str, lines: list[str]):
    assert list(read_lines(write(tmp_path / f"sw.txt{ending}", lines))) == lines


@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n"))),
    st.sampled_from(sorted(PACK)),
)
def test_only_a_newline_ends_a_line(tmp_path_factory, lines: list[str], ending: str):
    # U+0085 and U+2028 do not: where they did, translations would no longer be side by side.
    folder = tmp_path_factory.getbasetemp()
    assert list(read_lines(write(folder / f"sw.txt{ending}", lines))) == lines


@pytest.mark.parametrize("ending", PACK)
def test_packed_parts_may_be_joined(tmp_path, ending: str):
    first, second = (write(tmp_path / f"{part}.sw.txt{ending}", SW) for part in "ab")
    joined = tmp_path / f"sw.txt{ending}"
    joined.write_bytes(first.read_bytes() + second.read_bytes())
    assert list(read_lines(joined)) == SW + SW


def test_a_carriage_return_and_a_last_line_without_a_newline(tmp_path):
    (tmp_path / "sw.txt").write_bytes("\r\n".join([*SW, "  Mwisho "]).encode())
    assert list(read_lines(tmp_path / "sw.txt")) == [*SW, "  Mwisho "]


def test_blank_lines_are_left_out(tmp_path):
    corpus = corpus_of(tmp_path, sw=["", SW[0], "", " \t", SW[1], "\u3000", SW[2], ""])
    assert list(corpus.sentences("sw", 100)) == SW[:3]


@pytest.mark.parametrize("count", [0, 1, 3, 4, 5])
def test_there_are_as_many_sentences_as_asked_for_or_as_there_are(tmp_path, count: int):
    corpus = corpus_of(tmp_path, sw=["", SW[0], "", *SW[1:]], en=["", EN[0], "", *EN[1:]])
    assert list(corpus.sentences("sw", count)) == SW[:count]
    assert list(corpus.translations("sw", "en", count)) == list(zip(SW, EN, strict=True))[:count]


def test_translations_stay_side_by_side_where_either_is_blank(tmp_path):
    corpus = corpus_of(
        tmp_path, ur=[UR[0], "", UR[2], " ", UR[3]], en=[EN[0], EN[1], "\t", "", EN[3]]
    )
    assert list(corpus.translations("ur", "en", 100)) == [(UR[0], EN[0]), (UR[3], EN[3])]


def test_translations_end_with_the_shorter_text(tmp_path):
    corpus = corpus_of(tmp_path, zh=ZH, en=EN[:2])
    assert list(corpus.translations("zh-Hans", "en", 100)) == list(zip(ZH[:2], EN, strict=False))
    assert list(corpus.translations("en", "zh-Hans", 100)) == list(zip(EN, ZH[:2], strict=False))


def test_a_sentence_is_read_when_it_is_asked_for(tmp_path):
    corpus = corpus_of(tmp_path, sw=SW, en=EN)
    path = corpus.files["sw"]
    with path.open("ab") as file:
        file.write(b"\xff\n")
    assert list(corpus.sentences("sw", 4)) == SW
    assert list(corpus.translations("sw", "en", 4)) == list(zip(SW, EN, strict=True))
    with pytest.raises(DataError, match="Line 5"):
        list(corpus.sentences("sw", 5))


def test_the_first_sentences_of_a_huge_file_are_had_at_once(tmp_path):
    corpus = corpus_of(tmp_path, sw=SW[:3], en=EN)
    os.truncate(corpus.files["sw"], 1 << 30)  # a fourth line of a gigabyte, none of it on disk
    tracemalloc.start()
    try:
        assert list(corpus.sentences("sw", 3)) == SW[:3]
        assert list(islice(corpus.translations("sw", "en", 1000), 3)) == list(
            zip(SW[:3], EN, strict=False)
        )
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_memory_does_not_grow_with_the_file(tmp_path, ending: str):
    path = write(tmp_path / f"sw.txt{ending}", ["Mvua " * 400] * 2000)
    tracemalloc.start()
    try:
        assert sum(1 for _ in read_lines(path)) == 2000  # 4 MB
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("ending", PACK)
def test_a_line_that_is_not_utf8_is_named(tmp_path, ending: str):
    path = tmp_path / f"ur.txt{ending}"
    path.write_bytes(PACK[ending]("\n".join(["", *UR[:2]]).encode() + b"\n\xff\nfin\n"))
    lines = read_lines(path)
    assert list(islice(lines, 3)) == ["", *UR[:2]]
    message = f"Line 4 of {path} is not UTF-8 (invalid start byte). Convert the file"
    with pytest.raises(DataError, match=f"^{re.escape(message)}"):
        next(lines)


@pytest.mark.parametrize("share", [0.5, 0.99, 1])
@pytest.mark.parametrize("ending", [".gz", ".xz"])
def test_a_packed_file_that_was_cut_off_says_where(tmp_path, long_text, ending: str, share: float):
    packed = PACK[ending](long_text)
    path = tmp_path / f"sw.txt{ending}"
    path.write_bytes(packed[: int(share * len(packed)) - 1])
    read: list[str] = []
    with pytest.raises(DataError, match="is damaged or cut off") as error:
        read.extend(read_lines(path))
    assert str(error.value).startswith(f"{path} is damaged or cut off after line {len(read)} (")
    assert read == long_text.decode().splitlines()[: len(read)]
    assert len(read) > 500


@pytest.mark.parametrize("kept", [1, 3, 9])
@pytest.mark.parametrize("ending", [".gz", ".xz", ".zst"])
def test_a_packed_file_that_has_hardly_begun(tmp_path, long_text, ending: str, kept: int):
    path = tmp_path / f"sw.txt{ending}"
    path.write_bytes(PACK[ending](long_text)[:kept])
    with pytest.raises(DataError, match="is damaged or cut off after line 0"):
        list(read_lines(path))


@pytest.mark.parametrize("ending", [".gz", ".xz"])
def test_a_packed_file_with_a_wrong_byte(tmp_path, long_text, ending: str):
    packed = bytearray(PACK[ending](long_text))
    packed[len(packed) // 2] ^= 0xFF
    (tmp_path / f"sw.txt{ending}").write_bytes(packed)
    # What is unpacked from there on may be no text before it is known to be wrong.
    with pytest.raises(DataError, match=r"is damaged or cut off after line|is not UTF-8"):
        list(read_lines(tmp_path / f"sw.txt{ending}"))


@pytest.mark.parametrize("ending", [".gz", ".xz", ".zst"])
def test_a_packed_file_with_nothing_right_but_its_beginning(tmp_path, ending: str):
    path = tmp_path / f"sw.txt{ending}"
    path.write_bytes(PACK[ending](b"Mvua\n")[:10] + b"\xff" * 99)
    with pytest.raises(DataError, match="is damaged or cut off after line 0"):
        list(read_lines(path))


@pytest.mark.parametrize("ending", [".gz", ".xz", ".zst"])
def test_text_that_only_says_that_it_is_packed(tmp_path, ending: str):
    path = write(tmp_path / "sw.txt", SW).rename(tmp_path / f"sw.txt{ending}")
    with pytest.raises(DataError, match="is damaged or cut off after line 0"):
        list(read_lines(path))


@pytest.mark.parametrize("ending", [".gz", ".xz"])
def test_the_first_sentences_of_a_damaged_file_can_be_read(tmp_path, long_text, ending: str):
    path = tmp_path / f"sw.txt{ending}"
    path.write_bytes(PACK[ending](long_text)[:-1])
    first = long_text.decode().splitlines()[:3]
    assert list(open_corpus(tmp_path).sentences("sw", 3)) == first


def test_a_packed_plain_name_wins_too(tmp_path):
    (tmp_path / "news.sw.txt").write_text("Habari za leo\n", encoding="utf-8")
    (tmp_path / "sw.txt.xz").write_bytes(lzma.compress(b"Mvua inanyesha\n"))
    assert list(open_corpus(tmp_path).sentences("sw", 9)) == ["Mvua inanyesha"]


def test_a_mark_of_byte_order_is_no_text_and_hidden_files_are_not_read(tmp_path):
    (tmp_path / "sw.txt").write_text("Mvua inanyesha\n", encoding="utf-8-sig")
    (tmp_path / ".fr.txt").write_text("Il pleut\n", encoding="utf-8")
    corpus = open_corpus(tmp_path)
    assert list(corpus.files) == ["sw"]
    assert list(corpus.sentences("sw", 1)) == ["Mvua inanyesha"]
