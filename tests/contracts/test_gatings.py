"""Every gating maps rows, density and noise to gates; what holds for one holds for all."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import polyprune as pp
from polyprune.model.network.components import PerComponent
from polyprune.pruning.gates.dynamic import TENTHS, boundaries
from polyprune.pruning.gates.gatings import DynamicGating, FixedGating, LearnedGating
from polyprune.pruning.gates.hard_concrete import HardConcrete
from polyprune.pruning.gates.penalties import diversity, native_l0, sparsity_constraint
from polyprune.pruning.selection.ranking import ComponentWeights, density_of, unflatten

COUNTS = PerComponent((4, 3), (12, 0), 6)
TOTAL = sum(COUNTS.leaves())
WEIGHTS = ComponentWeights(head=24)


def scores(rows, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return unflatten(torch.rand(rows, TOTAL, generator=generator), COUNTS)


def fixed(rows):
    return FixedGating(pp.keep_best(scores(rows), 0.5, WEIGHTS))


def learned(rows):
    return LearnedGating(COUNTS, rows, init_std=2.0)


def frozen(rows):
    return DynamicGating(*boundaries(scores(rows), WEIGHTS))


def trained(rows):
    gating = DynamicGating(
        *boundaries(scores(rows), WEIGHTS, grid=TENTHS), learned=True, least_share=0.1
    )
    gating.learn_in_common()
    with torch.no_grad():
        gating.shift.normal_()
        gating.common.normal_()
    return gating


GATINGS = {"fixed": fixed, "learned": learned, "dynamic": frozen, "learned dynamic": trained}


@pytest.fixture(params=GATINGS)
def make(request):
    return GATINGS[request.param]


def noise(rows, seed=0):
    return torch.rand(rows, TOTAL, generator=torch.Generator().manual_seed(seed))


def test_gates_have_the_form_of_the_encoder_and_are_from_0_to_1(make):
    gates = make(3)(density=0.6, noise=noise(3))
    for gate, count in zip(gates.leaves(), COUNTS.leaves(), strict=True):
        assert gate.shape == (3, count)
        assert gate.dtype == torch.float32
        assert ((gate >= 0) & (gate <= 1)).all()


def test_examples_get_the_rows_of_their_languages(make):
    gating, rows = make(3), torch.tensor([2, 0, 0, 1])
    everyone, own = gating(density=0.6), gating(rows, density=0.6)
    for gate, all_rows in zip(own.leaves(), everyone.leaves(), strict=True):
        assert torch.equal(gate, all_rows[rows])


def test_without_noise_gates_are_always_the_same(make):
    gating = make(2)
    assert torch.equal(gating.flat(0.5), gating.flat(0.5))


def test_what_is_expected_open_is_the_frequency_of_samples(make):
    """Over 4,000 samples the deviation is below 0.04, five times the standard error."""
    gating = make(2)
    opened = torch.stack([gating.flat(0.5, noise(2, seed)) > 0 for seed in range(4000)])
    expected = gating.expected_open(0.5)
    if isinstance(gating, DynamicGating) and not gating.learned:  # never sampled, so never chance
        expected = (expected > 0.5).float()
        inside = (gating.flat(0.5) > 0) & (gating.flat(0.5) < 1)
        expected = expected.where(~inside, 1.0)
    torch.testing.assert_close(opened.float().mean(0), expected.float(), atol=0.04, rtol=0)


def test_precision_is_never_reduced(make):
    """A unit of XLM-R opens within 2 of 111,360 of the size: half precision has no such digits."""
    gating = make(2)
    before = gating.flat(0.5)
    gating.half().to(torch.bfloat16)
    assert torch.equal(gating.flat(0.5), before)
    assert all(tensor.dtype.itemsize >= 4 for tensor in gating.state_dict().values())


def test_penalties_reach_what_can_be_learned(make):
    gating = make(2)
    weights = torch.cat(WEIGHTS.spread(COUNTS).leaves()).float()
    expected = gating.expected_open(0.5)
    total = native_l0(expected, weights) + sparsity_constraint(expected, weights, 0.5)
    total = total + diversity(gating.flat(0.5, noise(2)), torch.ones(2, 2))
    if not list(gating.parameters()):
        assert not total.requires_grad
        return
    total.backward()
    assert all(p.grad is not None and p.grad.any() for p in gating.parameters())


def test_state_can_be_taken_out_and_put_back(make):
    first, second = make(2), make(2)
    with torch.no_grad():
        for parameter in second.parameters():
            parameter.add_(1)
    second.load_state_dict(first.state_dict())
    assert torch.equal(first.flat(0.5), second.flat(0.5))


@given(st.integers(0, 50), st.lists(st.floats(0, 1), min_size=2, max_size=2))
def test_frozen_dynamic_gates_grow_with_the_size(seed, two):
    gating = DynamicGating(*boundaries(scores(2, seed), WEIGHTS))
    small, large = sorted(two)
    assert (gating.flat(small) <= gating.flat(large)).all()
    assert (gating.flat(1.0) == 1).all()
    assert not gating.flat(0.0).any()


@given(st.integers(0, 50), st.sampled_from(TENTHS))
def test_a_share_as_wide_as_the_grid_changes_nothing_on_the_grid(seed, size):
    """Where every component's own share is smaller than a step of the grid."""
    counts = PerComponent((8,), (64,), 16)
    ranked = unflatten(torch.rand(1, 88, generator=torch.Generator().manual_seed(seed)), counts)
    weights = ComponentWeights(head=8, unit=2, rank=1)
    binned = boundaries(ranked, weights, grid=TENTHS)
    steep, gentle = DynamicGating(*binned), DynamicGating(*binned, least_share=0.1)
    assert torch.equal(steep.flat(size), gentle.flat(size))


