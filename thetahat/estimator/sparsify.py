"""Coefficients of which most are 0, kept as a sparse matrix: less memory, faster predictions."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from thetahat.foundation.types import Array


class Sparsifies:
    """`sparsify` and `densify` for models whose penalty may set coefficients to 0."""

    coef_: Array
    intercept_: Array

    def sparsify(self) -> Any:
        """Keep ``coef_`` as a sparse matrix, which pays where most of it is 0.

        Predictions stay the same. Call `densify` before the model learns on (``partial_fit``,
        ``warm_start``). Cost: O(size of ``coef_``).

        Returns
        -------
        self
        """
        from scipy.sparse import csr_matrix

        check_is_fitted(self)
        self.coef_ = csr_matrix(self.coef_)
        return self

    def densify(self) -> Any:
        """Keep ``coef_`` as an array again. Cost: O(size of ``coef_``).

        Returns
        -------
        self
        """
        check_is_fitted(self)
        if not isinstance(self.coef_, np.ndarray):
            dense = self.coef_.toarray()
            self.coef_ = dense[0] if self._has_one_output() else dense
        return self

    def _has_one_output(self) -> bool:
        """Whether ``coef_`` is a vector: the model is a regression."""
        from sklearn.base import is_regressor

        return bool(is_regressor(self))

    def _raw_block(self, block: Any) -> Array:
        if isinstance(self.coef_, np.ndarray):
            return super()._raw_block(block)  # type: ignore[misc]
        z = block.X @ self.coef_.T
        z = (z if isinstance(z, np.ndarray) else z.toarray()) + self.intercept_
        return z[:, 0] if self._has_one_output() else z
