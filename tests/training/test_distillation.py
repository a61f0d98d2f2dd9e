"""Distillation losses against worked numbers and against their own meaning."""

import json
from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional as F

from polyprune.errors import ConfigError
from polyprune.model.network.components import open_gates
from polyprune.model.surgery.drop_layers import drop_layers
from polyprune.model.surgery.shrink import shrink
from polyprune.training.distillation import (
    Projections,
    attention_relation,
    capture_projections,
    common_relations,
    cosine_distance,
    divergence,
    embedding_distance,
    hidden_error,
    layers_to_keep,
    relation_loss,
    similarity_relation,
    soft_binary_cross_entropy,
    soft_cross_entropy,
    squared_difference,
    value_relation,
)
from support.paths import VECTORS

WORKED = json.loads((VECTORS / "distillation.json").read_text())
EXACT = {"atol": 1e-9, "rtol": 1e-9}
BY_HEAD = [attention_relation, value_relation]
BY_RELATION = [*BY_HEAD, relation_loss]
BY_ROW = [
    soft_cross_entropy,
    soft_binary_cross_entropy,
    squared_difference,
    cosine_distance,
    hidden_error,
    embedding_distance,
    similarity_relation,
]


def double(values):
    return torch.tensor(values, dtype=torch.float64)


def projected(heads, head_width, examples=2, tokens=5, seed=0) -> Projections:
    generator = torch.Generator().manual_seed(seed)
    shape = (3, examples, heads, tokens, head_width)
    return Projections(*torch.randn(shape, generator=generator, dtype=torch.float64))


def map_each(function, x: Projections) -> Projections:
    return Projections(*map(function, x))


def rows(seed, examples=6, width=8):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(examples, width, generator=generator, dtype=torch.float64)


def of_words() -> dict[str, torch.Tensor]:
    """The three losses of DistilBERT on the worked example, and the first on masked words alone."""
    given = WORKED["distilbert"]
    student, teacher = double(given["student_logits"]), double(given["teacher_logits"])
    present, labels = torch.tensor(given["attention_mask"]).bool(), torch.tensor(given["labels"])
    masked, t = labels != -100, given["temperature"]
    hidden = double(given["student_hidden"])[present], double(given["teacher_hidden"])[present]
    return {
        "loss_ce": soft_cross_entropy(student[present], teacher[present], t),
        "loss_ce_restricted_to_mask": soft_cross_entropy(student[masked], teacher[masked], t),
        "loss_mlm": F.cross_entropy(student.flatten(0, 1), labels.flatten(), ignore_index=-100),
        "loss_cos": cosine_distance(*hidden),
    }


@pytest.mark.parametrize("name", list(of_words()))
def test_the_losses_of_distilbert_are_the_worked_ones(name):
    torch.testing.assert_close(of_words()[name], double(WORKED["distilbert"][name]), **EXACT)


def test_the_triple_loss_is_the_worked_one():
    losses, weights = of_words(), WORKED["distilbert"]["alpha"]
    total = sum(weights[name] * losses[f"loss_{name}"] for name in ("ce", "mlm", "cos"))
    torch.testing.assert_close(total, double(WORKED["distilbert"]["total"]), **EXACT)


def test_the_losses_of_minilm_are_the_worked_ones():
    given = WORKED["minilm"]
    student, teacher = (
        Projections(*(double(given[f"{name}_{who}"])[None] for name in "qkv")) for who in "st"
    )
    attention, values = attention_relation(student, teacher), value_relation(student, teacher)
    torch.testing.assert_close(attention, double(given["L_AT"]), **EXACT)
    torch.testing.assert_close(values, double(given["L_VR"]), **EXACT)
    torch.testing.assert_close(attention + values, double(given["total"]), **EXACT)


def test_the_layers_of_distilbert_are_the_published_ones():
    assert list(layers_to_keep(12)) == WORKED["distilbert"]["layers_kept_0based"]


