"""Gradient boosting with scikit-learn's GradientBoosting parameters, on the histogram engine."""

from __future__ import annotations

from typing import Any

from thetahat.foundation.types import Array
from thetahat.mathematics.losses import named
from thetahat.mathematics.losses.base import Loss
from thetahat.mathematics.losses.residual.pinball import Quantile
from thetahat.models.ensemble.gradient_boosting.classifier import BaseBoostingClassifier
from thetahat.models.ensemble.gradient_boosting.gradient_boosting_base import BaseGradientBoosting
from thetahat.models.ensemble.gradient_boosting.regressor import BaseBoostingRegressor


class GradientBoostingClassifier(BaseGradientBoosting, BaseBoostingClassifier):
    """Gradient boosting of class scores for any loss of classes, by small trees or any learner.

    Formula: f₀ = argmin_c Σ ℓ(y, c); r = −∂ℓ/∂f; f ← f + η·tree fitted to r by least squares, its
    leaves set to argmin_c Σ ℓ(y, f + c). ``max_depth=1`` boosts stumps; ``max_leaf_nodes=J`` trees
    of J leaves. Splits are found on at most 255 bins per column. Another learner h is fitted to r
    likewise: f ← f + η·α·h, α = argmin Σ ℓ(y, f + α·h). Cost: O(rounds · n · d · depth), or that of
    the learner's fits.

    Parameters
    ----------
    loss : str or Loss, default="log_loss"
        Any loss of labels: "log_loss", "exponential", "hinge", ``th.loss(...)``.
    learning_rate : float, default=0.1
        η.
    n_estimators : int, default=100
        Rounds; each has one tree, or one per class.
    subsample : float, default=1.0
        Share of the rows drawn for each round.
    min_samples_split, min_samples_leaf : int or float
        Rows (weight) that a node needs to be divided, and a leaf to be one; a float is a share.
    min_weight_fraction_leaf : float, default=0.0
        Least share of the weight in a leaf.
    max_depth : int or None, default=3
        Longest path of a tree.
    min_impurity_decrease : float, default=0.0
        Gain per row that a split must have.
    init : estimator, "zero" or None
        Who makes the first predictions; None: the best constant.
    random_state : int, Generator, RandomState or None
        For drawn rows and columns, and for held-out rows.
    max_features : int, float, "sqrt", "log2" or None
        Columns looked at for each split.
    verbose : int, default=0
        Print the progress.
    max_leaf_nodes : int or None, default=None
        Leaves of a tree, the best first; at least 2.
    warm_start : bool, default=False
        Go on from the trees of the last fit.
    validation_fraction : float, default=0.1
        Share of the rows held out, with ``n_iter_no_change``.
    n_iter_no_change : int or None, default=None
        Rounds without a better held-out loss after which to stop.
    tol : float, default=1e-4
        By how much it must be better.
    ccp_alpha : float, default=0.0
        Prune every tree at this price of a leaf.
    class_weight : dict, "balanced" or None
        Weights of the classes.
    max_bins : int, default=255
        Bins of a column; missing values have one more.
    leaf_update : {"auto", "newton", "line_search"}, default="auto"
        Leaves by one Newton step, or by the minimum of the loss; "auto" takes Newton steps where
        the curvature is positive and steady.
    reoptimise : {"last", "all"}, default="last"
        "all" fits the coefficients of all rounds anew after the last one.
    checkpoint : path or None, default=None
        Where to keep snapshots, so that a killed fit goes on when it is called again; of trees.
    estimator : regressor or None, default=None
        What is fitted to the slopes in each round, a copy per class: anything with ``fit(X, y)``
        and ``predict(X)``. It sees X as it was given, and the weights; where it takes none,
        weights that differ are refused. Limits of trees are then not looked at; ``leaf_update``
        and ``reoptimise`` are of its coefficients. None: trees of the library's engine.

    Attributes
    ----------
    classes_ : array
        The labels in the order of their codes.
    estimators_ : array of regressors
        The trees or learners, a row per round.
    estimator_weights_ : array
        What each answer is multiplied by, η·α; 1 for trees, whose leaves hold it.
    n_estimators_ : int
        Rounds of the model.
    init_ : array or estimator
        The first raw predictions, or the model that makes them.
    train_score_ : array
        The loss after each round.
    feature_importances_ : array
        Shares of the gain by column; the learners' own, where they tell theirs.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.arange(40.0).reshape(-1, 1)
    >>> y = np.where(X[:, 0] % 20 < 10, "low", "high")
    >>> model = th.GradientBoostingClassifier(max_depth=2).fit(X, y)
    >>> model.predict([[4.0], [16.0]]).tolist()
    ['low', 'high']
    """

    def __init__(
        self,
        *,
        loss: Any = "log_loss",
        learning_rate: float = 0.1,
        n_estimators: int = 100,
        subsample: float = 1.0,
        min_samples_split: Any = 2,
        min_samples_leaf: Any = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_depth: int | None = 3,
        min_impurity_decrease: float = 0.0,
        init: Any = None,
        random_state: Any = None,
        max_features: Any = None,
        verbose: int = 0,
        max_leaf_nodes: int | None = None,
        warm_start: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int | None = None,
        tol: float = 1e-4,
        ccp_alpha: float = 0.0,
        class_weight: Any = None,
        max_bins: int = 255,
        leaf_update: str = "auto",
        reoptimise: str = "last",
        checkpoint: Any = None,
        estimator: Any = None,
    ) -> None:
        self.loss = loss
        self.learning_rate = learning_rate
        self.n_estimators = n_estimators
        self.subsample = subsample
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_depth = max_depth
        self.min_impurity_decrease = min_impurity_decrease
        self.init = init
        self.random_state = random_state
        self.max_features = max_features
        self.verbose = verbose
        self.max_leaf_nodes = max_leaf_nodes
        self.warm_start = warm_start
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.ccp_alpha = ccp_alpha
        self.class_weight = class_weight
        self.max_bins = max_bins
        self.leaf_update = leaf_update
        self.reoptimise = reoptimise
        self.checkpoint = checkpoint
        self.estimator = estimator


