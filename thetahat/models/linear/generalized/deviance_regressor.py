"""Generalised linear models of one target by their deviance: the parts that all of them share."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import KW_ONLY
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Block, Source
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.linear import OneTargetRegressor
from thetahat.estimator.parameters import at_least, boolean, one_of, whole
from thetahat.estimator.watching import with_callbacks
from thetahat.foundation.precision import EPSILON
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.mathematics.losses.base import Curved, Deviance
from thetahat.mathematics.losses.targets import check_source_targets, check_targets
from thetahat.mathematics.penalties.norms import L2, NoPenalty
from thetahat.models.linear.inference.likelihood_inference import LikelihoodInference
from thetahat.models.linear.solver_names import GENERALIZED
from thetahat.objective.choose import MANY_PRODUCTS
from thetahat.objective.empirical_risk import EmpiricalRisk
from thetahat.objective.predictor import LinearPredictor
from thetahat.objective.sums import Sums

FEWEST_COLUMNS = 40
"""Columns below which Newton's method takes less time than any other."""
WIDEST_SPARSE_HESSIAN = 150
"""Columns of sparse rows up to which a Hessian costs less than the gradients that replace it."""
WELL_CONDITIONED = 300.0
"""Bound on the condition number of the Hessian for which L-BFGS needs few steps."""
FAR_OFF = 1e6
"""Size of slopes from which, and below whose inverse, only Newton's steps have the right length."""


