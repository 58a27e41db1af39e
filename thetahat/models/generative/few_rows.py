"""The whitening of a shared covariance from fewer rows than columns."""

from __future__ import annotations

import numpy as np

from thetahat import _native
from thetahat.data.in_memory import InMemory
from thetahat.data.summaries.class_moments import ClassMoments, codes_of
from thetahat.data.summaries.frame import dense_rows
from thetahat.foundation.products import product
from thetahat.foundation.types import Array
from thetahat.models.generative.gaussian import Whitening, least_variance


def whitening_of_few(
    source: InMemory, moments: ClassMoments, shares: Array, spread: Array, tol: float
) -> tuple[Whitening, Array]:
    """The whitening from the products of fewer rows than columns, and R with Σ = RᵀR.

    Cost: O(n² d + n³).
    """
    block = source.whole
    X = dense_rows(block)
    codes, n, d = codes_of(block), block.n_rows, source.n_features
    weight = np.asarray(block.row_weights, dtype=np.float64)
    root = np.sqrt(weight * (shares / np.where(moments.weight > 0, moments.weight, 1.0))[codes])
    rows = np.empty((n, d))
    sums = np.zeros((len(moments.weight), d))
    _native.pack_class_rows(X, np.arange(n), codes, moments.means, 1.0 / spread, root, rows, sums)
    values, vectors = np.linalg.eigh(product(rows, rows.T))
    kept = values > least_variance(tol, d)
    values, vectors = values[kept], vectors[:, kept]
    directions = product(rows.T, vectors / values) / spread[:, None]
    log_det = float(np.log(values).sum()) + 2.0 * float(np.log(spread).sum())
    return Whitening(directions, log_det, int(kept.sum()), spread), rows * spread
