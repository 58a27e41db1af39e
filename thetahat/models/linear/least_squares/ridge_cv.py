"""Ridge regression with its penalty chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import check_scoring

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Source
from thetahat.data.summaries.moments import moments
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.fold_routing import RoutesToFolds, splits_of
from thetahat.estimator.linear import LinearRegressor
from thetahat.estimator.parameters import Range, at_least, boolean, non_negative_array, none, one_of
from thetahat.foundation.arguments import returned_number
from thetahat.foundation.errors import CapabilityError, ParameterError
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.solution import Outcome, Solution
from thetahat.models.linear.least_squares.ridge import Ridge
from thetahat.objective.least_squares.leave_one_out import LeaveOneOut
from thetahat.objective.least_squares.ridge_path import RidgePath


@with_parameters
class RidgeSearch(RoutesToFolds):
    """Parameters of the search for a ridge penalty by cross-validation.

    Parameters
    ----------
    alphas : array-like, default=(0.1, 1.0, 10.0)
        Values of the penalty strength α to try. Larger values mean a stronger penalty. All must
        be ≥ 0.
    cv : int, splitter, iterable or None, default=None
        Folds for the cross-validation. None leaves out one row at a time, which needs no refitting.
        An int is the number of folds; a splitter of scikit-learn or an iterable of (train, test)
        row numbers is used as given.

    Attributes
    ----------
    solution_ : Solution
        Report of the solver: its name and the reason for choosing it, how it stopped, the number of
        iterations and the remaining optimality gap.
    """

    alphas: Any = (0.1, 1.0, 10.0)
    _: KW_ONLY
    fit_intercept: bool = True
    scoring: Any = None
    cv: Any = None
    store_cv_results: bool = False

    _splits_rows = True
    _ranges: ClassVar[dict[str, Range]] = {
        "alphas": non_negative_array | at_least(0),
        "fit_intercept": boolean,
        "store_cv_results": boolean,
    }


@with_parameters
class RidgeCV(RidgeSearch, LinearRegressor):
    """Ridge regression that chooses its penalty by cross-validation.

    Formula: by default every row is left out once. Leaving out row i changes its residual from eᵢ
    to eᵢ/(1 − hᵢ), with leverage hᵢ = 1/n + xᵢᵀ(XᵀX + αI)⁻¹xᵢ, so no model has to be refitted. A
    row is left out with all its weight: with weights, hᵢ is wᵢ times this, for weighted sums. The α
    with the smallest mean squared error is kept. One eigendecomposition serves all values of α.

    Cost: about two Gram matrices, O(n d²), for any number of penalties, in memory or block by
    block.

    Parameters
    ----------
    scoring : str, callable or None, default=None
        Score used to choose the penalty: a name known to scikit-learn or a scorer; greater is
        better. None uses the negative mean squared error, or R² if `cv` is given.
    gcv_mode : {None, "auto", "svd", "eigen"}, default=None
        Has no effect. Accepted for compatibility with scikit-learn; the eigenvalues of the normal
        equations are used, or the singular values of X if these equations would lose digits.
    store_cv_results : bool, default=False
        Whether to keep the results for every row and every penalty in ``cv_results_``. Only
        possible with ``cv=None``.
    alpha_per_target : bool, default=False
        Whether to choose a separate penalty for each target. Only possible with ``cv=None``.

    Attributes
    ----------
    alpha_ : float or array of shape (n_targets,)
        The chosen penalty strength; one per target if ``alpha_per_target=True``.
    best_score_ : float or array of shape (n_targets,)
        Score of the chosen penalty. By default −Σ wᵢeᵢ²/Σ wᵢ for the errors eᵢ of left-out rows,
        which does not change if all weights and penalties are multiplied by a number; scikit-learn
        divides by the number of rows instead of Σ wᵢ.
    scores_ : array of shape (n_alphas,) or (n_targets, n_alphas)
        Score of every penalty, in the order of `alphas`.
    cv_results_ : array of shape (n, n_alphas) or (n, n_targets, n_alphas)
        Squared errors of the left-out rows times their weights, or their predictions if `scoring`
        is given. Only available with ``store_cv_results=True``.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> data = th.datasets.make_linear(60, 5, noise=1.0, random_state=0)
    >>> model = th.RidgeCV(alphas=np.logspace(-3, 3, 13)).fit(data.X, data.y)
    >>> bool(model.alpha_ in np.logspace(-3, 3, 13))
    True
    """

    _: KW_ONLY
    gcv_mode: str | None = None
    alpha_per_target: bool = False

    _everyday = "ridge"
    _everyday_params: ClassVar[dict[str, Any]] = {
        "alphas": (0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1e3, 1e4)
    }
    _flattens_one_column = True
    _ranges = RidgeSearch._ranges | {
        "gcv_mode": none | one_of("auto", "svd", "eigen"),
        "alpha_per_target": boolean,
    }

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any) -> RidgeCV:
        """Choose the penalty and fit the model to all rows.

        Parameters
        ----------
        sample_weight : array-like of shape (n,), optional
            Row weights. None gives every row weight 1. In each fit a row of weight 2 counts as two
            equal rows; it is left out as one.
        """
        for_folds = self._for_folds(params)
        source = self._open(X, y, sample_weight, check_finite=False)
        alphas = np.atleast_1d(np.asarray(self.alphas, dtype=float))
        if not alphas.size:
            raise ParameterError("RidgeCV: alphas is empty. Give at least one value.")
        path = self._path(source, alphas)
        scores = self._scores(source, path, for_folds)
        best = scores.argmax(axis=1) if self.alpha_per_target else [scores.mean(axis=0).argmax()]
        chosen = np.broadcast_to(np.asarray(best), (max(1, source.n_outputs),))
        theta = path.theta(chosen)
        self._keep(theta, source)
        one = not (self.alpha_per_target and source.n_outputs > 1)
        self.scores_ = scores.mean(axis=0) if one else scores
        self.alpha_ = alphas[chosen[0]] if one else alphas[chosen]
        self.best_score_ = (
            self.scores_[chosen[0]] if one else scores[np.arange(len(chosen)), chosen]
        )
        self.solution_ = Solution(
            theta=theta,
            outcome=Outcome.EXACT,
            solver="eigen",
            reason="one eigendecomposition of the normal equations serves all penalties",
            message=Outcome.EXACT.value,
        )
        return self

    def _path(self, source: Source, alphas: Array) -> RidgePath:
        """Fits for all penalties, from d × d equations, or n × n ones if there are fewer rows."""
        if isinstance(source, InMemory) and source.n_rows < source.n_features:
            source.require_finite()
            return RidgePath.of_few_rows(source, alphas, intercept=self.fit_intercept)
        return RidgePath.of(source, moments(source), alphas, intercept=self.fit_intercept)

    def _scores(self, source: Source, path: RidgePath, for_folds: dict[str, Any]) -> Array:
        """The score of every penalty: one row per target, or a single row if folds are used."""
        if self.cv is not None:
            penalties = path.penalties * path.unit**2
            return self._fold_scores(source, penalties, for_folds)[None, :]
        left_out = LeaveOneOut(path, self.fit_intercept)
        if self.scoring is None and not self.store_cv_results:
            return -left_out.mean_squared_errors(source)
        residuals = left_out.residuals(source)
        weight = _in_memory(source).weight
        if self.store_cv_results:
            if self.scoring is None:
                kept = residuals**2 if weight is None else weight[:, None, None] * residuals**2
            else:
                kept = _targets(source)[:, :, None] - residuals
            self.cv_results_ = kept if source.n_outputs else kept[:, 0]
        if self.scoring is None:
            return -np.average(residuals**2, axis=0, weights=weight)
        return self._left_out_scores(_targets(source), residuals, weight)

    def _left_out_scores(self, y: Array, residuals: Array, weight: Array | None) -> Array:
        """Apply the scorer to the predictions of left-out rows."""
        scorer = check_scoring(self, scoring=self.scoring)
        options = {} if weight is None else {"sample_weight": weight}

        def score(truth: Array, predicted: Array) -> float:
            # As in scikit-learn, a scorer sees the predictions in the place of the rows.
            rows, answers = predicted.reshape(len(truth), -1), _GivenPredictions(predicted)
            return returned_number(scorer(answers, rows, truth, **options), "RidgeCV: the scorer")

        one = y[:, 0] if y.shape[1] == 1 else y
        left = np.moveaxis(residuals, 2, 0)
        if not self.alpha_per_target:
            return np.array([[score(one, one - each.reshape(one.shape)) for each in left]])
        return np.array(
            [[score(y[:, k], y[:, k] - each[:, k]) for each in left] for k in range(y.shape[1])]
        )

    def _fold_scores(self, source: Source, alphas: Array, for_folds: dict[str, Any]) -> Array:
        """Mean score over folds; one Gram matrix and one spectrum per fold."""
        for name in ("store_cv_results", "alpha_per_target"):
            if getattr(self, name):
                raise ParameterError(
                    f"RidgeCV: {name}=True is only possible with leave-one-out cross-validation, "
                    f"but cv={self.cv!r}. Use cv=None, or {name}=False."
                )
        whole = _in_memory(source)
        scorer = check_scoring(Ridge(), scoring=self.scoring)
        scores = []
        for train, test in splits_of(
            self.cv, whole.X, whole.y, who=type(self).__name__, **for_folds
        ):
            path = self._path(whole.take(train), alphas)
            held = whole.take(test)
            options = {} if held.weight is None else {"sample_weight": held.weight}
            models = self._models(path, whole)
            found = [scorer(model, held.X, held.y, **options) for model in models]
            scores.append([returned_number(value, "RidgeCV: the scorer") for value in found])
        return np.mean(scores, axis=0)

    def _models(self, path: RidgePath, source: Source) -> Iterator[Ridge]:
        """A fitted `Ridge` for every penalty of the path."""
        outputs = max(1, source.n_outputs)
        for index in range(len(path.penalties)):
            model = Ridge(fit_intercept=self.fit_intercept)
            model.n_features_in_ = source.n_features
            model._keep(path.theta(np.full(outputs, index)), source)
            yield model


class _GivenPredictions(RegressorMixin, BaseEstimator):
    """A model with given predictions, in the form that scorers need."""

    def __init__(self, predictions: Array) -> None:
        self.predictions = predictions

    def predict(self, X: Any) -> Array:
        return self.predictions


def _in_memory(source: Source) -> InMemory:
    if not isinstance(source, InMemory):
        raise CapabilityError(
            "RidgeCV: cv, scoring and store_cv_results need the rows in memory, but these are "
            "read block by block. Leave them at their defaults to use leave-one-out "
            "cross-validation by mean squared error."
        )
    return source


def _targets(source: Source) -> Array:
    y = _in_memory(source).y
    assert y is not None
    return y if y.ndim == 2 else y[:, None]
