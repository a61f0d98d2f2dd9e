"""Eqs. 10–12 against worked numbers."""

import json

import pytest
import torch
from conftest import VECTORS

from polyprune.corpora.languages import language, languages
from polyprune.pruning.hard_concrete import HardConcrete
from polyprune.pruning.penalties import (
    diversity,
    expected_density,
    family_prior,
    native_l0,
    sparsity_constraint,
)

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
    mean = diversity(gates, prior)
    torch.testing.assert_close(mean, double(expected["loss_mean_over_gates_and_pairs"]))


def test_without_a_prior_every_pair_counts():
    gates = double(DIVERSE["G"])
    loss = diversity(gates, torch.ones(7, 7).double(), literal=True)
    torch.testing.assert_close(loss, double(DIVERSE["variants"]["ones"]["loss_entrywise_l1"]))


@pytest.mark.parametrize("reading", ["missing_is_family", "missing_is_unknown"])
def test_the_prior_of_all_hundred_languages_has_the_counted_zeros(reading):
    prior = family_prior(list(languages().values()), reading == "missing_is_family")
    off_diagonal = prior[~torch.eye(100, dtype=torch.bool)]
    assert int((off_diagonal == 0).sum()) == FAMILIES["n_zero_pairs_ordered"][reading]
