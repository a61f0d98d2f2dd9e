"""A stream is the same whatever the number of processes, and from any batch on."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyprune.corpora.example import Example
from polyprune.corpora.held_out import is_held_out
from polyprune.corpora.stream import (
    ProcessShard,
    StreamConfig,
    draw_languages,
    language_shares,
    merge_positions,
    stream,
)
from polyprune.corpora.text_sources import TextFile, TextSource, TranslatedFiles
from polyprune.errors import ConfigError, DataError
from support.small_texts import (
    TOKENIZER,
    cc100,
    endings,
    flat,
    lines_of,
    numbered,
    pack,
    saved,
    take,
)

SHAPES = {"en": [2] * 30, "sw": [1, 3, 2, 4, 1], "ur": [3]}
TEXTS = {
    code: numbered(shape, first)
    for (code, shape), first in zip(SHAPES.items(), (0, 100, 200), strict=True)
}


def write(folder: Path, ending: str = "") -> dict[str, TextSource]:
    return {
        code: TextFile(pack(folder / f"{code}.txt{ending}", cc100(documents)))
        for code, documents in TEXTS.items()
    }


@pytest.fixture
def sources(tmp_path) -> dict[str, TextSource]:
    return write(tmp_path)


mixings = st.builds(
    StreamConfig,
    exponent=st.sampled_from([0, 0.3, 1]),
    block=st.integers(3, 20),
    window=st.integers(1, 6),
    unit=st.sampled_from(["block", "line"]),
    seed=st.integers(0, 2**32),
    lanes=st.just(4),
)


@pytest.mark.slow
@given(mixings, endings, st.integers(1, 3))
def test_every_position_is_followed_by_the_batches_that_followed_it_before(
    tmp_path_factory, stream_config: StreamConfig, ending: str, lanes_of_examples: int
):
    sources = write(tmp_path_factory.mktemp("text"), ending)
    share = ProcessShard(4 * lanes_of_examples)
    whole = take(stream(sources, TOKENIZER, stream_config, share), 6)
    for i, (_, position) in enumerate(whole, 1):
        resumed = stream(sources, TOKENIZER, stream_config, share, saved(position))
        assert take(resumed, len(whole) - i) == whole[i:]


@given(mixings, st.sampled_from([1, 2, 4]), st.sampled_from([1, 2, 4]))
def test_the_batches_are_the_same_whatever_the_number_of_processes(
    tmp_path_factory, stream_config: StreamConfig, before: int, after: int
):
    sources = write(tmp_path_factory.mktemp("text"))

    def together(processes: int, count: int, position=None):
        """The batches of several processes, put together again, and where they have come to."""
        shares = [ProcessShard(8, process, processes) for process in range(processes)]
        each = [
            take(stream(sources, TOKENIZER, stream_config, share, position), count)
            for share in shares
        ]
        batches = [flat(batch for batch, _ in parts) for parts in zip(*each, strict=True)]
        assert all(len(batch) == 8 // processes for parts in each for batch, _ in parts)
        ordered = [sorted(batch, key=lambda example: example.number) for batch in batches]
        return ordered, saved(merge_positions([parts[-1][1] for parts in each]))

    whole, end = together(1, 6)
    assert [example.number for example in flat(whole)] == list(range(48))
    first, position = together(before, 3)
    second, last = together(after, 3, position)
    assert first + second == whole
    assert last == end


def test_no_process_reads_what_is_not_its_own(sources):
    stream_config = StreamConfig(unit="line", lanes=4)
    for process in range(2):
        for batch, position in take(
            stream(sources, TOKENIZER, stream_config, ProcessShard(8, process, 2)), 5
        ):
            assert {example.number % 2 for example in batch} == {process}
            assert {int(key[0]) % 2 for key in position.packers} == {process}


@given(st.integers(0, 50), st.integers(1, 30), st.integers(0, 2**63))
def test_the_language_of_a_slot_depends_on_its_number_alone(first: int, count: int, seed: int):
    shares = {"en": 0.5, "sw": 0.3, "ur": 0.2}
    whole = draw_languages(shares, seed, 0, first + count)
    assert draw_languages(shares, seed, first, count) == whole[first:]


def test_languages_are_drawn_as_often_as_their_shares_say():
    shares = language_shares({"en": 1000, "sw": 50, "ur": 3}, 0.3)
    counts = Counter(draw_languages(shares, 1, 0, 40_000))
    for code, share in shares.items():
        deviation = (40_000 * share * (1 - share)) ** 0.5
        assert abs(counts[code] - 40_000 * share) < 5 * deviation
    assert draw_languages(shares, 2, 0, 100) != draw_languages(shares, 1, 0, 100)


def test_examples_are_of_their_language(sources):
    for batch, _ in take(stream(sources, TOKENIZER, StreamConfig(block=9), ProcessShard(4)), 30):
        for example in batch:
            assert set(lines_of(example.ids)) <= set(flat(TEXTS[example.language]))


def test_the_order_in_which_languages_are_named_does_not_matter(sources):
    turned = dict(reversed(sources.items()))
    both = [
        take(stream(some, TOKENIZER, StreamConfig(), ProcessShard(4)), 5)
        for some in (sources, turned)
    ]
    assert both[0] == both[1]


def test_all_lanes_together_see_every_line_equally_often(sources):
    # One language, a line an example: 60 lines, which 4 lanes share.
    stream_config = StreamConfig(unit="line", lanes=4, window=7)
    batches = take(
        stream({"en": sources["en"]}, TOKENIZER, stream_config, ProcessShard(4)), 4 * 15 * 2
    )
    # Thirty documents of two lines in four lanes: 16 lines an epoch in some, 14 in the others,
    # so that after four epochs every lane has seen every document once.
    counts = Counter(example.text for batch, _ in batches for example in batch)
    assert counts.keys() == set(flat(TEXTS["en"]))
    assert set(counts.values()) <= {7, 8, 9}


@pytest.mark.parametrize("lanes", [1, 4])
def test_held_out_documents_are_never_trained_on(sources, lanes: int):
    stream_config = StreamConfig(unit="line", lanes=lanes, window=4)
    share = ProcessShard(4, held_out={"en": 20})
    batches = take(stream({"en": sources["en"]}, TOKENIZER, stream_config, share), 200)
    seen = {example.text for batch, _ in batches for example in batch}
    held_out = flat(text for i, text in enumerate(TEXTS["en"]) if is_held_out(i, 20))
    assert len(held_out) == 4
    assert seen == set(flat(TEXTS["en"])) - set(held_out)


def test_translations_are_examples_with_a_pair(tmp_path):
    source = TranslatedFiles(pack(tmp_path / "sw.txt", "w1\n"), pack(tmp_path / "en.txt", "w2\n"))
    stream_config = StreamConfig(unit="line", prefix="w9 ")
    batch, _ = next(stream({"sw": source}, TOKENIZER, stream_config, ProcessShard(1)))
    ids, pair = TOKENIZER(["w9 w1", "w9 w2"])["input_ids"]
    assert batch == [Example(0, "sw", ids, pair, "w1")]


def test_a_tokenizer_may_be_used_otherwise_meanwhile(sources):
    tokenizer = TOKENIZER
    stream_config = StreamConfig(unit="line", block=8)
    expected = take(stream(sources, tokenizer, stream_config, ProcessShard(4)), 100)
    batches = stream(sources, tokenizer, stream_config, ProcessShard(4))
    for batch in expected:
        tokenizer(["w1", "w2 w2"], padding="max_length", max_length=20, truncation=True)
        assert next(batches) == batch


def test_an_empty_file_is_named(sources, tmp_path):
    empty = TextFile(pack(tmp_path / "fr.txt", ""))
    with pytest.raises(DataError, match=r"^There is no text in fr: its size is 0"):
        stream({**sources, "fr": empty}, TOKENIZER, StreamConfig(), ProcessShard(4))
    blank = TextFile(pack(tmp_path / "fr.txt", "\n\n"))
    with pytest.raises(DataError, match=r"^There is no text in .*fr\.txt\. Leave fr out\.$"):
        next(stream({"fr": blank}, TOKENIZER, StreamConfig(), ProcessShard(4)))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"block": 2}, "`block` is 2; choose a whole number from 3 on."),
        ({"window": 0}, "`window` is 0; choose a whole number from 1 on."),
        ({"seed": -1}, "`seed` is -1; choose a whole number from 0 on."),
        ({"lanes": 0}, "`lanes` is 0; choose a whole number from 1 on."),
    ],
)
def test_a_mixing_that_cannot_be_meant(changes: dict[str, int], message: str):
    with pytest.raises(ConfigError, match=f"^{message}$"):
        StreamConfig(**changes)


@pytest.mark.parametrize(
    ("lanes", "share", "message"),
    [
        (
            4,
            ProcessShard(6),
            "A batch of 6 examples .* 4 lanes. Choose a multiple of 4, such as 8.$",
        ),
        (
            4,
            ProcessShard(1),
            "A batch of 1 examples .* 4 lanes. Choose a multiple of 4, such as 4.$",
        ),
        (2, ProcessShard(0), "A batch of 0 examples cannot"),
        (4, ProcessShard(12, 0, 3), "4 lanes .* 3 processes. Choose a multiple of 3, such as 3.$"),
        (1, ProcessShard(8, 0, 8), "1 lanes .* 8 processes. Choose a multiple of 8, such as 8.$"),
        (2, ProcessShard(2, 2, 2), "There is no process 2 among 2.$"),
    ],
)
def test_a_share_that_does_not_fit_is_answered_with_one_that_does(
    sources, lanes: int, share: ProcessShard, message: str
):
    with pytest.raises(ConfigError, match=f"^{message}"):
        stream(sources, TOKENIZER, StreamConfig(lanes=lanes), share)


def test_a_run_cannot_go_on_in_another_number_of_lanes(sources):
    _, position = next(stream(sources, TOKENIZER, StreamConfig(lanes=2), ProcessShard(4)))
    with pytest.raises(ConfigError, match=r"in 2 lanes and cannot go on in 4\. Set the lanes to 2"):
        stream(sources, TOKENIZER, StreamConfig(lanes=4), ProcessShard(4), position)


def test_positions_of_different_batches_cannot_be_merged(sources):
    positions = [p for _, p in take(stream(sources, TOKENIZER, StreamConfig(), ProcessShard(4)), 2)]
    with pytest.raises(ConfigError, match=r"got batches that end at 4, 8\.$"):
        merge_positions(positions)
    with pytest.raises(ConfigError, match=r"^Positions can be merged when"):
        merge_positions([])


def test_a_unit_that_does_not_exist():
    # Through the check itself: tests refuse a wrong type before, what a file says is not typed.
    stream_config = StreamConfig()
    object.__setattr__(stream_config, "unit", "word")
    with pytest.raises(ConfigError, match=r"^`unit` is 'word'; choose `block`, .* `input`, .*\.$"):
        stream_config.__post_init__()
