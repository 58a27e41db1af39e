"""Linear discriminant analysis: Gaussian classes with one covariance, argmax_c log π_c + log N."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Block, Source
from thetahat.data.summaries.class_moments import ClassMoments
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.distributed.transformed import transformed
from thetahat.estimator.parameters import Range, at_least, boolean, fraction, none, one_of, whole
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import (
    CapabilityError,
    DataError,
    IllConditionedWarning,
    ParameterError,
)
from thetahat.foundation.products import product
from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.covariance_shrinkage import shrunk
from thetahat.models.generative.class_model import ClassModel, dense_float64
from thetahat.models.generative.class_priors import any_priors, class_priors, log_priors
from thetahat.models.generative.covariance_choice import (
    class_covariances,
    covariance_estimators,
    require_one_choice,
    shared_variances,
    shrunk_variances,
)
from thetahat.models.generative.few_rows import whitening_of_few
from thetahat.models.generative.gaussian import (
    Whitening,
    diagonal_whitening,
    joint_of,
    missing_patterns,
    restored,
    spread_of,
    unwhitening,
    whitened,
    whitening,
)
from thetahat.models.generative.refined_whitening import refined_together

FAR_FROM_ZERO = 1e3
"""Rows are centred before they are scored if their mean exceeds their spread by this factor."""


@with_parameters
class LinearDiscriminantAnalysis(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClassModel):
    """Classification by Gaussian classes that share one covariance; also Fisher's projection.

    Formula: the score of class c is μ_cᵀΣ⁻¹x − ½μ_cᵀΣ⁻¹μ_c + log π_c, with the class means μ_c, the
    class probabilities π_c and the pooled covariance Σ = Σᵢ wᵢ(xᵢ − μ_{yᵢ})(xᵢ − μ_{yᵢ})ᵀ/W. The
    boundaries are linear, and for two classes p(c₁ | x) = σ(wᵀx + b) with w = Σ⁻¹(μ₁ − μ₀). The
    same direction w maximises Fisher's criterion (m₁ − m₀)²/(wᵀΣw) and solves least squares with
    targets ±1; the intercept of least squares agrees only for classes of equal size. `transform`
    projects on the discriminants, which maximise the variance between the classes relative to Σ.

    Directions in which no class varies are left out: scores and p(x) are those of the projection on
    the other ones, so that a value off the constant of such a column has no effect. A warning gives
    the rank.

    Cost: O(n d²) time for one symmetric product over the rows, O(d³) for the solution, O(d²)
    memory; O(n d) and O(d) with diagonal covariances. With fewer rows than columns O(n² d) time and
    O(n d) memory. Prediction O(d C) per row. X is not copied.

    Parameters
    ----------
    solver : {"svd", "lsqr", "eigen"}, default="svd"
        Accepted for compatibility with scikit-learn: all solvers use the same factorisation and
        can be combined with `shrinkage` and `transform`. "svd" centres the projection, and the
        others do not; ``covariance_`` is always stored by "lsqr" and "eigen".
    shrinkage : float, "auto" or None, default=None
        Moves the covariance towards a multiple of the identity by this share (ρ), from 0 (no
        change) to 1. It helps if there are few rows per column. "auto" chooses the share by
        Ledoit and Wolf's formula for every class and takes the mean covariance, weighted as
        described under `priors`. None does not shrink.
    priors : array-like of shape (n_classes,) or None, default=None
        Class probabilities (π). None estimates them by the shares of the training rows. If they are
        given, the solvers "lsqr" and "eigen" also weight the covariances of the classes by them;
        "svd" weights these by the shares of the training rows.
    n_components : int or None, default=None
        Number of discriminants that `transform` returns, at most min(n_classes − 1, d), which is
        also the meaning of None. It has no effect on predictions.
    store_covariance : bool, default=False
        Whether to store ``covariance_`` for the solver "svd".
    tol : float, default=1e-4
        Directions whose standard deviation within the classes is at most this number are left out;
        the columns are first divided by their standard deviations. Must be ≥ 0.
    covariance_estimator : estimator or None, default=None
        Estimator with ``fit`` and ``covariance_`` that is fitted to the rows of every class. The
        mean of the covariances is used, weighted as described under `priors`. Needs rows in memory,
        and a ``fit`` that takes `sample_weight` if the rows have weights.
    covariance : {"full", "diagonal"}, default="full"
        "diagonal" ignores the correlations of the columns within the classes (diagonal linear
        discriminant analysis). It needs fewer rows.

    Attributes
    ----------
    coef_ : array of shape (1, d) or (n_classes, d)
        Coefficients of the scores: one row for two classes, otherwise one row per class. With the
        solver "svd" they are about the mean of the classes; with the others they are Σ⁻¹μ_c.
    intercept_ : array of shape (1,) or (n_classes,)
        Intercepts of the scores, one for each row of ``coef_``.
    covariance_ : array of shape (d, d)
        The covariance within the classes (Σ). Defined for the solvers "lsqr" and "eigen" or with
        ``store_covariance=True``.
    explained_variance_ratio_ : array of shape (n_components,)
        The share of each discriminant in the variance between the classes.
    means_ : array of shape (n_classes, d)
        The means of the classes (μ); NaN for a class without rows of positive weight.
    priors_ : array of shape (n_classes,)
        The class probabilities (π), which sum to 1.
    scalings_ : array of shape (d, n_discriminants)
        The directions of the discriminants, with unit variance within the classes. The largest
        entry of each one is positive.
    xbar_ : array of shape (d,)
        The mean of the class means, weighted by the class probabilities.
    rank_ : int
        Number of directions with variance within the classes.

    Examples
    --------
    >>> import thetahat as th
    >>> X = [[-1.0, 0.0], [1.0, 0.0], [0.0, -1.0], [0.0, 1.0]]
    >>> X = X + [[x + 2.0, y] for x, y in X]
    >>> model = th.LinearDiscriminantAnalysis().fit(X, ["a"] * 4 + ["b"] * 4)
    >>> model.predict([[0.9, 5.0], [1.1, -5.0]]).tolist()
    ['a', 'b']
    >>> model.predict_proba([[1.0, 0.0]]).round(3).tolist()
    [[0.5, 0.5]]
    """

    solver: str = "svd"
    shrinkage: Any = None
    priors: Any = None
    n_components: int | None = None
    store_covariance: bool = False
    tol: float = 1e-4
    covariance_estimator: Any = None
    _: KW_ONLY
    covariance: str = "full"

    _ranges: ClassVar[dict[str, Range]] = {
        "solver": one_of("svd", "lsqr", "eigen"),
        "shrinkage": none | one_of("auto") | fraction,
        "priors": any_priors,
        "n_components": whole(1) | none,
        "store_covariance": boolean,
        "tol": at_least(0),
        "covariance_estimator": covariance_estimators,
        "covariance": one_of("full", "diagonal"),
    }
    _everyday = "linear discriminant analysis"

    def _kind(self, source: Source, *, mergeable: bool) -> str:
        if self.covariance == "diagonal" or self.covariance_estimator is not None:
            return "diagonal"
        if self.shrinkage == "auto":
            return "full"
        if not mergeable and self._is_wide(source):
            return "diagonal"
        return "pooled" if self.solver == "svd" or self.priors is None else "full"

    def _is_wide(self, source: Source) -> bool:
        """Whether the rows are so few that their products are used instead of the covariance."""
        return (
            not self.shrinkage
            and isinstance(source, InMemory)
            and source.n_rows < source.n_features
        )

    def _require_mergeable(self) -> None:
        super()._require_mergeable()
        if self.shrinkage == "auto" or self.covariance_estimator is not None:
            raise CapabilityError(
                "LinearDiscriminantAnalysis.partial_fit: shrinkage='auto' and covariance_estimator "
                "need all rows at once. Use fit, or give the shrinkage as a number."
            )

    def _solve(self, moments: ClassMoments, source: Source, *, final: bool) -> None:
        who, count, d = type(self).__name__, len(self.classes_), source.n_features
        require_one_choice(self)
        components = self._component_count(count, d)
        priors = class_priors(self.priors, moments.weight, self.classes_, who)
        means = moments.means
        shares = moments.weight / moments.weight.sum() if self.solver == "svd" else priors
        variance = shared_variances(moments, shares)
        if final and not (variance > 0).any():
            raise DataError(
                f"{who}: no column varies within a class. The number of samples must be more than "
                "the number of classes, and the rows of a class must not all be equal. Add rows."
            )
        xbar = priors @ means
        found, covariance = self._whitening(moments, source, variance, shares)
        if final:
            found = refined_together(self, found, spread_of(variance), shares, moments, source)
        self.rank_ = found.rank
        self._set_scores(found, means - xbar, xbar, priors, spread_of(variance))
        self._set_discriminants(priors, components)
        self._set_public(means, priors, xbar, source.dtype)
        self.means_ = moments.known_means.astype(source.dtype)
        if covariance is not None:
            self.covariance_ = covariance.astype(source.dtype)
        if final:
            self._warn_of_rank(found.rank, variance, means[moments.weight > 0])
        if moments.kind == "diagonal" and self.covariance == "full":
            self._moments = None

    def _forget(self) -> None:
        self.__dict__.pop("covariance_", None)

    def _component_count(self, count: int, d: int) -> int:
        most = min(count - 1, d)
        if self.n_components is not None and self.n_components > most:
            raise ParameterError(
                "LinearDiscriminantAnalysis: n_components cannot be larger than min(n_features, "
                f"n_classes - 1). It is {self.n_components}, and the limit is {most} for {d} "
                f"{'column' if d == 1 else 'columns'} and {count} classes."
            )
        return most if self.n_components is None else self.n_components

    def _whitening(
        self, moments: ClassMoments, source: Source, variance: Array, shares: Array
    ) -> tuple[Whitening, Array | None]:
        """The whitening of the pooled covariance, and the covariance if it is to be stored."""
        stored = self.store_covariance or self.solver != "svd"
        if self.covariance == "diagonal":
            variance = shrunk_variances(variance, self.shrinkage)
            found = diagonal_whitening(variance, spread_of(variance), self.tol, raised=False)
            return found, np.diag(variance) if stored else None
        if moments.kind == "pooled":
            covariance = moments.pooled() * moments.unit * moments.unit[:, None]
            covariance /= moments.weight.sum()
            if self.shrinkage:
                covariance = shrunk(covariance, self.shrinkage)
        elif self.covariance_estimator is not None or moments.kind == "full":
            of_class = class_covariances(self, moments, source)
            covariance = np.zeros((len(variance), len(variance)))
            for code in np.flatnonzero(shares).tolist():
                covariance += shares[code] * of_class(code)
        else:
            assert isinstance(source, InMemory)
            found, rows = whitening_of_few(source, moments, shares, spread_of(variance), self.tol)
            return found, product(rows.T, rows) if stored else None
        spread = spread_of(np.diagonal(covariance))
        return whitening(covariance, spread, self.tol, raised=False), covariance if stored else None

    def _set_scores(
        self, found: Whitening, apart: Array, xbar: Array, priors: Array, spread: Array
    ) -> None:
        root = found.root
        self._root, self._log_det, self._spread = root, found.log_det, found.spread
        self._centre = xbar
        self._places = whitened(apart, root)
        self._log_priors = log_priors(priors)
        self._levels = self._log_priors - 0.5 * np.einsum("ij,ij->i", self._places, self._places)
        weights = self._places * root if root.ndim == 1 else product(self._places, root.T)
        self._weights = np.ascontiguousarray(weights.T)
        self._constants = self._levels - xbar @ self._weights
        self._is_far = bool((np.abs(xbar) > FAR_FROM_ZERO * spread).any())

    def _set_discriminants(self, priors: Array, components: int) -> None:
        """The directions with the largest variance between the classes, in whitened space."""
        root, places = self._root, self._places
        _, sizes, rows = np.linalg.svd(np.sqrt(priors)[:, None] * places, full_matrices=False)
        kept = sizes > max(self.tol, 1e-12) * (sizes[0] if sizes.size else 0.0)
        rows = rows[kept]
        directions = root[:, None] * rows.T if root.ndim == 1 else root @ rows.T
        largest = np.abs(directions).argmax(axis=0)
        directions *= np.where(directions[largest, np.arange(len(rows))] < 0, -1.0, 1.0)
        self.scalings_ = directions
        total = float(np.sum(sizes**2))
        shares = sizes**2 / total if total > 0 else np.zeros_like(sizes)
        self.explained_variance_ratio_ = shares[:components]
        self._n_features_out = min(components, directions.shape[1])

    def _set_public(self, means: Array, priors: Array, xbar: Array, dtype: Any) -> None:
        coef, intercept = self._weights.T, self._constants
        if self.solver != "svd":
            coef = coef + self._solved(xbar)
            intercept = self._log_priors - 0.5 * np.einsum("ij,ij->i", means, coef)
        if len(coef) == 2:
            coef = coef[1:] - coef[:1]
            with np.errstate(invalid="ignore"):
                intercept = self._constants[1:] - self._constants[:1]
        self.coef_, self.intercept_ = coef.astype(dtype), intercept.astype(dtype)
        self.priors_, self.xbar_ = priors.astype(dtype), xbar.astype(dtype)
        self.scalings_ = self.scalings_.astype(dtype)
        self.explained_variance_ratio_ = self.explained_variance_ratio_.astype(dtype)
        self._class_means, self._class_priors = means, priors

    def _solved(self, vector: Array) -> Array:
        """Σ⁻¹v."""
        root = self._root
        return vector * root**2 if root.ndim == 1 else root @ (root.T @ vector)

    def _warn_of_rank(self, rank: int, variance: Array, means: Array) -> None:
        constant = (variance == 0) & (means == means[0]).all(axis=0)
        most = len(variance) - int(constant.sum())
        if rank < most:
            warn(
                f"LinearDiscriminantAnalysis: the covariance of all classes together has rank "
                f"{rank}, but {most} {'column varies' if most == 1 else 'columns vary'}. The other "
                "directions are left out. Remove columns that depend on others, add rows, or set "
                'solver="lsqr" with shrinkage="auto".',
                IllConditionedWarning,
            )

    def _class_shares(self) -> Array:
        return self._class_priors

    def _centred(self, rows: Matrix) -> Array:
        return dense_float64(rows) - self._centre

    def _scores(self, rows: Matrix) -> Array:
        if self._is_far:
            scores = product(self._centred(rows), self._weights) + self._levels
        else:
            scores = product(rows, self._weights)
            scores += self._constants
        return self._filled(rows, scores)

    def _decision_rows(self, X: Any) -> Array:
        if self.solver == "svd" or len(self.classes_) == 2:
            return self._score_rows(X)
        return self._open_again(X).map_rows(lambda block: self._uncentred_scores(block.X))

    def _uncentred_scores(self, rows: Matrix) -> Array:
        """Scores with Σ⁻¹μ_c in place of Σ⁻¹(μ_c − x̄), which adds a constant to each row."""
        common = self._solved(self._centre)
        added = product(rows, common[:, None]) - 0.5 * (self._centre @ common)
        return self._scores(rows) + np.where(np.isnan(added), 0.0, added)

    def _joint(self, rows: Matrix) -> Array:
        centred = self._centred(rows)
        joint = joint_of(
            centred, self._root, self._places, self._weights, self._log_priors, self._log_det
        )
        return self._filled(rows, joint)

    def _joint_of_known(self, rows: Array) -> Array:
        joint = np.empty((len(rows), len(self.classes_)))
        covariance = restored(self._root, getattr(self, "_spread", None))
        apart = self._class_means - self._centre
        for which, known in missing_patterns(rows):
            if not known.size:
                joint[which] = self._log_priors
                continue
            if covariance.ndim == 1:
                part = covariance[known]
                found = diagonal_whitening(part, spread_of(part), self.tol, raised=False)
            else:
                part = covariance[np.ix_(known, known)]
                found = whitening(part, spread_of(np.diagonal(part)), self.tol, raised=False)
            places = whitened(apart[:, known], found.root)
            weights = places * found.root if found.root.ndim == 1 else places @ found.root.T
            centred = rows[np.ix_(which, known)] - self._centre[known]
            joint[which] = joint_of(
                centred, found.root, places, weights.T, self._log_priors, found.log_det
            )
        return joint

    def _sample_class(self, code: int, n_samples: int, rng: np.random.Generator) -> Array:
        if (root := self._root).ndim == 1:
            noise = rng.standard_normal((n_samples, len(root))) * np.sqrt(restored(root))
        else:
            back = unwhitening(root, getattr(self, "_spread", None))
            noise = rng.standard_normal((n_samples, root.shape[1])) @ back
        return self._class_means[code] + noise

    def transform(self, X: Any) -> Any:
        """Project the rows on the discriminants. Cost: O(n d k) for k discriminants.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Rows to transform, with the same columns as in `fit`.

        Returns
        -------
        X_new : array of shape (n, n_components)
            The discriminants, in the order of `explained_variance_ratio_`; NaN for a row with
            missing values. A `Source` with a target gives a `Source`.
        """
        return transformed(self, self._open_again(X), self._project, self._n_features_out)

    def _project(self, block: Block) -> Array:
        directions = self.scalings_[:, : self._n_features_out]
        if self.solver != "svd":
            return np.asarray(block.X @ directions)
        centred = dense_float64(block.X) - self._centre
        return (centred @ directions).astype(block.X.dtype, copy=False)