class GradientBoostingRegressor(BaseGradientBoosting, BaseBoostingRegressor):
    """Gradient boosting of numbers for any loss of numbers, by small trees or any learner.

    Formula: f₀ = argmin_c Σ ℓ(y, c); r = −∂ℓ/∂f; f ← f + η·tree fitted to r by least squares, its
    leaves set to argmin_c Σ ℓ(y, f + c): medians for the absolute loss. Splits are found on at most
    255 bins per column. Another learner h is fitted to r likewise: f ← f + η·α·h, α = argmin
    Σ ℓ(y, f + α·h). Cost: O(rounds · n · d · depth), or that of the learner's fits.

    Parameters
    ----------
    loss : str or Loss, default="squared_error"
        Any loss of numbers: "squared_error", "absolute_error", "huber", "quantile", "poisson",
        ``th.losses.Tukey()``, ``th.loss(...)``.
    learning_rate, n_estimators, subsample, min_samples_split, min_samples_leaf
        As in `GradientBoostingClassifier`.
    min_weight_fraction_leaf, max_depth, min_impurity_decrease, init, random_state, max_features
        As in `GradientBoostingClassifier`.
    alpha : float, default=0.9
        The level of ``loss="quantile"``; with ``loss="huber"``, the quantile of |residual| from
        which the loss is linear, found anew in every round.
    verbose, max_leaf_nodes, warm_start, validation_fraction, n_iter_no_change, tol, ccp_alpha
        As in `GradientBoostingClassifier`.
    max_bins, leaf_update, reoptimise, checkpoint, estimator
        As in `GradientBoostingClassifier`.

    Attributes
    ----------
    estimators_ : array of regressors
        The trees or learners, a row per round.
    estimator_weights_ : array
        What each answer is multiplied by, η·α; 1 for trees, whose leaves hold it.
    n_estimators_ : int
        Rounds of the model.
    init_ : array or estimator
        The first raw prediction, or the model that makes it.
    train_score_ : array
        The loss after each round (squared errors without the half).
    feature_importances_ : array
        Shares of the gain by column; the learners' own, where they tell theirs.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.linspace(0, 6, 100).reshape(-1, 1)
    >>> model = th.GradientBoostingRegressor().fit(X, np.sin(X[:, 0]))
    >>> bool(model.train_score_[-1] < 1e-3)
    True

    Straight lines instead of trees, boosted by absolute errors, end near the line of medians:

    >>> lines = th.GradientBoostingRegressor(
    ...     loss="absolute_error", estimator=th.LinearRegression()
    ... ).fit(X, 2 * X[:, 0] + 1)
    >>> bool(abs(lines.predict([[3.0]])[0] - 7.0) < 1e-2)
    True
    """

    def __init__(
        self,
        *,
        loss: Any = "squared_error",
        learning_rate: float = 0.1,
        n_estimators: int = 100,
        subsample: float = 1.0,
        min_samples_split: Any = 2,
        min_samples_leaf: Any = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_depth: int | None = 3,
        min_impurity_decrease: float = 0.0,
        init: Any = None,
        random_state: Any = None,
        max_features: Any = None,
        alpha: float = 0.9,
        verbose: int = 0,
        max_leaf_nodes: int | None = None,
        warm_start: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int | None = None,
        tol: float = 1e-4,
        ccp_alpha: float = 0.0,
        max_bins: int = 255,
        leaf_update: str = "auto",
        reoptimise: str = "last",
        checkpoint: Any = None,
        estimator: Any = None,
    ) -> None:
        self.loss = loss
        self.learning_rate = learning_rate
        self.n_estimators = n_estimators
        self.subsample = subsample
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_depth = max_depth
        self.min_impurity_decrease = min_impurity_decrease
        self.init = init
        self.random_state = random_state
        self.max_features = max_features
        self.alpha = alpha
        self.verbose = verbose
        self.max_leaf_nodes = max_leaf_nodes
        self.warm_start = warm_start
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.ccp_alpha = ccp_alpha
        self.max_bins = max_bins
        self.leaf_update = leaf_update
        self.reoptimise = reoptimise
        self.checkpoint = checkpoint
        self.estimator = estimator

    def apply(self, X: Any) -> Array:
        """The leaf of every row in every tree.

        Parameters
        ----------
        X : table of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n, n_estimators)
        """
        return super().apply(X)[:, :, 0]

    def _loss(self) -> Loss:
        return Quantile(level=self.alpha) if self.loss == "quantile" else named(self.loss)

    @property
    def _huber_level(self) -> float | None:
        return float(self.alpha) if self.loss == "huber" else None
