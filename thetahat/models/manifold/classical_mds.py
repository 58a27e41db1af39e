"""Classical scaling: the best points for given distances, by eigenvectors of scalar products."""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.estimator.declaration import with_parameters
from thetahat.foundation.caller_warning import warn
from thetahat.mathematics.spectral.scaling import classical_scaling
from thetahat.models.manifold.dissimilarities import DissimilarityEmbedding, unit_of


@with_parameters
class ClassicalMDS(DissimilarityEmbedding):
    """Classical multidimensional scaling: points whose distances approximate the given ones.

    Formula: with A_ij = −d_ij²/2 and K = (I − 11ᵀ/n)A(I − 11ᵀ/n) = VΛVᵀ, the points are
    z_i = (√λ_1·v_1i, …, √λ_k·v_ki) with the k largest eigenvalues. For Euclidean distances K holds
    the scalar products of centred rows, so that the points are the principal components, and all
    distances are kept if k is large enough. Other dissimilarities have negative eigenvalues, which
    no set of points can reproduce; use `MDS` for these.

    Cost: O(n²d) for the distances and O(n²) per Lanczos iteration, or O(n³) for many components;
    three matrices of n² numbers, whose size is checked first.

    Attributes
    ----------
    eigenvalues_ : array of shape (n_components,)
        The largest eigenvalues of the centred matrix in descending order (λ), which are the sums of
        squares of the columns of the embedding.

    References
    ----------
    Torgerson (1952), "Multidimensional scaling: I. Theory and method", Psychometrika 17.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> D = np.array([[0.0, 3.0, 4.0], [3.0, 0.0, 5.0], [4.0, 5.0, 0.0]])
    >>> model = th.ClassicalMDS(metric="precomputed").fit(D)
    >>> model.eigenvalues_.round(6).tolist()
    [12.964148, 3.702519]
    >>> th.distances.Euclidean().pairwise(model.embedding_).round(6)[0].tolist()
    [0.0, 3.0, 4.0]
    """

    def fit(self, X: Any, y: Any = None) -> ClassicalMDS:
        """Compute the points. Cost: O(n²) per iteration for few components.

        Parameters
        ----------
        X : array-like or table of shape (n, d)
            Training rows, or their dissimilarities of shape (n, n) if ``metric="precomputed"``.
        y : None
            Has no effect. Accepted for compatibility with scikit-learn.

        Returns
        -------
        self
            The fitted embedding.
        """
        D = self._dissimilarities(X)
        unit = unit_of(D)
        found = classical_scaling(D / unit, self.n_components)
        with np.errstate(over="ignore", under="ignore"):
            values = found.values * unit * unit
        points = self._in_own_type(found.points, unit)
        self._require_representable(
            eigenvalues_=(found.values, values), embedding_=(found.points, points)
        )
        negative = int((found.values < 0).sum())
        if negative:
            warn(
                f"ClassicalMDS: {negative} of the {self.n_components} largest eigenvalues "
                f"{'is' if negative == 1 else 'are'} negative, because the dissimilarities are not "
                "distances of points. These columns of the embedding are 0. Use fewer components, "
                "or use MDS, which accepts any dissimilarities."
            )
        self.eigenvalues_, self.embedding_ = values, points
        return self
