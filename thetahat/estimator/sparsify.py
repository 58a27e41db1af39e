"""Sparse storage of what is mostly 0: less memory and faster predictions."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from thetahat.foundation.types import Array, SparseMatrix


def in_sparse_interface(X: SparseMatrix) -> SparseMatrix:
    """X as a matrix or an array of SciPy: ``sparse_interface`` of `sklearn.set_config` says which.

    A matrix is the default, as in scikit-learn: ``A * B`` is then the product of matrices.
    """
    import scipy.sparse
    from sklearn import get_config

    arrays = get_config().get("sparse_interface", "spmatrix") == "sparray"
    wanted = getattr(scipy.sparse, f"{X.format}_{'array' if arrays else 'matrix'}")
    return X if isinstance(X, wanted) else wanted(X)


class Sparsifies:
    """`sparsify` and `densify` for models whose penalty may set coefficients to 0."""

    coef_: Array
    intercept_: Array

    def sparsify(self) -> Any:
        """Convert ``coef_`` to a sparse matrix.

        This saves memory and time if most coefficients are 0; the predictions stay the same. Call
        `densify` before fitting the model further with ``partial_fit`` or ``warm_start``. Cost:
        O(size of ``coef_``).

        Returns
        -------
        self : object
            The fitted estimator.
        """
        from scipy.sparse import csr_array

        check_is_fitted(self)
        self.coef_ = in_sparse_interface(csr_array(np.atleast_2d(self.coef_)))
        return self

    def densify(self) -> Any:
        """Convert ``coef_`` back to a dense array. Cost: O(size of ``coef_``).

        Returns
        -------
        self : object
            The fitted estimator.
        """
        check_is_fitted(self)
        if not isinstance(self.coef_, np.ndarray):
            dense = self.coef_.toarray()
            self.coef_ = dense[0] if self._has_one_output() else dense
        return self

    def _has_one_output(self) -> bool:
        """Whether ``coef_`` is a vector, as it is in a regression."""
        from sklearn.base import is_regressor

        return bool(is_regressor(self))

    def _raw_block(self, block: Any) -> Array:
        if isinstance(self.coef_, np.ndarray):
            return super()._raw_block(block)  # type: ignore[misc]
        z = block.X @ self.coef_.T
        z = (z if isinstance(z, np.ndarray) else z.toarray()) + self.intercept_
        return z[:, 0] if self._has_one_output() else z
