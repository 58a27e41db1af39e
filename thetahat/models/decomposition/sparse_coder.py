"""Sparse codes of rows for a dictionary that is given."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from thetahat.data.source import Source
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import check_ranges
from thetahat.foundation.arguments import numbers
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array
from thetahat.models.decomposition.coded_rows import CodedRows

LARGEST = 1e140


@with_parameters
class SparseCoder(CodedRows):
    """Sparse codes of rows as combinations of few atoms of a given dictionary.

    Formula: U = argmin ½‖X − UD‖² + alpha·‖U‖₁ ("lasso_lars", "lasso_cd"), or a greedy choice of
    few atoms per row ("omp", "lars"), or sign(XDᵀ)·[|XDᵀ| − alpha]₊ ("threshold"). Nothing is
    learned from the rows: with a dictionary, `transform` works without `fit`. `DictionaryLearning`
    finds a dictionary.

    Cost: O(n k (d + s)) for k atoms and codes with s non-zeros, with rows coded in parallel, and
    O(k²) memory besides the codes.

    Parameters
    ----------
    dictionary : array-like of shape (k, d) or None
        The atoms, one per row. They should have norm 1, or the penalty is not the same for all of
        them. None uses the unit vectors of the columns, so that each code is the row itself, of
        which small entries become 0; `fit` is needed then.
    transform_alpha : float or None, default=None
        Penalty of "lasso_lars" and "lasso_cd", threshold of "threshold". None uses 1.

    Attributes
    ----------
    n_components_ : int
        The number of atoms (k).

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> atoms = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
    >>> coder = th.SparseCoder(atoms, transform_n_nonzero_coefs=1)
    >>> coder.transform([[3.0, 4.0], [0.0, -2.0]]).round(3).tolist()
    [[0.0, 0.0, 5.0], [0.0, -2.0, 0.0]]
    """

    dictionary: Any
    _: KW_ONLY

    @classmethod
    def _example(cls) -> SparseCoder:
        return cls(None)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = self.dictionary is None
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return self.dictionary is not None or hasattr(self, "n_features_in_")

    def _check_loaded(self) -> None:
        check_ranges(self)
        if self.__sklearn_is_fitted__():
            self._atoms()

    def fit(self, X: Any, y: Any = None) -> SparseCoder:
        """Check the rows and the parameters; nothing is learned. Cost: O(n d).

        Parameters
        ----------
        X : array-like or table of shape (n, d)
            Rows with finite numbers and as many columns as the atoms.

        Returns
        -------
        self
            The estimator.
        """
        source = self._open(X, supervised=False)
        self._require_width(source)
        self.n_components_ = len(self._atoms())
        self._coder(self.n_components_, source.n_features)  # raises errors of `transform` early
        return self

    def transform(self, X: Any, y: Any = None) -> Any:
        """Compute the codes of the rows. Cost: see `SparseCoder`.

        Parameters
        ----------
        X : array-like, table or Source of shape (n, d)
            Rows with as many columns as the atoms.
        y : object, optional
            Not used; accepted for compatibility with scikit-learn.

        Returns
        -------
        array or Source of shape (n, k) or (n, 2k)
            The codes in the precision of X, with twice as many columns if ``split_sign=True``; a
            table if requested by ``set_output``. A `Source` on disk with a target gives a `Source`.
        """
        return super().transform(X)

    def _open_again(self, X: Any) -> Source:
        check_ranges(self)
        source = super()._open_again(X)
        self._require_width(source)
        return source

    def _require_same_columns(self, source: Source) -> None:
        if hasattr(self, "n_features_in_"):  # else there are no columns of `fit` to compare with
            super()._require_same_columns(source)

    def _require_width(self, source: Source) -> None:
        """Refuse rows that do not have the columns of the atoms."""
        d = self._atoms().shape[1]
        if source.n_features != d:
            raise DataError(
                f"SparseCoder: Dictionary and X have different numbers of features: the atoms have "
                f"{d} columns, X has {source.n_features}. Pass rows with the columns of the atoms."
            )

    def _atoms(self) -> Array:
        if self.dictionary is None:
            return np.eye(self.n_features_in_)
        atoms = numbers(self.dictionary, "dictionary", "SparseCoder")
        if atoms.ndim != 2 or not atoms.size:
            raise ParameterError(
                f"SparseCoder: dictionary has shape {atoms.shape}, but it must have two "
                "dimensions, one row per atom and at least one atom. Pass an array of shape (k, d)."
            )
        largest = float(np.abs(atoms).max())
        if largest and not 1 / LARGEST < largest < LARGEST:
            raise ParameterError(
                f"SparseCoder: the largest entry of dictionary is {largest:.2g} in absolute value, "
                f"but it must be between {1 / LARGEST:.0e} and {LARGEST:.0e}, because products of "
                "atoms would overflow or vanish. Divide the atoms by their norms."
            )
        return atoms
