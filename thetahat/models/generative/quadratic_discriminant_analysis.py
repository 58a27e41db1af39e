"""Quadratic discriminant analysis: Gaussian classes, each with its own covariance."""

from __future__ import annotations

from dataclasses import KW_ONLY
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from thetahat.data.source import Block, Source
from thetahat.data.summaries.class_moments import ClassMoments
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, at_least, boolean, fraction, none, one_of
from thetahat.foundation.cached import cached_property
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import CapabilityError, DataError, IllConditionedWarning
from thetahat.foundation.products import product
from thetahat.foundation.threads import WORTH_SHARING, one_blas_thread, ordered_map
from thetahat.foundation.types import Array, Matrix
from thetahat.models.generative.class_model import ClassModel, dense_float64
from thetahat.models.generative.class_priors import any_priors, class_priors, log_priors
from thetahat.models.generative.covariance_choice import (
    class_covariances,
    covariance_estimators,
    require_one_choice,
    shrunk_variances,
)
from thetahat.models.generative.gaussian import (
    LOG_2PI,
    Whitening,
    are_finite,
    diagonal_whitening,
    least_variance,
    missing_patterns,
    restored,
    rows_beyond,
    scores_beyond,
    spread_of,
    whitened,
    whitening,
)
from thetahat.models.generative.refined_whitening import refined_whitenings
from thetahat.models.generative.whitened_squares import ClassDifferences, whitened_squares

STACKED = 1 << 18
"""Entries of all whitening matrices up to which they are also kept side by side."""
FEW = 1 << 12
"""Whitened entries up to which rows are first tried without regard to gaps and overflow."""
SHORT = 1 << 20
"""Products up to which the best classes are found in double precision at once."""


