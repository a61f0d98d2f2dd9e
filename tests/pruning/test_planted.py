"""A planted network, in which most components provably do nothing, is found again by every method.

Two made-up languages with words of their own share some components and have others that only fire
on their words; whatever else there is writes nothing to the residual stream.
"""

import pytest
import torch
from torch.nn import functional as F

import polyprune as pp
from polyprune.model.network.components import PerComponent, sizes
from polyprune.pruning.criteria.criterion import RULES
from polyprune.pruning.criteria.importance import gate_gradients
from polyprune.pruning.gates.dynamic import boundaries
from polyprune.pruning.gates.gatings import DynamicGating, LearnedGating
from polyprune.pruning.gates.penalties import sparsity_constraint
from polyprune.pruning.selection.ranking import ComponentWeights, density_of, keep_best, unflatten
from polyprune.pruning.setting import mean_rows
from support.models import tiny_model

WORDS = {"A": (5, 32), "B": (32, 60)}
COMMON_UNITS, OWN_UNITS = slice(0, 4), {"A": slice(4, 10), "B": slice(10, 16)}
HEADS = {0: [1], 1: []}
"""The heads that do something, layer by layer, for both languages."""
RANKS = 12
"""Columns of the word table that are not 0."""


@pytest.fixture
def planted(tmp_path):
    tiny_model("xlm-roberta", intermediate_size=80).save_pretrained(tmp_path)
    model = pp.load(tmp_path)
    with torch.no_grad():
        words = model.encoder.embedding.words.weight
        words *= 10
        words[:, RANKS:] = 0
        model.encoder.embedding.types.weight.zero_()
        model.encoder.embedding.positions.weight[:, 0] = 0
        for sign, (first, last) in zip((8.0, -8.0), WORDS.values(), strict=True):
            words[first:last, 0] = sign  # the sign of one dimension says which language it is
        model.encoder.embedding.norm.weight[0], model.encoder.embedding.norm.bias[0] = 1.0, 0.0
        for i, layer in enumerate(model.encoder.layers):
            dead = torch.ones(4, dtype=torch.bool)
            dead[HEADS[i]] = False
            layer.attention.output.weight.unflatten(1, (4, 6))[:, dead] = 0
            layer.attention.output.weight[0] = 0  # nobody writes to that dimension
            layer.attention.output.bias[0] = 0
            layer.feed_forward.contract.weight[:, 16:] = 0
            if i == 1:
                layer.feed_forward.contract.weight.zero_()
                continue
            layer.attention_norm.weight[0], layer.attention_norm.bias[0] = 1.0, 0.0
            layer.feed_forward.expand.bias[COMMON_UNITS] += 2.0  # mostly active
            for sign, own in zip((1.0, -1.0), OWN_UNITS.values(), strict=True):
                expand = layer.feed_forward.expand
                expand.weight[own] *= 0.1
                expand.weight[own, 0] = 40.0 * sign  # ±40 times 2 or more: all or exactly nothing
                expand.bias[own] = -60.0
                layer.feed_forward.contract.weight[:, own] *= 0.1
    return model


def truth(shape) -> PerComponent:
    """What does something, in a row for A and one for B."""
    gates = pp.open_gates(shape, 2).map(torch.zeros_like)
    for i, heads in HEADS.items():
        gates.heads[i][:, heads] = 1
    gates.units[0][:, COMMON_UNITS] = 1
    for row, own in enumerate(OWN_UNITS.values()):
        gates.units[0][row, own] = 1
    gates.rank[:, :RANKS] = 1
    return gates


def batch_of(model, language: str, examples: int, seed: int) -> dict[str, torch.Tensor]:
    """Random words of a language; what the model itself says is there counts as right."""
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(*WORDS[language], (examples, 8), generator=generator)
    with torch.no_grad():
        return {"input_ids": ids, "labels": model(ids).logits.argmax(-1)}


def batches(model):
    return {language: [batch_of(model, language, 16, 0)] for language in WORDS}


def assert_found(got: PerComponent, expected: PerComponent):
    for name, gate in got.named().items():
        assert torch.equal(gate > 0, expected.named()[name] > 0), name


def union(gates: PerComponent) -> PerComponent:
    return gates.map(lambda gate: gate.amax(0, keepdim=True))


