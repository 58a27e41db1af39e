"""Canonical partial least squares: pairs of directions of X and y with the largest covariance."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import ClassVar

from thetahat.data.source import Source
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, one_of
from thetahat.models.decomposition.cross.deflation import Components, components_of
from thetahat.models.decomposition.cross.scatter import Frame, scatter_of
from thetahat.models.decomposition.cross.symmetric import Symmetric


@with_parameters
class PLSCanonical(Symmetric):
    """Canonical partial least squares of two tables with the same rows.

    Each pair of components has the largest covariance among all unit directions of X and y. Then
    X is deflated by its own score and y by its own, so that X and y play the same part. The scores
    of X are orthogonal to each other, and so are those of y. Large variance within a table matters,
    in contrast to `CCA`.

    `predict` reconstructs y from the scores of X in place of those of y, as in scikit-learn. These
    predictions are not least squares; use `PLSRegression` to predict.

    Formula: w, c = argmax wᵀX̂ᵀŶc over unit vectors, t = X̂w, u = Ŷc, X̂ ← X̂ − t(tᵀX̂)/tᵀt and
    Ŷ ← Ŷ − u(uᵀŶ)/uᵀu, repeated k times.

    Cost: O(n (d + q)² + k (d + q)²) time and O((d + q)²) memory from one pass over the rows, for d
    columns and q targets; for many columns and few components k + 3 passes of O(n d) and O(d k)
    memory.

    Parameters
    ----------
    algorithm : {"nipals", "svd"}, default="nipals"
        How the first singular vectors are found: by power iterations until `tol`, or directly. Both
        give the same weights up to `tol`. Use "svd" for exact weights.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [2.0, 2.0, 2.0], [3.0, 5.0, 4.0]])
    >>> y = np.array([[0.1, -0.2], [0.9, 1.1], [6.2, 5.9], [11.9, 12.3]])
    >>> T, U = th.PLSCanonical(n_components=1).fit(X, y).transform(X, y)
    >>> T.shape, U.shape, bool(np.corrcoef(T[:, 0], U[:, 0])[0, 1] > 0.99)
    ((4, 1), (4, 1), True)
    """

    _: KW_ONLY
    algorithm: str = "nipals"

    _ranges: ClassVar[dict[str, Range]] = Symmetric._ranges | {
        "algorithm": one_of("nipals", "svd"),
    }

    def _components(self, source: Source) -> tuple[Frame, Components]:
        about = scatter_of(source, scale=self.scale, n_components=self.n_components)
        found = components_of(
            about,
            self.n_components,
            canonical=True,
            power=self.algorithm == "nipals",
            max_iter=self.max_iter,
            tol=self.tol,
        )
        return about.frame, found
