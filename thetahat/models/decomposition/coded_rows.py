"""Sparse codes of rows for a dictionary of atoms: what transformers of that kind share."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin

from thetahat.data.source import Block
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import (
    Range,
    at_least,
    boolean,
    check_ranges,
    none,
    one_of,
    whole,
)
from thetahat.foundation.checked_value import check_arrays, check_columns
from thetahat.foundation.types import Array
from thetahat.models.decomposition.sparse_coding import ALGORITHMS, Coder
from thetahat.models.preprocessing.rowwise import RowwiseTransformer


@with_parameters
class CodedRows(ClassNamePrefixFeaturesOutMixin, RowwiseTransformer):
    """A transformer whose result are sparse codes U with X ≈ UD, for atoms D.

    Parameters
    ----------
    transform_algorithm : {"lasso_lars", "lasso_cd", "lars", "omp", "threshold"}, default="omp"
        How `transform` computes the codes: by the lasso of the fit ("lasso_lars", "lasso_cd"),
        least angle regression, orthogonal matching pursuit, or a soft threshold of the products
        with the atoms.
    transform_n_nonzero_coefs : int or None, default=None
        Number of atoms per row for "omp" and "lars". None uses d/10, at least 1.
    transform_alpha : float or None, default=None
        Penalty of "lasso_lars" and "lasso_cd", threshold of "threshold". None uses ``alpha``.
    n_jobs : int or None, default=None
        Has no effect. Accepted for compatibility with scikit-learn; set the number of threads with
        ``th.config(threads=...)``.
    split_sign : bool, default=False
        If True, `transform` returns the positive and negative parts of the codes as separate
        columns.
    positive_code : bool, default=False
        If True, all codes are at least 0.
    transform_max_iter : int, default=1000
        Maximum number of coordinate descent sweeps per row.

    Attributes
    ----------
    components_ : array of shape (k, d)
        The atoms, one per row.
    """

    _: KW_ONLY
    transform_algorithm: str = "omp"
    transform_n_nonzero_coefs: int | None = None
    transform_alpha: float | None = None
    n_jobs: int | None = None
    split_sign: bool = False
    positive_code: bool = False
    transform_max_iter: int = 1000

    _ranges: ClassVar[dict[str, Range]] = {
        "transform_algorithm": one_of(*ALGORITHMS),
        "transform_n_nonzero_coefs": whole(1) | none,
        "transform_alpha": at_least(0) | none,
        "split_sign": boolean,
        "positive_code": boolean,
        "transform_max_iter": whole(0),
    }
    _streams = False
    _instead_of_blocks = "use PCA, which reads blocks"

    _tried_when_loaded = False  # transform_max_iter may be large

    def _check_loaded(self) -> None:
        if self.__sklearn_is_fitted__():
            check_ranges(self)
            check_columns(self)
            is_single = getattr(self.components_, "dtype", None) == np.float32
            dtype = np.float32 if is_single else np.float64
            check_arrays(self, {"components_": (dtype, (None, self.n_features_in_))})

    def inverse_transform(self, X: Any) -> Array:
        """Compute rows from their codes, UD. Cost: O(n k d).

        Parameters
        ----------
        X : array-like of shape (n, k)
            Codes as returned by `transform`.

        Returns
        -------
        array of shape (n, d)
            The reconstructed rows.
        """

        def rows(block: Block) -> Array:
            k = block.X.shape[1] // 2
            codes = block.X[:, :k] - block.X[:, k:] if self.split_sign else block.X
            return (codes @ self._atoms()).astype(block.X.dtype, copy=False)

        return self._open_result(X).map_rows(rows)

    @property
    def _n_features_out(self) -> int:
        return len(self._atoms()) * (2 if self.split_sign else 1)

    def _atoms(self) -> Array:
        """The atoms, one per row."""
        return self.components_

    def _transform_block(self, block: Block) -> Array:
        dictionary = self._atoms().astype(np.float64, copy=False)
        rows = block.X.astype(np.float64, copy=False)
        codes = self._coder(*dictionary.shape).codes(rows, dictionary, dictionary @ dictionary.T)
        if self.split_sign:
            return np.hstack([np.maximum(codes, 0.0), -np.minimum(codes, 0.0)])
        return codes

    def _coder(self, k: int, d: int) -> Coder:
        """The coder of `transform` for k atoms in d dimensions."""
        penalty = getattr(self, "alpha", 1.0)  # of the fit
        alpha = penalty if self.transform_alpha is None else self.transform_alpha
        most = self.transform_n_nonzero_coefs or max(d // 10, 1)
        return Coder(
            self.transform_algorithm,
            float(alpha),
            min(most, k),
            self.positive_code,
            self.transform_max_iter,
        )
