"""The model that fine-tuning starts from."""

import pytest
import torch
import transformers

import polyprune as pp
from polyprune.evaluation.readout_init import prepare_for_task, with_readout
from polyprune.evaluation.tasks import TASKS
from support.models import tiny_model

UPOS, XNLI = TASKS["udpos"].labels, TASKS["xnli"].labels


def labelled(folder, family: str, readout: str, labels, own: bool):
    """A model that says these labels, as polyprune or as transformers saved it."""
    model = tiny_model(family, readout)
    model = type(model)(transformers.AutoConfig.for_model(**model.config.to_dict() | {
        "id2label": dict(enumerate(labels)), "label2id": {each: i for i, each in enumerate(labels)},
    }))  # fmt: skip
    model.save_pretrained(folder / "theirs")
    if own:
        pp.load(folder / "theirs").save_pretrained(folder / "ours")
    return folder / ("ours" if own else "theirs")


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize(
    ("family", "readout", "labels", "task"),
    [
        ("xlm-roberta", "token-classification", UPOS, "panx"),
        ("xlm-roberta", "token-classification", UPOS, "xquad"),
        ("xlm-roberta", "sentence-classification", XNLI[::-1], "xnli"),
        ("bert", "token-classification", UPOS, "xnli"),
        ("bert", "token-classification", ("A", "B", "C"), "xnli"),
        ("bert", "sentence-classification", XNLI, "pawsx"),
    ],
)
def test_other_labels_start_from_a_fresh_readout(tmp_path, family, readout, labels, task, own):
    folder = labelled(tmp_path, family, readout, labels, own)
    prepare_for_task(str(folder), TASKS[task], None, tmp_path / "new", seed=1)
    before, after = pp.load(folder), pp.load(tmp_path / "new")
    assert after.readout_kind == TASKS[task].kind.readout
    if TASKS[task].labels:
        assert after.config.id2label == dict(enumerate(TASKS[task].labels))
    for name, tensor in before.encoder.state_dict().items():
        torch.testing.assert_close(after.encoder.state_dict()[name], tensor)
    weight = after.readout.output.weight
    assert weight.shape[0] == (len(TASKS[task].labels) or 2)
    assert weight.isfinite().all()
    assert not torch.equal(weight, before.readout.output.weight)
    prepare_for_task(str(folder), TASKS[task], None, tmp_path / "again", seed=1)
    assert torch.equal(pp.load(tmp_path / "again").readout.output.weight, weight)
    assert after(torch.tensor([[0, 7, 9, 2]])) is not None


@pytest.mark.parametrize("own", [True, False])
def test_the_same_labels_go_on_with_their_readout(tmp_path, own):
    folder = labelled(tmp_path, "xlm-roberta", "sentence-classification", XNLI, own)
    kept = with_readout(str(folder), TASKS["xnli"]).readout.state_dict()
    for name, tensor in pp.load(folder).readout.state_dict().items():
        assert torch.equal(kept[name], tensor)
