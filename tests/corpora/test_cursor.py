"""A cursor gives every line of a language once an epoch, in an order that can be taken up again."""

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from weakref import WeakSet

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyprune.corpora.cursor import Cursor, Lane
from polyprune.corpora.held_out import is_held_out
from polyprune.corpora.positions import SourcePosition
from polyprune.corpora.text_sources import Document, TextFile
from polyprune.errors import DataError
from support.small_texts import cc100, endings, flat, numbered, pack, saved, shapes, take

windows = st.integers(1, 5)


def epochs(cursor: Cursor, count: int) -> list[list]:
    """The lines of the first epochs."""
    found: list[list] = [[] for _ in range(count)]
    for line, position in cursor.lines():
        if position["epoch"] >= count:
            return found
        found[position["epoch"]].append(line)
    raise AssertionError("a cursor never ends")


@given(shapes, endings, windows, st.integers(1, 3))
def test_every_position_is_followed_by_what_followed_it_before(
    tmp_path_factory, shape: list[int], ending: str, window: int, lanes: int
):
    path = tmp_path_factory.getbasetemp() / f"sw.txt{ending}"
    source = TextFile(pack(path, cc100(numbered(shape))))
    for lane in range(lanes):
        cursor = Cursor(source, "sw", Lane(lane, lanes), window)
        whole = take(cursor.lines(), 2 * sum(shape) + 3)
        for i, (_, position) in enumerate(whole, 1):
            assert take(cursor.lines(saved(position)), len(whole) - i) == whole[i:]


@given(shapes, windows, st.integers(1, 4), st.integers(0, 30))
def test_every_line_is_seen_once_an_epoch_unless_it_is_held_out(
    tmp_path_factory, shape: list[int], window: int, lanes: int, limit: int
):
    documents = numbered(shape)
    source = TextFile(pack(tmp_path_factory.getbasetemp() / "sw.txt", cc100(documents)))
    cursors = [Cursor(source, "sw", Lane(i, lanes), window, 0, limit) for i in range(lanes)]
    trained = [text for i, text in enumerate(documents) if not is_held_out(i, limit)]
    for of_lanes in zip(*(epochs(cursor, 3) for cursor in cursors), strict=True):
        assert Counter(flat(of_lanes)) == Counter(flat(trained))


def shuffled(path: Path, **settings) -> list[list]:
    return epochs(Cursor(TextFile(path), "sw", **settings), 2)


@pytest.fixture
def path(tmp_path) -> Path:
    return pack(tmp_path / "sw.txt", cc100(numbered([3] * 50)))


def test_every_epoch_and_every_seed_has_an_order_of_its_own(path):
    first, second = shuffled(path)
    assert sorted(first) == sorted(second)
    assert first != second
    assert shuffled(path, seed=1)[0] not in (first, second)
    assert shuffled(path)[0] == first


def test_every_language_and_every_window_has_an_order_of_its_own(path):
    of_swahili = take(Cursor(TextFile(path), "sw").lines(), 150)
    assert take(Cursor(TextFile(path), "so").lines(), 150) != of_swahili
    lines, _ = shuffled(path, window=10)
    starts = [
        min(int(line.split()[0][1:]) for line in lines[i : i + 30]) for i in range(0, 150, 30)
    ]
    assert starts == [0, 30, 60, 90, 120]  # a window is of documents that were side by side
    orders = [
        [int(line.split()[0][1:]) - start for line in lines[start : start + 30]] for start in starts
    ]
    assert all(a != b for a, b in pairwise(orders))


def test_the_lines_of_a_document_stay_together_and_in_order(path):
    lines = [int(line.split()[0][1:]) for line in shuffled(path)[0]]
    assert all(lines[i : i + 3] == [lines[i], lines[i] + 1, lines[i] + 2] for i in range(0, 150, 3))
    assert lines != sorted(lines)


def test_a_language_of_three_lines_reaches_every_one_of_32_lanes(tmp_path):
    source = TextFile(pack(tmp_path / "sw.txt", "mvua\nmbuzi\nkondoo\n"))
    for lane in range(32):
        lines = [line for line, _ in take(Cursor(source, "sw", Lane(lane, 32)).lines(), 6)]
        assert lines == ["mvua", "mbuzi", "kondoo"] * 2


@pytest.mark.parametrize("text", ["", "\n\n \n"])
@pytest.mark.parametrize("lanes", [1, 3])
def test_a_language_without_text_is_named(tmp_path, text: str, lanes: int):
    source = TextFile(pack(tmp_path / "sw.txt", text))
    with pytest.raises(DataError, match=r"^There is no text in .*sw\.txt\. Leave sw out\.$"):
        next(Cursor(source, "sw", Lane(0, lanes)).lines())


class Text(str):
    """A line that can be counted while it is held."""

    __slots__ = ("__weakref__",)


class Endless:
    """A source of a million documents that knows how many of its lines are held somewhere."""

    size, name, paired = 1, "endless", False

    def __init__(self):
        self.held: WeakSet[Text] = WeakSet()
        self.most = 0

    def documents(
        self, start: SourcePosition | None = None
    ) -> Iterator[tuple[Document, SourcePosition]]:
        first = start["document"] if start else 0
        for i in range(first, 1_000_000):
            line = Text(i)
            self.held.add(line)
            self.most = max(self.most, len(self.held))
            yield (line,), {"document": i + 1}
            del line


@pytest.mark.parametrize("lanes", [1, 2])
def test_no_more_than_a_window_is_ever_held(lanes: int):
    source = Endless()
    lines = Cursor(source, "sw", Lane(0, lanes), window=50).lines()
    for _ in range(1000):
        next(lines)
    assert 50 <= source.most <= 52  # and the one that is being read
