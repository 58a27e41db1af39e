"""Poisson regression: log E[y | x] = xᵀβ + b for counts and rates y ≥ 0."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.callback import with_callbacks

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Block, Source
from thetahat.estimator.linear import LinearRegressor
from thetahat.estimator.parameters import at_least, boolean, one_of, whole
from thetahat.foundation.types import Array
from thetahat.mathematics.losses.families import family_of
from thetahat.mathematics.losses.likelihood import Poisson
from thetahat.mathematics.losses.targets import check_targets
from thetahat.mathematics.penalties.norms import L2, NoPenalty
from thetahat.models.linear.inference.likelihood_inference import LikelihoodInference
from thetahat.objective.empirical_risk import EmpiricalRisk
from thetahat.objective.predictor import LinearPredictor
from thetahat.objective.sums import Sums

SERVED_BY = {"newton-cholesky": "newton", "lbfgs": "auto"}
"""scikit-learn's names of solvers. All end at the same optimum, so that its default, which columns
of different size lead astray, stands for the method that suits the size of the problem."""


class PoissonRegressor(LikelihoodInference, LinearRegressor):
    """Regression of counts: a Poisson rate that is the exponential of a linear function.

    Formula: β̂, b̂ = argmin (Σ wᵢ dᵢ)/(2Σ wᵢ) + α/2·‖β‖² with the deviance
    dᵢ = 2(yᵢ log(yᵢ/μᵢ) − yᵢ + μᵢ) and μᵢ = exp(xᵢᵀβ + b). With α = 0 this is maximum likelihood,
    and `summary` and `predict_interval` say how sure it is.

    Cost: O(n d²) per Newton step, of which some five are taken; O(n d) per step of L-BFGS with more
    than 500 columns; in memory, sparse or out of core.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the penalty; 0: maximum likelihood.
    fit_intercept : bool, default=True
        Whether b is fitted; it is never penalised.
    solver : {"lbfgs", "newton-cholesky", "newton", "auto"}, default="lbfgs"
        How to minimise. scikit-learn's default "lbfgs" means "auto" here: the method that suits the
        size of the problem, Newton's for few columns. ``LinearModel(loss="poisson",
        solver="lbfgs")`` insists on L-BFGS.
    max_iter : int, default=100
        Most steps.
    tol : float, default=1e-4
        Largest gradient entry at which the steps end, times the mean of y where that is below 1:
        rates of 10⁻⁶ are fitted to as many digits as counts.
    warm_start : bool, default=False
        Begin at the coefficients of the last fit.
    verbose : int, default=0
        Kept for compatibility; callbacks report progress.

    Attributes
    ----------
    coef_, intercept_, solution_, n_iter_
        As in `LinearModel`.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X, y = np.log([[1.0], [2.0], [4.0], [8.0]]), [2.0, 4.0, 8.0, 16.0]
    >>> model = th.PoissonRegressor(alpha=0.0, solver="newton").fit(X, y)
    >>> model.predict(np.log([[3.0]])).round(2)
    array([6.])
    """

    _ranges = {  # noqa: RUF012
        "alpha": at_least(0),
        "fit_intercept": boolean,
        "solver": one_of("lbfgs", "newton-cholesky", "newton", "auto"),
        "max_iter": whole(1),
        "tol": at_least(0),
        "warm_start": boolean,
    }
    _multi_output = False
    _against_separation = "Add a penalty, such as alpha=1.0, or drop the rows or columns at fault"

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        fit_intercept: bool = True,
        solver: str = "lbfgs",
        max_iter: int = 100,
        tol: float = 1e-4,
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        return tags

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> PoissonRegressor:
        """Fit; parameters as in `LinearRegression.fit`, with targets ≥ 0."""
        source = self._open(X, y, sample_weight)
        self._require_counts(source)
        penalty = L2(float(self.alpha)) if self.alpha > 0 else NoPenalty()
        predictor = LinearPredictor(source.n_features, fit_intercept=self.fit_intercept)
        mean = float(source.reduce(_target_sums).means()[0])
        self._minimise(
            EmpiricalRisk(predictor, Poisson(), penalty, source),
            X,
            y,
            solver=SERVED_BY.get(self.solver, self.solver),
            tolerance=self.tol * min(1.0, mean or 1.0),
            max_steps=self.max_iter,
            start=self._start(mean, source, predictor),
        )
        return self

    def _require_counts(self, source: Source) -> None:
        if isinstance(source, InMemory):
            check_targets(Poisson(), source.y, who=type(self).__name__)
            return
        for block in source.blocks():
            check_targets(Poisson(), block.y, who=type(self).__name__, start=block.start)

    def _start(self, mean: float, source: Source, predictor: LinearPredictor) -> Array:
        """The best constant, or the last fit."""
        if self.warm_start and hasattr(self, "coef_"):
            return predictor.pack(np.asarray(self.coef_, dtype=np.float64), self.intercept_)
        level = Poisson().best_constant(np.asarray(mean))
        return predictor.pack(np.zeros(source.n_features), float(level))

    def predict(self, X: Any) -> Array:
        """The rate exp(xᵀβ + b). Cost: O(n d).

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            The rows to predict.

        Returns
        -------
        array of shape (n,)
        """
        return Poisson().mean(self._raw(X))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """D², the explained share of the deviance: 1 − D(y, μ)/D(y, ȳ). Cost: O(n d).

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.

        Returns
        -------
        float
            1 for perfect predictions; NaN where y is constant.
        """
        from sklearn.base import clone

        rows = clone(self)._open(X, y, sample_weight)
        self._require_counts(rows)
        self._open_again(rows)
        family, loss = family_of(Poisson()), Poisson()
        assert family is not None

        def summarise(block: Block) -> Sums:
            weight = np.ones(block.n_rows) if block.weight is None else block.weight
            y = np.asarray(block.y, dtype=np.float64)
            losses = loss.value(y, np.asarray(self._raw_block(block), dtype=np.float64))
            parts = (weight @ losses, weight @ family.saturated(y), weight @ y)
            return Sums(float(weight.sum()), parts)

        value, saturated, mean = rows.reduce(summarise).means()
        null = float(loss.value(mean, loss.best_constant(mean)))
        if not null - saturated > np.finfo(float).eps * max(mean, 1e-100):
            return float("nan")
        return float(1.0 - (value - saturated) / (null - saturated))


def _target_sums(block: Block) -> Sums:
    """Σ wy."""
    y = np.asarray(block.y, dtype=np.float64)
    weight = np.ones(block.n_rows) if block.weight is None else block.weight
    return Sums(float(weight.sum()), (np.asarray(weight @ y),))
