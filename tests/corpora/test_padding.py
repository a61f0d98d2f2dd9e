"""Parts of a batch have its examples, less padding, and at most so many places."""

import torch

from polyprune.corpora.padding import in_parts


def batch():
    lengths = torch.tensor([9, 2, 5, 3, 8, 2])
    mask = (torch.arange(9) < lengths[:, None]).long()
    ids = torch.arange(54).reshape(6, 9) * mask
    return {"input_ids": ids, "attention_mask": mask, "labels": torch.arange(6)}


def examples(batches):
    found = {}
    for each in batches:
        mask = each["attention_mask"].bool()
        for ids, some, label in zip(each["input_ids"], mask, each["labels"], strict=True):
            found[int(label)] = ids[some].tolist()
    return found


def test_parts_have_the_same_examples():
    parts = list(in_parts([batch(), batch()], places=20))
    assert len(parts) == 6
    assert examples(parts) == examples([batch()])


def test_parts_have_examples_of_like_length_and_no_more_places():
    shapes = [tuple(part["input_ids"].shape) for part in in_parts([batch()], places=20)]
    assert shapes == [(2, 2), (2, 5), (2, 9)]


def test_a_small_batch_stays_whole():
    (part,) = in_parts([batch()], places=54)
    assert examples([part]) == examples([batch()])


def test_padding_on_the_left_stays_where_it_is():
    mirrored = {name: each.flip(1) for name, each in batch().items() if each.ndim == 2}
    for part in in_parts([mirrored], places=20):
        assert part["input_ids"].shape[1] == 9
