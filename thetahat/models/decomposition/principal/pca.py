"""Principal component analysis: directions of largest variance, X − 1μᵀ = U·diag(s)·V."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from thetahat.data.extremes import in_type_of_rows, require_squares_of_rows
from thetahat.data.in_memory import InMemory
from thetahat.data.source import Source
from thetahat.data.summaries.moments import Moments, moments
from thetahat.estimator.batches import batch_after
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.devices.routing import on_devices
from thetahat.estimator.parameters import (
    Range,
    at_least,
    boolean,
    inner_fraction,
    none,
    one_of,
    whole,
)
from thetahat.foundation.arguments import require_level
from thetahat.foundation.errors import CapabilityError, DataError, ParameterError
from thetahat.foundation.types import Array
from thetahat.models.decomposition.principal import pca_on_device
from thetahat.models.decomposition.principal.dimension import (
    count_by_evidence,
    count_for_share,
    require_rows,
)
from thetahat.models.decomposition.principal.gaussian_view import GaussianView
from thetahat.models.decomposition.principal.krylov import LEAST_SHARE
from thetahat.models.decomposition.principal.spectrum import (
    FEW_COLUMNS,
    FEW_VALUES,
    SMALL,
    Spectrum,
    covariance_spectrum,
    full_spectrum,
    lanczos_spectrum,
    power_iterations,
    randomized_spectrum,
    row_gram_spectrum,
    spectrum_of_moments,
    start_generator,
)


@on_devices(
    *pca_on_device.ARRAYS,
    fit=pca_on_device.fit,
    transform=pca_on_device.transform,
    inverse_transform=pca_on_device.inverse_transform,
)
@with_parameters
class PCA(GaussianView):
    """Principal component analysis: the directions in which the rows vary most.

    The first k components give the best reconstruction of the rows by a k-dimensional subspace,
    which is the same as the largest variance inside it: ‖x − μ‖² is the sum of the squared
    components and of the squared distance from the subspace.

    Formula: with the covariance Σ = Σᵢ wᵢ(xᵢ − μ)(xᵢ − μ)ᵀ/(W − 1) = VᵀΛV, the components of a row
    are z = V(x − μ), the reconstruction is x̂ = μ + Vᵀz, and Λ holds the variances of the
    components. As a model of the rows it is Gaussian, x = μ + Az + ε (probabilistic PCA), with a
    density, samples and a score of held-out rows.

    Cost: O(n d² + d³) time and O(d²) memory by the covariance, which is one pass over the rows, in
    memory or on disk; O(n d k) per pass with ``svd_solver="randomized"``; O(n d·min(n, d)) with
    "full".

    Parameters
    ----------
    n_components : int, float, "mle" or None, default=None
        Number of components (k). A number strictly between 0 and 1 keeps the smallest number of
        components that explains more than this share of the variance. "mle" chooses the number
        with the largest evidence (Minka). None keeps all, min(n, d).
    copy : bool, default=True
        Has no effect, because rows are never overwritten. Accepted for compatibility with
        scikit-learn.
    whiten : bool, default=False
        Whether to divide each component by its standard deviation, so that all have variance 1.
        This removes the differences between the variances of the components.
    svd_solver : {"auto", "full", "covariance_eigh", "arpack", "randomized"}, default="auto"
        "full" computes all singular values of the centred rows, "covariance_eigh" the eigenvalues
        of the covariance, which is faster for many rows and less accurate for components with less
        than 1e-8 of the largest standard deviation. "randomized" and "arpack" compute the first
        components only, by power or Lanczos iterations. "auto" chooses by the sizes, and
        "arpack" for sparse rows of many columns.
    tol : float, default=0.0
        Relative accuracy of "arpack". 0 means machine precision. Must be at least 0.
    iterated_power : int or "auto", default="auto"
        Number of iterations of "randomized". More iterations are more accurate and take longer.
        "auto" uses 4, because all iterates are used (a block Krylov space).
    n_oversamples : int, default=10
        Number of additional random vectors of "randomized". More vectors are more accurate.
    power_iteration_normalizer : {"auto", "QR", "LU", "none"}, default="auto"
        Has no effect, because power iterations are always normalised by QR. Accepted for
        compatibility with scikit-learn.
    random_state : int, Generator or None, default=None
        Seed of the random vectors. None uses the same vectors in every call.
    center : bool, default=True
        Whether to subtract the mean of each column. False finds the directions of the largest mean
        square, which are the right singular vectors of X.
    scale : bool, default=False
        Whether to divide each column by its standard deviation first, which suits columns of
        different units. Constant columns are not divided.

    Attributes
    ----------
    components_ : array of shape (n_components, d)
        The principal directions (V), in order of decreasing variance. The entry of the largest
        size of each direction is positive.
    explained_variance_ : array of shape (n_components,)
        The variance of each component (λ), with divisor W − 1.
    explained_variance_ratio_ : array of shape (n_components,)
        The share of each component in the total variance.
    singular_values_ : array of shape (n_components,)
        The singular values of the centred rows (s).
    mean_ : array of shape (d,)
        The mean of each column (μ), or zeros with ``center=False``.
    scale_ : array of shape (d,) or None
        The standard deviation of each column with ``scale=True``.
    n_components_ : int
        The number of components that were kept.
    n_samples_ : int
        The number of training rows.
    noise_variance_ : float
        The mean variance of the directions that were left out (σ²).
    solver_ : str
        The solver that was used; "row_gram" uses the products of few rows of many columns.

    Examples
    --------
    >>> import thetahat as th
    >>> X = [[2.0, 1.0], [0.0, 1.0], [1.0, 0.0], [1.0, 2.0], [3.0, 3.0], [-1.0, -1.0]]
    >>> model = th.PCA(n_components=1).fit(X)
    >>> model.components_.round(3).tolist(), model.explained_variance_ratio_.round(3).tolist()
    ([[0.707, 0.707]], [0.9])
    >>> model.transform([[3.0, 3.0]]).round(3).tolist()
    [[2.828]]
    """

    n_components: Any = None
    _: KW_ONLY
    copy: bool = True
    whiten: bool = False
    svd_solver: str = "auto"
    tol: float = 0.0
    iterated_power: Any = "auto"
    n_oversamples: int = 10
    power_iteration_normalizer: str = "auto"
    random_state: Any = None
    center: bool = True
    scale: bool = False

    _ranges: ClassVar[dict[str, Range]] = {
        "n_components": whole(0) | inner_fraction | one_of("mle") | none,
        "copy": boolean,
        "whiten": boolean,
        "svd_solver": one_of("auto", "full", "covariance_eigh", "arpack", "randomized"),
        "tol": at_least(0),
        "iterated_power": whole(0) | one_of("auto"),
        "n_oversamples": whole(1),
        "power_iteration_normalizer": one_of("auto", "QR", "LU", "none"),
        "center": boolean,
        "scale": boolean,
    }
    _accepts_sparse = True

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> PCA:
        """Compute the principal directions. Cost: see `PCA`."""
        source = self._open(X, None, sample_weight, supervised=False)
        self.__dict__.pop("_moments", None)
        return self._keep(self._spectrum(source), source.dtype)

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> PCA:
        """Add rows, and compute the principal directions of all rows so far.

        The result equals that of one `fit` to all rows up to rounding: sums and products of the
        columns are kept, O(d²) numbers. `fit` does not keep them, so that the first call after it
        forgets the rows before. Cost: O(n d² + d³) per call.

        Parameters
        ----------
        X : array-like, table or Source of shape (n, d)
            Further training rows, with the same columns as before.
        y : None
            Has no effect. Accepted for compatibility with scikit-learn.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.

        Returns
        -------
        self
            The fitted transformer.
        """
        before = self.__dict__.get("_moments")
        with batch_after(self, X, first=before is None):
            source = self._open(X, None, sample_weight, supervised=False)
        total = moments(source) if before is None else before.merge(moments(source))
        self._moments: Moments = total
        scale = self._scale_of(total) if self.scale else None
        self.scale_ = scale
        self.solver_ = "covariance_eigh"
        found = spectrum_of_moments(total, source.n_features, centre=self.center, scale=scale)
        return self._keep(found, source.dtype)

    def _scale_of(self, about: Moments) -> Array:
        d = about.n_features
        deviation = np.sqrt(np.maximum(np.diagonal(about.scatter)[:d], 0.0) / (about.weight - 1))
        deviation = deviation * about.unit[:d]
        return np.where(deviation > 0, deviation, 1.0)

    def _spectrum(self, source: Source) -> Spectrum:
        """The first components, or all if the number is not known before."""
        n, d = source.n_rows, source.n_features
        solver = self.solver_ = self._solver(source, n, d)
        require_rows(type(self).__name__, self.n_components, source, solver)
        options: dict[str, Any] = {"centre": self.center, "scale": None}
        self.scale_ = None
        if self.scale:
            options["scale"] = self.scale_ = self._scale_of(moments(source))
        if solver != "covariance_eigh":
            require_squares_of_rows(source, who=type(self).__name__)
        if solver == "full":
            assert isinstance(source, InMemory)
            return full_spectrum(source, **options)
        if solver == "covariance_eigh":
            k = self.n_components if whole(1).holds(self.n_components) else None
            return covariance_spectrum(source, k, **options)
        k, rng = self._count_before(n, d), start_generator(self.random_state)
        if solver == "row_gram":
            assert isinstance(source, InMemory)
            gram = row_gram_spectrum(source, k, **options)
            if gram is not None:
                return gram
            self.solver_ = "randomized"
        if solver == "few_covariance":
            found, self.solver_ = covariance_spectrum(source, k, **options), "covariance_eigh"
            if found.values[k - 1] ** 2 > LEAST_SHARE * found.values[0] ** 2:
                return found
            self.solver_ = "randomized"
        if solver == "arpack":
            return lanczos_spectrum(source, k, tol=self.tol, rng=rng, **options)
        return randomized_spectrum(
            source,
            k,
            oversamples=self.n_oversamples,
            n_iter=power_iterations(self.iterated_power),
            rng=rng,
            **options,
        )

    def _solver(self, source: Source, n: int, d: int) -> str:
        chosen, k = self.svd_solver, self.n_components
        counted = whole(1).holds(k)
        dense = isinstance(source, InMemory) and not source.is_sparse
        if chosen == "auto":
            if d <= FEW_COLUMNS and (n >= 10 * d or not isinstance(source, InMemory)):
                return "covariance_eigh"
            if dense and (max(n, d) <= SMALL or not counted or k >= 0.8 * min(n, d)):
                return "full"
            if dense and n <= FEW_COLUMNS and d >= 2 * n:
                return "row_gram"
            if dense and d <= FEW_COLUMNS and n >= 2 * d and FEW_VALUES * k <= d:
                return "few_covariance"
            if not dense and (not counted or k >= 0.8 * min(n, d)):
                return "covariance_eigh"
            # Random directions of sparse rows miss digits that users of scikit-learn expect.
            return "randomized" if dense or not isinstance(source, InMemory) else "arpack"
        if chosen == "full" and not isinstance(source, InMemory):
            raise CapabilityError(
                f"{type(self).__name__}: svd_solver='full' needs its rows in memory, but these are "
                "read block by block. Use svd_solver='covariance_eigh' or 'randomized'."
            )
        return chosen

    def _count_before(self, n: int, d: int) -> int:
        """The number of components for solvers that do not compute all."""
        least = min(n, d)
        strict = self.svd_solver == "arpack"
        if self.n_components is None:
            return least - 1 if strict else least
        if strict and self.n_components >= least:
            raise ParameterError(
                f"{type(self).__name__}: n_components={self.n_components} must be strictly less "
                f"than min(n_samples, n_features)={least} with svd_solver='arpack'. Use a smaller "
                "number, or svd_solver='full'."
            )
        return int(self.n_components)

    def _keep(self, found: Spectrum, dtype: Any) -> PCA:
        """Store the attributes of the first components."""
        freedom = found.weight - 1.0
        if found.weight == found.n_rows == 1:
            raise DataError(
                f"{type(self).__name__}: n_samples = 1, but a variance needs at least 2 rows. "
                "Add rows."
            )
        if not freedom > 0:
            raise DataError(
                f"{type(self).__name__}: the sum of the weights, {found.weight:g}, must be more "
                "than 1, because variances are divided by it minus 1. Multiply the weights."
            )
        variances = found.values.astype(np.float64) ** 2 / freedom
        total = found.square / freedom
        least = min(found.n_rows, found.mean.shape[0])
        k = self._count(variances, total, found.n_rows, least)
        name = "explained_variance_"
        explained = in_type_of_rows(variances[:k], dtype, name, type(self).__name__)
        rest = max(0.0, total - float(variances[:k].sum()))
        if len(variances) == least:
            rest = float(variances[k:].sum())
        self.n_samples_ = found.n_rows
        self.n_components_ = k
        self.noise_variance_ = rest / (least - k) if k < least else 0.0
        ratio = variances[:k] / total if total > 0 else np.zeros(k)
        self.mean_ = found.mean.astype(dtype)
        self.components_ = np.ascontiguousarray(found.directions[:k], dtype=dtype)
        self.explained_variance_ = explained
        self.explained_variance_ratio_ = ratio.astype(dtype)
        self.singular_values_ = found.values[:k].astype(dtype)
        return self

    def _count(self, variances: Array, total: float, n_rows: int, least: int) -> int:
        k = self.n_components
        if k is None:
            return len(variances) if self.solver_ != "covariance_eigh" else least
        if k == "mle":
            return count_by_evidence(variances, n_rows)
        if not whole(0).holds(k):
            return count_for_share(variances, total, float(k))
        return int(k)

    def _offset(self) -> Array | None:
        return self.mean_ if self.center else None

    def _column_scale(self) -> Array | None:
        return self.scale_

    def variance_intervals(self, level: float = 0.95) -> Array:
        """Compute confidence intervals for the variances of the components.

        Formula: λ·exp(±z√(2/(n − 1))), from the asymptotic distribution of the eigenvalues of the
        covariance of Gaussian rows; with row weights, n is their sum. It assumes that the variances
        are distinct and n ≫ d; the largest ones are biased upwards for small n. Cost: O(k).

        Parameters
        ----------
        level : float, default=0.95
            Probability that an interval contains the variance; strictly between 0 and 1.

        Returns
        -------
        intervals : array of shape (n_components, 2)
            Lower and upper bounds.
        """
        from scipy.special import ndtri

        check_is_fitted(self)
        require_level(level)
        # λ = s²/(total weight − 1), which is n − 1 without weights.
        roots, variances = self.singular_values_, self.explained_variance_
        known = variances.size > 0 and variances[0] > 0
        scale = float(roots[0]) / np.sqrt(float(variances[0])) if known else 1.0
        freedom = scale * scale if known else max(self.n_samples_ - 1, 1)
        factor = np.exp(ndtri(0.5 + level / 2) * np.sqrt(2.0 / freedom))
        return np.stack([self.explained_variance_ / factor, self.explained_variance_ * factor], 1)