def test_it_is_planted(planted):
    """Cutting all that should do nothing changes nothing, in either language."""
    gates = truth(planted.shape)
    for row, language in enumerate(WORDS):
        ids = batch_of(planted, language, 8, 3)["input_ids"]
        own = gates.map(lambda gate, row=row: gate[row, None])
        torch.testing.assert_close(planted(ids, gates=own).logits, planted(ids).logits)
        small = pp.shrink(planted, own)
        torch.testing.assert_close(small(ids).logits, planted(ids).logits, atol=1e-4, rtol=1e-4)
        other = gates.map(lambda gate, row=row: gate[1 - row, None])
        assert (planted(ids, gates=other).logits - planted(ids).logits).abs().max() > 0.1


@pytest.mark.parametrize("rule", ["paper", "fisher"])
@pytest.mark.parametrize("setting", ["shared", "non-shared"])
def test_gradient_scores_find_it(planted, rule, setting):
    weights, expected = ComponentWeights.of(planted.shape), truth(planted.shape)
    scores = RULES[rule].scores(gate_gradients(planted, batches(planted)), weights)
    if setting == "shared":
        scores, expected = mean_rows(scores), union(expected)
    density = float(density_of(expected, weights).max())
    assert_found(keep_best(scores, density, weights), expected)


@pytest.mark.parametrize("setting", ["shared", "non-shared"])
def test_dynamic_sparsification_finds_it(planted, setting):
    weights, expected = ComponentWeights.of(planted.shape), truth(planted.shape)
    scores = gate_gradients(planted, batches(planted)).absolute
    if setting == "shared":
        scores, expected = mean_rows(scores), union(expected)
    gating = DynamicGating(*boundaries(scores, weights))
    density = float(density_of(expected, weights).max())
    assert_found(gating(density=density), expected)
    opened = density_of(gating(density=density / 2), weights)
    assert (opened < density).all()


def train(planted, gating, density=None, steps=300):
    """Learn gates under which the model does what it did, for less than it cost (Eqs. 5–13).

    At one density; without one, at another in every step.
    """
    planted.requires_grad_(False)
    weights = ComponentWeights.of(planted.shape).spread(sizes(planted.shape))
    flat = torch.cat(weights.leaves()).float()
    optimizer = torch.optim.Adam(gating.parameters(), lr=0.1)
    generator = torch.Generator().manual_seed(0)
    shape = gating.expected_open().shape
    row = torch.arange(shape[0]).repeat_interleave(32 // shape[0])
    for step in range(steps):
        both = [batch_of(planted, language, 16, step % 8)["input_ids"] for language in WORDS]
        ids = torch.cat(both)
        target = torch.rand((), generator=generator).item() if density is None else density
        gates = gating(row, target, torch.rand(shape, generator=generator))
        loss = F.mse_loss(planted.encoder(ids, gates=gates), planted.encoder(ids))
        size = sparsity_constraint(gating.expected_open(target), flat, target)
        optimizer.zero_grad()
        (100 * loss + size).backward()
        optimizer.step()
    with torch.no_grad():
        return unflatten(gating.rows_at(target).float(), gating.counts)


@pytest.mark.slow
@pytest.mark.parametrize("setting", ["shared", "non-shared"])
def test_l0_finds_it(planted, setting):
    weights, expected = ComponentWeights.of(planted.shape), truth(planted.shape)
    if setting == "shared":
        expected = union(expected)
    gating = LearnedGating(sizes(planted.shape), rows=len(expected.rank))
    # A little less than there is, so that there is no room for what does nothing.
    density = 0.95 * float(density_of(expected, weights).max())
    assert_found(train(planted, gating, density), expected)


@pytest.mark.slow
@pytest.mark.parametrize("setting", ["shared", "non-shared"])
def test_learned_dynamic_sparsification_finds_it_from_a_wrong_start(planted, setting):
    """A ranking by chance, of which almost everything has to be unlearned."""
    weights, expected = ComponentWeights.of(planted.shape), truth(planted.shape)
    if setting == "shared":
        expected = union(expected)
    generator = torch.Generator().manual_seed(5)
    chance = expected.map(lambda gate: torch.rand(gate.shape, generator=generator))
    gating = DynamicGating(*boundaries(chance, weights), learned=True, least_share=0.3)
    gating.hold_size(torch.cat(weights.spread(sizes(planted.shape)).leaves()).float())
    density = float(density_of(expected, weights).max())  # with no room for what does nothing

    def wrong() -> int:
        found = zip(gating.rows_at(density), torch.cat(expected.leaves(), 1) > 0, strict=True)
        return sum(int((kept != needed).sum()) for kept, needed in found)

    assert wrong() > 30
    train(planted, gating)
    assert wrong() == 0
