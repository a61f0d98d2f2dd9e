"""Eq. 4: the printed dot product, whatever the batch size and the padding."""

import json

import pytest
import torch
from torch.nn import functional as F

import polyprune as pp
from polyprune.errors import DataError
from polyprune.pruning.criteria.importance import gate_gradients, importance
from polyprune.pruning.criteria.losses import masked_lm_loss
from support.batches import split
from support.paths import VECTORS

WORKED = json.loads((VECTORS / "importance.json").read_text())


def assert_same(got, expected):
    for a, b in zip(got.leaves(), expected.leaves(), strict=True):
        torch.testing.assert_close(a, b, atol=1e-6, rtol=1e-4)


def test_it_does_not_depend_on_the_batch_size(model, inputs):
    assert_same(importance(model, split(inputs, 1)), importance(model, [inputs]))
    assert_same(importance(model, split(inputs, 2)), importance(model, [inputs]))


def test_it_does_not_depend_on_padding(model, inputs):
    padding = {"input_ids": 1, "attention_mask": 0, "token_type_ids": 0, "labels": -100}
    padded = {name: F.pad(x, (0, 4), value=padding[name]) for name, x in inputs.items()}
    assert_same(importance(model, [padded]), importance(model, [inputs]))


def test_it_is_the_printed_dot_product(model, inputs):
    """|head · dL/dhead| and |unit · dL/dunit| from hooks, one example at a time."""
    got = importance(model, [inputs])
    layer = model.encoder.layers[1]
    heads, units = torch.zeros(1, 4), torch.zeros(1, 40)
    for example in split(inputs, 1):
        kept: dict[str, torch.Tensor] = {}

        def keep(name, kept=kept):
            return lambda _, args: kept.update({name: args[0]}) or args[0].retain_grad()

        hooks = [
            layer.attention.output.register_forward_pre_hook(keep("heads")),
            layer.feed_forward.contract.register_forward_pre_hook(keep("units")),
        ]
        masked_lm_loss(model, example, pp.open_gates(model.shape)).sum().backward()
        for hook in hooks:
            hook.remove()
        dot = {name: x * x.grad for name, x in kept.items()}
        heads += dot["heads"].unflatten(-1, (4, 6)).sum((1, 3)).abs()
        units += dot["units"].sum(1).abs()
    torch.testing.assert_close(got.heads[1], heads.detach() / 5, atol=1e-6, rtol=1e-4)
    torch.testing.assert_close(got.units[1], units.detach() / 5, atol=1e-6, rtol=1e-4)


def test_rank_is_scored_through_input_and_tied_output(model, inputs):
    """By finite differences of the whole loss, which knows nothing of where the gate acts."""
    got = importance(model.double(), split(inputs, 1)[:1]).rank[0]
    example, step = split(inputs, 1)[0], 1e-2
    for rank in (0, 7, 23):
        losses = []
        for sign in (1, -1):
            gates = pp.open_gates(model.shape).map(torch.Tensor.double)
            gates.rank[0, rank] += sign * step
            losses.append(masked_lm_loss(model, example, gates))
        slope = ((losses[0] - losses[1]) / (2 * step)).abs().item()
        assert got[rank].item() == pytest.approx(slope, rel=1e-2, abs=1e-4)


def test_it_is_the_worked_number(model):
    """The worked heads and gradients as a loss that is linear in the heads of the first layer."""
    head, grad, mask = (torch.tensor(WORKED[name]) for name in ("head", "grad", "mask"))
    dots = (head * grad * mask[:, None, :, None]).sum((2, 3))  # (examples, 2 heads)

    def loss(model, batch, gates):
        return (dots[batch["input_ids"][:, 0]] * gates.heads[0][:, :2]).sum(1)

    got = importance(model, [{"input_ids": torch.arange(3)[:, None]}], loss).heads[0][0]
    torch.testing.assert_close(got[:2], torch.tensor(WORKED["literal"]))
    assert not got[2:].any()


def test_languages_are_rows_in_their_order(model, inputs):
    first, second = split(inputs, 1)[:2]
    both = importance(model, {"sw": [first], "en": [second]})
    assert_same(both.map(lambda x: x[:1]), importance(model, [first]))
    assert_same(both.map(lambda x: x[1:]), importance(model, [second]))


def test_weights_are_as_trainable_as_before(model, inputs):
    model.train()
    model.encoder.norm = None
    model.readout.requires_grad_(False)
    before = [p.requires_grad for p in model.parameters()]
    importance(model, [inputs])
    assert model.training
    assert [p.requires_grad for p in model.parameters()] == before
    assert all(p.grad is None for p in model.parameters())


def test_no_text_and_no_numbers_are_named(model, inputs):
    with pytest.raises(DataError, match="no languages to score with"):
        importance(model, {})
    with pytest.raises(DataError, match="no text in sw"):
        importance(model, {"en": [inputs], "sw": []})
    with torch.no_grad():
        model.encoder.layers[0].attention_norm.weight.fill_(float("nan"))
    with pytest.raises(DataError, match="batch 1 of en is not a number"):
        importance(model, {"en": [inputs]})


@pytest.mark.parametrize(
    ("per", "worked", "divisor"), [("token", "michel_code", 1), ("batch", "bertology_batch", 9)]
)
def test_the_published_variants_are_the_worked_numbers(model, per, worked, divisor):
    """The same linear loss; nine tokens are present, and both variants divide by their number."""
    head, grad, mask = (torch.tensor(WORKED[name]) for name in ("head", "grad", "mask"))
    dots = (head * grad * mask[:, None, :, None]).sum(3).transpose(1, 2)  # (examples, tokens, 2)

    def loss(model, batch, gates):
        gate = gates.heads[0][..., :2]
        gate = gate if gate.ndim == 3 else gate[:, None]
        return (dots * gate).sum((1, 2))

    inputs = {"input_ids": torch.arange(3)[:, None].expand(3, 4), "attention_mask": mask.long()}
    got = importance(model, [inputs], loss, per=per).heads[0][0]
    torch.testing.assert_close(got[:2], torch.tensor(WORKED[worked]) / divisor)


def test_a_gate_for_every_token_is_the_printed_gate_taken_apart(model, inputs):
    """Summed before the absolute value, tokens give their example's gradient, rank included."""
    shape, ids = model.shape, inputs["input_ids"]
    by_example = pp.open_gates(shape, 5).map(torch.Tensor.requires_grad_)
    by_token = by_example.map(lambda gate: torch.ones(*ids.shape, gate.shape[1]).requires_grad_())
    for gates in (by_example, by_token):
        masked_lm_loss(model, inputs, gates).sum().backward()
    for whole, parts in zip(by_example.leaves(), by_token.leaves(), strict=True):
        torch.testing.assert_close(parts.grad.sum(1), whole.grad, atol=1e-6, rtol=1e-4)


def test_both_statistics_come_from_the_same_pass(model, inputs):
    both = gate_gradients(model, [inputs])
    assert_same(both.absolute, importance(model, [inputs]))
    single = [importance(model, [example]).map(torch.square) for example in split(inputs, 1)]
    mean = single[0].map(lambda *s: torch.stack(s).mean(0), *single[1:])
    assert_same(both.squared, mean)
