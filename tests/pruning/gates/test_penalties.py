"""Eqs. 10–12 against worked numbers."""

import json
import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from polyprune.corpora.languages import language, languages
from polyprune.pruning.gates.hard_concrete import HardConcrete
from polyprune.pruning.gates.penalties import (
    diversity,
    expected_density,
    family_prior,
    lagrangian,
    native_l0,
    sparsity_constraint,
)
from support.paths import VECTORS

SIZE = json.loads((VECTORS / "l0_constraint.json").read_text())
DIVERSE = json.loads((VECTORS / "diag_loss.json").read_text())
FAMILIES = json.loads((VECTORS / "language_family.json").read_text())


def double(values):
    return torch.tensor(values, dtype=torch.float64)


def test_the_sparsity_constraint_is_the_worked_one():
    alpha = double(SIZE["alpha"]).requires_grad_()
    opened, weights = HardConcrete().expected_open(alpha), double(SIZE["weights"])
    torch.testing.assert_close(opened, double(SIZE["penalty"]))
    torch.testing.assert_close(expected_density(opened, weights), double(SIZE["norm"]))
    torch.testing.assert_close(native_l0(opened, weights), double(sum(SIZE["raw_norm"])))
    ones = torch.ones_like(weights)
    torch.testing.assert_close(native_l0(opened, ones), double(sum(SIZE["native_unweighted"])))
    mean = sparsity_constraint(opened, weights, SIZE["t"], mean=True)
    torch.testing.assert_close(mean, double(SIZE["loss_mean"]))
    loss = sparsity_constraint(opened, weights, SIZE["t"])
    torch.testing.assert_close(loss, double(SIZE["loss_sum"]))
    loss.backward()
    torch.testing.assert_close(alpha.grad, double(SIZE["grad_alpha"]))


@pytest.mark.parametrize("variant", ["missing_is_family", "missing_is_unknown"])
def test_diversity_is_the_worked_one(variant):
    expected = DIVERSE["variants"][variant]
    prior = family_prior(
        [language(code) for code in DIVERSE["languages"]], variant == "missing_is_family"
    ).double()
    gates = double(DIVERSE["G"]).requires_grad_()
    loss = diversity(gates, prior, literal=True)
    torch.testing.assert_close(loss, double(expected["loss_entrywise_l1"]))
    loss.backward()
    torch.testing.assert_close(gates.grad, double(expected["grad_G_entrywise"]))
    normalised = diversity(gates, prior)
    mean_pair = double(expected["loss_mean_over_gates_and_pairs"])
    torch.testing.assert_close(normalised, len(gates) * mean_pair)


@pytest.mark.parametrize("rows", [5, 15, 100])
def test_diversity_pulls_at_a_gate_as_the_size_does(rows):
    """Of a half-open gate, within a factor of ten, whatever the number of languages."""
    known = list(languages().values())[:: 100 // rows][:rows]
    alpha = torch.full((rows, 60), math.log(0.1 / 1.1)).double().requires_grad_()
    opened, weights = HardConcrete().expected_open(alpha), torch.ones(60).double()
    (size,) = torch.autograd.grad(8 * sparsity_constraint(opened, weights, 0.4), alpha)
    opened = HardConcrete().expected_open(alpha)
    (apart,) = torch.autograd.grad(diversity(opened, family_prior(known).double()), alpha)
    assert 0.05 < (apart.mean() / size.mean()) < 1


def test_without_a_prior_every_pair_counts():
    gates = double(DIVERSE["G"])
    loss = diversity(gates, torch.ones(7, 7).double(), literal=True)
    torch.testing.assert_close(loss, double(DIVERSE["variants"]["ones"]["loss_entrywise_l1"]))


@pytest.mark.parametrize("reading", ["missing_is_family", "missing_is_unknown"])
def test_the_prior_of_all_hundred_languages_has_the_counted_zeros(reading):
    prior = family_prior(list(languages().values()), reading == "missing_is_family")
    off_diagonal = prior[~torch.eye(100, dtype=torch.bool)]
    assert int((off_diagonal == 0).sum()) == FAMILIES["n_zero_pairs_ordered"][reading]


@given(st.floats(-50, 50), st.floats(-50, 50), st.integers(0, 99))
def test_at_the_target_the_lagrangian_is_zero_whatever_the_multipliers(first, second, seed):
    g = torch.Generator().manual_seed(seed)
    opened, weights = torch.rand(1, 6, generator=g).double(), torch.rand(6, generator=g).double()
    target = expected_density(opened, weights).item()
    multipliers = double([first]), double([second])
    assert abs(lagrangian(opened, weights, target, *multipliers).item()) < 1e-12


@pytest.mark.parametrize("multipliers", [1, 3])
def test_multipliers_are_pulled_by_the_gap_and_by_its_square(multipliers):
    opened = double([[0.9, 0.1], [0.5, 0.5], [0.2, 1.0]])
    weights = double([3.0, 1.0])
    first = torch.full((multipliers,), 0.3).double().requires_grad_()
    second = torch.full((multipliers,), -2.0).double().requires_grad_()
    gap = double([0.7, 0.5, 0.4]) - 0.45
    loss = lagrangian(opened, weights, 0.45, first, second)
    torch.testing.assert_close(loss, (0.3 * gap - 2 * gap.square()).sum())
    loss.backward()
    torch.testing.assert_close(first.grad, gap if multipliers == 3 else gap.sum()[None])
    squares = gap.square()
    torch.testing.assert_close(second.grad, squares if multipliers == 3 else squares.sum()[None])


@pytest.mark.parametrize("target", [0.2, 0.5, 0.9])
def test_rising_multipliers_drive_hard_concrete_gates_to_the_target(target):
    g = torch.Generator().manual_seed(0)
    alpha = torch.randn(2, 30, generator=g).requires_grad_()
    weights = torch.randint(1, 9, (30,), generator=g).float()
    first, second = (torch.full((2,), start).requires_grad_() for start in (0.0, 3.0))
    gates = torch.optim.SGD([alpha], lr=50.0)
    multipliers = torch.optim.SGD([first, second], lr=0.3, maximize=True)
    for _ in range(200):
        gates.zero_grad()
        multipliers.zero_grad()
        opened = HardConcrete().expected_open(alpha)
        lagrangian(opened, weights, target, first, second).backward()
        gates.step()
        multipliers.step()
    density = expected_density(HardConcrete().expected_open(alpha), weights)
    torch.testing.assert_close(density, torch.full((2,), target), atol=0.01, rtol=0)
