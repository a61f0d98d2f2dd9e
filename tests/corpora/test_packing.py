"""Blocks are of whole lines, as many as fit, and can be taken up after any of them."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyprune.corpora import packing as packing_module
from polyprune.corpora.cursor import Cursor, Lane
from polyprune.corpora.packing import Packing
from polyprune.corpora.text_sources import TextFile, TranslatedFiles
from polyprune.errors import ConfigError, DataError
from support.small_texts import (
    BOS,
    EOS,
    PAD,
    TOKENIZER,
    UNK,
    cc100,
    endings,
    flat,
    lines_of,
    make_tokenizer,
    numbered,
    pack,
    saved,
    shapes,
    take,
)

sizes = st.integers(5, 12)  # the longest line has three words


def cursor_of(path: Path, text: str, **settings) -> Cursor:
    return Cursor(TextFile(pack(path, text)), "sw", **settings)


def until_epoch(packed, count: int) -> list[list[list[int]]]:
    """The blocks of the first epochs."""
    found: list[list[list[int]]] = [[] for _ in range(count)]
    for tokens, position in packed:
        epoch = position["cursor"]["epoch"]
        if epoch >= count:
            return found
        found[epoch].append(tokens.ids)
    raise AssertionError("there is always another block")


@given(shapes, sizes)
def test_a_block_is_of_as_many_whole_lines_as_fit(tmp_path_factory, shape: list[int], size: int):
    documents = numbered(shape)
    cursor = cursor_of(tmp_path_factory.getbasetemp() / "sw.txt", cc100(documents))
    order = [line for line, _ in take(cursor.lines(), sum(shape))]
    of_epochs = until_epoch(packing_module.pack(cursor, Packing(TOKENIZER, size)), 2)
    assert flat(map(lines_of, of_epochs[0])) == order
    for some in of_epochs:
        assert Counter(flat(map(lines_of, some))) == Counter(flat(documents))
        assert all(len(ids) <= size for ids in some)
        assert all(ids[0] == BOS and ids[-1] == EOS for ids in some)
        assert not {PAD, UNK} & set(flat(some))
        for ids, following in pairwise(some):
            assert len(ids) + len(lines_of(following)[0].split()) + 1 > size


@given(st.lists(st.integers(1, 9), min_size=1, max_size=9), st.integers(3, 8), endings)
def test_every_position_is_followed_by_the_blocks_that_followed_it_before(
    tmp_path_factory, lengths: list[int], size: int, ending: str
):
    # Lines of up to nine words, so that many are split.
    text = "".join(" ".join([f"w{i}"] * length) + "\n" for i, length in enumerate(lengths))
    path = tmp_path_factory.getbasetemp() / f"sw.txt{ending}"
    cursor = cursor_of(path, text, lane=Lane(1, 2), window=2)
    packing = Packing(TOKENIZER, size)
    whole = take(packing_module.pack(cursor, packing), 2 * len(lengths) + 2)
    for i, (_, position) in enumerate(whole, 1):
        assert (
            take(packing_module.pack(cursor, packing, saved(position)), len(whole) - i) == whole[i:]
        )


@given(st.integers(1, 40), st.integers(3, 9))
def test_a_line_that_is_too_long_is_split_and_nothing_of_it_lost(
    tmp_path_factory, words: int, size: int
):
    line = [f"w{i}" for i in range(words)]
    cursor = cursor_of(tmp_path_factory.getbasetemp() / "sw.txt", " ".join(line))
    count = -(-words // (size - 2))
    some = [
        tokens.ids
        for tokens, _ in take(packing_module.pack(cursor, Packing(TOKENIZER, size)), count)
    ]
    pieces = [line_of.split() for line_of in flat(map(lines_of, some))]
    assert flat(pieces) == line
    assert all(len(piece) == size - 2 for piece in pieces[:-1])
    assert all(len(ids) <= size for ids in some)


def test_an_epoch_ends_its_block_so_that_no_line_is_in_it_twice(tmp_path):
    cursor = cursor_of(tmp_path / "sw.txt", "w1\nw2\n")
    some = take(packing_module.pack(cursor, Packing(TOKENIZER, 100)), 3)
    assert [lines_of(tokens.ids) for tokens, _ in some] == [["w1", "w2"]] * 3


def test_lines_without_a_token_are_left_out(tmp_path):
    class Deaf:
        """Hears nothing but words with a `w`."""

        bos_token_id, eos_token_id, cls_token_id, sep_token_id = BOS, EOS, None, None

        def __call__(self, texts: Sequence[str], **_):
            return {"input_ids": [[7] * text.count("w") for text in texts]}

    cursor = cursor_of(tmp_path / "sw.txt", "x\nww\nx\nwwwww\nx\n")
    whole = take(packing_module.pack(cursor, Packing(Deaf(), 5)), 9)
    assert [tokens.ids for tokens, _ in whole[:3]] == [
        [BOS, 7, 7, EOS],
        [BOS, 7, 7, 7, EOS],
        [BOS, 7, 7, EOS],
    ]
    for i, (_, position) in enumerate(whole, 1):
        assert take(packing_module.pack(cursor, Packing(Deaf(), 5), position), 9 - i) == whole[i:]
    silent = cursor_of(tmp_path / "ur.txt", "x\n")
    with pytest.raises(DataError, match=r"^No line of .*ur\.txt has a token\. Leave sw out\.$"):
        next(packing_module.pack(silent, Packing(Deaf(), 5)))


def test_a_tokenizer_may_have_other_ends(tmp_path):
    cursor = cursor_of(tmp_path / "sw.txt", "w1\nw2\n")
    bert = make_tokenizer(bos=None, eos=None, cls="<mask>", sep="<unk>")
    ((tokens, _),) = take(packing_module.pack(cursor, Packing(bert)), 1)
    assert bert.convert_ids_to_tokens(tokens.ids) == ["<mask>", "w1", "<unk>", "w2", "<unk>"]


@pytest.mark.parametrize("missing", ["bos", "eos"])
def test_a_tokenizer_without_ends_cannot_pack(tmp_path, missing: str):
    cursor = cursor_of(tmp_path / "sw.txt", "w1\n")
    packing = Packing(make_tokenizer(**{missing: None}))
    with pytest.raises(ConfigError, match="no token for the beginning or the end of a text"):
        next(packing_module.pack(cursor, packing))


@given(shapes, endings)
def test_a_line_is_an_example_of_its_own(tmp_path_factory, shape: list[int], ending: str):
    path = tmp_path_factory.getbasetemp() / f"sw.txt{ending}"
    cursor = cursor_of(path, cc100(numbered(shape)), window=3)
    packing = Packing(TOKENIZER, 4, "line", "w399 ")
    lines = [line for line, _ in take(cursor.lines(), 2 * sum(shape))]
    whole = take(packing_module.pack(cursor, packing), 2 * sum(shape))
    assert [tokens.text for tokens, _ in whole] == lines
    assert [TOKENIZER.decode(tokens.ids) for tokens, _ in whole] == [
        " ".join(["<s>", *f"w399 {line}".split()[:2], "</s>"]) for line in lines
    ]
    assert all(tokens.pair is None for tokens, _ in whole)
    for i, (_, position) in enumerate(whole, 1):
        assert (
            take(packing_module.pack(cursor, packing, saved(position)), len(whole) - i) == whole[i:]
        )


@pytest.fixture
def translations(tmp_path) -> Cursor:
    ours = pack(tmp_path / "sw.txt", "w1\n\nw2\nw3\n")
    return Cursor(TranslatedFiles(ours, pack(tmp_path / "en.txt", "w11\nw0\nw12 w12\n \n")), "sw")


def test_translations_are_tokenized_side_by_side(translations):
    some = [
        tokens
        for tokens, _ in take(packing_module.pack(translations, Packing(TOKENIZER, 9, "line")), 2)
    ]
    words = {(*TOKENIZER.batch_decode([t.ids, t.pair]), t.text) for t in some}
    assert words == {
        ("<s> w1 </s>", "<s> w11 </s>", "w1"),
        ("<s> w2 </s>", "<s> w12 w12 </s>", "w2"),
    }


def test_translations_cannot_be_packed(translations):
    with pytest.raises(ConfigError, match=r"^Translations cannot be packed into blocks\. Choose"):
        packing_module.pack(translations, Packing(TOKENIZER))


def test_lines_are_tokenized_a_batch_at_a_time(tmp_path):
    asked: list[int] = []

    class Counting:
        bos_token_id, eos_token_id, cls_token_id, sep_token_id = BOS, EOS, None, None

        def __call__(self, texts: Sequence[str], **settings):
            asked.append(len(texts))
            return TOKENIZER(texts, **settings)

    cursor = cursor_of(tmp_path / "sw.txt", cc100(numbered([1] * 300)))
    packed = packing_module.pack(cursor, Packing(Counting(), 9))
    assert asked == []
    next(packed)
    assert asked == [8]
    take(packed, 300)
    assert asked[:7] == [8, 16, 32, 64, 128, packing_module.TOKENIZED, packing_module.TOKENIZED]
