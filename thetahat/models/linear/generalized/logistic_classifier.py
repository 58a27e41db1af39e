"""Shared by the logistic classifiers: class probabilities σ(z) or softmax(z)."""

from __future__ import annotations

from dataclasses import KW_ONLY, replace
from typing import Any

import numpy as np

from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.linear_classifier import LinearClassifier, without_common_scores
from thetahat.estimator.risk_minimiser import RiskMinimiser
from thetahat.estimator.sparsify import Sparsifies
from thetahat.foundation.randomness import RandomState, generator
from thetahat.foundation.types import Array
from thetahat.mathematics.losses.links import log_sum_exp, odds, softmax, softplus
from thetahat.mathematics.optimizers.solution import Outcome
from thetahat.objective.empirical_risk import EmpiricalRisk

CLOSER, CLOSE = 0.01, 0.1
"""Fractions of ``tol`` at which the solver stops, with one score and with several. The last steps
gain two digits each with one score, and fewer with several."""


@with_parameters
class LogisticParameters:
    """Parameters of logistic regression with given or chosen penalties.

    Parameters
    ----------
    solver : str or Method, default="lbfgs"
        Solver to use. "auto" and scikit-learn's "lbfgs", "newton-cg", "liblinear", "sag" and "saga"
        choose the fastest method for the penalty and the size of the data; all of them find the
        same optimum. "newton" (also "irls" and "newton-cholesky"), "gradient_descent", "sgd" or a
        value such as ``th.optimizers.LBFGS()`` run exactly that method.
    random_state : int, RandomState, Generator or None, default=None
        Seed for shuffling the rows. Only used by ``solver="sgd"``. Pass an int for the same result
        on every call.
    dual : bool, default=False
        Has no effect on the result. Accepted for compatibility with scikit-learn.
    intercept_scaling : float, default=1
        Has no effect, because the intercept is never penalised. Accepted for compatibility with
        scikit-learn.
    """

    _: KW_ONLY
    fit_intercept: bool = True
    solver: Any = "lbfgs"
    tol: float | None = 1e-4
    max_iter: int = 100
    class_weight: Any = None
    random_state: Any = None
    dual: bool = False
    intercept_scaling: float = 1
    verbose: int = 0
    n_jobs: int | None = None


class LogisticClassifier(LogisticParameters, Sparsifies, RiskMinimiser, LinearClassifier):
    """Class probabilities under the logit link, their logarithms, and random labels."""

    _against_separation = "Use a penalty that bounds them, such as C=1.0"

    def predict_proba(self, X: Any) -> Array:
        """Predict class probabilities. Cost: O(n d k) for k classes.

        Formula: P(y = c | x) is σ(z) or 1 − σ(z) for two classes, and softmax(z) for more.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Rows to classify, with the same columns as in `fit`.

        Returns
        -------
        probabilities : array of shape (n, n_classes)
            P(y = c | x) for each row and class, with columns in the order of ``classes_``.
        """
        z = self._raw(X)
        if z.shape[1] == 1:
            # One exponential gives both probabilities with full relative precision.
            up, down = odds(z)
            return np.concatenate([down, up], axis=1) / (up + down)
        return softmax(z)

    def predict_log_proba(self, X: Any) -> Array:
        """Predict the logarithm of class probabilities. Cost: O(n d k) for k classes.

        The result is exact even where the probability itself would round to 0.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Rows to classify, with the same columns as in `fit`.

        Returns
        -------
        log_probabilities : array of shape (n, n_classes)
            log P(y = c | x) for each row and class, with columns in the order of ``classes_``.
        """
        z = self._raw(X)
        if z.shape[1] == 1:
            return np.column_stack([-softplus(z[:, 0]), -softplus(-z[:, 0])])
        return z - log_sum_exp(z)[:, None]

    def sample_labels(self, X: Any, random_state: RandomState = None) -> Array:
        """Draw random labels from the predicted class probabilities. Cost: O(n d k) for k classes.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Rows to draw labels for.
        random_state : int, Generator or None, default=None
            Seed for the random draw. Pass an int for the same result on every call.

        Returns
        -------
        labels : array of shape (n,)
            Random labels, of the type of the labels given to `fit`.
        """
        below = np.cumsum(self.predict_proba(X), axis=1)[:, :-1]
        drawn = generator(random_state).random(len(below))
        return self.classes_[(drawn[:, None] >= below).sum(axis=1)]

    def _attributes(self, theta: Array, risk: EmpiricalRisk) -> dict[str, Array]:
        found = {
            name: np.asarray(risk.loss.all_scores(part.T).T, order="C")
            for name, part in super()._attributes(theta, risk).items()
        }
        return without_common_scores(found, risk)

    def _aim(self, risk: EmpiricalRisk) -> float:
        """The gap at which the solver stops; 0 if ``tol`` is None."""
        return (CLOSE if risk.predictor.n_outputs else CLOSER) * (self.tol or 0.0)

    def _warn_unless_converged(self) -> None:
        # The solver aims below tol: if the gap is within tol, the fit has converged.
        solution = self.solution_
        if solution.outcome is Outcome.STEPS_EXHAUSTED:
            if self.tol is None:
                return
            if solution.gap <= self.tol:
                outcome = Outcome.CONVERGED
                self.solution_ = replace(solution, outcome=outcome, message=outcome.value)
        super()._warn_unless_converged()
