"""Sums of outer products are those of all rows, however these come."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from polyprune.pruning.second_order import outer_products
from polyprune.pruning.second_order.outer_products import OuterProducts


@pytest.fixture(autouse=True, scope="module")
def small_blocks():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(outer_products, "BLOCK", 3)
        yield


def random_rows(seed: int, count: int, width: int) -> torch.Tensor:
    return torch.randn(count, width, generator=torch.Generator().manual_seed(seed)).double()


@given(
    st.integers(0, 1000),
    st.lists(st.integers(1, 9), min_size=1, max_size=4),
    st.integers(1, 8),
    st.integers(0, 3),
    st.sampled_from([torch.float32, torch.float64]),
)
def test_they_are_those_of_all_rows(seed, counts, lines, more, dtype):
    rows = random_rows(seed, sum(counts), lines + more)
    found = OuterProducts(lines, dtype)
    for some in rows.split(counts):
        found.add(some)
    expected = (rows.T @ rows)[:lines].to(dtype)
    torch.testing.assert_close(found.sum(), expected, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(found.sum(), expected, atol=1e-5, rtol=1e-5)  # asked again


@given(st.integers(0, 1000), st.integers(1, 12), st.integers(1, 12))
def test_shares_of_others_are_added(seed, first, second):
    rows = [random_rows(seed + i, count, 7) for i, count in enumerate((first, second))]
    total = OuterProducts(dtype=torch.float64)
    for own in rows:
        other = OuterProducts(dtype=torch.float64)
        for row in own.split(2):
            other.add(row)
        total.add_share(other, 1 / len(own))
    expected = sum(own.T @ own / len(own) for own in rows)
    torch.testing.assert_close(total.sum(), expected)
