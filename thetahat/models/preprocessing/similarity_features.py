"""Similarities to landmarks as features: φ_i(x) = K(x, x_i)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin

from thetahat.data.arrays import read_only
from thetahat.data.source import Block, Source
from thetahat.data.validation import as_source
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, none, whole
from thetahat.foundation.arguments import returned_numbers
from thetahat.foundation.errors import DataError
from thetahat.foundation.memory import require_memory
from thetahat.foundation.randomness import generator
from thetahat.foundation.types import Array
from thetahat.models.preprocessing.rowwise import RowwiseTransformer


def inner_product(X: Array, Z: Array) -> Array:
    """K(x, z) = xᵀz for all rows of X and Z."""
    return X @ Z.T


@with_parameters
class SimilarityFeatures(ClassNamePrefixFeaturesOutMixin, RowwiseTransformer):
    """Features that are the similarities of a row to a set of landmarks.

    A linear model on these features is a linear combination of the functions K(·, x_i). K may be
    any function of two rows; it need not be a kernel.

    Formula: φ_i(x) = K(x, x_i) for landmarks x₁, …, x_m.

    Cost: n·m similarities. Their memory is estimated before it is allocated.

    Parameters
    ----------
    similarity : callable, default=inner product
        Function K(X, Z) that returns an array of shape (n, m) for X of shape (n, d) and Z of shape
        (m, d), such as the functions in ``sklearn.metrics.pairwise``.
    landmarks : int, array-like of shape (m, d) or None, default=None
        The landmarks, or their number, in which case they are drawn from the rows of `fit`. None
        uses all rows. Fewer landmarks are faster and use less memory.
    random_state : int, Generator or None, default=None
        Seed for drawing the landmarks. Pass an int for the same result on every call.

    Attributes
    ----------
    landmarks_ : array of shape (m, d)
        The landmarks, one per row (x₁, …, x_m).

    Examples
    --------
    >>> import thetahat as th
    >>> from sklearn.metrics.pairwise import rbf_kernel
    >>> features = th.SimilarityFeatures(rbf_kernel, landmarks=[[0.0], [1.0]])
    >>> features.fit_transform([[0.0], [1.0]]).round(4).tolist()
    [[1.0, 0.3679], [0.3679, 1.0]]
    """

    similarity: Callable[[Array, Array], Array] = inner_product
    _: KW_ONLY
    landmarks: Any = None
    random_state: Any = None

    _ignores_weights = True
    _ranges = {  # noqa: RUF012
        "similarity": Range(callable, "a function K(X, Z)"),
        "landmarks": whole(1)
        | none
        | Range(lambda value: np.ndim(value) == 2, "an array of shape (m, d)"),
    }
    _too_large = "Use fewer landmarks, or transform fewer rows at a time."

    def fit(self, X: Any, y: Any = None) -> SimilarityFeatures:
        """Choose the landmarks. Cost: one pass over X."""
        source = self._open(X, supervised=False)
        if np.ndim(self.landmarks) == 2:
            given = as_source(self.landmarks, who="SimilarityFeatures", accept_sparse=False)
            self._require_same_columns(given)
            self.landmarks_ = given.map_rows(lambda block: block.X)
        else:
            self.landmarks_ = self._drawn(source)
        return self

    def _drawn(self, source: Source) -> Array:
        """Random rows in their order, read in one pass."""
        n = source.n_rows
        m = n if self.landmarks is None else int(self.landmarks)
        if m > n:
            raise DataError(
                f"SimilarityFeatures: landmarks={m} exceeds the number of rows, n_samples = {n}. "
                "Use fewer, or pass the landmarks themselves."
            )
        require_memory(
            2 * m * source.n_features * np.dtype(source.dtype).itemsize,
            f"SimilarityFeatures: {m} landmarks of {source.n_features} features",
            "Use fewer landmarks, for example landmarks=1000.",
        )
        chosen = np.zeros(n, dtype=bool)
        chosen[generator(self.random_state).choice(n, size=m, replace=False)] = True
        return source.map_rows(
            lambda block: block.X[chosen[block.start : block.start + block.n_rows]]
        )

    @property
    def _n_features_out(self) -> int:
        return len(self.landmarks_)

    def _transform_block(self, block: Block) -> Array:
        with np.errstate(over="ignore", invalid="ignore"):
            found = self.similarity(read_only(block.X), read_only(self.landmarks_))
            who = "SimilarityFeatures: the function similarity"
            values = returned_numbers(found, who).astype(block.X.dtype, copy=False)
        shape = (block.n_rows, len(self.landmarks_))
        if values.shape != shape:
            raise DataError(
                f"SimilarityFeatures: similarity returned shape {values.shape} for "
                f"{shape[0]} rows and {shape[1]} landmarks, but must return {shape}."
            )
        bad = np.argwhere(~np.isfinite(values))
        if bad.size:
            row, column = bad[0]
            raise DataError(
                f"SimilarityFeatures: similarity is {values[row, column]} between row "
                f"{block.start + row} and landmark {column}, but must be finite. Scale the "
                "columns first, or use another function."
            )
        return values
