"""A ridge regression from sums finds what generated its data, and says where it cannot."""

import torch

from polyprune.pruning.second_order.least_squares import LeastSquares, best_change


def sums(seed: int, noise: float = 0.0, means: float = 0.0) -> LeastSquares:
    """What is missing is linear in the inputs, with a constant; padding is full of errors."""
    generator = torch.Generator().manual_seed(seed)
    inputs = torch.randn(40, 6, 3, generator=generator)
    change = torch.tensor([[1.0, 0.0], [0.5, -1.0], [0.0, 2.0]])
    missing = inputs @ change + torch.tensor([3.0, -1.0])
    missing += noise * torch.randn(missing.shape, generator=generator)
    weights = torch.full((40, 6), 0.2)
    weights[:, -1] = 0
    missing[:, -1] = 1e3
    found = LeastSquares(means)
    for batch in zip(*(each.split(8) for each in (inputs, missing, weights)), strict=True):
        found.add(*batch)
    return found


def test_it_finds_weights_and_bias():
    for means in (0.0, 10.0):
        found = best_change(sums(0, means=means), sums(1, means=means))
        assert found is not None
        change, ridge = found
        expected = torch.tensor([[1.0, 0.0], [0.5, -1.0], [0.0, 2.0], [3.0, -1.0]]).double()
        torch.testing.assert_close(change, expected, atol=0.01, rtol=0)
        assert ridge == 0.0001


def test_noise_asks_for_a_larger_ridge():
    found = best_change(sums(0, noise=20), sums(1))
    assert found is None or found[1] > 0.0001


def test_what_others_do_not_like_is_left_out():
    opposite = sums(1)
    opposite.right = -opposite.right
    assert best_change(sums(0), opposite) is None