def test_untrained_offsets_leave_the_closed_form_as_it_is():
    start = boundaries(scores(2), WEIGHTS)
    for size in TENTHS:
        assert torch.equal(
            DynamicGating(*start).flat(size), DynamicGating(*start, learned=True).flat(size)
        )


def test_learned_gates_start_at_random_around_half_open():
    alpha = LearnedGating(PerComponent((50,), (50,), 50), rows=4).alpha
    assert alpha.abs().max() < 0.1
    assert alpha.std() > 0.005


def test_the_distribution_is_part_of_a_gating():
    narrow = LearnedGating(COUNTS, 1, HardConcrete(temperature=0.5, low=-0.2, high=1.2))
    wide = LearnedGating(COUNTS, 1)
    wide.load_state_dict(narrow.state_dict())
    assert not torch.equal(narrow.expected_open(), wide.expected_open())


def learned_with_weights(seed, std=4.0):
    torch.manual_seed(seed)
    gating = LearnedGating(PerComponent((4, 4), (30, 30), 12), rows=3, init_std=std)
    weights = torch.cat([torch.full((8,), 16.0), torch.full((60,), 2.0), torch.ones(12)])
    return gating, weights


def test_density_of_frozen_gates_is_the_size_asked_for():
    gating = frozen(3)
    for size in (0.2, 0.5, 0.8):
        hard = unflatten((gating.flat(size) == 1).float(), COUNTS)
        assert (density_of(hard, WEIGHTS) <= size + 1e-6).all()
        assert (density_of(hard, WEIGHTS) > size - 24 / WEIGHTS.total(COUNTS)).all()


@given(st.integers(0, 2**31), st.floats(0.05, 0.95))
def test_folding_meets_a_size_and_leaves_other_gates_alone(seed, density):
    gating, weights = learned_with_weights(seed)
    before = gating.flat().detach()
    share = gating.settle(weights, density, fold=True)
    after = gating.flat().detach()
    assert share == pytest.approx(((before > 0) != (after > 0)).float().mean())
    sizes = ((after > 0).float() @ weights) / weights.sum()
    assert (sizes - density).abs().max() <= 8.01 / weights.sum()  # half a head
    changed = (before > 0) != (after > 0)
    assert torch.equal(before[~changed], after[~changed])
    opened = changed & (after > 0)
    assert (after[opened] <= 0.35).all()  # what noise makes of a closed gate on average


@given(st.integers(0, 2**31), st.floats(0.05, 0.95))
def test_settled_gates_are_0_or_1_of_the_size_with_the_largest_first(seed, density):
    gating, weights = learned_with_weights(seed)
    wanted = gating.preference().detach().clone()
    gating.settle(weights, density)
    gates = gating.flat().detach()
    assert ((gates == 0) | (gates == 1)).all()
    sizes = (gates @ weights) / weights.sum()
    assert (sizes - density).abs().max() <= 8.01 / weights.sum()  # half a head
    for kept, alpha, after in zip(gates > 0, wanted, gating.preference(), strict=True):
        assert not kept.any() or not (~kept).any() or alpha[kept].min() >= alpha[~kept].max()
        assert torch.equal(alpha.argsort(stable=True), after.argsort(stable=True))
    assert gating.settle(weights, density) == 0  # again: nothing is left to do


def test_without_a_size_settling_rounds():
    gating, weights = learned_with_weights(0)
    before = gating.flat().detach()
    gating.settle(weights, None)
    assert torch.equal(gating.flat(), (before >= 0.5).float())


@given(st.integers(0, 2**31), st.floats(0.02, 0.98), st.floats(0.1, 60))
def test_a_size_that_is_held_is_the_expected_one_at_any_sharpness(seed, density, sharpness):
    gating, weights = learned_with_weights(seed)
    gating.hold_size(weights)
    gating.sharpness = sharpness
    sizes = (gating.expected_open(density).double() @ weights.double()) / weights.sum()
    assert (sizes - density).abs().max() < 1e-4


def test_the_gradient_of_a_held_size_is_that_of_finite_differences():
    gating, weights = learned_with_weights(3, std=0.5)
    gating.hold_size(weights)
    wish = torch.randn(gating.alpha.shape, generator=torch.Generator().manual_seed(4))

    def value(alpha):
        gating.alpha.data.copy_(alpha)
        return (torch.sigmoid(gating.logits(0.4)) * wish).sum()

    start = gating.alpha.detach().clone()
    value(start).backward()
    assert gating.alpha.grad is not None
    for row, column in ((0, 0), (1, 20), (2, 75)):
        step = torch.zeros_like(start)
        step[row, column] = 1e-2
        difference = (value(start + step) - value(start - step)).detach() / 2e-2
        assert gating.alpha.grad[row, column] == pytest.approx(float(difference), abs=2e-3)


def test_sharper_gates_are_nearer_to_0_and_1():
    gating, weights = learned_with_weights(1, std=1.0)
    gating.hold_size(weights)
    decided = []
    for gating.sharpness in (1.0, 5.0, 50.0):
        gates = gating.flat(0.5)
        decided.append(float(((gates < 0.01) | (gates > 0.99)).float().mean()))
    assert decided[0] < decided[1] < decided[2]
    assert decided[2] > 0.95
