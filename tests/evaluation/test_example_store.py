import tracemalloc
from dataclasses import replace

import datasets
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyprune.errors import CheckpointError, DataError
from polyprune.evaluation.encoded_input import EncodedInput
from polyprune.evaluation.example_store import (
    WRITTEN_TOGETHER,
    ExampleStore,
    epoch_batches,
    write_examples,
)

SOME = [
    ("en", EncodedInput(0, [0, 7, 2], None, (1,))),
    ("sw", EncodedInput(1, [0, 250001, 8, 2], None, (-100, 3, -100, -100))),
    ("zh", EncodedInput(2, [0, 9, 2, 2, 5, 2], None, (0, 4))),
]


def test_what_is_stored_comes_back_in_any_order(tmp_path):
    store = write_examples(tmp_path / "some.arrow", SOME)
    assert len(store) == 3
    assert store.lengths.tolist() == [3, 4, 6]
    assert store.take([2, 0, 1]) == [SOME[2], SOME[0], SOME[1]]
    assert store.take([1, 1]) == [SOME[1]] * 2
    assert ExampleStore(tmp_path / "some.arrow").take([0, 1, 2]) == SOME


def test_a_checksum_tells_what_has_changed(tmp_path):
    def summary(examples):
        return write_examples(tmp_path / "some.arrow", examples).summary

    assert summary(SOME) == summary(list(SOME)) == ExampleStore(tmp_path / "some.arrow").summary
    language, first = SOME[0]
    others = [replace(first, ids=[0, 8, 2]), replace(first, labels=(2,))]
    found = [summary([(language, each), *SOME[1:]]) for each in others]
    found += [summary(SOME), summary(SOME[:2])]
    assert len({tuple(each.values()) for each in found}) == 4
    assert [each["examples"] for each in found] == [3, 3, 3, 2]


def test_token_types_come_back_or_their_absence(tmp_path):
    both = [("en", EncodedInput(0, [5, 6], [0, 1], (1,))), ("en", EncodedInput(1, [5], None, (0,)))]
    assert write_examples(tmp_path / "types.arrow", both).take([0, 1]) == both


def test_examples_without_labels_are_left_out(tmp_path):
    unlabelled = ("en", EncodedInput(0, [0, 2]))
    assert write_examples(tmp_path / "some.arrow", [unlabelled, *SOME]).lengths.tolist() == [
        3,
        4,
        6,
    ]


@pytest.mark.parametrize("examples", [[], [("en", EncodedInput(0, [0, 2]))]])
def test_nothing_to_train_on_is_an_error_and_no_file(examples, tmp_path):
    with pytest.raises(DataError, match="nothing to train on: no example has a label"):
        write_examples(tmp_path / "none.arrow", examples)
    assert not list(tmp_path.iterdir())


def test_killed_half_way_it_leaves_no_file(tmp_path):
    def killed():
        for number in range(WRITTEN_TOGETHER + 1):
            yield "en", EncodedInput(number, [5] * 9, None, (0,))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_examples(tmp_path / "half.arrow", killed())
    assert not list(tmp_path.iterdir())


def test_a_file_from_before_is_replaced(tmp_path):
    write_examples(tmp_path / "some.arrow", SOME)
    assert write_examples(tmp_path / "some.arrow", SOME[:1]).take([0]) == SOME[:1]


@pytest.mark.parametrize("damage", ["half", "empty", "other bytes", "gone", "another table"])
def test_a_damaged_file_is_named(damage, tmp_path):
    path = tmp_path / "some.arrow"
    write_examples(path, SOME)
    if damage == "half":
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    elif damage == "another table":
        with datasets.arrow_writer.ArrowWriter(path=str(path)) as writer:
            writer.write({"word": "tea"})
            writer.finalize()
    else:
        path.write_bytes(b"" if damage == "empty" else b"tea" * 100)
    if damage == "gone":
        path.unlink()
    with pytest.raises(CheckpointError, match=r"some\.arrow is damaged \(.*Delete it"):
        ExampleStore(path)


def test_opening_reads_the_lengths_alone(tmp_path):
    path = tmp_path / "many.arrow"
    many = (("en", EncodedInput(i, list(range(200)), None, (0,))) for i in range(2000))
    write_examples(path, many)
    tracemalloc.start()
    store = ExampleStore(path)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < path.stat().st_size / 10
    assert len(store.take([1999])[0][1].ids) == 200
    assert {type(value) for value in vars(store).values()} == {datasets.Dataset, np.ndarray}


lengths = st.lists(st.integers(1, 128), min_size=1, max_size=700).map(np.array)


@given(lengths, st.integers(1, 9), st.integers(0, 99), st.integers(0, 9))
def test_an_epoch_has_every_example_once_and_all_batches_full_but_the_last(
    lengths, batch, seed, epoch
):
    batches = epoch_batches(lengths, batch, seed, epoch)
    assert sorted(np.concatenate(batches)) == list(range(len(lengths)))
    assert all(len(each) == batch for each in batches[:-1])
    assert 1 <= len(batches[-1]) <= batch
    again = epoch_batches(lengths, batch, seed, epoch)
    assert all(np.array_equal(one, other) for one, other in zip(batches, again, strict=True))


def test_epochs_and_seeds_differ():
    lengths = np.full(64, 9)
    first, second, third = (
        np.concatenate(epoch_batches(lengths, 8, *which)).tolist()
        for which in ((0, 0), (0, 1), (1, 0))
    )
    assert first != second
    assert first != third
    assert second != third


def padded_tokens(lengths: np.ndarray, batches) -> int:
    return int(sum(len(each) * lengths[each].max() for each in batches))


def test_similar_lengths_are_together():
    random = np.random.default_rng(0)
    lengths = random.integers(5, 129, 4000)
    ours = padded_tokens(lengths, epoch_batches(lengths, 32, 0, 0))
    shuffled = padded_tokens(lengths, random.permutation(4000).reshape(-1, 32))
    assert ours < 1.05 * lengths.sum() < 1.5 * lengths.sum() < shuffled


def test_batches_of_all_lengths_come_at_all_times():
    lengths = np.random.default_rng(0).integers(5, 129, 3200)
    means = [lengths[each].mean() for each in epoch_batches(lengths, 32, 0, 0)]
    assert abs(np.corrcoef(means, np.arange(len(means)))[0, 1]) < 0.3


def test_labels_may_be_numbers_of_any_kind(tmp_path):
    labels = [(0.25,), (-2.5,)]
    examples = [("en", EncodedInput(i, [1, 2], None, own)) for i, own in enumerate(labels)]
    store = write_examples(tmp_path / "numbers.arrow", examples, numbers=True)
    assert [each.labels for _, each in store.take([0, 1])] == labels