@given(st.integers(1, 60).flatmap(lambda n: st.tuples(st.just(n), st.integers(1, n))))
def test_kept_layers_rise_evenly_from_the_first_to_the_last(sizes):
    layers, kept = sizes
    chosen = layers_to_keep(layers, kept)
    assert len(chosen) == kept
    assert chosen[0] == 0
    assert chosen[-1] == (layers - 1 if kept > 1 else 0)
    gaps = {b - a for a, b in pairwise(chosen)}
    assert all(gap >= 1 for gap in gaps)
    assert max(gaps, default=1) - min(gaps, default=1) <= 1


@given(st.integers(1, 60))
def test_half_of_the_layers_are_kept_and_all_of_them_are_all(layers):
    assert len(layers_to_keep(layers)) == (layers + 1) // 2
    assert layers_to_keep(layers, layers) == tuple(range(layers))


@pytest.mark.parametrize("kept", [0, 13])
def test_a_student_cannot_keep_no_layer_or_more_than_there_are(kept):
    with pytest.raises(ValueError, match=f"Of 12 layers a student keeps from 1 to 12, got {kept}"):
        layers_to_keep(12, kept)


def test_a_student_of_kept_layers_starts_as_they_are(model):
    student = drop_layers(model, layers_to_keep(model.shape.layers))
    assert student.shape.layers == 1
    kept, old = student.encoder.layers[0].state_dict(), model.encoder.layers[0].state_dict()
    assert all(torch.equal(kept[name], old[name]) for name in old)


def test_divergence_is_that_of_torch_distributions():
    student, teacher = (torch.distributions.Categorical(logits=rows(seed)) for seed in (1, 2))
    expected = torch.distributions.kl_divergence(teacher, student)
    torch.testing.assert_close(divergence(rows(1), rows(2)), expected, **EXACT)


def test_a_temperature_near_infinity_compares_centered_logits():
    # T² KL -> mean squared difference of the centered logits, halved (Hinton et al., 2015).
    student, teacher = rows(1), rows(2)
    difference = (student - student.mean(1, True)) - (teacher - teacher.mean(1, True))
    expected = difference.square().mean() / 2
    got = soft_cross_entropy(student, teacher, temperature=1e4)
    torch.testing.assert_close(got, expected, atol=1e-3, rtol=1e-3)


@pytest.mark.parametrize("loss", BY_ROW)
def test_it_is_0_for_the_teacher_itself_and_more_for_others(loss):
    assert loss(rows(1), rows(1)).item() == pytest.approx(0, abs=1e-12)
    assert loss(rows(1), rows(2)).item() > 0.01


@pytest.mark.parametrize("loss", BY_ROW)
def test_gradients_reach_the_student_only(loss):
    student, teacher = rows(1).requires_grad_(), rows(2).requires_grad_()
    loss(student, teacher).backward()
    assert student.grad is not None
    assert student.grad.abs().sum() > 0
    assert teacher.grad is None


@pytest.mark.parametrize("loss", BY_ROW)
def test_the_gradient_is_the_right_one(loss):
    student = rows(1, examples=3, width=4).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: loss(x, rows(2, 3, 4)), student)


@pytest.mark.parametrize("loss", BY_ROW)
def test_half_precision_is_enough_to_give_but_not_to_compute_in(loss):
    student, teacher = rows(1).half(), rows(2).half()
    got = loss(student, teacher)
    assert got.dtype == torch.float32
    expected = loss(student.double(), teacher.double()).float()
    torch.testing.assert_close(got, expected, atol=1e-2, rtol=1e-2)


@pytest.mark.parametrize("loss", [soft_cross_entropy, cosine_distance, embedding_distance])
def test_a_batch_with_nothing_to_learn_from_has_no_loss(loss):
    empty = torch.zeros(0, 8, requires_grad=True)
    got = loss(empty, torch.zeros(0, 8))
    got.backward()
    assert got.item() == 0


def test_the_distance_of_embeddings_is_twice_that_of_their_directions():
    expected = 2 * cosine_distance(rows(1), rows(2))
    torch.testing.assert_close(embedding_distance(rows(1), rows(2)), expected, **EXACT)


def test_similarities_are_compared_whatever_the_width_and_rotation():
    rotation = torch.linalg.qr(rows(3, 8, 8)).Q
    widened = torch.cat([rows(1) @ rotation, torch.zeros(6, 3).double()], dim=1)
    assert similarity_relation(widened, rows(1)).item() == pytest.approx(0, abs=1e-9)


