"""A ridge regression from sums finds what generated its data, and says where it cannot."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from polyprune.pruning.second_order.least_squares import RIDGES, LeastSquares, best_change


def sums(seed: int, noise: float = 0.0, means: float = 0.0, sign: int = 1) -> LeastSquares:
    """What is missing is linear in the inputs, with a constant; padding is full of errors."""
    generator = torch.Generator().manual_seed(seed)
    inputs = torch.randn(40, 6, 3, generator=generator)
    change = torch.tensor([[1.0, 0.0], [0.5, -1.0], [0.0, 2.0]])
    missing = inputs @ change + torch.tensor([3.0, -1.0])
    missing += noise * torch.randn(missing.shape, generator=generator)
    weights = torch.full((40, 6), 0.2)
    weights[:, -1] = 0
    missing[:, -1] = 1e3
    missing *= sign
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
    assert best_change(sums(0), sums(1, sign=-1)) is None


def random_sums(seed: int, inputs: int, means: float) -> LeastSquares:
    """Inputs that hang together, with a mean, and what is missing, partly by chance."""
    generator = torch.Generator().manual_seed(seed)
    mixing = torch.linspace(-1, 1, inputs * inputs).sin().reshape(inputs, inputs).double()
    u = torch.randn(12, 5, inputs, generator=generator).double() @ mixing + 0.5
    noise = torch.randn(12, 5, 4, generator=generator).double()
    found = LeastSquares(means)
    found.add(u, u.sum(-1, keepdim=True) + noise + 1, torch.full((12, 5), 0.2).double())
    return found


@given(st.integers(0, 1000), st.integers(0, 9), st.sampled_from([0.0, 10.0]))
def test_one_decomposition_finds_what_a_solution_for_every_ridge_does(seed, inputs, means):
    solving, choosing = (random_sums(seed + i, inputs, means) for i in range(2))
    gram, right = solving.sums()
    others, their_right = choosing.sums()
    changes, errors = {}, {}
    for ridge in RIDGES:
        damping = torch.full((inputs + 1,), 1e-9).double()
        damping[:inputs] += ridge * gram.diagonal()[:inputs].sum() / max(1, inputs)
        change = changes[ridge] = torch.linalg.solve(gram + damping.diag(), right)
        errors[ridge] = float((change * (others @ change - 2 * their_right)).sum())
    found = best_change(solving, choosing)
    if found is None:
        assert min(errors.values()) > -1e-6
    else:
        change, ridge = found
        assert errors[ridge] < min(errors.values()) + 1e-6
        torch.testing.assert_close(change, changes[ridge], atol=1e-6, rtol=1e-6)


def test_without_inputs_the_bias_is_what_is_missing():
    found = LeastSquares(0.0)
    found.add(torch.zeros(3, 2, 0), torch.full((3, 2, 4), 1.5), torch.full((3, 2), 0.5))
    change, _ = best_change(found, found) or (None, None)
    torch.testing.assert_close(change, torch.full((1, 4), 1.5).double())
