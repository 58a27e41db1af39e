"""Partial least squares by one singular value decomposition of the covariances of X and y."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from thetahat.estimator.declaration import with_parameters
from thetahat.foundation.precision import EPSILON
from thetahat.foundation.threads import one_blas_thread, scipy_linalg
from thetahat.foundation.types import Array
from thetahat.models.decomposition.cross.both_scores import BothScores
from thetahat.models.decomposition.cross.deflation import Components
from thetahat.models.decomposition.cross.scatter import PassScatter, cross_of


@with_parameters
class PLSSVD(BothScores):
    """Pairs of directions of X and y with the largest covariance, all at once.

    The directions of X are orthogonal to each other, and so are those of y. The first pair is that
    of `PLSCanonical`; the further ones differ, because nothing is deflated, and their scores are
    correlated. There is no `predict`; use `PLSRegression` for that.

    Formula: X̂ᵀŶ = W·diag(σ)·Vᵀ for the centred and scaled tables X̂ and Ŷ; the scores are X̂W and ŶV
    with the first k columns of W and V, and σ_a is n − 1 times the covariance of the pair a.

    Cost: O(n d q + d q min(d, q)) time and O(d q) memory from two passes over the rows, in memory
    or on disk, for d columns and q targets.

    Parameters
    ----------
    n_components : int, default=2
        Number of pairs of components (k). Later pairs have a smaller covariance. At most
        min(n, d, n_targets).

    Attributes
    ----------
    x_weights_ : array of shape (d, n_components)
        Unit directions of the columns (W), as columns. The entry of the largest size of each
        direction is positive.
    y_weights_ : array of shape (n_targets, n_components)
        Unit directions of the targets (V), as columns.
    x_loadings_, x_rotations_ : array of shape (d, n_components)
        Equal to `x_weights_`, because orthogonal directions need no correction.
    y_loadings_, y_rotations_ : array of shape (n_targets, n_components)
        Equal to `y_weights_`, for the same reason.
    singular_values_ : array of shape (n_components,)
        The singular values σ, in decreasing order.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [2.0, 2.0, 2.0], [3.0, 5.0, 4.0]])
    >>> y = np.array([[0.1, -0.2], [0.9, 1.1], [6.2, 5.9], [11.9, 12.3]])
    >>> model = th.PLSSVD(n_components=2).fit(X, y)
    >>> T, U = model.transform(X, y)
    >>> bool(np.allclose(T.T @ U, np.diag(model.singular_values_)))
    True
    """

    @classmethod
    def _example(cls) -> Self:
        return cls(n_components=1)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the pairs of directions. Cost: see `PLSSVD`.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Training rows. A `Source` (see ``th.scan``) is read block by block and contains the
            target.
        y : array-like of shape (n,) or (n, n_targets), optional
            The second table, with the same rows. Leave it out if X is a `Source`.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.

        Returns
        -------
        self : object
            The fitted transformer.
        """
        source = self._open(X, y, sample_weight, check_finite=False)
        most = min(source.n_rows, source.n_features, max(source.n_outputs, 1))
        rule = "min(n_samples, n_features, n_targets)"
        self._require_components(self.n_components, source, most, rule)
        about = cross_of(source, scale=self.scale)
        found, values = _singular_pairs(about, self.n_components)
        self._keep_both(about.frame, found, source.dtype)
        self.singular_values_: Array = values.astype(source.dtype)
        return self


def _singular_pairs(about: PassScatter, k: int) -> tuple[Components, Array]:
    """The first k pairs of singular vectors and values; zeros where the covariance is 0."""
    d, q = about.cross.shape
    W, V, values = np.zeros((d, k)), np.zeros((q, k)), np.zeros(k)
    with one_blas_thread():
        left, found, right = scipy_linalg().svd(
            about.cross, full_matrices=False, check_finite=False
        )
    size = float(np.sqrt(about.size * np.trace(about.y_square)))
    count = min(k, int((found > 32 * EPSILON * size).sum()))
    left, right = left[:, :count], right[:count].T
    sign = np.where(left[np.abs(left).argmax(axis=0), np.arange(count)] < 0, -1.0, 1.0)
    W[:, :count], V[:, :count], values[:count] = left * sign, right * sign, found[:count]
    return Components(W, V, W, V, W, V, (1,) * count, count, True), values
