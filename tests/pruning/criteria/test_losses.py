"""What components are scored for: each loss is the model's own, example by example."""

import pytest
import torch

import polyprune as pp
from polyprune.pruning.criteria.importance import importance
from polyprune.pruning.criteria.losses import (
    ONE_LABEL,
    contrastive_loss,
    embedding_loss,
    masked_lm_loss,
    pooled,
    problem_type,
    task_loss,
)
from support.batches import split
from support.models import tiny_model


def test_the_loss_is_that_of_the_model(model, inputs):
    losses = masked_lm_loss(model, inputs, pp.open_gates(model.shape, 5))
    for example, loss in zip(split(inputs, 1), losses, strict=True):
        torch.testing.assert_close(loss, model(**example).loss)


def test_a_contrastive_loss_scores_a_sentence_encoder(tmp_path, inputs):
    tiny_model("bert", "hidden-states").save_pretrained(tmp_path)
    model = pp.load(tmp_path)
    ids, mask = inputs["input_ids"], inputs["attention_mask"]
    pairs = {
        "input_ids": ids,
        "attention_mask": mask,
        "pair_input_ids": ids,
        "pair_attention_mask": mask,
    }
    scores = importance(model, [pairs], contrastive_loss(), statistic="squared")
    assert all((s >= 0).all() and s.any() for s in scores.leaves())


def test_over_draws_gradients_of_embeddings_are_their_curvature(tmp_path, inputs):
    tiny_model("bert", "hidden-states").save_pretrained(tmp_path)
    model = pp.load(tmp_path)
    plain = {name: inputs[name][:1] for name in ("input_ids", "attention_mask")}

    def embed(gate):
        gates = pp.open_gates(model.shape)
        gates = type(gates)((gate, *gates.heads[1:]), gates.units, gates.rank)
        return pooled(model, *plain.values(), gates)[0]

    jacobian = torch.autograd.functional.jacobian(embed, pp.open_gates(model.shape).heads[0])
    torch.manual_seed(0)
    draws = importance(model, [plain] * 1500, embedding_loss(), statistic="squared")
    torch.testing.assert_close(
        draws.heads[0][0], jacobian[:, 0].square().sum(0), rtol=0.2, atol=1e-9
    )


@pytest.mark.parametrize("readout", ["sentence-classification", "token-classification", "span"])
def test_the_loss_of_a_task_is_that_of_the_model(tmp_path, readout, inputs):
    tiny_model("xlm-roberta", readout).save_pretrained(tmp_path)
    model = pp.load(tmp_path)
    ids, mask = inputs["input_ids"], inputs["attention_mask"]
    labels = {
        "sentence-classification": {"labels": torch.tensor([0, 2, 1, 1, 0])},
        "token-classification": {"labels": (ids % 5).where(mask.bool(), -100)},
        "span": {
            "start_positions": torch.tensor([0, 1, 2, 0, 1]),
            "end_positions": torch.tensor([1, 2, 2, 3, 1]),
        },
    }[readout]
    batches = {"input_ids": ids, "attention_mask": mask} | labels
    losses = task_loss(model, batches, pp.open_gates(model.shape, 5))
    for example, loss in zip(split(batches, 1), losses, strict=True):
        length = int(example["attention_mask"].sum())  # padding is no place for an answer
        if readout == "span":
            trimmed = {k: v[:, :length] if v.ndim == 2 else v for k, v in example.items()}
            example = trimmed
        torch.testing.assert_close(loss, model(**example).loss, atol=1e-6, rtol=1e-4)


@pytest.mark.parametrize("readout", ["sentence-classification", "token-classification", "span"])
def test_a_task_can_be_scored_without_labels(tmp_path, readout, inputs):
    tiny_model("xlm-roberta", readout).save_pretrained(tmp_path)
    plain = {name: inputs[name] for name in ("input_ids", "attention_mask")}
    scores = importance(pp.load(tmp_path), [plain], task_loss)
    assert all(score.isfinite().all() and score.any() for score in scores.leaves())


@pytest.mark.parametrize("problem", ["regression", "multi_label_classification"])
def test_numbers_and_several_labels_have_losses_too(tmp_path, problem, inputs):
    tiny_model("xlm-roberta", "sentence-classification").save_pretrained(tmp_path)
    model = pp.load(tmp_path)
    model.config.problem_type = problem
    plain = {name: inputs[name] for name in ("input_ids", "attention_mask")}
    labels = (torch.arange(15).reshape(5, 3) % 2).float()
    losses = task_loss(model, plain | {"labels": labels}, pp.open_gates(model.shape, 5))
    for example, loss in zip(split(plain | {"labels": labels}, 1), losses, strict=True):
        torch.testing.assert_close(loss, model(**example).loss, atol=1e-6, rtol=1e-4)
    scores = importance(model, [plain], task_loss)
    assert all(score.isfinite().all() and score.any() for score in scores.leaves())


def test_one_output_is_a_number_as_transformers_has_it(tmp_path):
    tiny_model("xlm-roberta", "sentence-classification").save_pretrained(tmp_path)
    config = pp.load(tmp_path).config
    assert problem_type(config) == ONE_LABEL
    config.num_labels = 1
    assert problem_type(config) == "regression"


def test_the_other_view_of_a_sentence_is_its_dropout(tmp_path, inputs):
    """The same every time, whatever ran before, and not simply the sentence again."""
    tiny_model("bert", "hidden-states").save_pretrained(tmp_path)
    model = pp.load(tmp_path)
    plain = {name: inputs[name] for name in ("input_ids", "attention_mask")}
    again = plain | {f"pair_{name}": value for name, value in plain.items()}
    gates = pp.open_gates(model.shape, 5)
    first = contrastive_loss()(model, plain, gates)
    torch.rand(1)
    assert torch.equal(contrastive_loss()(model, plain, gates), first)
    assert not model.training
    assert contrastive_loss()(model, again, gates).mean() < first.mean()


def test_the_first_token_may_stand_for_the_sentence(tmp_path, inputs):
    tiny_model("bert", "hidden-states").save_pretrained(tmp_path)
    model, plain = pp.load(tmp_path), {k: inputs[k] for k in ("input_ids", "attention_mask")}
    gates = pp.open_gates(model.shape, 5)
    mean, first = (contrastive_loss(pooling=p)(model, plain, gates) for p in ("mean", "first"))
    assert not torch.allclose(mean, first)
