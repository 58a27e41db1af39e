"""Canonical correlation analysis: pairs of directions of X and y with the largest correlation."""

from __future__ import annotations

from thetahat.data.source import Source
from thetahat.estimator.declaration import with_parameters
from thetahat.foundation.types import Array
from thetahat.models.decomposition.cross.correlation import canonical_components
from thetahat.models.decomposition.cross.deflation import Components
from thetahat.models.decomposition.cross.scatter import Frame, full_scatter_of
from thetahat.models.decomposition.cross.symmetric import Symmetric


@with_parameters
class CCA(Symmetric):
    """Canonical correlation analysis of two tables with the same rows.

    The first pair of directions of X and y has the largest correlation of all; each further pair
    has the largest correlation among the directions whose scores are uncorrelated with those of the
    pairs before. The result does not depend on the units of the columns. With as many columns as
    rows the correlations are 1 whatever the data: use `PLSCanonical` then.

    `predict` reconstructs y from the scores of X in place of those of y, as in scikit-learn. These
    predictions are not least squares; use `PLSRegression` to predict.

    Formula: ρ = max aᵀΣ_xy b over aᵀΣ_xx a = bᵀΣ_yy b = 1. The ρ are the singular values of
    Σ_xx^−½ Σ_xy Σ_yy^−½, so that they are found exactly and without iterations.

    Cost: O(n (d + q)² + d³ + q³) time and O((d + q)²) memory from one pass over the rows, in memory
    or on disk, for d columns and q targets.

    Parameters
    ----------
    max_iter : int, default=500
        Has no effect, because no iterations are needed. Accepted for compatibility with
        scikit-learn.
    tol : float, default=1e-6
        Has no effect, because no iterations are needed. Accepted for compatibility with
        scikit-learn.

    Attributes
    ----------
    correlations_ : array of shape (n_components,)
        The canonical correlations (ρ) of the training rows, in decreasing order.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> rng = np.random.default_rng(0)
    >>> common = rng.normal(size=(200, 1))
    >>> X, y = common + rng.normal(size=(200, 3)), common - rng.normal(size=(200, 2))
    >>> th.CCA(n_components=2).fit(X, y).correlations_.round(2).tolist()
    [0.69, 0.13]
    """

    def _components(self, source: Source) -> tuple[Frame, Components]:
        about = full_scatter_of(source, scale=self.scale)
        found, correlations = canonical_components(about, self.n_components)
        self.correlations_: Array = correlations.astype(source.dtype)
        return about.frame, found