def test_similarities_are_those_with_other_sentences():
    student, teacher = (F.normalize(rows(seed, examples=4), dim=1) for seed in (1, 2))
    expected = 0
    for i in range(4):
        others = [j for j in range(4) if j != i]
        p, q = ((x[others] @ x[i] / 0.2).softmax(0) for x in (teacher, student))
        expected += (p * (p / q).log()).sum() / 4
    torch.testing.assert_close(similarity_relation(student, teacher, 0.2), expected, **EXACT)


@pytest.mark.parametrize("examples", [1, 2])
def test_a_sentence_or_two_have_nothing_to_compare(examples):
    student = rows(1, examples).requires_grad_()
    loss = similarity_relation(student, rows(2, examples))
    loss.backward()
    assert loss.item() == 0


@pytest.mark.parametrize("loss", [soft_cross_entropy, similarity_relation])
def test_a_temperature_is_positive(loss):
    with pytest.raises(ValueError, match=r"A temperature is greater than 0, got 0\.0"):
        loss(rows(1), rows(2), temperature=0.0)


@pytest.mark.parametrize("loss", BY_RELATION)
def test_relations_are_0_for_the_teacher_itself_and_more_for_others(loss):
    assert loss(projected(4, 6), projected(4, 6)).item() == pytest.approx(0, abs=1e-12)
    assert loss(projected(4, 6), projected(4, 6, seed=1)).item() > 0.01


MASK = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]]).bool()


@pytest.mark.parametrize("loss", BY_RELATION)
def test_what_stands_in_padding_does_not_matter(loss):
    def disturb(x):
        return x.where(MASK[:, None, :, None], 100 * torch.randn_like(x))

    student, teacher = projected(4, 6), projected(4, 6, seed=1)
    expected = loss(student, teacher, mask=MASK)
    torch.testing.assert_close(
        loss(map_each(disturb, student), map_each(disturb, teacher), mask=MASK), expected, **EXACT
    )


@pytest.mark.parametrize("loss", BY_RELATION)
def test_a_masked_loss_is_the_mean_over_the_words_of_examples_without_padding(loss):
    student, teacher = projected(4, 6), projected(4, 6, seed=1)
    first, second = (
        loss(*(map_each(lambda x, i=i, n=n: x[i : i + 1, :, :n], p) for p in (student, teacher)))
        for i, n in ((0, 5), (1, 3))
    )
    expected = (5 * first + 3 * second) / 8
    torch.testing.assert_close(loss(student, teacher, mask=MASK), expected, **EXACT)


@pytest.mark.parametrize("loss", BY_RELATION)
def test_padding_gets_no_gradient_and_nothing_else_an_infinite_one(loss):
    student = map_each(lambda x: x.requires_grad_(), projected(4, 6))
    teacher = map_each(lambda x: x.requires_grad_(), projected(4, 6, seed=1))
    loss(student, teacher, mask=MASK).backward()
    gradients = [x.grad.transpose(1, 2) for x in student if x.grad is not None]
    assert gradients
    assert all(g.isfinite().all() and g[MASK].any() and not g[~MASK].any() for g in gradients)
    assert all(x.grad is None for x in teacher)


@pytest.mark.parametrize("loss", BY_RELATION)
def test_an_example_of_padding_alone_does_not_count(loss):
    student, teacher = projected(4, 6), projected(4, 6, seed=1)
    mask = torch.ones(2, 5).bool()
    mask[1] = False
    one = loss(*(map_each(lambda x: x[:1], p) for p in (student, teacher)))
    torch.testing.assert_close(loss(student, teacher, mask=mask), one, **EXACT)
    assert loss(student, teacher, mask=torch.zeros_like(mask)).item() == 0


@pytest.mark.parametrize("loss", BY_HEAD)
@given(st.permutations(range(4)))
def test_the_order_of_heads_does_not_matter_when_it_is_the_same(loss, order):
    student, teacher = projected(4, 6), projected(4, 9, seed=1)
    swapped = (map_each(lambda x: x[:, list(order)], p) for p in (student, teacher))
    torch.testing.assert_close(loss(*swapped), loss(student, teacher), **EXACT)


