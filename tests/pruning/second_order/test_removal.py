"""What removals cost, against removing, solving and measuring."""

import itertools

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from polyprune.pruning.second_order import removal
from polyprune.pruning.second_order.removal import (
    compensate,
    damped,
    removal_costs,
    removal_curve,
    removal_order,
)


def network(seed: int, n: int, width: int = 3, rows: int = 2, tokens: int = 40):
    """A random projection, its inputs, and what gradients at its output are."""
    g = torch.Generator().manual_seed(seed)
    mix = torch.randn(n, n, generator=g, dtype=torch.float64) / 2 + torch.eye(n).double()
    u = torch.randn(tokens, n, generator=g, dtype=torch.float64) @ mix + 1
    weight = torch.randn(width, n, generator=g, dtype=torch.float64)
    root = torch.randn(rows, width, width, generator=g, dtype=torch.float64)
    return u, weight, root @ root.mT


def covariance(u):
    return torch.cov(u.T, correction=0).view(u.shape[1], -1)


def brute_force(weight, matrix, gradient, gone):
    """Remove, solve for the best remaining weights, and measure ½ tr(G ΔW C ΔWᵀ)."""
    kept = torch.tensor([i for i in range(weight.shape[1]) if i not in gone], dtype=torch.long)
    new = torch.zeros_like(weight)
    if len(kept):
        new[:, kept] = torch.linalg.solve(matrix[kept][:, kept], matrix[kept] @ weight.T).T
    change = weight - new
    return float(torch.trace(gradient @ change @ matrix @ change.T)) / 2


def columns(groups, group):
    return [int(i) * group + j for i in groups for j in range(group)]


@given(st.integers(0, 10_000), st.integers(1, 5), st.sampled_from([1, 2, 3]))
def test_every_prefix_costs_what_brute_force_says(seed, groups, group):
    u, weight, gradients = network(seed, groups * group)
    curve = removal_curve(weight, covariance(u), gradients, group)
    matrix = damped(covariance(u))
    assert sorted(curve.order.tolist()) == list(range(groups))
    for row, gradient in enumerate(gradients):
        for k in range(1, groups + 1):
            gone = columns(curve.order[:k], group)
            expected = brute_force(weight, matrix, gradient, gone)
            assert float(curve.steps[row, :k].sum()) == pytest.approx(expected, rel=1e-6, abs=1e-9)


@given(st.integers(0, 10_000), st.integers(2, 5), st.sampled_from([1, 2]))
def test_the_first_to_go_is_the_cheapest_of_all(seed, groups, group):
    u, weight, gradients = network(seed, groups * group, rows=1)
    order = removal_curve(weight, covariance(u), gradients, group).order
    matrix = damped(covariance(u))
    costs = [brute_force(weight, matrix, gradients[0], columns([i], group)) for i in range(groups)]
    assert costs[order[0]] == pytest.approx(min(costs), rel=1e-9)


@given(st.integers(0, 10_000), st.integers(8, 30))
def test_steps_of_many_find_nearly_what_single_ones_do(seed, n):
    u, weight, gradients = network(seed, n, rows=1, tokens=100)
    matrix = damped(covariance(u))

    def total(steps):
        before, removal.STEPS = removal.STEPS, steps
        try:
            prices = weight.T @ gradients[0] @ weight
            order = removal_order(torch.linalg.inv(matrix), prices)
        finally:
            removal.STEPS = before
        return removal_costs(weight, matrix, gradients, order)[0].cumsum(0)[n // 2]

    assert float(total(n // 4)) <= 1.5 * float(total(n)) + 1e-9


def test_without_correlations_the_order_is_that_of_column_norms():
    weight = torch.randn(4, 7, generator=torch.Generator().manual_seed(0))
    curve = removal_curve(weight, torch.eye(7), torch.eye(4)[None])
    norms = weight.square().sum(0)
    assert curve.order.tolist() == norms.argsort().tolist()
    assert torch.allclose(curve.steps[0], (norms.sort().values / 2).double(), rtol=2e-3)


def test_what_only_together_does_nothing_goes_first():
    """Two units that see the same and undo each other: one alone matters, both together do not."""
    u, weight, gradients = network(3, 6)
    u[:, 4] = u[:, 1]
    weight[:, 4] = -weight[:, 1]
    order = removal_curve(weight, covariance(u), gradients).order
    assert set(order[:2].tolist()) == {1, 4}


def test_of_two_that_do_the_same_one_goes_first_and_the_other_stays():
    u, weight, gradients = network(4, 6)
    u[:, 4] = u[:, 1]
    weight += 3  # none is small by itself
    curve = removal_curve(weight, covariance(u), gradients)
    assert int(curve.order[0]) in (1, 4)
    assert float(curve.steps[0, 0]) < 1e-3 * float(curve.steps[0].sum())
    assert {1, 4} != set(curve.order[:2].tolist())


@given(st.integers(0, 10_000), st.integers(2, 6))
def test_what_is_left_makes_up_as_well_as_anything_could(seed, n):
    u, weight, _ = network(seed, n, tokens=30)
    bias = torch.randn(len(weight), dtype=torch.float64)
    kept = torch.arange(n - 1)
    new, new_bias = compensate(weight, bias, covariance(u), u.mean(0), kept)
    target = u @ weight.T + bias
    inputs = torch.cat([u[:, kept], torch.ones(len(u), 1).double()], 1)
    best = torch.linalg.lstsq(inputs, target).solution
    least = (inputs @ best - target).square().sum()
    found = (u[:, kept] @ new.T + new_bias - target).square().sum()
    assert float(found) <= float(least) * 1.1 + 1e-2 * float(target.var() * target.numel())


def test_a_bias_absorbs_what_never_moves():
    u, weight, gradients = network(5, 4)
    u[:, 2] = 7.0  # a unit that is always on
    curve = removal_curve(weight, covariance(u), gradients)
    assert int(curve.order[0]) == 2
    kept = torch.tensor([0, 1, 3])
    bias = torch.zeros(len(weight), dtype=torch.float64)
    new, new_bias = compensate(weight, bias, covariance(u), u.mean(0), kept)
    assert torch.allclose(u[:, kept] @ new.T + new_bias, u @ weight.T, atol=0.05)


@pytest.mark.parametrize("tokens", [1, 2, 5])
def test_fewer_tokens_than_units_have_a_finite_order(tokens):
    u, weight, gradients = network(6, 12, tokens=tokens)
    curve = removal_curve(weight, covariance(u), gradients)
    assert sorted(curve.order.tolist()) == list(range(12))
    assert curve.steps.isfinite().all()
    kept = curve.order[6:].sort().values
    new, bias = compensate(weight, torch.zeros(3), covariance(u), u.mean(0), kept)
    assert new.isfinite().all()
    assert bias.isfinite().all()


def test_greedy_removal_is_near_the_best_set_of_any():
    """On small layers: exhaustive search over all sets of three, twenty layers."""
    ratios = []
    for seed in range(20):
        u, weight, gradients = network(seed, 7, rows=1)
        matrix = damped(covariance(u))
        greedy = float(removal_curve(weight, covariance(u), gradients).steps[0, :3].sum())
        best = min(
            brute_force(weight, matrix, gradients[0], gone)
            for gone in itertools.combinations(range(7), 3)
        )
        ratios.append(greedy / best)
    assert min(ratios) >= 1 - 1e-9
    assert sorted(ratios)[len(ratios) // 2] < 1.02
    assert sum(ratios) / len(ratios) < 1.3
