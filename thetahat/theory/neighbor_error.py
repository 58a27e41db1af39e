"""The error of k nearest neighbours with endless data: their labels are drawn from p(y | x)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, pairwise
from math import comb, factorial, prod
from typing import Any

import numpy as np

from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array
from thetahat.theory.decision.probabilities import as_probabilities
from thetahat.theory.requirements import whole

MOST_OUTCOMES = 100_000


def neighbor_error(posterior: Any, *, n_neighbors: int = 1) -> Array:
    """The error of k nearest neighbours at points with known class probabilities, as n → ∞.

    With infinitely many rows all k neighbours lie at x itself, and their labels are independent
    draws from p(y | x). The average over x is at most ``th.theory.cover_hart`` of the Bayes error
    for k = 1.

    Formula: p_∞(err | x) = 1 − Σ_c p(c | x)·P(c wins the vote of k draws); for k = 1 this is
    1 − Σ_c p(c | x)², the Gini impurity. A tie is decided by chance.

    Cost: O(n·C·(k + C − 1 choose C − 1)), the number of outcomes of a vote.

    Parameters
    ----------
    posterior : array-like of shape (n, C)
        Class probabilities p(c | x) at each point, one row per point. Each row must sum to 1.
    n_neighbors : int, default=1
        The number of neighbours that vote (k). Larger numbers approach the Bayes error.

    Returns
    -------
    array of shape (n,)
        The probability of an error at each point.

    Examples
    --------
    >>> import thetahat as th
    >>> th.theory.neighbor_error([[0.9, 0.1], [0.5, 0.5]]).round(6)
    array([0.18, 0.5 ])
    >>> th.theory.neighbor_error([[0.9, 0.1]], n_neighbors=3).round(6)
    array([0.1224])
    """
    whole(n_neighbors, "n_neighbors", "neighbor_error", low=1)
    if np.ndim(posterior) != 2:
        raise DataError(
            f"neighbor_error: posterior has shape {np.shape(posterior)}; give one row of class "
            "probabilities for each point."
        )
    p = as_probabilities(posterior, "posterior", "neighbor_error")
    k, n_classes = int(n_neighbors), p.shape[1]
    if comb(k + n_classes - 1, n_classes - 1) > MOST_OUTCOMES:
        raise ParameterError(
            f"neighbor_error: n_neighbors={k} with {n_classes} classes has more than "
            f"{MOST_OUTCOMES} outcomes of a vote. Use fewer neighbours or classes."
        )
    correct = np.zeros(p.shape[0])
    for votes in _outcomes(k, n_classes):
        ways = factorial(k) // prod(map(factorial, votes))
        winners = [c for c in range(n_classes) if votes[c] == max(votes)]
        correct += ways * np.prod(p**votes, axis=1) * p[:, winners].mean(axis=1)
    return 1.0 - correct


def _outcomes(k: int, n_classes: int) -> Iterator[tuple[int, ...]]:
    """Every way to give k votes to the classes."""
    for bars in combinations(range(k + n_classes - 1), n_classes - 1):
        ends = (-1, *bars, k + n_classes - 1)
        yield tuple(right - left - 1 for left, right in pairwise(ends))
