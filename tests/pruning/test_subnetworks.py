"""Sparsities and distances are what counting one gate at a time gives."""

import torch
from hypothesis import given
from test_budget import XLM_R_BASE, make, rankings

from polyprune.model.components import open_gates
from polyprune.pruning.budget import density_of, keep_best
from polyprune.pruning.subnetworks import hamming, kind_sparsity, layer_sparsity, overlap, union


def rows(ranking):
    """Three languages' gates under one budget, and their components as sets."""
    scores, weights, density = make(ranking, rows=3)
    gates = keep_best(scores, density, weights)
    flat = torch.cat(gates.leaves(), 1) > 0
    return gates, weights, [set(row.nonzero()[:, 0].tolist()) for row in flat], flat.shape[1]


@given(rankings())
def test_distances_are_those_of_the_sets_of_open_gates(ranking):
    gates, _, sets, components = rows(ranking)
    distance, shared = hamming(gates), overlap(gates)
    for i, a in enumerate(sets):
        for j, b in enumerate(sets):
            assert abs(distance[i, j].item() - len(a ^ b) / components) < 1e-6
            assert abs(shared[i, j].item() - (len(a & b) / len(a | b) if a | b else 1)) < 1e-6


@given(rankings())
def test_the_union_is_the_smallest_that_holds_every_row(ranking):
    gates, _, sets, _ = rows(ranking)
    kept = (torch.cat(union(gates).leaves(), 1) > 0)[0].nonzero()[:, 0].tolist()
    assert set(kept) == set.union(*sets)


@given(rankings())
def test_sparsities_add_up_to_the_density(ranking):
    gates, weights, _, _ = rows(ranking)
    kinds = kind_sparsity(gates)
    counts = gates.map(lambda gate: gate.shape[1])
    layers = torch.tensor(
        [
            weights.head * h + weights.unit * u
            for h, u in zip(counts.heads, counts.units, strict=True)
        ]
    )
    closed = (layer_sparsity(gates, weights) * layers).sum(1) + weights.rank * counts.rank * kinds[
        "rank"
    ]
    torch.testing.assert_close(1 - closed / weights.total(counts), density_of(gates, weights))


def test_a_layer_of_xlm_r_weighs_9216():
    gates = open_gates(XLM_R_BASE)
    gates.heads[3][:, 0] = 0
    torch.testing.assert_close(layer_sparsity(gates)[0, 3], torch.tensor(256 / 9216))
