"""Eqs. 14–16 and App. D: one set of gates opens where it should, at every size."""

import itertools
import json

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from polyprune.model.network.components import PerComponent, open_gates
from polyprune.pruning.gates.dynamic import TENTHS, boundaries, closed_form
from polyprune.pruning.gates.gatings import DynamicGating
from polyprune.pruning.selection.ranking import ComponentWeights, density_of, keep_best
from support.paths import VECTORS
from support.rankings import XLM_R_BASE, make, rankings

CASES = json.loads((VECTORS / "ds_alpha_theta.json").read_text())["cases"]
BINS = json.loads((VECTORS / "ds_binning.json").read_text())


def one(value):
    return torch.tensor([value], dtype=torch.float64)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['t_hat']} {case['delta']:.1e}")
def test_the_closed_form_is_the_worked_one(case):
    alpha, slope = closed_form(one(case["t_hat"]), one(case["delta"]))
    torch.testing.assert_close(alpha, one(case["alpha"]), rtol=1e-9, atol=1e-6)
    torch.testing.assert_close(slope, one(case["theta"]), rtol=1e-9, atol=1e-6)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['t_hat']} {case['delta']:.1e}")
def test_gates_are_the_worked_ones_at_every_size(case):
    dynamic = DynamicGating(
        PerComponent((), (), one(case["t_hat"])[None]),
        PerComponent((), (), one(case["delta"])[None]),
    )
    for point in case["points"]:
        assert dynamic(None, point["t"]).rank.item() == pytest.approx(point["g"], abs=2e-6)


def components():
    """The small network of the worked example: scores and weights by kind and layer."""
    parts = {}
    for row in BINS["components"]:
        parts.setdefault((row["type"], row["layer"]), []).append(row["importance"])
    kinds = {row["type"] for row in BINS["components"]}
    heads = tuple(torch.tensor([v]) for (kind, _), v in parts.items() if kind == "head")
    rank = next(
        torch.tensor([v]) for (kind, _), v in parts.items() if kind not in ("head", "hidden")
    )
    units = tuple(torch.tensor([v]) for (kind, _), v in parts.items() if kind == "hidden")
    assert len(kinds) == 3
    return PerComponent(heads, units, rank), [(r["type"], r["layer"]) for r in BINS["components"]]


@pytest.mark.parametrize("example", BINS["examples"])
def test_bins_are_the_worked_ones(example):
    scores, kinds = components()
    expected = BINS["examples"][example]
    boundary, share = boundaries(scores, ComponentWeights(256, 2, 1), expected["grid"])
    flat = [torch.cat(part.leaves(), 1)[0] for part in (boundary, share)]
    order = file_order(kinds)
    for place, row in zip(order, expected["assignment"], strict=True):
        assert flat[0][place].item() == pytest.approx(row["t_hat"], abs=1e-12)
        assert flat[1][place].item() == pytest.approx(row["delta"], abs=1e-12)
    for point in expected["gates_at_t"]:
        gates = torch.cat(DynamicGating(boundary, share)(None, point["t"]).leaves(), 1)[0]
        got = [gates[place].item() for place in order]
        assert got == pytest.approx(point["gates"], abs=2e-6)


def file_order(kinds):
    """Where the components of the file stand among ours: heads, units, then rank."""
    rank = {"head": 0, "hidden": 1}
    ours = sorted(range(len(kinds)), key=lambda i: (rank.get(kinds[i][0], 2), kinds[i][1] or 0, i))
    return [ours.index(i) for i in range(len(kinds))]


@given(rankings())
def test_density_is_monotone_and_everything_is_open_at_full_size(ranking):
    scores, weights, _ = make(ranking)
    dynamic = DynamicGating(*boundaries(scores, weights))
    sizes = [torch.cat(dynamic(None, t).leaves(), 1) for t in TENTHS]
    assert all((a <= b).all() for a, b in itertools.pairwise(sizes))
    assert (sizes[-1] == 1).all()


@given(rankings(), st.sampled_from(TENTHS))
def test_what_is_fully_open_is_what_the_budget_keeps(ranking, density):
    """On the grid, the open gates are those of keep_best; a big head may be ajar beside them."""
    scores, weights, _ = make(ranking)
    for grid in (None, TENTHS):
        dynamic = DynamicGating(*boundaries(scores, weights, grid))(None, density)
        for gate, kept in zip(
            dynamic.leaves(), keep_best(scores, density, weights).leaves(), strict=True
        ):
            assert torch.equal((gate == 1).float(), kept)


def test_one_unit_of_xlm_r_opens_exactly_where_it_should():
    """In single precision, among 36,864 units of which each adds 2 of 111,360."""
    torch.manual_seed(0)
    scores = open_gates(XLM_R_BASE).map(torch.rand_like)
    boundary, share = boundaries(scores, grid=TENTHS)
    dynamic = DynamicGating(boundary, share)
    for density in TENTHS:
        gates = dynamic(None, density)
        assert gates.rank.dtype == torch.float32
        kept = keep_best(scores, density)
        for gate, expected in zip(gates.units, kept.units, strict=True):
            assert torch.equal(gate, expected)
        assert abs(density_of(kept).item() - density) < 256 / 111_360
