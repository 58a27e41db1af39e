"""Classification by ridge regression: least squares on targets −1 and +1 for each class."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from thetahat.data.source import Source
from thetahat.data.views import sign_targets
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.linear_classifier import LinearClassifier
from thetahat.estimator.watching import WatchedSolver, with_callbacks
from thetahat.foundation.types import Array
from thetahat.models.linear.least_squares.ridge import solve_ridge
from thetahat.models.linear.least_squares.solver_parameters import RidgeParameters


@with_parameters
class RidgeClassifier(RidgeParameters, WatchedSolver, LinearClassifier):
    """Classifier based on ridge regression.

    Formula: B̂, b̂ = argmin Σ wᵢ‖tᵢ − Bᵀxᵢ − b‖² + α‖B‖², where tᵢ is +1 for the class of row i and
    −1 for every other class. A row is assigned to the class with the largest score; two classes
    share one score. If y has a column of 0 and 1 for each label, a row may have several labels:
    those with positive scores.

    All classes share one factorisation, so many classes cost little more than two.

    Cost: O(n d²) time and O(d²) memory, plus O(n d k) time for k classes, in memory or block by
    block.

    Parameters
    ----------
    alpha : float or array of shape (n_scores,), default=1.0
        Strength of the L2 penalty (α). Larger values shrink the coefficients more towards zero and
        make the fit less sensitive to noise and to correlated columns. Must be ≥ 0; 0 gives
        ordinary least squares. An array gives each score its own penalty.
    solver : str, default="auto"
        Solver to use, as in `Ridge`. "auto" chooses by the size and the condition number of X.

    Attributes
    ----------
    n_iter_ : array of shape (n_scores,)
        Number of iterations for each score; 1 for a direct solver.

    Examples
    --------
    >>> import thetahat as th
    >>> X, y = [[0.0], [1.0], [4.0], [5.0]], ["low", "low", "high", "high"]
    >>> model = th.RidgeClassifier(alpha=0.1).fit(X, y)
    >>> model.predict([[0.5], [4.5]]).tolist()
    ['low', 'high']
    """

    _: KW_ONLY
    class_weight: Any = None

    _multi_output = True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        tags.classifier_tags.multi_label = True
        return tags

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> RidgeClassifier:
        """Fit the classifier.

        Parameters
        ----------
        y : array-like of shape (n,), or (n, n_classes) of 0 and 1, optional
            Class labels: text, numbers or Booleans. Rows with several labels are given as a column
            of 0 and 1 for each label. Leave it out if X is a `Source`.
        """
        self._several = is_indicator(y)
        if self._several:
            signs = self._open_indicator(X, y, sample_weight)
        else:
            codes = self._open_classes(
                X, y, sample_weight, class_weight=self.class_weight, check_finite=False
            )
            signs = sign_targets(codes, len(self.classes_))
        with self._watching(self.max_iter, lambda t: scores_of(t, signs), X, y) as watch:
            found, _ = solve_ridge(
                signs, self.alpha, who=type(self).__name__, **self._solver_options(watch)
            )
        self.__dict__.update(scores_of(found.solution.theta, signs))
        self.solution_, self.solver_ = found.solution, found.solution.solver
        self.n_iter_ = np.full(len(self.coef_), max(1, found.solution.steps))
        self._warn_unless_converged()
        return self

    def predict(self, X: Any) -> Array:
        """Predict the class of each row. Cost: O(n d k) for k classes.

        Returns
        -------
        labels : array of shape (n,), or (n, n_classes) of 0 and 1
            The label with the largest score. If `fit` was given a column for each label, 1 for
            every label with a positive score.
        """
        if not getattr(self, "_several", False):
            return super().predict(X)
        return (self._raw(X) > 0).astype(int)

    def _open_indicator(self, X: Any, y: Any, sample_weight: Any) -> Source:
        """Rows with targets ±1, one per label; ``classes_`` holds the column numbers of y."""
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
    """``coef_`` and ``intercept_`` from the stack [β; b] with one column per score."""
    return {
        "coef_": np.ascontiguousarray(theta[:-1].T, dtype=source.dtype),
        "intercept_": np.asarray(theta[-1], dtype=source.dtype),
    }