@with_parameters
class QuadraticDiscriminantAnalysis(ClassModel):
    """Classification by Gaussian classes, each with its own mean and covariance.

    Formula: p(x | c) = N(x; μ_c, Σ_c) with the mean μ_c and the covariance
    Σ_c = Σᵢ wᵢ(xᵢ − μ_c)(xᵢ − μ_c)ᵀ/W_c of the rows of the class (maximum likelihood). The class
    with the smallest (x − μ_c)ᵀΣ_c⁻¹(x − μ_c) + log det Σ_c − 2 log π_c is predicted; the
    boundaries are quadratic. With diagonal covariances it is Gaussian naive Bayes.

    If the rows of a class hardly vary in some directions, as with fewer rows than columns or with a
    column that is constant in the class, standard deviations below `tol` times that of all classes
    together are raised to it, and a warning names the class and the number of other directions. A
    row off the constant value is then very unlikely in that class; a column that is constant in all
    classes has no effect, unless its value in a row is another one, which makes p(x) very small.

    Cost: O(n d²) time for symmetric products over the rows of each class, O(C d³) for their
    factorisation, O(C d²) memory; O(n d) and O(C d) with diagonal covariances. Nearly singular
    classes cost a second pass, which restores the digits that the squares lose. Prediction O(C d²)
    per row. X is not copied.

    Parameters
    ----------
    solver : {"svd", "eigen"}, default="svd"
        Accepted for compatibility with scikit-learn: both solvers use the same factorisation and
        can be combined with all other parameters.
    shrinkage : float, "auto" or None, default=None
        Moves the covariance of every class towards a multiple of the identity by this share (ρ),
        from 0 (no change) to 1. It helps if there are few rows per column. "auto" chooses the share
        by Ledoit and Wolf's formula for every class. None does not shrink.
    priors : array-like of shape (n_classes,) or None, default=None
        Class probabilities (π). None estimates them by the shares of the training rows.
    reg_param : float, default=0.0
        Replaces the covariances by (1 − r)Σ_c + r·I with this number (r), from 0 to 1. Larger
        values make the classes more alike.
    store_covariance : bool, default=False
        Whether to store ``covariance_``, the covariances of the classes.
    tol : float, default=1e-4
        Smallest standard deviation of a class in any direction; the columns are first divided by
        their standard deviations within the classes. Smaller ones are raised to it. Must be ≥ 0.
    covariance_estimator : estimator or None, default=None
        Estimator with ``fit`` and ``covariance_`` that is fitted to the rows of every class. Needs
        rows in memory, and a ``fit`` that takes `sample_weight` if the rows have weights.
    covariance : {"full", "diagonal"}, default="full"
        "diagonal" ignores the correlations of the columns within the classes (Gaussian naive
        Bayes). It needs fewer rows.

    Attributes
    ----------
    means_ : array of shape (n_classes, d)
        The means of the classes (μ); NaN for a class without rows of positive weight.
    priors_ : array of shape (n_classes,)
        The class probabilities (π), which sum to 1.
    covariance_ : list of arrays of shape (d, d)
        The covariances of the classes. Defined with ``store_covariance=True``.
    ranks_ : array of shape (n_classes,)
        Number of directions in which the standard deviation of each class is above `tol`.

    Examples
    --------
    >>> import thetahat as th
    >>> X = [[-1.0, 0.0], [1.0, 0.0], [0.0, -1.0], [0.0, 1.0]]
    >>> X = X + [[9.0 * x, 9.0 * y] for x, y in X]
    >>> model = th.QuadraticDiscriminantAnalysis().fit(X, ["inner"] * 4 + ["outer"] * 4)
    >>> model.predict([[0.5, 1.0], [4.0, 4.0]]).tolist()
    ['inner', 'outer']
    """

    _: KW_ONLY
    solver: str = "svd"
    shrinkage: Any = None
    priors: Any = None
    reg_param: float = 0.0
    store_covariance: bool = False
    tol: float = 1e-4
    covariance_estimator: Any = None
    covariance: str = "full"

    _ranges: ClassVar[dict[str, Range]] = {
        "solver": one_of("svd", "eigen"),
        "shrinkage": none | one_of("auto") | fraction,
        "priors": any_priors,
        "reg_param": fraction,
        "store_covariance": boolean,
        "tol": at_least(0),
        "covariance_estimator": covariance_estimators,
        "covariance": one_of("full", "diagonal"),
    }

    def _kind(self, source: Source, *, mergeable: bool) -> str:
        diagonal = self.covariance == "diagonal" or self.covariance_estimator is not None
        return "diagonal" if diagonal else "full"

    def _require_mergeable(self) -> None:
        super()._require_mergeable()
        if self.shrinkage == "auto" or self.covariance_estimator is not None:
            raise CapabilityError(
                "QuadraticDiscriminantAnalysis.partial_fit: shrinkage='auto' and "
                "covariance_estimator need all rows at once. Use fit, or give the shrinkage as a "
                "number."
            )

    def _forget(self) -> None:
        self.__dict__.pop("covariance_", None)

    def _solve(self, moments: ClassMoments, source: Source, *, final: bool) -> None:
        require_one_choice(self)
        count, d = len(self.classes_), source.n_features
        priors = class_priors(self.priors, moments.weight, self.classes_, type(self).__name__)
        weight = np.where(moments.weight > 0, moments.weight, 1.0)[:, None]
        variations = moments.variations * moments.unit**2
        if final:
            self._require_variance(moments, variations)
        pooled = variations.sum(axis=0) / moments.weight.sum()
        spread = spread_of(pooled)
        if self.covariance == "diagonal":
            variances = self._regularised(shrunk_variances(variations / weight, self.shrinkage))
            found = [diagonal_whitening(v, spread, self.tol, raised=True) for v in variances]
        else:
            of_class = class_covariances(self, moments, source)

            def one(code: int) -> Whitening:
                return whitening(self._regularised(of_class(code)), spread, self.tol, raised=True)

            shared = count * d**3 > WORTH_SHARING
            found = list(ordered_map(one, range(count)) if shared else map(one, range(count)))
            if final:
                found = refined_whitenings(self, found, spread, moments, source)
        self._set_classes(found, moments, priors, d)
        self.means_ = moments.known_means.astype(source.dtype)
        self.priors_ = priors.astype(source.dtype)
        self.ranks_ = np.array([one.rank for one in found])
        if self.store_covariance:
            self.covariance_ = [_as_matrix(restored(root)) for root in self._roots]
        if final:
            self._warn_of_rank(moments, pooled)
        if self.covariance_estimator is not None:
            self._moments = None

    def _regularised(self, covariance: Array) -> Array:
        """(1 − r)Σ + r·I; for variances the same with ones."""
        if not self.reg_param:
            return covariance
        eye = np.eye(len(covariance)) if self.covariance == "full" else 1.0
        return (1.0 - self.reg_param) * covariance + self.reg_param * eye

    def _require_variance(self, moments: ClassMoments, variations: Array) -> None:
        if self.reg_param > 0:
            return
        alone = (moments.weight > 0) & (moments.weight <= 1) & ~(variations > 0).any(axis=1)
        if alone.any():
            label = self.classes_.tolist()[int(np.argmax(alone))]
            raise DataError(
                f"QuadraticDiscriminantAnalysis: y has only 1 sample in class {label}, covariance "
                "is ill defined. Add rows of this class, or set reg_param > 0."
            )

    def _set_classes(
        self, found: list[Whitening], moments: ClassMoments, priors: Array, d: int
    ) -> None:
        self._class_means, self._class_priors = moments.means, priors
        self._centre = priors @ moments.means
        self._roots = np.stack([one.root for one in found])
        self._log_dets = np.array([one.log_det for one in found])
        self._log_priors = log_priors(priors)
        self._levels = self._log_priors - 0.5 * (self._log_dets + d * LOG_2PI)
        self._apart = moments.means - self._centre
        self.__dict__.pop("_stacked_roots", None)
        _ = self._stacked_roots  # made now, so that predictions do not change the model

    @cached_property
    def _stacked_roots(self) -> tuple[Array, Array] | None:
        """All roots as one matrix (d, n_classes·d), and their products with the means."""
        count, d = self._apart.shape
        if self._roots.ndim != 3 or count * d * d > STACKED:
            return None
        matrix = np.ascontiguousarray(self._roots.transpose(1, 0, 2).reshape(d, -1))
        return matrix, self._offsets().reshape(-1)

    def _warn_of_rank(self, moments: ClassMoments, pooled: Array) -> None:
        if self.reg_param > 0 or self.ranks_.min() == len(pooled):
            return
        means = self._class_means[moments.weight > 0]
        constant = (pooled == 0) & (means == means[0]).all(axis=0)
        most = len(pooled) - int(constant.sum())
        short = (self.ranks_ < most) & (moments.weight > 0)
        if not short.any():
            return
        code = int(np.argmax(short))
        label, number = self.classes_.tolist()[code], int(short.sum())
        others = "" if number == 1 else f" (and {number - 1} more)"
        least = max(self.tol, least_variance(0.0, len(pooled)) ** 0.5)
        cause = " (tol)" if least == self.tol else " (the limit of rounding errors)"
        warn(
            f"QuadraticDiscriminantAnalysis: the covariance of class {label!r}{others} has rank "
            f"{self.ranks_[code]}, but {most} {'column varies' if most == 1 else 'columns vary'}: "
            "in other directions the standard deviation, relative to that of all classes, is at "
            f"most {least:.3g}{cause}. It is raised to this number there. Remove columns that "
            'depend on others, add rows, or set reg_param > 0 or shrinkage="auto".',
            IllConditionedWarning,
        )

    @property
    def rotations_(self) -> list[Array]:
        """The principal axes of each class, in the order of their variances, as columns."""
        return [vectors for _, vectors in self._axes()]

    @property
    def scalings_(self) -> list[Array]:
        """The variances of each class along its principal axes, in descending order."""
        return [values for values, _ in self._axes()]

    def _axes(self) -> list[tuple[Array, Array]]:
        check_is_fitted(self)
        found = [np.linalg.eigh(_as_matrix(restored(root))) for root in self._roots]
        return [(values[::-1], vectors[:, ::-1]) for values, vectors in found]

    def _class_shares(self) -> Array:
        return self._class_priors

    def decision_function(self, X: Any) -> Array:
        scores = super().decision_function(X)
        # As scikit-learn, without the constant −½d log 2π, which all classes have in common.
        return scores if scores.ndim == 1 else scores + 0.5 * self._apart.shape[1] * LOG_2PI

    def _scores(self, rows: Matrix) -> Array:
        if (near := self._near_scores(rows)) is not None:
            return near
        scores = self._joint(rows)
        if (beyond := rows_beyond(scores)).size:
            centred = np.nan_to_num(dense_float64(rows[beyond]) - self._centre)
            size = np.abs(centred).max(axis=1)
            squares = np.empty((len(beyond), len(self._apart)))
            for code, root in enumerate(self._roots):
                away = centred / size[:, None] - self._apart[code] / size[:, None]
                away = whitened(away, root)
                np.einsum("ij,ij->i", away, away, out=squares[:, code])
            scores[beyond] = scores_beyond(squares, size, self._levels)
        return scores

    def _joint(self, rows: Matrix) -> Array:
        if self._roots.ndim == 3:
            rows = rows if isinstance(rows, np.ndarray) else dense_float64(rows)
            given = (self._centre, np.ones(rows.shape[1]), self._roots, self._offsets())
            distance = whitened_squares(rows, *given)[:, :-1]
        else:
            centred = dense_float64(rows) - self._centre
            distance = np.empty((len(centred), len(self._apart)))
            for code, root in enumerate(self._roots):
                _distances(centred, root, self._apart[code], out=distance[:, code])
        return self._filled(rows, self._levels - 0.5 * distance)

    def _offsets(self) -> Array:
        return np.matvec(self._roots.mT, self._apart)

    def _best_of_source(self, source: Source) -> Array:
        """The best classes: from single precision wherever its errors cannot change them."""
        few = source.n_rows * self._roots.size <= SHORT
        if few or self._roots.ndim != 3 or np.isneginf(self._levels[0]):
            return super()._best_of_source(source)
        with one_blas_thread():
            given = (self._centre, self._roots, self._offsets(), self._levels)
            differences = ClassDifferences.of(*given)
        return source.map_rows(partial(self._best_of_block, differences=differences))

    def _best_of_block(self, block: Block, differences: ClassDifferences) -> Array:
        rows = block.X
        if not isinstance(rows, np.ndarray) or (found := differences.best(rows)) is None:
            return self._best(rows)
        best, doubt = found
        if doubt.size:
            best[doubt] = self._best(rows[doubt])
        return best

    def _near_scores(self, rows: Matrix) -> Array | None:
        """`_joint` of few rows without missing values or overflow, in fewer steps, or None."""
        count, d = self._apart.shape
        stacked = self._stacked_roots
        if stacked is None or rows.shape[0] * count * d > FEW:
            return None
        away = product(dense_float64(rows) - self._centre, stacked[0])
        away -= stacked[1]
        if not are_finite(away):
            return None
        away = away.reshape(len(away), count, d)
        joint = np.vecdot(away, away)
        joint *= -0.5
        joint += self._levels
        return joint

    def _joint_of_known(self, rows: Array) -> Array:
        joint = np.empty((len(rows), len(self.classes_)))
        patterns = missing_patterns(rows)
        with one_blas_thread():
            for code, root in enumerate(self._roots):
                covariance = restored(root)
                for which, known in patterns:
                    if not known.size:
                        joint[which, code] = self._log_priors[code]
                        continue
                    if root.ndim == 1:
                        part = Whitening(
                            root[known], -2.0 * float(np.log(root[known]).sum()), known.size
                        )
                    else:
                        block = covariance[np.ix_(known, known)]
                        part = whitening(block, spread_of(np.diagonal(block)), 0.0, raised=True)
                    centred = rows[np.ix_(which, known)] - self._centre[known]
                    distance = np.empty(len(which))
                    _distances(centred, part.root, self._apart[code, known], out=distance)
                    joint[which, code] = self._log_priors[code] - 0.5 * (
                        distance + part.log_det + known.size * LOG_2PI
                    )
        return joint

    def _sample_class(self, code: int, n_samples: int, rng: np.random.Generator) -> Array:
        root = self._roots[code]
        noise = rng.standard_normal((n_samples, self._apart.shape[1]))
        noise = noise / root if root.ndim == 1 else noise @ np.linalg.inv(root)
        return self._class_means[code] + noise


def _distances(centred: Array, root: Array, apart: Array, out: Array) -> None:
    """‖Aᵀ(x − μ)‖² of every row. Diagonal roots are applied after the exact difference."""
    if root.ndim == 1:
        away = (centred - apart) * root
    else:
        away = whitened(centred, root)
        away -= apart @ root
    np.einsum("ij,ij->i", away, away, out=out)


def _as_matrix(covariance: Array) -> Array:
    return np.diag(covariance) if covariance.ndim == 1 else covariance
