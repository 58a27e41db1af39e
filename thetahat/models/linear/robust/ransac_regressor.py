"""Random sample consensus: the model that the largest number of rows agrees with."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np
from sklearn.base import MetaEstimatorMixin, RegressorMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.validation import has_fit_parameter

from thetahat.data.extremes import require_squares_of_rows, require_squares_of_target
from thetahat.data.in_memory import InMemory
from thetahat.estimator.base import Estimator
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import (
    Range,
    at_least,
    fraction,
    infinity,
    none,
    one_of,
    positive_fraction,
    real,
    whole,
)
from thetahat.foundation.arguments import require_estimator, returned_numbers
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.randomness import generator
from thetahat.foundation.types import Array
from thetahat.models.ensemble.combination.metadata_routing import (
    routed,
    routing_enabled,
    rows_of_params,
)
from thetahat.models.linear.least_squares.linear_regression import LinearRegression
from thetahat.models.linear.robust.consensus import Consensus, is_valid, try_planes
from thetahat.objective.robust.row_subsets import random_subsets

_function = Range(lambda f: callable(f) and not isinstance(f, type), "a function, not a class")


@with_parameters
class RANSACRegressor(RegressorMixin, MetaEstimatorMixin, Estimator):
    """Robust regression by random sample consensus (RANSAC), for many gross outliers.

    A model is fitted to a small random subset of the rows, and the rows with a small residual are
    its inliers. This is repeated, and the final model is fitted to the largest set of inliers. More
    than half of the rows may be outliers, of any kind.

    Formula: θ̂ = argmin_θ Σ_{i∈I} (yᵢ − f_θ(xᵢ))² with I the largest set {i : ℓ(yᵢ, f_s(xᵢ)) ≤ t}
    over models f_s of random subsets s. log(1 − P)/log(1 − q^m) subsets of m rows are enough for a
    share q of inliers, so that few columns need few trials.

    Cost: a fit to `min_samples` rows and a prediction of all rows per trial. Planes of
    `LinearRegression` are computed many at a time, O(n d) each.

    Parameters
    ----------
    estimator : estimator or None, default=None
        Regression model to fit. None uses `LinearRegression`.
    min_samples : int, float or None, default=None
        Number of rows of a subset (m), or a share of all rows if it is a fraction below 1. None
        uses d + 1, for `LinearRegression` only.
    residual_threshold : float or None, default=None
        Largest loss of an inlier (t). None uses the median absolute deviation of y from its median.
    is_data_valid : callable or None, default=None
        Function of the rows and targets of a subset, which returns False for subsets to skip.
    is_model_valid : callable or None, default=None
        Function of a fitted model and the rows and targets of its subset, which returns False for
        models to skip. It needs one fit per trial; `is_data_valid` is faster.
    max_trials : int or inf, default=100
        Maximum number of trials.
    max_skips : int or inf, default=inf
        Number of skipped trials after which the search ends: by few inliers, or by the functions
        above.
    stop_n_inliers : int or inf, default=inf
        Number of inliers with which the search ends.
    stop_score : float, default=inf
        Score of the inliers with which the search ends.
    stop_probability : float, default=0.99
        The search ends when a subset without outliers was drawn with this probability (P). From 0
        to 1.
    loss : {"absolute_error", "squared_error"} or callable, default="absolute_error"
        Loss that is compared with the threshold, summed over targets. A function takes y and the
        predictions and returns one loss per row.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random subsets. Pass an int for the same result on every call.

    Attributes
    ----------
    estimator_ : estimator
        The model fitted to all inliers.
    n_trials_ : int
        Number of trials that were made, skipped ones included.
    inlier_mask_ : array of bool, shape (n,)
        Mask of the inliers.
    n_skips_no_inliers_ : int
        Number of trials that found fewer inliers than one before.
    n_skips_invalid_data_ : int
        Number of trials that `is_data_valid` skipped.
    n_skips_invalid_model_ : int
        Number of trials that `is_model_valid` skipped.

    References
    ----------
    Fischler and Bolles (1981), "Random sample consensus".

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.linspace(0.0, 1.0, 50)[:, None]
    >>> y = 3.0 * X[:, 0] + 0.01 * np.resize([1, -1, 0], 50)
    >>> y[30:] = 20.0
    >>> model = th.RANSACRegressor(residual_threshold=0.5, random_state=0).fit(X, y)
    >>> int(model.inlier_mask_.sum()), round(float(model.estimator_.coef_[0]), 1)
    (30, 3.0)
    """

    estimator: Any = None
    _: KW_ONLY
    min_samples: Any = None
    residual_threshold: float | None = None
    is_data_valid: Callable[..., bool] | None = None
    is_model_valid: Callable[..., bool] | None = None
    max_trials: float = 100
    max_skips: float = np.inf
    stop_n_inliers: float = np.inf
    stop_score: float = np.inf
    stop_probability: float = 0.99
    loss: Any = "absolute_error"
    random_state: Any = None

    _ranges: ClassVar[dict[str, Range]] = {
        "min_samples": whole(1) | positive_fraction | none,
        "residual_threshold": at_least(0) | none,
        "is_data_valid": _function | none,
        "is_model_valid": _function | none,
        "max_trials": whole(0) | infinity,
        "max_skips": whole(0) | infinity,
        "stop_n_inliers": whole(0) | infinity,
        "stop_score": real | infinity,
        "stop_probability": fraction,
        "loss": one_of("absolute_error", "squared_error") | _function,
    }
    _multi_output = True
    _streams = False
    _draws_rows = True
    _generative = False
    _parametric = True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = get_tags(self._learner()).input_tags.sparse
        return tags

    @property
    def _leaves_out_missing(self) -> bool:  # type: ignore[override]
        return bool(get_tags(self._learner()).input_tags.allow_nan)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimator_")

    def _learner(self) -> Any:
        return LinearRegression() if self.estimator is None else self.estimator

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any) -> Any:
        """Find the largest set of inliers, and fit the model to it. Cost: see `RANSACRegressor`.

        Parameters
        ----------
        X : array-like or sparse array of shape (n, d)
            Training rows with finite numbers, of which some may be outliers. NaN is accepted if the
            model accepts it.
        y : array-like of shape (n,) or (n, n_targets)
            Target values of the rows, one column per target if there are several.
        sample_weight : array-like of shape (n,), optional
            Row weights, passed to the model.
        **params : dict
            Passed to the ``fit`` method of the model through scikit-learn's metadata routing.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        require_estimator(self._learner(), "RANSACRegressor")
        learner = clone(self._learner())
        self._accepts_sparse = get_tags(learner).input_tags.sparse
        source = self._open(X, y, sample_weight)
        assert isinstance(source, InMemory)
        assert source.y is not None
        if not self._leaves_out_missing:
            require_squares_of_rows(source, who=type(self).__name__)
        require_squares_of_target(source, who=type(self).__name__)
        random = generator(self.random_state)
        if "random_state" in learner.get_params():
            learner.set_params(random_state=int(random.integers(1 << 31)))
        given = self._given(learner, source, params)
        search = self._search(learner, source)
        if self._solves_planes(learner, source, given):
            try_planes(source, search, random, self._losses, intercept=learner.fit_intercept)
        else:
            self._try_models(learner, source, search, random, given)
        self.n_trials_, self.inlier_mask_ = search.trials, self._inliers(search)
        for name, count in search.skips.items():
            setattr(self, f"n_skips_{name}_", count)
        rows = np.flatnonzero(self.inlier_mask_)
        extra = rows_of_params(given["fit"], rows, source.n_rows)
        self.estimator_ = learner.fit(source.X[rows], source.y[rows], **extra)
        return self

    def _given(
        self, learner: Any, source: InMemory, params: dict[str, Any]
    ) -> dict[str, dict[str, Any]]:
        """Arguments of the model's `fit` and `score`."""
        if source.weight is not None and not has_fit_parameter(learner, "sample_weight"):
            raise ParameterError(
                f"RANSACRegressor: {type(learner).__name__} does not support sample_weight. Sample "
                "weights are only used for the calibration itself, that is by the model: leave "
                "them out, or use a model that takes them."
            )
        weight = {} if source.weight is None else {"sample_weight": source.weight}
        if routing_enabled():
            found = routed(self, "fit", params | weight)["estimator"]
            return {"fit": dict(found["fit"]), "score": dict(found["score"])}
        routed(self, "fit", params)  # refuses other arguments
        return {"fit": weight, "score": {}}

    def _search(self, learner: Any, source: InMemory) -> Consensus:
        n, y = source.n_rows, np.asarray(source.y, dtype=np.float64)
        if self.min_samples is None:
            if type(learner).__name__ != LinearRegression.__name__:  # here or in scikit-learn
                raise ParameterError(
                    "RANSACRegressor: `min_samples` needs to be explicitly set when estimator is "
                    f"not a LinearRegression, but it is {type(learner).__name__}. Give the number "
                    "of rows of a subset."
                )
            size = source.n_features + 1
        elif 0 < self.min_samples < 1:
            size = math.ceil(self.min_samples * n)
        else:
            size = int(self.min_samples)
        if not 1 <= size <= n:
            raise ParameterError(
                f"RANSACRegressor: `min_samples` may not be larger than number of samples: "
                f"n_samples = {n}, but a subset has {size} rows. Use at least 1 and at most {n}."
            )
        threshold = self.residual_threshold
        if threshold is None:
            threshold = float(np.median(np.abs(y - np.median(y))))
        return Consensus(
            n,
            size,
            float(threshold),
            self.max_trials,
            self.max_skips,
            self.stop_n_inliers,
            self.stop_score,
            float(self.stop_probability),
        )

    def _losses(self, y: Array, predicted: Array) -> Array:
        """One loss per row."""
        if callable(self.loss):
            found = returned_numbers(self.loss(y, predicted), "RANSACRegressor: the function loss")
            if found.shape != (len(y),):
                raise ParameterError(
                    f"RANSACRegressor: the function loss returned shape {found.shape}, but must "
                    f"return one number per row, shape ({len(y)},)."
                )
            return found
        apart = y - predicted
        each = np.abs(apart) if self.loss == "absolute_error" else apart * apart
        return each if each.ndim == 1 else each.sum(axis=1)

    def _solves_planes(self, learner: Any, source: InMemory, given: dict[str, Any]) -> bool:
        """Whether the model is a plane that needs no fit of its own."""
        return (
            type(learner) is LinearRegression
            and not learner.positive
            and isinstance(source.X, np.ndarray)
            and not given["fit"]
            and not given["score"]
            and self.is_data_valid is None
            and self.is_model_valid is None
        )

    def _try_models(
        self,
        learner: Any,
        source: InMemory,
        search: Consensus,
        random: np.random.Generator,
        given: dict[str, dict[str, Any]],
    ) -> None:
        """Models of random subsets, one after another."""
        X, y, n = source.X, source.y, source.n_rows
        assert y is not None

        def score(inliers: Array) -> float:
            rows = np.flatnonzero(inliers)
            if rows.size < 2:
                return math.nan
            extra = rows_of_params(given["score"], rows, n)
            return float(learner.score(X[rows], y[rows], **extra))

        while not search.is_over and search.begin():
            (rows,) = random_subsets(n, search.size, 1, random)
            X_part, y_part = X[rows], y[rows]
            if not is_valid(self, "is_data_valid", X_part, y_part):
                search.skips["invalid_data"] += 1
                continue
            learner.fit(X_part, y_part, **rows_of_params(given["fit"], rows, n))
            if not is_valid(self, "is_model_valid", learner, X_part, y_part):
                search.skips["invalid_model"] += 1
                continue
            search.judge(self._losses(y, learner.predict(X)), score)

    def _inliers(self, search: Consensus) -> Array:
        """The best set, or the reason why there is none."""
        counts = ", ".join(f"{name.replace('_', ' ')}: {n}" for name, n in search.skips.items())
        if search.inliers is None:
            reason = (
                "RANSAC skipped more iterations than `max_skips` without finding a valid consensus "
                "set. Iterations were skipped because each randomly chosen sub-sample failed the "
                "passing criteria"
                if search.skipped_too_many
                else "RANSAC could not find a valid consensus set. All `max_trials` iterations "
                "were skipped because each randomly chosen sub-sample failed the passing criteria"
            )
            raise DataError(
                f"RANSACRegressor: {reason} ({counts}). Raise max_trials or residual_threshold, or "
                "relax is_data_valid and is_model_valid."
            )
        if search.skipped_too_many:
            warn(
                "RANSACRegressor: RANSAC found a valid consensus set but exited early due to "
                f"skipping more iterations than `max_skips` ({counts}). Raise max_skips.",
                ConvergenceWarning,
            )
        return search.inliers

    def predict(self, X: Any, **params: Any) -> Array:
        """Predict the target by the model of the inliers. Cost: that of its prediction.

        Parameters
        ----------
        X : array-like or sparse array of shape (n, d)
            Rows to predict, with the same columns as in `fit`.
        **params : dict
            Passed to the ``predict`` method of the model through scikit-learn's metadata routing.

        Returns
        -------
        y : array of shape (n,) or (n, n_targets)
            Predicted values.
        """
        rows = self._rows(X)
        given = routed(self, "predict", params)["estimator"]["predict"] if params else {}
        return self.estimator_.predict(rows, **given)

    def score(self, X: Any, y: Any = None, **params: Any) -> float:
        """Compute the score of the model of the inliers, by default R². Cost: one prediction.

        Parameters
        ----------
        X : array-like or sparse array of shape (n, d)
            Rows to predict, with the same columns as in `fit`.
        y : array-like of shape (n,) or (n, n_targets)
            True values of the target.
        **params : dict
            Passed to the ``score`` method of the model through scikit-learn's metadata routing.

        Returns
        -------
        score : float
            1 for perfect predictions, 0 for predictions no better than the mean of y.
        """
        rows = self._rows(X)
        given = routed(self, "score", params)["estimator"]["score"] if params else {}
        return float(self.estimator_.score(rows, y, **given))

    def _rows(self, X: Any) -> Any:
        source = self._open_again(X)
        return source.X if isinstance(source, InMemory) else source

    def get_metadata_routing(self) -> MetadataRouter:
        """Return scikit-learn's description of how metadata are routed to the model."""
        mapping = MethodMapping().add(caller="fit", callee="fit").add(caller="fit", callee="score")
        mapping.add(caller="score", callee="score").add(caller="predict", callee="predict")
        return MetadataRouter(owner=self).add(estimator=self._learner(), method_mapping=mapping)
