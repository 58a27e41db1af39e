"""Truncated singular value decomposition: X ≈ U·diag(s)·V of rank k, without centring."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np

from thetahat.data.extremes import in_type_of_rows, require_squares_of_rows
from thetahat.data.source import Block, Source
from thetahat.data.summaries.means import means
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, at_least, one_of, whole
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array
from thetahat.models.decomposition.principal.krylov import LEAST_SHARE
from thetahat.models.decomposition.principal.projection import Projection
from thetahat.models.decomposition.principal.scatter_operator import scatter_operator
from thetahat.models.decomposition.principal.spectrum import (
    Spectrum,
    lanczos_spectrum,
    randomized_spectrum,
    start_generator,
)


@with_parameters
class TruncatedSVD(Projection):
    """The best approximation of the rows by a matrix of rank k; sparse rows stay sparse.

    Rows are not centred, so the first direction often is that of the mean. For counts of words it
    is latent semantic analysis. `PCA` centres the rows first, without a copy of sparse rows.

    Formula: X ≈ U·diag(s)·V with the k largest singular values s, which minimises ‖X − X̂‖²; the
    components of a row are z = Vx.

    Cost: O(nnz·k) per pass over the rows and O(d k²), and O(d k) memory.

    Parameters
    ----------
    n_components : int, default=2
        Number of components (k), at most the number of columns.
    algorithm : {"randomized", "arpack"}, default="randomized"
        "randomized" uses a block Krylov space of random vectors, with a fixed number of passes over
        the rows. "arpack" runs Lanczos iterations to the tolerance `tol`; it needs more passes and
        is exact.
    n_iter : int, default=5
        Number of passes of "randomized" after the first. More passes are more accurate.
    n_oversamples : int, default=10
        Number of additional random vectors of "randomized". More vectors are more accurate.
    power_iteration_normalizer : {"auto", "QR", "LU", "none"}, default="auto"
        Has no effect, because vectors are always orthogonalised. Accepted for compatibility with
        scikit-learn.
    random_state : int, Generator or None, default=None
        Seed of the random vectors. None uses the same vectors in every call.
    tol : float, default=0.0
        Relative accuracy of "arpack". 0 means machine precision. Must be at least 0.

    Attributes
    ----------
    components_ : array of shape (n_components, d)
        The right singular vectors (V), in order of decreasing singular values.
    explained_variance_ : array of shape (n_components,)
        The variance of each component of the training rows.
    explained_variance_ratio_ : array of shape (n_components,)
        The share of each component in the total variance of the columns.
    singular_values_ : array of shape (n_components,)
        The largest singular values of X (s).

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.array([[3.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 1.0]])
    >>> model = th.TruncatedSVD(n_components=2, random_state=0).fit(X)
    >>> model.singular_values_.round(6).tolist()
    [3.0, 2.0]
    """

    n_components: int = 2
    _: KW_ONLY
    algorithm: str = "randomized"
    n_iter: int = 5
    n_oversamples: int = 10
    power_iteration_normalizer: str = "auto"
    random_state: Any = None
    tol: float = 0.0

    _ranges: ClassVar[dict[str, Range]] = {
        "n_components": whole(1),
        "algorithm": one_of("randomized", "arpack"),
        "n_iter": whole(0),
        "n_oversamples": whole(1),
        "power_iteration_normalizer": one_of("auto", "QR", "LU", "none"),
        "tol": at_least(0),
    }
    _accepts_sparse = True

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> TruncatedSVD:
        """Compute the largest singular values and their vectors. Cost: O(nnz·k) per pass."""
        source = self._open(X, None, sample_weight, supervised=False)
        require_squares_of_rows(source, who=type(self).__name__)
        found = self._spectrum(source)
        dtype = source.dtype
        variance, total = _variances(source, found)
        explained = np.maximum(variance, 0.0)
        self.explained_variance_ = in_type_of_rows(
            explained, dtype, "explained_variance_", "TruncatedSVD"
        )
        self.components_ = np.ascontiguousarray(found.directions, dtype=dtype)
        self.singular_values_ = found.values.astype(dtype)
        share = variance / total if total > 0 else np.zeros_like(variance)
        self.explained_variance_ratio_ = np.maximum(share, 0.0).astype(dtype)
        return self

    def _spectrum(self, source: Source) -> Spectrum:
        k, d = self.n_components, source.n_features
        rng = start_generator(self.random_state)
        if k > d:
            raise ParameterError(
                f"TruncatedSVD: n_components={k} must be <= n_features={d}. Use a smaller number."
            )
        if self.algorithm == "arpack":
            if k >= d:
                raise ParameterError(
                    f"TruncatedSVD: n_components={k} must be less than the number of columns, {d}, "
                    "with algorithm='arpack'. Use a smaller number, or algorithm='randomized'."
                )
            return lanczos_spectrum(source, k, centre=False, tol=self.tol, rng=rng)
        return randomized_spectrum(
            source, k, centre=False, oversamples=self.n_oversamples, n_iter=self.n_iter, rng=rng
        )

    def _transform_block(self, block: Block) -> Array:
        return block.X @ self.components_.T


def _variances(source: Source, found: Spectrum) -> tuple[Array, float]:
    """The variance of each component, and the total variance of the columns."""
    # The mean square of a component is s²/W, and its mean is Vμ.
    mean = means(source).mean[: source.n_features]
    variance = found.values**2 / found.weight - (found.directions @ mean) ** 2
    square = found.square / found.weight
    total = square - float(mean @ mean)
    if total > LEAST_SHARE * square:
        return variance, total
    # Far from zero, little is left of the differences, so the rows are centred first.
    about_mean, weight = scatter_operator(source, True, None)
    image = about_mean(np.ascontiguousarray(found.directions.T))
    variance = np.einsum("kd,dk->k", found.directions, image) / weight
    return variance, about_mean.square() / weight
