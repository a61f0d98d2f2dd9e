"""What is measured with is never trained on, and is chosen once."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyprune.corpora.corpus import development_files, open_corpus
from polyprune.corpora.held_out import RECORD, hold_out, is_held_out
from polyprune.corpora.stream import ProcessShard, StreamConfig, stream
from polyprune.corpora.text_sources import TextFile, TextSource, TranslatedFiles
from polyprune.errors import DataError
from support.small_texts import PACK, TOKENIZER, cc100, flat, numbered, pack, take


def read(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def text(folder: Path, **shapes: list[int]) -> dict[str, TextSource]:
    return {
        code: TextFile(pack(folder / f"{code}.txt", cc100(numbered(shape))))
        for code, shape in shapes.items()
    }


@given(st.lists(st.integers(1, 4), min_size=1, max_size=45), st.integers(1, 9))
def test_what_is_held_out_is_not_trained_on_and_at_most_a_tenth(
    tmp_path_factory, shape: list[int], lines: int
):
    folder = tmp_path_factory.mktemp("run")
    sources = text(folder / "text", sw=shape)
    limits = hold_out(sources, lines, folder / "held-out", {})
    documents = numbered(shape)
    tenth = flat(documents[9::10])
    if not tenth:
        assert limits == {"sw": 0}
        assert files(folder / "held-out") == [RECORD]
        return
    measured = read(folder / "held-out" / "sw.txt")
    assert measured == tenth[:lines]
    batches = stream(
        sources, TOKENIZER, StreamConfig(unit="line"), ProcessShard(1, held_out=limits)
    )
    trained = {example.text for batch, _ in take(batches, sum(shape)) for example in batch}
    held_out = [i for i in range(len(shape)) if is_held_out(i, limits["sw"])]
    assert trained == set(flat(documents)) - set(flat(documents[i] for i in held_out))
    assert not trained & set(measured)
    assert len(held_out) <= len(shape) / 10


def test_no_more_is_held_out_than_is_needed(tmp_path):
    sources = text(tmp_path, sw=[2] * 100)
    assert hold_out(sources, 3, tmp_path / "held-out", {}) == {"sw": 20}
    assert len(read(tmp_path / "held-out" / "sw.txt")) == 3


@pytest.mark.parametrize("ending", PACK)
def test_a_development_file_is_used_instead(tmp_path, ending: str):
    sources = text(tmp_path / "text", sw=[1] * 30, ur=[1] * 30)
    pack(tmp_path / "text" / f"sw.dev.txt{ending}", "\nMvua.\n \nMbuzi.\nKondoo.\n")
    given_files = development_files(tmp_path / "text")
    assert list(given_files) == ["sw"]
    assert list(open_corpus(tmp_path / "text").files) == ["sw", "ur"]
    limits = hold_out(sources, 2, tmp_path / "held-out", given_files)
    assert limits == {"sw": 0, "ur": 20}
    assert read(tmp_path / "held-out" / "sw.txt") == ["Mvua.", "Mbuzi."]


@pytest.mark.parametrize(
    "name", ["dev.txt", ".sw.dev.txt", "klingon.dev.txt", "sw.dev.tsv", "sw.txt"]
)
def test_other_files_are_not_for_development(tmp_path, name: str):
    (tmp_path / name).touch()
    assert development_files(tmp_path) == {}


def test_where_there_is_no_folder_there_is_nothing_for_development(tmp_path):
    assert development_files(tmp_path / "cc100") == {}


def test_a_development_file_may_have_a_longer_name(tmp_path):
    (tmp_path / "news.zh.dev.txt.xz").touch()
    assert development_files(tmp_path) == {"zh-Hans": tmp_path / "news.zh.dev.txt.xz"}


def test_of_translations_only_the_own_side_is_written(tmp_path):
    lines = [f"{i}\n" for i in range(20)]
    ours = pack(tmp_path / "sw.txt", "".join(f"sw {line}" for line in lines))
    theirs = pack(tmp_path / "en.txt", "".join(f"en {line}" for line in lines))
    hold_out({"sw": TranslatedFiles(ours, theirs)}, 5, tmp_path / "held-out", {})
    assert read(tmp_path / "held-out" / "sw.txt") == ["sw 9", "sw 19"]


def test_what_was_held_out_before_is_read_back(tmp_path):
    sources = text(tmp_path, sw=[2] * 100, ur=[1])
    folder = tmp_path / "held-out"
    limits = hold_out(sources, 3, folder, {})
    record = json.loads((folder / RECORD).read_text())
    assert record == {"limits": {"sw": 20, "ur": 0}, "lines": {"sw": 3, "ur": 0}}
    (folder / "sw.txt").unlink()
    assert hold_out(sources, 99, folder, {}) == limits
    assert files(folder) == [RECORD]
    assert hold_out({"ur": sources["ur"]}, 3, folder, {}) == {"ur": 0}


def test_an_attempt_that_was_broken_off_is_made_again(tmp_path):
    sources = text(tmp_path, sw=[2] * 100)
    folder = tmp_path / "held-out"
    limits = hold_out(sources, 3, folder, {})
    (folder / RECORD).unlink()
    (folder / "sw.txt").write_text("half of it")
    assert hold_out(sources, 3, folder, {}) == limits
    assert len(read(folder / "sw.txt")) == 3


def test_what_was_held_out_for_other_languages_is_refused(tmp_path):
    sources = text(tmp_path, sw=[1], ur=[1])
    hold_out({"sw": sources["sw"]}, 3, tmp_path / "held-out", {})
    with pytest.raises(DataError, match=r"held-out\.json says nothing about ur: it was made for"):
        hold_out(sources, 3, tmp_path / "held-out", {})
