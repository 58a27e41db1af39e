"""The general form: θ̂ = argmin (Σ wᵢ ℓ(yᵢ, xᵢᵀβ + b))/(Σ wᵢ) + R(β), for any loss and penalty."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.callback import with_callbacks

from thetahat.data.source import Source
from thetahat.estimator.linear import LinearRegressor
from thetahat.estimator.parameters import at_least, boolean, none, whole
from thetahat.foundation.types import Array
from thetahat.mathematics.losses import named as named_loss
from thetahat.mathematics.losses.base import Loss, Targets
from thetahat.mathematics.losses.targets import check_targets
from thetahat.mathematics.penalties import named as named_penalty
from thetahat.models.linear.inference.likelihood_inference import LikelihoodInference
from thetahat.objective.empirical_risk import EmpiricalRisk
from thetahat.objective.predictor import LinearPredictor


class LinearModel(LikelihoodInference, LinearRegressor):
    """A linear function under any loss and any penalty; the library picks the solver and says why.

    Formula: β̂, b̂ = argmin (Σ wᵢ ℓ(yᵢ, zᵢ))/(Σ wᵢ) + R(β) with zᵢ = xᵢᵀβ + b. ℓ squared gives
    least squares, logistic gives logistic regression, Poisson counts, Huber robust regression,
    hinge the support vector machine; R squared gives ridge, absolute the lasso.

    Cost: that of the solver: O(n d²) per Newton step, O(n d) per gradient step, in memory or out of
    core.

    Parameters
    ----------
    loss : str or Loss, default="squared"
        ℓ: a name ("huber"), a value (``th.losses.Huber(delta=2.0)``), or your own
        ``th.loss(function)``.
    penalty : str or Penalty, default="l2"
        R: a name, or a value (``th.penalties.L2(alpha=0.1)``). It is added to the *mean* loss.
    solver : str or Method, default="auto"
        How to minimise: "auto" chooses by the types of ℓ and R and the size of the problem.
    fit_intercept : bool, default=True
        Whether b is fitted; it is never penalised.
    max_iter : int, optional
        Most steps; the solver's own default if None.
    tol : float, default=1e-8
        Largest gap to optimality at which the solver stops. A gradient counts as it is while the
        columns and the slopes of the loss at the best constant make it about 1, and relative to
        their size u where that is below 0.1: ``tol·min(1, u/0.1)``, and never below rounding.

    Attributes
    ----------
    coef_, intercept_ : array
        β̂ and b̂; one row of ``coef_`` per class for losses of several scores.
    solution_ : Solution
        Outcome, steps, gap, solver and the reason for it.
    n_iter_ : int
        Steps taken.
    loss_, penalty_ : Loss, Penalty
        The parts that were used.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X, y = np.arange(9.0)[:, None], np.arange(9.0)
    >>> y[4] = 100.0
    >>> robust = th.LinearModel(loss=th.losses.Huber(delta=0.1), penalty="none").fit(X, y)
    >>> round(float(robust.coef_[0]), 2)
    1.0
    """

    _ranges = {  # noqa: RUF012
        "fit_intercept": boolean,
        "max_iter": whole(1) | none,
        "tol": at_least(0),
    }
    _multi_output = False
    _against_separation = 'Add a penalty, such as penalty="l2"'

    def __init__(
        self,
        loss: Any = "squared",
        penalty: Any = "l2",
        *,
        solver: Any = "auto",
        fit_intercept: bool = True,
        max_iter: int | None = None,
        tol: float = 1e-8,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.solver = solver
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> LinearModel:
        """Fit; parameters as in `LinearRegression.fit`. Targets must suit the loss."""
        source = self._open(X, y, sample_weight)
        self.loss_, self.penalty_ = named_loss(self.loss), named_penalty(self.penalty)
        predictor = LinearPredictor(
            source.n_features, self._n_scores(source), fit_intercept=self.fit_intercept
        )
        risk = EmpiricalRisk(predictor, self.loss_, self.penalty_, source)
        self._minimise(risk, X, y, solver=self.solver, tolerance=self.tol, max_steps=self.max_iter)
        return self

    def _n_scores(self, source: Source) -> int:
        """Check the targets against the loss; how many raw scores a row has (0: one number)."""
        largest = 0
        for block in source.blocks():
            check_targets(self.loss_, block.y, who=type(self).__name__, start=block.start)
            largest = max(largest, int(block.y.max()))
        return largest + 1 if self.loss_.targets is Targets.CLASSES else 0

    def raw_prediction(self, X: Any) -> Array:
        """The raw prediction z = Xβ + b. Cost: O(n d)."""
        return super().predict(X)

    def predict(self, X: Any) -> Array:
        """E[y | x] for real and count targets, the label for classes. Cost: O(n d)."""
        z = self.raw_prediction(X)
        return _decide(self.loss_, z)

    def predict_mean(self, X: Any) -> Array:
        """E[y | x] under the loss's link: a value, a probability, a rate, or class probabilities.

        Cost: O(n d).
        """
        return self.loss_.mean(self.raw_prediction(X))


def _decide(loss: Loss, z: Array) -> Array:
    if loss.targets is Targets.BINARY:
        return (z > 0).astype(z.dtype)
    if loss.targets is Targets.SIGNS:
        return np.where(z > 0, 1, -1).astype(z.dtype)
    if loss.targets is Targets.CLASSES:
        return z.argmax(axis=1).astype(z.dtype)
    return loss.mean(z)
