"""Sparsities and distances are what counting one gate at a time gives."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from polyprune.corpora.languages import language, languages
from polyprune.model.network.components import open_gates
from polyprune.pruning.selection.ranking import density_of, keep_best
from polyprune.pruning.subnetworks import (
    band,
    by_family,
    hamming,
    kind_sparsity,
    layer_sparsity,
    overlap,
    union,
)
from support.rankings import XLM_R_BASE, make, rankings


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
    expected = density_of(gates, weights).float()
    torch.testing.assert_close(1 - closed / weights.total(counts), expected)


def test_a_layer_of_xlm_r_weighs_9216():
    gates = open_gates(XLM_R_BASE)
    gates.heads[3][:, 0] = 0
    torch.testing.assert_close(layer_sparsity(gates)[0, 3], torch.tensor(256 / 9216))


@given(st.integers(1, 5), st.integers(1, 4), st.integers(0, 99))
def test_a_band_is_the_mean_least_and_greatest_over_seeds(seeds, size, seed):
    g = torch.Generator().manual_seed(seed)
    matrices = [torch.rand(size, size, generator=g) for _ in range(seeds)]
    mean, low, high = band(matrices)
    for i in range(size):
        for j in range(size):
            entries = [matrix[i, j].item() for matrix in matrices]
            assert mean[i, j].item() == pytest.approx(sum(entries) / seeds)
            assert (low[i, j].item(), high[i, j].item()) == (min(entries), max(entries))


def test_the_band_of_one_seed_has_no_width():
    matrix = torch.rand(3, 3)
    assert all(torch.equal(edge, matrix) for edge in band([matrix]))


@given(st.lists(st.sampled_from(sorted(languages())), min_size=1, max_size=8, unique=True))
def test_kin_and_others_are_averaged_pair_by_pair(codes):
    known = [language(code) for code in codes]
    matrix = torch.rand(len(codes), len(codes), generator=torch.Generator().manual_seed(0))
    entries = {True: [], False: []}
    for i, a in enumerate(known):
        for j, b in enumerate(known):
            if i != j:
                kin = a.family is not None and a.family == b.family
                entries[kin].append(matrix[i, j].item())
    for got, expected in zip(by_family(matrix, known), entries.values(), strict=True):
        if expected:
            assert got == pytest.approx(sum(expected) / len(expected))
        else:
            assert got is None


def test_a_language_is_not_compared_with_itself():
    indo_european, turkic = [language(code) for code in ("de", "hi")], [language("tr")]
    matrix = torch.eye(3)
    matrix[0, 1] = matrix[1, 0] = 0.5
    assert by_family(matrix, indo_european + turkic) == (0.5, 0)
    assert by_family(matrix[:2, :2], indo_european) == (0.5, None)
    assert by_family(matrix[:1, :1], indo_european[:1]) == (None, None)


def test_languages_of_unknown_family_are_kin_to_nobody():
    unknown = [known for known in languages().values() if known.family is None][:2]
    assert by_family(torch.full((2, 2), 0.25), unknown) == (None, 0.25)
