"""Embeddings of a matrix of dissimilarities, which is given or measured between rows."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.estimator.base import Estimator
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, none, whole
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.memory import require_memory
from thetahat.foundation.types import Array
from thetahat.mathematics.distances.base import Distance
from thetahat.mathematics.distances.minkowski import Chebyshev, Euclidean, Manhattan, Minkowski
from thetahat.models.neighbors.search.metric import named_distance

SYMMETRY = 1e-10
"""Largest difference of two entries that count as equal."""
EXTREME = 1e50
"""Numbers are rescaled if the largest exceeds this, or is below its inverse: their fourth powers
and the sums of these must be representable."""


@with_parameters
class DissimilarityEmbedding(Estimator):
    """Points in few dimensions for rows between which dissimilarities are known.

    Parameters
    ----------
    n_components : int, default=2
        Number of dimensions of the embedding. Must be at least 1 and at most the number of rows.
    metric : str, Distance or callable, default="euclidean"
        The dissimilarity of two rows: a name or a value of ``th.distances``, a function of two
        rows, or "precomputed" if X is the matrix of all dissimilarities. They must be symmetric and
        not negative, with 0 on the diagonal.
    metric_params : dict or None, default=None
        Further parameters of the distance, such as ``{"p": 1}`` for "minkowski".

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
        The points of the training rows.
    dissimilarity_matrix_ : array of shape (n, n)
        The dissimilarities that the embedding approximates.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : array of shape (d,)
        Names of the columns seen in `fit`. Defined only when X has column names that are all
        strings.
    """

    n_components: int = 2
    _: KW_ONLY
    metric: Any = "euclidean"
    metric_params: Any = None

    _ranges: ClassVar[dict[str, Range]] = {
        "n_components": whole(1),
        "metric": Range(
            lambda value: isinstance(value, str | Distance) or callable(value),
            "a name of a distance, a value of th.distances or a function of two rows",
        ),
        "metric_params": none | Range(lambda value: isinstance(value, dict), "a dict"),
    }
    _streams = False
    _instead_of_blocks = "use PCA, which reads blocks"
    _for_few_rows = True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = tags.input_tags.positive_only = self._given
        return tags

    @property
    def _given(self) -> bool:
        """Whether X holds dissimilarities."""
        return isinstance(self._measure, str) and self._measure == "precomputed"

    @property
    def _measure(self) -> Any:
        return self.metric

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Fit the embedding, and return the points of the rows. Cost: that of `fit`.

        Parameters
        ----------
        X : array-like or table of shape (n, d)
            Training rows, or their dissimilarities of shape (n, n) if ``metric="precomputed"``.
        y : None
            Has no effect. Accepted for compatibility with scikit-learn.

        Returns
        -------
        array of shape (n, n_components)
            The points, ``embedding_``.
        """
        points: Array = self.fit(X).embedding_
        return points

    def _dissimilarities(self, X: Any) -> Array:
        """Read the rows; sets ``dissimilarity_matrix_``."""
        source = self._open(X, supervised=False)
        assert isinstance(source, InMemory)
        who, n = type(self).__name__, source.n_rows
        if n < 2 or self.n_components > n:
            raise ParameterError(
                f"{who}: n_components={self.n_components} must be at most the number of rows, and "
                f"there must be at least 2 rows, but n_samples = {n}. Use fewer components or more "
                "rows."
            )
        require_memory(4 * 8 * n * n, f"{who}: the dissimilarities of {n} rows", "Use fewer rows.")
        if self._given:
            D = require_dissimilarities(source.X, who)
        else:
            distance = named_distance(self._measure, self.metric_params, 2, who)
            D = all_distances(distance, source.X)
            if not np.isfinite(D).all():
                raise DataError(
                    f"{who}: some entries of X are too large to compute with, so that distances "
                    "are infinite. Divide the columns by a constant."
                )
        with np.errstate(over="ignore"):
            self.dissimilarity_matrix_ = D.astype(source.X.dtype, copy=False)
        if not np.isfinite(self.dissimilarity_matrix_).all():
            raise DataError(
                f"{who}: distances up to {D.max():.2g} are too large for {source.X.dtype}, the "
                "type of X. Pass X in float64, or divide the columns by a constant."
            )
        return D

    def _in_own_type(self, points: Array, unit: float) -> Array:
        """The points times the unit, in the type of X."""
        with np.errstate(over="ignore", under="ignore"):
            return (points * unit).astype(self.dissimilarity_matrix_.dtype, copy=False)

    def _require_representable(self, **results: tuple[Any, Any]) -> None:
        """Raise an error for a result that overflows or vanishes in the unit of the rows.

        Each result is given in the unit of the computation and in that of the rows.
        """
        for name, (scaled, found) in results.items():
            size = float(np.max(np.abs(scaled), initial=0.0))
            own = float(np.max(np.abs(found), initial=0.0))
            lowest = float(np.finfo(np.asarray(found).dtype).tiny)
            if size == 0 or lowest <= own < math.inf:
                continue
            small = own < lowest
            remedy = f"{'Multiply' if small else 'Divide'} X by a constant"
            if name == "stress_":
                remedy += ", or use normalized_stress=True, which does not depend on the unit"
            raise DataError(
                f"{type(self).__name__}: the dissimilarities are so {'small' if small else 'large'}"
                f" (up to {self.dissimilarity_matrix_.max():.2g}) that {name} is too "
                f"{'small' if small else 'large'} to be represented. {remedy}."
            )


