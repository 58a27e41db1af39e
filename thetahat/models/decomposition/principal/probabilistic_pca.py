"""Probabilistic principal components: x = μ + Wz + ε, fitted to the entries that are observed."""

from __future__ import annotations

from dataclasses import KW_ONLY, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from thetahat.data.extremes import require_squares_of_rows
from thetahat.data.in_memory import InMemory
from thetahat.data.source import Block
from thetahat.data.summaries.frame import dense_rows
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, at_least, none, whole
from thetahat.estimator.watching import Watched, with_callbacks
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.memory import require_memory
from thetahat.foundation.threads import one_blas_thread, scipy_linalg
from thetahat.foundation.types import Array
from thetahat.mathematics.lowrank.decompositions import with_fixed_signs
from thetahat.mathematics.optimizers.minimisation import minimise
from thetahat.models.decomposition.principal.gaussian_view import GaussianSubspace
from thetahat.models.decomposition.principal.observed_entries import (
    LEAST_NOISE,
    LEAST_SHARE,
    ExtrapolatedSteps,
    ObservedEntries,
    Posterior,
    Subspace,
    first_subspace,
    pieces,
    posterior,
    spectrum,
)


@with_parameters
class ProbabilisticPCA(Watched, GaussianSubspace):
    """Principal components of rows with missing entries, by maximum likelihood.

    NaN marks a missing entry. No entry is filled in before the fit: each row contributes the
    density of the entries that are observed. This is right if an entry is missing completely at
    random, or for reasons that the observed entries of its row explain. Without missing entries
    the directions are those of `PCA`.

    Formula: x = μ + Wz + ε with z ~ N(0, I) and ε ~ N(0, σ²I), so that the observed entries o of a
    row are N(μ_o, W_o·W_oᵀ + σ²I). Σᵢ wᵢ log p(x_o) is maximised over W, μ and σ² by EM, and W is
    given by orthogonal directions V, W = Vᵀ(Λ − σ²I)^½. The components of a row are their expected
    values given the observed entries, z = (W_oᵀW_o + σ²I)⁻¹W_oᵀ(x_o − μ_o). Without missing
    entries the maximum has a closed form. With them, there can be several local maxima; the fit
    starts from the closed form for missing entries at the mean of their column.

    Cost: O(n d k² + n k³) time per iteration, less if many rows lack the same entries. Memory
    O(n d + d k²).

    Parameters
    ----------
    n_components : int or None, default=None
        Number of components (k). More components fit the training rows better. Must be less than
        the number of rows and the number of columns. None uses one less than the number of
        directions in which the rows vary, at most min(n − 2, d − 1). This is a Gaussian with any
        covariance if there are more rows than columns.
    tol : float, default=1e-4
        Iterations stop when the mean log-likelihood of the rows increases by less than this
        tolerance. Smaller values give more accurate results and need more iterations. Must be at
        least 0.
    max_iter : int, default=1000
        Maximum number of iterations. Each one is two EM steps and an extrapolation. Must be at
        least 1.

    Attributes
    ----------
    components_ : array of shape (n_components, d)
        The principal directions (V), in order of decreasing variance. They are orthogonal and have
        length 1. The entry of the largest size of each direction is positive.
    explained_variance_ : array of shape (n_components,)
        The variance of the rows along each direction (λ), noise included. It has the divisor W of
        maximum likelihood, where `PCA` divides by W − 1.
    explained_variance_ratio_ : array of shape (n_components,)
        The share of each direction in the total variance of the model.
    mean_ : array of shape (d,)
        The estimated mean of each column (μ). With missing entries, it differs from the mean of the
        observed ones.
    noise_variance_ : float
        The variance of the noise of each entry (σ²). It is at least 1e-8 of the mean variance of
        the columns.
    n_components_ : int
        The number of components.
    loglike_ : list of float
        The log-likelihood of the observed entries at the start and after each iteration. It never
        decreases.
    n_iter_ : int
        The number of iterations.
    solution_ : Solution
        How the fit ended: outcome, iterations and gap.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 1)) @ [[1.0, 2.0, -1.0]] + 0.1 * rng.normal(size=(200, 3))
    >>> X[::4, 0] = np.nan
    >>> model = th.ProbabilisticPCA(n_components=1).fit(X)
    >>> model.complete([[np.nan, 2.0, -1.0], [1.0, np.nan, np.nan]]).round(1).tolist()
    [[1.0, 2.0, -1.0], [1.0, 2.0, -1.0]]
    """

    n_components: int | None = None
    _: KW_ONLY
    tol: float = 1e-4
    max_iter: int = 1000

    _ranges: ClassVar[dict[str, Range]] = {
        "n_components": whole(0) | none,
        "tol": at_least(0),
        "max_iter": whole(1),
    }
    _streams = False
    _instead_of_blocks = "use PCA, which reads blocks"
    _leaves_out_missing = True

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> ProbabilisticPCA:
        """Maximise the likelihood of the observed entries. Cost: see `ProbabilisticPCA`.

        Parameters
        ----------
        X : array-like or table of shape (n, d)
            Training rows, with NaN for missing entries. Rows without any observed entry have no
            effect. Every column needs an observed entry.
        y : None
            Has no effect. Accepted for compatibility with scikit-learn.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.

        Returns
        -------
        self
            The fitted transformer.
        """
        source = self._open(X, None, sample_weight, supervised=False)
        assert isinstance(source, InMemory)
        rows, weight = self._counted_rows(source)
        self._require_count(*rows.shape)
        centre, unit = self._frame(source, rows, weight)
        rows -= centre
        rows /= unit
        missing = np.isnan(rows)
        filled = np.where(missing, 0.0, rows)
        complete = not missing.any()
        values, vectors = spectrum(filled, weight)
        k = self._count(values)
        start = first_subspace(values, vectors, k, complete=complete)
        parts = list(pieces(rows, weight, k))
        problem = ObservedEntries(parts, len(centre), convex=complete)

        def attributes(theta: Array) -> dict[str, Any]:
            return _attributes(Subspace.of(theta, len(centre)), centre, unit, source.dtype)

        with self._watching(self.max_iter, attributes, X, y) as watch:
            self.solution_ = minimise(
                problem,
                ExtrapolatedSteps(),
                start.flat(),
                tolerance=self.tol,
                max_steps=self.max_iter,
                watch=watch,
                reason="never decreases the likelihood of the observed entries",
                keep_trace=True,
            )
        self.__dict__.update(attributes(self.solution_.theta))
        shift = float(weight @ (~missing).sum(axis=1)) * np.log(unit)
        total = problem.total()
        self.loglike_ = [-total * each - shift for each in self.solution_.trace]
        self.n_iter_ = self.solution_.steps
        self._warn_unless_converged()
        if self.solution_.theta[-1] <= np.log(LEAST_NOISE) + 1e-9:
            warn(
                f"ProbabilisticPCA: {k} {'component explains' if k == 1 else 'components explain'} "
                "the observed entries exactly, so that the likelihood has no maximum, and the "
                "noise variance is at its lower bound. Use fewer components, or more rows."
            )
        return self

    def _counted_rows(self, source: InMemory) -> tuple[Array, Array]:
        """Copies of the rows that have a weight and an observed entry, in float64."""
        X, weight = np.asarray(source.X), np.asarray(source.row_weights, dtype=np.float64)
        n, d = X.shape
        if n < 2:
            raise DataError(
                f"ProbabilisticPCA: n_samples = {n}, but a variance needs at least 2 rows. Add "
                "rows."
            )
        require_memory(
            8 * 5 * n * d, f"ProbabilisticPCA: {n} rows of {d} columns", "Use fewer rows."
        )
        seen = ~np.isnan(X)
        used = (weight > 0) & seen.any(axis=1)
        lost = np.flatnonzero(~seen[used].any(axis=0))
        if len(lost):
            raise DataError(
                f"ProbabilisticPCA: column {source.schema.label(int(lost[0]))} has no observed "
                f"entry ({len(lost)} of {d} columns), so that its mean is not determined. Remove "
                "the column."
            )
        return X[used].astype(np.float64), weight[used]

    def _require_count(self, n: int, d: int) -> None:
        k = min(n, d) - 1 if self.n_components is None else int(self.n_components)
        if k >= min(n, d):
            raise ParameterError(
                f"ProbabilisticPCA: n_components={k} must be less than the number of columns, "
                f"n_features={d}, and of rows with an observed entry, {n}, because the noise is "
                "estimated from the other directions. Use a smaller number."
            )
        require_memory(
            8 * 6 * d * (k + 1) ** 2,
            f"ProbabilisticPCA: products of {k} components for {d} columns",
            "Use fewer components.",
        )

    def _count(self, values: Array) -> int:
        if self.n_components is not None:
            return int(self.n_components)
        return max(int((values > LEAST_SHARE * values[0]).sum()) - 1, 0)

    def _frame(self, source: InMemory, rows: Array, weight: Array) -> tuple[Array, float]:
        """The means of the columns over observed entries, and the root of their mean variance."""
        seen = ~np.isnan(rows)
        filled = np.where(seen, rows, 0.0)
        require_squares_of_rows(replace(source, X=filled, weight=None), who="ProbabilisticPCA")
        counts = weight @ seen
        centre = (weight @ filled) / counts
        highest, lowest = np.nanmax(rows, axis=0), np.nanmin(rows, axis=0)
        constant = highest == lowest
        if constant.all():
            raise DataError(
                "ProbabilisticPCA: all columns are constant where they are observed, so that the "
                "rows have no density. Add rows that vary."
            )
        centre = np.where(constant, highest, centre)
        variances = weight @ (np.where(seen, rows - centre, 0.0) ** 2) / counts
        return centre, float(np.sqrt(variances.mean()))

    def _offset(self) -> Array:
        return self.mean_

    def _output_scale(self) -> Array:
        return np.sqrt(np.maximum(self.explained_variance_ - self.noise_variance_, 0.0))

    def _posteriors(self, rows: Array) -> list[Posterior]:
        scale = self._output_scale().astype(np.float64)
        model = Subspace(
            self.components_.T * scale, self.mean_.astype(np.float64), float(self.noise_variance_)
        )
        return [posterior(piece, model) for piece in pieces(rows, None, len(scale))]

    def _transform_block(self, block: Block) -> Array:
        return np.concatenate([each.means for each in self._posteriors(dense_rows(block))])

    def inverse_transform(self, X: Any) -> Array:
        """Compute the expected rows with the given components, x̂ = μ + Wz. Cost: O(n d k).

        For the output of `transform`, x̂ at a missing entry is its expected value given the observed
        entries of the row. `complete` keeps the observed entries.

        Parameters
        ----------
        X : array-like or table of shape (n, n_components)
            Components, as returned by `transform`.

        Returns
        -------
        array of shape (n, d)
            Rows in the original columns, without missing entries.
        """
        return super().inverse_transform(X)

    def complete(self, X: Any) -> Array:
        """Fill in missing entries by their expected values given the observed entries.

        Formula: E[x_j | x_o] = μ_j + W_j·z for a missing entry j, with z as in `transform`. Cost:
        O(n d k²).

        Parameters
        ----------
        X : array-like or table of shape (n, d)
            Rows with NaN for missing entries, with the same columns as in `fit`.

        Returns
        -------
        array of shape (n, d)
            The rows without missing entries. Observed entries are returned as they are.
        """

        def of_block(block: Block) -> Array:
            rows = dense_rows(block)
            expected = self._inverse_block(self._transform_block(block))
            return np.where(np.isnan(rows), expected, rows).astype(rows.dtype, copy=False)

        return self._open_again(X).map_rows(of_block)

    def log_density(self, X: Any) -> Array:
        """Compute log p(x_o), the density of the observed entries of each row. Cost: O(n d k²).

        Formula: log N(x_o | μ_o, W_o·W_oᵀ + σ²I), the marginal density; 0 for a row without any
        observed entry.

        Parameters
        ----------
        X : array-like or table of shape (n, d)
            Rows to evaluate, with NaN for missing entries.

        Returns
        -------
        log_density : array of shape (n,)
            Natural logarithm of the density for every row.
        """
        check_is_fitted(self)

        def of_block(block: Block) -> Array:
            rows = dense_rows(block)
            found = np.concatenate([each.log_density for each in self._posteriors(rows)])
            return found.astype(rows.dtype, copy=False)

        return self._open_again(X).map_rows(of_block)


def _attributes(model: Subspace, centre: Array, unit: float, dtype: Any) -> dict[str, Any]:
    """The fitted attributes for the parameters of centred rows in the given unit."""
    d, k = model.loadings.shape
    with one_blas_thread():
        vectors, roots, _ = scipy_linalg().svd(
            model.loadings, full_matrices=False, check_finite=False
        )
    variances = roots**2 + model.noise
    total = float(variances.sum()) + (d - k) * model.noise
    return {
        "components_": np.ascontiguousarray(with_fixed_signs(vectors.T), dtype=dtype),
        # In float64, because squares of float32 numbers can be beyond the range of float32.
        "explained_variance_": variances * unit**2,
        "explained_variance_ratio_": (variances / total).astype(dtype),
        "mean_": (centre + unit * model.mean).astype(dtype),
        "noise_variance_": model.noise * unit**2,
        "n_components_": k,
    }
