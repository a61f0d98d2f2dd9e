"""Ours equals Hugging Face, for every family and every readout."""

import pytest
import torch

import polyprune as pp
from polyprune.model.families import FAMILIES
from polyprune.model.network.readouts import READOUTS
from support.models import batch, tiny_model


def visible(output, inputs):
    """Outputs at places that are not padding: what happens at padding is nobody's business."""
    mask = inputs["attention_mask"].bool()
    return [x[mask] if x.shape[:2] == mask.shape else x for x in output]


@pytest.fixture
def theirs_and_ours(family, readout, tmp_path):
    theirs = tiny_model(family, readout)
    theirs.save_pretrained(tmp_path)
    return theirs, pp.load(tmp_path)


def test_outputs_are_equal(theirs_and_ours, family, readout):
    theirs, ours = theirs_and_ours
    assert ours.readout_kind.name == readout
    inputs = batch(family)
    with torch.no_grad():
        expected = visible(theirs(**inputs).to_tuple(), inputs)
        got = visible(ours(**inputs).to_tuple(), inputs)
    torch.testing.assert_close(got, expected, atol=1e-5, rtol=1e-5)


def test_hidden_states_of_every_layer_are_equal(family, tmp_path):
    theirs = tiny_model(family, "hidden-states")
    theirs.save_pretrained(tmp_path)
    inputs = batch(family) | {"output_hidden_states": True}
    with torch.no_grad():
        expected = visible(theirs(**inputs).hidden_states, inputs)
        got = visible(pp.load(tmp_path)(**inputs).hidden_states, inputs)
    torch.testing.assert_close(got, expected, atol=1e-5, rtol=1e-5)


def test_without_mask_and_token_types_defaults_are_theirs(theirs_and_ours, family):
    theirs, ours = theirs_and_ours
    ids = batch(family)["input_ids"][:1]
    with torch.no_grad():
        torch.testing.assert_close(
            ours(ids).to_tuple(), theirs(ids).to_tuple(), atol=1e-5, rtol=1e-5
        )


def test_converting_back_gives_the_same_bits(theirs_and_ours):
    theirs, ours = theirs_and_ours
    back = pp.to_transformers(ours)
    assert type(back) is type(theirs)
    expected, got = theirs.state_dict(), back.state_dict()
    assert got.keys() == expected.keys()
    assert all(torch.equal(got[name], expected[name]) for name in expected)


@pytest.mark.parametrize("readout", sorted(set(READOUTS) - {"hidden-states"}))
def test_losses_are_equal(family, readout, tmp_path):
    theirs = tiny_model(family, readout)
    theirs.save_pretrained(tmp_path)
    inputs = batch(family)
    ids = inputs["input_ids"]
    targets = {
        "masked-lm": {"labels": ids.where(ids % 3 == 0, -100)},
        "sentence-classification": {"labels": torch.tensor([0, 2, 1])},
        "token-classification": {"labels": (ids % 5).where(ids % 2 == 0, -100)},
        "span": {
            "start_positions": torch.tensor([0, 2, 1]),
            "end_positions": torch.tensor([3, 4, 5]),
        },
    }[readout]
    with torch.no_grad():
        expected = theirs(**inputs, **targets).loss
        torch.testing.assert_close(pp.load(tmp_path)(**inputs, **targets).loss, expected)


def test_gradients_of_a_training_step_are_equal(family, tmp_path):
    theirs = tiny_model(family)
    theirs.save_pretrained(tmp_path)
    ours, inputs = pp.load(tmp_path), batch(family)
    labels = inputs["input_ids"].where(inputs["attention_mask"].bool(), -100)
    for model in (theirs, ours):
        model(**inputs, labels=labels).loss.backward()
    expected = theirs.get_input_embeddings().weight.grad
    torch.testing.assert_close(
        ours.get_input_embeddings().weight.grad, expected, atol=1e-5, rtol=1e-4
    )


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_keeps_its_dtype_and_stays_close(family, dtype, tmp_path):
    theirs = tiny_model(family, "hidden-states").to(dtype)
    theirs.save_pretrained(tmp_path)
    ours, inputs = pp.load(tmp_path), batch(family)
    assert ours.dtype == dtype
    with torch.no_grad():
        expected = visible([theirs(**inputs).last_hidden_state], inputs)[0]
        got = visible([ours(**inputs, gates=pp.open_gates(ours.shape)).last_hidden_state], inputs)[
            0
        ]
    assert got.dtype == dtype
    torch.testing.assert_close(got.float(), expected.float(), atol=0.1, rtol=0.05)


def test_old_norm_names_and_missing_prefix_are_understood(tmp_path):
    """bert-base checkpoints of 2018 say gamma and beta, and encoders are saved without prefix."""
    from safetensors.torch import load_file, save_file

    theirs = tiny_model("bert")
    theirs.save_pretrained(tmp_path)
    file = tmp_path / "model.safetensors"
    weights = {
        name.replace("LayerNorm.weight", "LayerNorm.gamma").replace(
            "LayerNorm.bias", "LayerNorm.beta"
        ): tensor
        for name, tensor in load_file(file).items()
    }
    assert any(name.endswith("gamma") for name in weights)
    save_file(weights, file)
    inputs = batch("bert")
    with torch.no_grad():
        torch.testing.assert_close(pp.load(tmp_path)(**inputs).logits, theirs(**inputs).logits)


def test_every_family_of_the_table_is_one_that_transformers_has():
    import transformers

    assert all(transformers.AutoConfig.for_model(name).model_type == name for name in FAMILIES)
