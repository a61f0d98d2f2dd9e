"""Eqs. 5–9 against worked numbers and against their own meaning."""

import json

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from polyprune.pruning.gates.hard_concrete import HardConcrete
from support.paths import VECTORS

WORKED = json.loads((VECTORS / "hard_concrete.json").read_text())
EXACT = {"atol": 1e-9, "rtol": 1e-9}


def tensor(*values):
    return torch.tensor(values, dtype=torch.float64)


def test_edges_are_the_worked_ones():
    d, derived = HardConcrete(), WORKED["derived"]
    assert d.edge_closed == pytest.approx(derived["f_inv_0"], abs=1e-12)
    assert d.edge_open == pytest.approx(derived["f_inv_1"], abs=1e-12)
    assert d.edge_closed == pytest.approx(derived["threshold_alpha"], abs=1e-12)


@pytest.mark.parametrize("row", WORKED["deterministic"], ids=lambda row: f"alpha {row['alpha']}")
def test_inference_gates_and_penalties_are_the_worked_ones(row):
    alpha = tensor(row["alpha"])
    torch.testing.assert_close(HardConcrete().gate(alpha), tensor(row["g"]), **EXACT)
    assert bool(HardConcrete().gate(alpha) > 0) is row["active"]
    for temperature, name in (
        (1.0, "penalty"),
        (2 / 3, "penalty_beta_2_3"),
        (1 / 3, "penalty_beta_1_3"),
    ):
        got = HardConcrete(temperature).expected_open(alpha)
        torch.testing.assert_close(got, tensor(row[name]), **EXACT)


def test_samples_and_their_gradients_are_the_worked_ones():
    for row in WORKED["sampled"]:
        alpha = tensor(row["alpha"]).requires_grad_()
        gate = HardConcrete(row["beta"]).sample(alpha, tensor(row["u"]))
        gate.sum().backward()
        torch.testing.assert_close(gate, tensor(row["g"]), **EXACT)
        torch.testing.assert_close(alpha.grad, tensor(row["dg_dalpha"]), **EXACT)


@pytest.mark.parametrize("temperature", [1.0, 2 / 3])
def test_the_expectation_is_the_frequency_of_open_gates(temperature):
    d, alpha = HardConcrete(temperature), torch.linspace(-3, 3, 7)
    noise = torch.rand(200_000, 1, generator=torch.Generator().manual_seed(0))
    opened = (d.sample(alpha.expand(200_000, 7), noise.expand(200_000, 7)) > 0).float().mean(0)
    torch.testing.assert_close(opened, d.expected_open(alpha), atol=5e-3, rtol=0)


@given(st.floats(-500, 500), st.sampled_from([0.0, 1e-45, 0.5, 1 - 2**-24, 1.0]))
def test_extreme_noise_stays_finite_in_single_precision(alpha, noise):
    x = torch.tensor([alpha], dtype=torch.float32, requires_grad=True)
    gate = HardConcrete().sample(x, torch.tensor([noise], dtype=torch.float32))
    gate.sum().backward()
    assert 0 <= gate.item() <= 1
    assert x.grad.isfinite().all()


def test_constants_that_make_no_gate_are_refused():
    with pytest.raises(ValueError, match="low < 0 and high > 1"):
        HardConcrete(low=0.1)
