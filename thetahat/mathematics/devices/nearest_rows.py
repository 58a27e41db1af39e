"""The k nearest rows of every query, by matrix products and a selection in two steps.

Scores q'ᵀx' = ‖x − q‖² − ‖q‖² come from one product (see `centres`). To select k of n scores, the
minimum of each group of 32 comes first: the k smallest scores lie in the k groups with the smallest
minima, so that only these groups are searched. A few more candidates are kept than requested; their
distances are computed again from differences, because products lose digits, and sorted.
"""

from __future__ import annotations

from typing import Any

from array_api_compat import array_namespace, device

from thetahat.foundation.types import Array
from thetahat.mathematics.devices.memory import row_blocks

GROUP = 32
"""Scores of a group, of which the minimum is taken first."""
SPARE = 8
"""Candidates beyond k, whose order rounding may have changed."""


def nearest_rows(X: Array, queries: Array | None, k: int) -> tuple[Array, Array]:
    """Distances and numbers of the k nearest rows of X, the nearest first; (m, k) each.

    Without queries, those of the rows of X themselves, of which none counts as its own neighbour.
    Cost: O(n m d) time and blocks of queries × n memory.
    """
    xp, n = array_namespace(X), int(X.shape[0])
    itself, queries = queries is None, X if queries is None else queries
    middle = xp.mean(X, axis=0)
    columns = _columns(X - middle)
    count = min(n, k + itself + SPARE)
    distances, numbers = [], []
    size = 4 if X.dtype == xp.float32 else 8
    at_once = size * (int(columns.shape[1]) * 2 + 4 * count * (int(X.shape[1]) + 2 * GROUP))
    for part in row_blocks(queries, at_once):
        some = queries[part, :]
        candidates = _candidates(_with_ones(some - middle, columns) @ columns, count, n)
        candidates = xp.sort(candidates, axis=1)
        rows = xp.reshape(
            xp.take(X, xp.reshape(candidates, (-1,)), axis=0), (-1, count, X.shape[1])
        )
        squares = xp.sum((rows - some[:, None, :]) ** 2, axis=2)
        if itself:
            own = xp.arange(part.start, part.stop, device=device(X))
            far = xp.full_like(squares, float("inf"))
            squares = xp.where(candidates == own[:, None], far, squares)
        order = xp.argsort(squares, axis=1, stable=True)[:, :k]
        distances.append(xp.sqrt(xp.take_along_axis(squares, order, axis=1)))
        numbers.append(xp.take_along_axis(candidates, order, axis=1))
    if len(numbers) == 1:
        return distances[0], numbers[0]
    return xp.concat(distances), xp.concat(numbers)


def _columns(centred: Array) -> Array:
    """[−2x, ‖x‖²] of every row as a column; groups are filled with columns far from any row."""
    xp, (n, d) = array_namespace(centred), centred.shape
    width, length = -(-(d + 1) // 4) * 4, -(-n // GROUP) * GROUP
    found = xp.zeros((length, width), dtype=centred.dtype, device=device(centred))
    found[:n, :d] = -2 * centred
    found[:, d] = xp.finfo(centred.dtype).max / 4
    found[:n, d] = xp.sum(centred * centred, axis=1)
    return found.T


def _with_ones(centred: Array, columns: Array) -> Array:
    xp, (m, d) = array_namespace(centred), centred.shape
    found = xp.zeros((m, columns.shape[0]), dtype=centred.dtype, device=device(centred))
    found[:, :d] = centred
    found[:, d] = 1.0
    return found


def _candidates(scores: Array, count: int, n: int) -> Array:
    """The places of the `count` smallest scores of every row, in any order."""
    xp, (m, length) = array_namespace(scores), scores.shape
    groups = length // GROUP
    if groups < 4 * count:
        return _smallest(xp, scores[:, :n], count)
    minima = xp.min(xp.reshape(scores, (m, GROUP, groups)), axis=1)
    best = _smallest(xp, minima, count)
    steps = xp.arange(GROUP, device=device(scores)) * groups
    places = xp.reshape(best[:, :, None] + steps[None, None, :], (m, count * GROUP))
    inside = _smallest(xp, xp.take_along_axis(scores, places, axis=1), count)
    return xp.take_along_axis(places, inside, axis=1)


def _smallest(xp: Any, values: Array, count: int) -> Array:
    """The places of the `count` smallest values of every row."""
    select = getattr(xp, "topk", None)
    if select is not None:  # torch selects without sorting all
        return select(values, count, dim=1, largest=False, sorted=False).indices
    return xp.argsort(values, axis=1)[:, :count]
