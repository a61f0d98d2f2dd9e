"""Learned Dynamic Sparsification: boundaries move, and every size is met exactly."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.torch import save_file

from polyprune.model.network.components import PerComponent
from polyprune.model.network.shape import EncoderShape
from polyprune.pruning.gates.dynamic import boundaries, logits
from polyprune.pruning.gates.dynamic_gating import STEP, DynamicGating
from polyprune.pruning.gates.elastic import Elastic, load_elastic
from polyprune.pruning.gates.gatings import FixedGating, LearnedGating
from polyprune.pruning.gates.hard_concrete import HardConcrete
from polyprune.pruning.selection.ranking import (
    ComponentWeights,
    Minimum,
    density_of,
    keep_best,
    unflatten,
    weight_kept,
    weight_limit,
)
from support.rankings import make, rankings

COUNTS = PerComponent((4, 4), (30, 30), 12)
WEIGHTS = ComponentWeights(head=16)
COST = torch.cat(WEIGHTS.spread(COUNTS).leaves()).double()
SPAN = HardConcrete().edge_open - HardConcrete().edge_closed


def gating(rows=2, seed=0, **options) -> DynamicGating:
    generator = torch.Generator().manual_seed(seed)
    scores = unflatten(torch.rand(rows, sum(COUNTS.leaves()), generator=generator), COUNTS)
    start = boundaries(scores, WEIGHTS, minimum=Minimum(rank=1))
    return DynamicGating(*start, learned=True, **{"least_share": 0.3} | options)


def moved(rows=2, seed=0, by=2.0) -> DynamicGating:
    made = gating(rows, seed)
    with torch.no_grad():
        made.shift.copy_(by * torch.randn(made.shift.shape))
    return made


def test_gates_are_linear_in_the_size_as_printed():
    """g = f(α + tθ), with θ of the width and α of the boundary that was learned."""
    made = moved()
    made.sharpness = 3.0
    theta = made.logits(1.0) - made.logits(0.0)
    torch.testing.assert_close(theta, torch.full_like(theta, 3.0 * SPAN / 0.3))
    alpha = made.logits(0.0)
    middle = made.boundaries - made.share / 2  # where a gate is half open, however wide it is
    torch.testing.assert_close(alpha, -theta * middle)
    expected = made.distribution.gate(alpha + 0.4 * theta).float()
    torch.testing.assert_close(made.flat(0.4), expected, atol=2e-6, rtol=0)


def test_a_shift_of_one_is_a_bin():
    made, before = gating(), gating().boundaries
    with torch.no_grad():
        made.shift += 1
    torch.testing.assert_close(made.boundaries, before + STEP)
    torch.testing.assert_close(made.logits(0.6), gating().logits(0.6 - STEP))


@pytest.mark.parametrize("start", [0.25, 0.45, 0.75])
def test_a_component_crosses_a_bin_within_twenty_steps(start):
    """Under the optimizer and learning rate of the configs, wherever it begins."""
    made = gating(1)
    which = int((made.boundaries[0] - start).abs().argmin())
    before = made.boundaries[0, which].item()
    optimizer = torch.optim.AdamW(made.parameters(), lr=0.1, weight_decay=0.0)
    generator = torch.Generator().manual_seed(0)
    for _ in range(20):
        density = torch.rand((), generator=generator).item()
        noise = torch.rand(made.shift.shape, generator=generator)
        made.flat(density, noise)[0, which].backward()  # what costs to have open
        optimizer.step()
        optimizer.zero_grad()
    assert made.boundaries[0, which].item() > before + STEP
    others = (made.boundaries - gating(1).boundaries).abs()
    others[0, which] = 0
    assert others.max() == 0


def test_a_closed_gate_is_told_what_it_is_worth():
    made = gating(1)
    made.sharpness = 10.0
    noise = torch.full(made.shift.shape, 0.5)
    gates = made.flat(0.5, noise)
    plain = made.distribution.sample(made.logits(0.5).float(), noise)
    torch.testing.assert_close(gates, plain)
    closed = (gates == 0) & (made.boundaries < 0.58)
    assert closed.any()
    gates.sum().backward()
    assert (made.shift.grad[closed] < 0).all()  # opening sooner opens it
    assert not torch.autograd.grad(plain.sum(), made.shift)[0][closed].any()


@given(st.integers(0, 99), st.floats(0.02, 0.98), st.floats(1, 50))
def test_the_expected_size_can_be_held(seed, density, sharpness):
    made = moved(3, seed)
    made.sharpness = sharpness
    made.hold_size(COST.float())
    sizes = (made.expected_open(density).double() @ COST) / COST.sum()
    torch.testing.assert_close(sizes, torch.full_like(sizes, density), atol=1e-4, rtol=0)


@given(rankings(), st.floats(-3, 3))
def test_every_size_is_met_within_one_component(ranking, by):
    """For one language and for a set, after boundaries went wherever they liked."""
    scores, weights, density = make(ranking)
    made = DynamicGating(*boundaries(scores, weights, minimum=Minimum(rank=1)), learned=True)
    with torch.no_grad():
        made.shift.copy_(by * torch.randn(made.shift.shape))
    limit = weight_limit(density, weights, made.counts)
    if limit < weights.rank:
        return
    wanted = unflatten(made.preference().detach(), made.counts)
    kept = keep_best(wanted, density, weights, Minimum(rank=1))
    assert torch.equal(made.rows_at(density).float(), torch.cat(kept.leaves(), 1))
    elastic = Elastic(made, ("en", "sw"), weights)
    for languages in (["en"], ["sw"], ["en", "sw"]):
        gates = elastic.gates(1 - density, languages) if density > 0 else kept
        assert set(torch.cat(gates.leaves(), 1).unique().tolist()) <= {0.0, 1.0}
        size = int(weight_kept(gates, weights).max())
        assert size <= limit
        closed = [
            weight
            for gate, weight in zip(
                (torch.cat(gates.heads, 1), torch.cat(gates.units, 1), gates.rank),
                (weights.head, weights.unit, weights.rank),
                strict=True,
            )
            if (gate == 0).any()
        ]
        assert not closed or limit - size < max(closed)


@given(st.integers(0, 99), st.floats(0.05, 1), st.floats(0.05, 1))
def test_smaller_sizes_are_parts_of_larger_ones(seed, one, other):
    made = moved(2, seed)
    small, large = (made.rows_at(size) for size in sorted((one, other)))
    assert (small <= large).all()


@given(st.integers(0, 99), st.floats(0.05, 1))
def test_settled_gates_are_the_closed_form_of_what_was_learned(seed, density):
    made = moved(3, seed)
    made.learn_in_common()
    with torch.no_grad():
        made.common.normal_()
    before = made.rows_at(density)
    assert made.settle(COST, 0.5) == 0.0
    assert not list(made.parameters())
    assert torch.equal(made.rows_at(density), before)
    assert torch.equal(made.flat(density) == 1, before)
    sizes = density_of(unflatten(before.float(), COUNTS), WEIGHTS)
    assert ((density - sizes >= -1e-9) & (density - sizes < 16 / COST.sum())).all()


def test_a_settled_state_goes_into_gates_that_were_to_be_learned():
    made, other = moved(), gating()
    made.settle(COST, None)
    other.load_state_dict(made.state_dict())
    assert not other.learned
    assert torch.equal(other.flat(0.35), made.flat(0.35))


def test_what_languages_have_in_common_moves_all_of_them():
    made, before = gating(3), gating(3).boundaries
    made.learn_in_common()
    with torch.no_grad():
        made.common += torch.arange(made.common.shape[1]) / 100
    expected = STEP * torch.arange(made.common.shape[1]).double() / 100
    torch.testing.assert_close(made.boundaries, before + expected, rtol=0, atol=1e-6)


def test_offsets_of_earlier_files_open_at_the_same_size():
    """They were added to α and θ of shares of half a bin, from boundaries on the grid."""
    start = gating(2)
    share = start.share.clamp(min=0.05)
    torch.manual_seed(0)
    alpha, slope = (0.5 * torch.randn(start.boundary.shape) for _ in range(2))
    tensors = {"boundary": start.boundary, "share": share, "alpha": alpha, "slope": slope}
    made = DynamicGating.from_tensors(COUNTS, 2, tensors, HardConcrete())
    made.load_state_dict(tensors)
    for row, which in ((0, 3), (1, 40)):
        size = made.boundaries[row, which].item()
        old = logits(start.boundary, share, size, HardConcrete()) + alpha + size * slope
        assert old[row, which].item() == pytest.approx(HardConcrete().edge_open)


def test_folders_of_earlier_versions_meet_any_size(tmp_path):
    """Their boundaries were on the grid, and 65 % had the size of 60 %."""
    shape = EncoderShape(100, 64, 1, 12, 4, (4, 4), (30, 30), 12)
    start = gating(2)
    offsets = {name: 0.3 * torch.randn(start.boundary.shape) for name in ("alpha", "slope")}
    binned = (10 * start.boundary - 1e-9).ceil() / 10
    tensors = {"boundary": binned, "share": start.share.clamp(min=0.05), **offsets}
    frozen = DynamicGating(*(unflatten(tensors[name], COUNTS) for name in ("boundary", "share")))
    Elastic(frozen, ("en", "sw"), WEIGHTS).save(tmp_path)
    path = tmp_path / "gating.safetensors"
    with safe_open(path, "pt") as file:
        metadata = file.metadata()
    save_file(tensors, path, metadata)
    elastic = load_elastic(path, shape)
    for size in (0.35, 0.6, 0.65):
        for languages in (["en"], ["en", "sw"]):
            kept = density_of(elastic.gates(1 - size, languages), WEIGHTS).item()
            assert 0 <= size - kept + 1e-9 < 16 / COST.sum()
    before = elastic.gating.rows_at(0.65)
    torch.testing.assert_close(before, torch.cat(elastic.every_row(0.35).leaves(), 1) > 0)
    elastic.gating.settle(COST, None)  # as a run does that goes on from then
    assert torch.equal(elastic.gating.flat(0.65) == 1, before)


def test_a_set_of_languages_gets_the_mean_of_what_they_learned():
    """By the rule of one language: no gate is 1 only because there are two."""
    made = LearnedGating(COUNTS, 2)
    with torch.no_grad():
        made.alpha.copy_(torch.linspace(-4, 4, made.alpha.shape[1]).expand(2, -1))
        made.alpha[1] += 0.5
    elastic = Elastic(made, ("en", "sw"), WEIGHTS)
    own = [torch.cat(elastic.gates(languages=[code]).leaves(), 1) for code in ("en", "sw")]
    both = torch.cat(elastic.gates(languages=["en", "sw"]).leaves(), 1)
    opened = both > 0
    mean = sum(own) / torch.stack([gate > 0 for gate in own]).sum(0).clamp(min=1)
    torch.testing.assert_close(both[opened], mean[opened])
    fixed = FixedGating(unflatten((torch.cat(own) > 0).float(), COUNTS))
    hard = Elastic(fixed, ("en", "sw"), WEIGHTS)
    assert set(torch.cat(hard.gates().leaves(), 1).unique().tolist()) == {0.0, 1.0}
