"""Classification by ridge regression: least squares on targets of −1 and +1, the largest wins."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.callback import with_callbacks

from thetahat.data.source import Source
from thetahat.data.views.sign_targets import with_sign_targets
from thetahat.estimator.linear_classifier import LinearClassifier
from thetahat.estimator.parameters import (
    at_least,
    boolean,
    non_negative_array,
    none,
    one_of,
    whole,
)
from thetahat.estimator.watching import Watched
from thetahat.foundation.types import Array
from thetahat.models.linear.least_squares.ridge import SERVED_BY, served_by, solve_ridge
from thetahat.objective.least_squares.solve import SOLVERS


class RidgeClassifier(Watched, LinearClassifier):
    """A linear classifier by ridge regression: one factorisation, however many classes.

    Formula: B̂ = argmin Σ wᵢ‖tᵢ − Bᵀxᵢ − b‖² + α‖B‖², with tᵢ = +1 for the class of row i and −1
    for every other; a row gets the class of its largest score. Two classes share one score. Where
    y has a column of 0 and 1 for each label, rows may have several: those of positive scores.

    Cost: O(n d²) time and O(d²) memory; O(n d C) more for C classes; in memory or out of core.

    Parameters
    ----------
    alpha : float or array of shape (n_scores,), default=1.0
        Strength of the penalty.
    fit_intercept, copy_X, max_iter, tol, solver, positive, random_state
        As in `Ridge`.
    class_weight : dict, "balanced" or None
        Weights of the classes; "balanced" lets each count the same in all.

    Attributes
    ----------
    coef_ : array of shape (1, d) or (n_classes, d)
        Coefficients of the scores.
    intercept_ : array of shape (1,) or (n_classes,)
        Intercepts.
    classes_ : array of shape (n_classes,)
        The labels.
    n_iter_ : array of shape (n_scores,)
        Steps for each score; 1 for direct solvers.
    solution_ : Solution
        How it was solved.
    solver_ : str
        The solver that ran.

    Examples
    --------
    >>> import thetahat as th
    >>> X, y = [[0.0], [1.0], [4.0], [5.0]], ["low", "low", "high", "high"]
    >>> model = th.RidgeClassifier(alpha=0.1).fit(X, y)
    >>> model.predict([[0.5], [4.5]]).tolist()
    ['low', 'high']
    """

    _multi_output = True
    _ranges = {  # noqa: RUF012
        "alpha": at_least(0) | non_negative_array,
        "fit_intercept": boolean,
        "max_iter": whole(1) | none,
        "tol": at_least(0),
        "solver": one_of("auto", *SOLVERS, *SERVED_BY),
        "positive": boolean,
    }

    def __init__(
        self,
        alpha: Any = 1.0,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        max_iter: int | None = None,
        tol: float = 1e-4,
        class_weight: Any = None,
        solver: str = "auto",
        positive: bool = False,
        random_state: Any = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.class_weight = class_weight
        self.solver = solver
        self.positive = positive
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        tags.classifier_tags.multi_label = True
        return tags

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> RidgeClassifier:
        """Fit to rows in memory (X, y) or to a source that brings its own labels.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Features.
        y : array-like of shape (n,), or (n, C) of 0 and 1, optional
            Labels: text, numbers or Booleans; None when X is a `Source`.
        sample_weight : array-like of shape (n,), optional
            A row of weight 2 counts as two rows.

        Returns
        -------
        self
        """
        self._several = is_indicator(y)
        if self._several:
            signs = self._open_indicator(X, y, sample_weight)
        else:
            codes = self._open_classes(
                X, y, sample_weight, class_weight=self.class_weight, check_finite=False
            )
            signs = with_sign_targets(codes, len(self.classes_))
        with self._watching(self.max_iter, lambda t: scores_of(t, signs), X, y) as watch:
            found, _ = solve_ridge(
                signs,
                self.alpha,
                who=type(self).__name__,
                solver=served_by(self.solver, self.positive),
                intercept=self.fit_intercept,
                positive=self.positive,
                tolerance=self.tol,
                max_steps=self.max_iter,
                random_state=self.random_state,
                watch=watch,
            )
        self.__dict__.update(scores_of(found.solution.theta, signs))
        self.solution_, self.solver_ = found.solution, found.solution.solver
        self.n_iter_ = np.full(len(self.coef_), max(1, found.solution.steps))
        self._warn_unless_converged()
        return self

    def predict(self, X: Any) -> Array:
        """The label of the largest score, or 1 for every label of a positive score. Cost: O(n d C).

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            The rows to judge.

        Returns
        -------
        array of shape (n,), of the type of the labels given to `fit`; or (n, C) of 0 and 1
        """
        if not getattr(self, "_several", False):
            return super().predict(X)
        return (self._raw(X) > 0).astype(int)

    def _open_indicator(self, X: Any, y: Any, sample_weight: Any) -> Source:
        """Rows with signs for a column of 0 and 1 per label; ``classes_`` are its numbers."""
        marks = np.asarray(y.toarray() if hasattr(y, "toarray") else y)
        if self.class_weight is not None:
            from sklearn.utils.class_weight import compute_sample_weight

            factor = compute_sample_weight(self.class_weight, marks)
            sample_weight = factor if sample_weight is None else factor * np.asarray(sample_weight)
        self.classes_ = np.arange(marks.shape[1])
        return self._open(X, 2.0 * (marks > 0) - 1.0, sample_weight, check_finite=False)


def is_indicator(y: Any) -> bool:
    """Whether y has a column of 0 and 1 for each of several labels."""
    if getattr(y, "ndim", None) != 2 and not (isinstance(y, list) and y and np.ndim(y[0]) == 1):
        return False
    from sklearn.utils.multiclass import type_of_target

    return str(type_of_target(y)) == "multilabel-indicator"


def scores_of(theta: Array, source: Source) -> dict[str, Array]:
    """β and b from their stack [β; b], a row for each score."""
    return {
        "coef_": np.ascontiguousarray(theta[:-1].T, dtype=source.dtype),
        "intercept_": np.asarray(theta[-1], dtype=source.dtype),
    }