@given(st.permutations(range(4)))
def test_relations_that_are_heads_do_not_mind_their_order(order):
    student, teacher = projected(4, 6), projected(4, 9, seed=1)
    swapped = (map_each(lambda x: x[:, list(order)], p) for p in (student, teacher))
    expected = relation_loss(student, teacher, relations=4)
    torch.testing.assert_close(relation_loss(*swapped, relations=4), expected, **EXACT)


def test_with_one_relation_a_head_values_are_related_as_by_minilm():
    student, teacher = projected(4, 6), projected(4, 9, seed=1)
    three = [
        value_relation(Projections(s, s, s), Projections(t, t, t))
        for s, t in zip(student, teacher, strict=True)
    ]
    got = relation_loss(student, teacher, relations=4)
    torch.testing.assert_close(got, torch.stack(three).mean(), **EXACT)


@pytest.mark.parametrize("relations", [None, 1, 2, 3, 6])
def test_relations_compare_any_numbers_and_widths_of_heads(relations):
    student = map_each(lambda x: x.requires_grad_(), projected(5, 6))
    loss = relation_loss(student, projected(4, 9, seed=1), relations, MASK)
    loss.backward()
    assert loss.isfinite()
    assert loss > 0
    assert all(x.grad is not None and x.grad.isfinite().all() and x.grad.any() for x in student)


@pytest.mark.parametrize("relations", [0, -1, 4, 5])
def test_relations_divide_both_widths(relations):
    with pytest.raises(ValueError, match=r"width 30 and the teacher's 36\. .* that do: 6\."):
        relation_loss(projected(5, 6), projected(4, 9), relations)


def test_a_pruned_last_layer_of_xlm_r_has_32_relations():
    assert common_relations(5 * 64, 12 * 64) == 32
    assert common_relations(12 * 64, 12 * 64) == 48
    assert common_relations(5 * 64, 12 * 64, wanted=12) == 8


@given(st.integers(1, 2000), st.integers(1, 2000), st.integers(1, 100))
def test_common_relations_are_the_most_that_divide_both(student, teacher, wanted):
    got = common_relations(student, teacher, wanted)
    divide = [i for i in range(1, wanted + 1) if student % i == 0 and teacher % i == 0]
    assert got == max(divide)


def test_no_relations_are_not_wanted():
    with pytest.raises(ValueError, match="counted from 1, got widths 64 and 64, 0 relation heads"):
        common_relations(64, 64, wanted=0)


@pytest.mark.parametrize("loss", BY_HEAD)
def test_other_numbers_of_heads_are_sent_to_the_relation_loss(loss):
    with pytest.raises(
        ValueError, match=r"student has 5 heads and the teacher 4: .* relation_loss"
    ):
        loss(projected(5, 6), projected(4, 6))


def run(model, inputs):
    return model.encoder(inputs["input_ids"], inputs["attention_mask"].bool())


@pytest.mark.parametrize("layer", [0, 1, -1])
def test_captured_are_the_queries_keys_and_values_of_the_layer(model, inputs, layer):
    attention = model.encoder.layers[layer].attention
    before, states = run(model, inputs), []
    with capture_projections(model.encoder, layer) as passes:
        after = model.encoder(inputs["input_ids"], inputs["attention_mask"].bool(), states=states)
    assert torch.equal(before, after)
    (got,) = passes
    assert (got.heads, got.width) == (attention.heads, attention.heads * attention.head_width)
    weights, biases = attention.project.weight.chunk(3), attention.project.bias.chunk(3)
    e = attention.head_width
    for part, weight, bias in zip(got, weights, biases, strict=True):
        for head in range(attention.heads):
            mine = slice(head * e, (head + 1) * e)
            expected = states[range(2)[layer]] @ weight[mine].T + bias[mine]
            torch.testing.assert_close(part[:, head], expected, atol=1e-5, rtol=1e-5)


def test_every_pass_is_captured_until_the_block_ends(model, inputs):
    with capture_projections(model.encoder) as passes:
        run(model, inputs)
        run(model, inputs)
    run(model, inputs)
    assert len(passes) == 2
    with pytest.raises(KeyError), capture_projections(model.encoder) as passes:
        raise KeyError
    run(model, inputs)
    assert not passes


