"""Order languages, and place them in a plane, by how much their subnetworks differ."""

from collections.abc import Sequence

import numpy as np

from ..averages import Value

Matrix = Sequence[Sequence[Value]]


def positions(matrix: Matrix) -> list[tuple[float, float]]:
    """Return points in the plane about as far apart as the matrix says (classical scaling).

    The first axis tells most. Turned so that on each axis whoever is farthest out is on the
    positive side: distances alone do not say, and the same matrix is to give the same map.
    """
    distances = _whole(matrix)
    n = len(distances)
    if n < 2:
        return [(0.0, 0.0)] * n
    center = np.eye(n) - 1 / n
    sizes, axes = np.linalg.eigh(-center @ distances**2 @ center / 2)
    # Distances that no plane has may give negative sizes, which mean nothing to be seen.
    plane = axes[:, ::-1][:, :2] * np.sqrt(sizes[::-1][:2].clip(min=0))
    farthest = plane[np.abs(plane).round(9).argmax(0), range(2)]
    plane = plane * np.where(farthest < 0, -1, 1)
    return [(float(x), float(y)) for x, y in plane]


def order(matrix: Matrix) -> list[int]:
    """Return indices in an order in which neighbours are alike.

    The two nearest rows are joined again and again, turned so that the ends that meet are as near
    as can be.
    """
    distances = _whole(matrix)
    rows = [[i] for i in range(len(distances))]
    while len(rows) > 1:
        first, second = _nearest(rows, distances)
        b = rows.pop(second)
        a = rows.pop(first)
        turned = [(x, y) for x in (a, a[::-1]) for y in (b, b[::-1])]
        x, y = min(turned, key=lambda pair: distances[pair[0][-1], pair[1][0]])
        rows.insert(first, x + y)
    return rows[0] if rows else []


def order_by_group(matrix: Matrix, groups: Sequence[str], last: str = "") -> list[int]:
    """Return such an order within groups, the largest group first and `last` at the end."""
    members: dict[str, list[int]] = {}
    for i, group in enumerate(groups):
        members.setdefault(group, []).append(i)
    ranked = sorted(members, key=lambda group: (group == last, -len(members[group]), group))
    ordered = []
    for group in ranked:
        own = members[group]
        within = order([[matrix[i][j] for j in own] for i in own])
        ordered.extend(own[i] for i in within)
    return ordered


def _nearest(rows: list[list[int]], distances: np.ndarray) -> tuple[int, int]:
    """Return the two rows with the smallest mean distance."""
    pairs = ((i, j) for j in range(len(rows)) for i in range(j))
    return min(pairs, key=lambda pair: distances[np.ix_(rows[pair[0]], rows[pair[1]])].mean())


def _whole(matrix: Matrix) -> np.ndarray:
    """Return a symmetric array, with the mean in place of unknown distances."""
    n = len(matrix)
    given = np.array([[np.nan if v is None else v for v in row] for row in matrix], float)
    given = given.reshape(n, n)
    given[~np.isfinite(given)] = np.nan
    other = ~np.eye(n, dtype=bool)
    known = given[other & ~np.isnan(given)]
    filled = np.where(np.isnan(given), known.mean() if known.size else 0.0, given)
    return np.where(other, (filled + filled.T) / 2, 0.0)
