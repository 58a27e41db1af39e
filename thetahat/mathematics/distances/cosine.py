"""The cosine distance 1 − cos ∠(x, y), as half the squared distance of rows of length one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thetahat.data.columns.sparse_indices import require_indices
from thetahat.data.validation import is_sparse
from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.distances.base import Termwise, require_dense


@dataclass(frozen=True)
class Cosine(Termwise):
    """The cosine distance 1 − xᵀy/(‖x‖·‖y‖) = ½‖x/‖x‖ − y/‖y‖‖².

    It compares directions and ignores lengths, as is usual for counts of words. A row of zeros has
    no direction: its distance to every other row is 1, and 0 to other rows of zeros.
    Cost: O(d) per pair.

    Examples
    --------
    >>> import thetahat as th
    >>> th.distances.Cosine().pairwise([[1.0, 0.0]], [[5.0, 0.0], [0.0, 2.0]])
    array([[0., 1.]])
    """

    name = "cosine"

    @property
    def order(self) -> float:
        return 2.0

    def embedded(self, X: Matrix) -> Matrix:
        """Rows of length one; rows of zeros have a direction of their own, the last column."""
        if is_sparse(X):
            import scipy.sparse as sp

            require_indices(X, type(self).__name__)
            largest = abs(X).max(axis=1).toarray().ravel()
            rows = sp.diags_array(1 / np.where(largest > 0, largest, 1.0)) @ X
            length = np.sqrt(rows.multiply(rows).sum(axis=1))
            rows = sp.diags_array(1 / np.where(length > 0, length, 1.0)) @ rows
            zero = sp.csr_array((largest == 0).astype(X.dtype)[:, None])
            return sp.hstack([rows, zero], format="csr", dtype=X.dtype)
        rows = np.ascontiguousarray(X)
        largest = np.abs(rows).max(axis=1, keepdims=True)
        rows = rows / np.where(largest > 0, largest, 1)
        length = np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
        rows = rows / np.where(length > 0, length, 1)
        return np.hstack([rows, (largest == 0).astype(rows.dtype)])

    def from_reduced(self, reduced: Array, n_columns: int) -> Array:
        return reduced / 2

    def to_reduced(self, distance: float, n_columns: int) -> float:
        return 2 * distance


@dataclass(frozen=True)
class Correlation(Termwise):
    """One minus the correlation of two rows: the cosine distance of rows without their mean.

    Formula: d(x, y) = 1 − (x − x̄)ᵀ(y − ȳ)/(‖x − x̄‖·‖y − ȳ‖). It compares profiles and ignores level
    and scale. A constant row has distance 1 to every other row, and 0 to other constant rows.
    Cost: O(d) per pair.

    Examples
    --------
    >>> import thetahat as th
    >>> th.distances.Correlation().pairwise([[1.0, 2.0, 3.0]], [[4.0, 6.0, 8.0], [3.0, 2.0, 1.0]])
    array([[0., 2.]])
    """

    name = "correlation"

    @property
    def order(self) -> float:
        return 2.0

    def fitted(self, X: Matrix) -> Correlation:
        require_dense(self, X)
        return self

    def embedded(self, X: Matrix) -> Matrix:
        rows = np.ascontiguousarray(require_dense(self, X), dtype=np.float64)
        centred = rows - rows.mean(axis=1, keepdims=True)
        # The rounding error that is left of a constant row has no meaningful direction.
        constant = (rows == rows[:, :1]).all(axis=1)
        centred[constant] = 0.0
        return Cosine().embedded(centred)

    def from_reduced(self, reduced: Array, n_columns: int) -> Array:
        return reduced / 2

    def to_reduced(self, distance: float, n_columns: int) -> float:
        return 2 * distance