@pytest.mark.parametrize("checkpointing", [False, True])
def test_a_student_learns_from_what_is_captured_and_the_teacher_does_not(
    model, inputs, checkpointing
):
    student = drop_layers(model, [0]).train()
    student.encoder.gradient_checkpointing = checkpointing
    mask = inputs["attention_mask"].bool()
    with torch.no_grad(), capture_projections(model.encoder) as theirs:
        run(model, inputs)
    with capture_projections(student.encoder) as ours:
        run(student, inputs)
    loss = attention_relation(ours[0], theirs[0], mask) + value_relation(ours[0], theirs[0], mask)
    loss.backward()
    gradient = student.encoder.layers[0].attention.project.weight.grad
    assert gradient is not None
    assert gradient.abs().sum() > 0
    assert all(p.grad is None for p in model.parameters())
    assert not any(x.requires_grad for x in theirs[0])


def test_a_copy_of_the_teacher_has_nothing_to_learn(model, inputs):
    mask = inputs["attention_mask"].bool()
    with capture_projections(model.encoder) as passes:
        run(model, inputs)
        run(drop_layers(model, [0, 1]), inputs)
        run(model, inputs)
    for loss in BY_RELATION:
        assert loss(passes[0], passes[1], mask=mask).item() == pytest.approx(0, abs=1e-6)


def with_last_heads(model, heads):
    """Gates that are open, but for the last layer's heads after the first few."""
    gates = open_gates(model.shape)
    gates.heads[-1][:, heads:] = 0
    return gates


def test_a_student_with_fewer_heads_learns_by_relations(model, inputs):
    student = shrink(model, with_last_heads(model, 3)).train()
    mask = inputs["attention_mask"].bool()
    with torch.no_grad(), capture_projections(model.encoder) as theirs:
        run(model, inputs)
    with capture_projections(student.encoder) as ours:
        run(student, inputs)
    assert (ours[0].heads, theirs[0].heads) == (3, 4)
    loss = relation_loss(ours[0], theirs[0], mask=mask)
    loss.backward()
    assert loss.isfinite()
    assert student.encoder.layers[-1].attention.project.weight.grad.abs().sum() > 0


def test_a_layer_without_heads_cannot_be_captured(model):
    student = shrink(model, with_last_heads(model, 0))
    with (
        pytest.raises(ConfigError, match=r"Layer 1, .* lost all its heads.*`min_heads=1`.*triple"),
        capture_projections(student.encoder),
    ):
        pass


def test_hidden_states_are_compared_as_a_share_of_their_variance():
    teacher = double([[1.0, 2.0], [3.0, 6.0]])  # its mean is 2, 4: a variance of 10
    student = double([[1.0, 3.0], [5.0, 6.0]])  # off by 1 and by 2
    assert hidden_error(student, teacher) == pytest.approx(5 / 10)
    assert hidden_error(7 * student, 7 * teacher) == pytest.approx(5 / 10)
    mean = teacher.mean(0).expand_as(teacher)
    assert hidden_error(mean, teacher) == pytest.approx(1), "as bad as saying always the same"
    one = double([[1.0, 2.0]])
    assert hidden_error(2 * one, one) == pytest.approx(1000), "of one token there is no variance"


def test_labels_that_do_not_exclude_each_other_are_compared_one_by_one():
    student, teacher = double([[0.3, -2.0]]), double([[1.0, 0.5]])
    worked = 0.0
    for s, t in zip(student[0], teacher[0], strict=True):  # each is two labels: there, or not
        both = [torch.stack([x, torch.zeros_like(x)])[None] for x in (s, t)]
        worked += soft_cross_entropy(*both, temperature=3.0)
    assert soft_binary_cross_entropy(student, teacher, temperature=3.0) == pytest.approx(worked)


def test_numbers_are_compared_by_their_squared_difference():
    assert squared_difference(double([[1.0], [4.0]]), double([[3.0], [4.5]])) == pytest.approx(
        (4 + 0.25) / 2
    )
