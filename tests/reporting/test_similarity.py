"""Languages in an order and in a plane."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyprune.reporting.similarity import order, order_by_group, positions

coordinates = st.floats(-100, 100, allow_subnormal=False).map(lambda x: round(x, 3))
points = st.lists(st.tuples(coordinates, coordinates), min_size=2, max_size=12)


def between(places):
    places = np.array(places, float)
    return np.linalg.norm(places[:, None] - places[None], axis=-1)


@given(points)
def test_points_of_a_plane_get_their_distances_back(places):
    distances = between(places)
    found = between(positions(distances.tolist()))
    assert np.allclose(found, distances, atol=1e-4)


def test_a_map_is_the_same_however_often_and_whoever_is_farthest_is_on_the_positive_side():
    distances = between([(0, 0), (5, 1), (-9, 2), (1, 3)]).tolist()
    found = np.array(positions(distances))
    assert positions(distances) == positions(distances)
    assert (found[np.abs(found).argmax(0), range(2)] > 0).all()


@pytest.mark.parametrize("matrix", [[], [[0.0]]])
def test_nobody_and_one_alone_have_a_place_and_an_order(matrix):
    assert positions(matrix) == [(0.0, 0.0)] * len(matrix)
    assert order(matrix) == list(range(len(matrix)))


def test_distances_that_are_not_known_do_not_keep_others_from_their_place():
    matrix = [[0.0, 1.0, None], [1.0, 0.0, float("nan")], [None, 2.0, 0.0]]
    assert np.isfinite(positions(matrix)).all()
    assert sorted(order(matrix)) == [0, 1, 2]


@given(st.permutations(range(8)))
def test_points_of_a_line_are_ordered_along_it(shuffled):
    places = [2.0**i for i in shuffled]
    distances = [[abs(a - b) for b in places] for a in places]
    along = [places[i] for i in order(distances)]
    assert along in (sorted(places), sorted(places, reverse=True))


def test_families_stay_together_and_the_largest_comes_first_and_the_unknown_last():
    groups = ["b", "?", "a", "?", "b", "?", "c", "a", "b"]
    matrix = np.random.default_rng(0).random((9, 9))
    ordered = order_by_group(matrix.tolist(), groups, last="?")
    assert sorted(ordered) == list(range(9))
    assert [groups[i] for i in ordered] == ["b"] * 3 + ["a"] * 2 + ["c"] + ["?"] * 3


def test_within_a_family_neighbours_are_alike():
    places = [0.0, 10.0, 1.0, 11.0, 2.0, 12.0]
    distances = [[abs(a - b) for b in places] for a in places]
    ordered = order_by_group(distances, ["one"] * 6)
    assert [places[i] for i in ordered] in ([0, 1, 2, 10, 11, 12], [12, 11, 10, 2, 1, 0])