@with_parameters
class DevianceRegressor(LikelihoodInference, OneTargetRegressor):
    """A linear model of one target that minimises half the mean deviance and an L2 penalty.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the L2 penalty (α). Larger values shrink the coefficients more towards zero.
        Must be ≥ 0; 0 fits without a penalty.
    solver : {"lbfgs", "newton-cholesky", "newton", "auto"}, default="lbfgs"
        Solver to use. "auto" and scikit-learn's default "lbfgs" choose the fastest method for the
        size of the data and the strength of the penalty: Newton's method for few columns, L-BFGS
        for many, for sparse rows and for strong penalties. "newton" and "newton-cholesky" run
        Newton's method. To run L-BFGS in any case, use `LinearModel` with this loss and
        ``solver="lbfgs"``.
    tol : float, default=1e-4
        Tolerance of the solver. It stops when the largest entry of the gradient is at most `tol`.
        Where the gradient has a unit, small means of y make the tolerance smaller, so that small
        rates are fitted as accurately as large counts.
    """

    _: KW_ONLY
    alpha: float = 1.0
    fit_intercept: bool = True
    solver: str = "lbfgs"
    max_iter: int = 100
    tol: float = 1e-4
    warm_start: bool = False
    verbose: int = 0

    _search_space = {  # noqa: RUF012
        "alpha": (1e-4, 0.001, 0.01, 0.1, 1.0, 10.0),
    }
    _ranges = {  # noqa: RUF012
        "alpha": at_least(0),
        "fit_intercept": boolean,
        "solver": one_of("lbfgs", "newton-cholesky", "newton", "auto"),
        "max_iter": whole(1),
        "tol": at_least(0),
        "warm_start": boolean,
    }
    _against_separation = (
        "Use a penalty that bounds them, such as alpha=1.0, or drop the rows or columns that "
        "cause it"
    )

    @abstractmethod
    def _loss(self) -> Curved:
        """Half the deviance, up to terms of y."""

    @abstractmethod
    def _slope_unit(self, mean: float) -> float:
        """The size of the gradient of a row, relative to its distance from the mean of y."""

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        y : array-like of shape (n,), optional
            Target values that the distribution of the model allows. Leave it out if X is a
            `Source`.
        """
        source = self._open(X, y, sample_weight)
        with one_blas_thread():  # set once, not in every pass
            loss = self._loss()
            self._require_targets(source)
            penalty = L2(float(self.alpha)) if self.alpha > 0 else NoPenalty()
            predictor = LinearPredictor(source.n_features, fit_intercept=self.fit_intercept)
            mean = float(source.reduce(_target_sums).means()[0])
            solver = GENERALIZED.get(self.solver, self.solver)
            unit = self._slope_unit(mean) or 1.0
            ordinary = 1 / FAR_OFF <= unit <= FAR_OFF
            if not loss.convex or (
                solver == "auto"
                and ordinary
                and _is_for_gradients(source, loss, mean, float(self.alpha))
            ):
                solver = "lbfgs"
            self._minimise(
                EmpiricalRisk(predictor, loss, penalty, source),
                X,
                y,
                solver=solver,
                tolerance=self.tol * min(1.0, unit),
                max_steps=self.max_iter,
                start=self._start(loss, mean, source, predictor),
            )
        return self

    def _require_targets(self, source: Source) -> None:
        loss, who = self._loss(), type(self).__name__
        if isinstance(source, InMemory):
            check_targets(loss, source.y, who=who)
            return
        check_source_targets(loss, source, who=who)

    def _start(
        self, loss: Curved, mean: float, source: Source, predictor: LinearPredictor
    ) -> Array:
        """Start at the best constant, or at the previous fit with ``warm_start``."""
        if self.warm_start and len(getattr(self, "coef_", ())) == source.n_features:
            return predictor.pack(np.asarray(self.coef_, dtype=np.float64), self.intercept_)
        level = loss.best_constant(np.asarray(mean))
        return predictor.pack(np.zeros(source.n_features), float(level))

    def predict(self, X: Any) -> Array:
        """Predict the mean of y. Cost: O(n d).

        Returns
        -------
        y : array of shape (n,)
            Predicted means.
        """
        return self._loss().mean(self._raw(X))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Compute D², the explained share of the deviance. Cost: O(n d).

        Formula: D² = 1 − D(y, μ)/D(y, ȳ).

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Rows to predict. A `Source` contains the target.
        y : array-like of shape (n,), optional
            True values of the target.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.

        Returns
        -------
        score : float
            1 for perfect predictions, 0 for predictions no better than the mean of y; NaN if y is
            constant.
        """
        loss = self._loss()
        if not isinstance(loss, Deviance):  # the deviance of squared errors: D² is R²
            return super().score(X, y, sample_weight)
        rows = clone(self)._open(X, y, sample_weight)
        self._require_targets(rows)
        self._open_again(rows)

        def summarise(block: Block) -> Sums:
            weight = block.row_weights
            y = np.asarray(block.y, dtype=np.float64)
            losses = loss.value(y, np.asarray(self._raw_block(block), dtype=np.float64))
            parts = (weight @ losses, weight @ loss.saturated(y), weight @ y)
            return Sums(float(weight.sum()), parts)

        value, saturated, mean = rows.reduce(summarise).means()
        null = float(loss.value(mean, loss.best_constant(mean)))
        if not null - saturated > EPSILON * max(self._slope_unit(mean), 1e-100):
            return float("nan")
        return float(1.0 - (value - saturated) / (null - saturated))


def _is_for_gradients(source: Source, loss: Curved, mean: float, alpha: float) -> bool:
    """Whether a few gradients cost less than Hessians of d × d entries.

    They do for sparse rows of many columns, and if the penalty bounds the condition number: the
    largest eigenvalue of the Hessian is at most α + ℓ″·mean ‖x‖².
    """
    if not isinstance(source, InMemory) or source.n_features < FEWEST_COLUMNS:
        return False
    if source.is_sparse and source.n_features > WIDEST_SPARSE_HESSIAN:
        return True
    if alpha == 0 or source.n_rows * source.n_features**2 > MANY_PRODUCTS:
        return False
    bend = float(loss.curvature(np.asarray(mean), loss.best_constant(np.asarray(mean))))
    length = float(source.reduce(_square_sums).means()[0])
    return bend * length <= WELL_CONDITIONED * alpha


def _square_sums(block: Block) -> Sums:
    """Σ ‖x‖² of the rows."""
    entries = block.X if isinstance(block.X, np.ndarray) else block.X.data
    return Sums(float(block.n_rows), (float(np.vdot(entries, entries)),))


def _target_sums(block: Block) -> Sums:
    """Σ wy."""
    y = np.asarray(block.y, dtype=np.float64)
    weight = block.row_weights
    return Sums(float(weight.sum()), (np.asarray(weight @ y),))