def unit_of(numbers: Array) -> float:
    """1, or the power of two next to the largest size if that is extreme. Cost: O(size)."""
    largest = float(np.max(np.abs(numbers), initial=0.0))
    if largest == 0 or 1 / EXTREME <= largest <= EXTREME:
        return 1.0
    return math.ldexp(1.0, math.frexp(largest)[1] - 1)


def start_in_unit(start: Array, unit: float) -> Array:
    """The first points divided by the unit, or by their own size if squares are extreme then.

    The steps that reduce the stress do not depend on the size of the start.
    """
    with np.errstate(over="ignore", under="ignore"):
        scaled = start / unit
    if 1 / EXTREME <= np.abs(scaled).max() <= EXTREME:
        return scaled
    return np.ldexp(start, 1 - np.frexp(np.abs(start).max())[1])


def all_distances(distance: Distance, X: Array) -> Array:
    """The distances of all pairs of rows, in float64. Cost: O(n²d)."""
    homogeneous = isinstance(distance, Euclidean | Manhattan | Chebyshev | Minkowski)
    unit = unit_of(X) if homogeneous else 1.0
    if unit != 1.0:
        # Powers of the differences would overflow, or vanish.
        with np.errstate(over="ignore", under="ignore"):
            return all_distances(distance, np.asarray(X, dtype=np.float64) / unit) * unit
    if isinstance(distance, Euclidean) or distance == Minkowski(2):
        from scipy.spatial.distance import cdist

        rows = np.ascontiguousarray(X, dtype=np.float64)
        return np.asarray(cdist(rows, rows))
    return distance.pairwise(X)


def require_dissimilarities(X: Array, who: str) -> Array:
    """The matrix in float64, exactly symmetric, or an error that names what is wrong with it."""
    D = np.array(X, dtype=np.float64, order="C")
    n, width = D.shape
    if n != width:
        raise DataError(
            f"{who}: array must be 2-dimensional and square to hold dissimilarities, but its shape "
            f"is {D.shape}. Pass one row and one column per object, or use another metric."
        )
    if D.min(initial=0.0) < 0:
        i, j = np.unravel_index(int(D.argmin()), D.shape)
        raise DataError(
            f"{who}: Negative values in data passed as dissimilarities (entry ({i}, {j}) is "
            f"{D[i, j]:g}), but they must be ≥ 0. Turn similarities s into dissimilarities first, "
            "for example with s.max() - s."
        )
    off = np.abs(D - D.T)
    if off.max(initial=0.0) > SYMMETRY * max(1.0, float(D.max(initial=0.0))):
        i, j = np.unravel_index(int(off.argmax()), D.shape)
        raise DataError(
            f"{who}: Array must be symmetric, but entries ({i}, {j}) and ({j}, {i}) are "
            f"{D[i, j]:g} and {D[j, i]:g}. Pass (D + D.T)/2 if their mean is meant."
        )
    D = D / 2 + D.T / 2 if D.max(initial=0.0) > EXTREME else (D + D.T) / 2
    diagonal = np.einsum("ii->i", D)
    if diagonal.any():
        at = int(np.flatnonzero(diagonal)[0])
        raise DataError(
            f"{who}: the dissimilarity of a row and itself must be 0, but entry ({at}, {at}) is "
            f"{D[at, at]:g}. If the other entries are dissimilarities, use np.fill_diagonal(D, 0)."
        )
    return D
