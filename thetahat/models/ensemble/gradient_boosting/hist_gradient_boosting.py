"""Gradient boosting on histograms, with scikit-learn's HistGradientBoosting parameters."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from thetahat.estimator.parameters import Range, at_least, none, one_of, whole
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array
from thetahat.mathematics.losses import named
from thetahat.mathematics.losses.base import Loss
from thetahat.mathematics.losses.residual.pinball import Quantile
from thetahat.models.ensemble.gradient_boosting.base import BaseBoosting, inside
from thetahat.models.ensemble.gradient_boosting.classifier import BaseBoostingClassifier
from thetahat.models.ensemble.gradient_boosting.gradient_trees import NO_LIMIT, TreeRules
from thetahat.models.ensemble.gradient_boosting.raw_scores import scorer_of_raw
from thetahat.models.ensemble.gradient_boosting.regressor import BaseBoostingRegressor
from thetahat.models.ensemble.gradient_boosting.rounds import Plan, Rows, Scorer
from thetahat.models.tree.growth.constraints import directions, meeting_groups

MANY_ROWS = 10_000
"""With more, ``early_stopping="auto"`` stops early."""
LEAST_CURVATURE = 1e-3
"""Of the rows of a leaf together."""

RANGES: dict[str, Range] = {
    "max_iter": whole(1),
    "max_leaf_nodes": whole(2) | none,
    "max_depth": whole(1) | none,
    "min_samples_leaf": whole(1),
    "l2_regularization": at_least(0),
    "max_features": Range(lambda value: at_least(0).holds(value) and 0 < value <= 1, "in (0, 1]"),
    "max_bins": Range(lambda value: whole(2).holds(value) and value <= 255, "from 2 to 255"),
    "early_stopping": one_of("auto")
    | Range(lambda value: isinstance(value, bool | np.bool_), "True or False"),
    "validation_fraction": inside | whole(1) | none,
    "n_iter_no_change": whole(1),
}


class BaseHistGradientBoosting(BaseBoosting):
    """What the two faces share."""

    _ranges: ClassVar[dict[str, Range]] = {**BaseBoosting._ranges, **RANGES}

    @property
    def _n_rounds(self) -> int:
        return int(self.max_iter)

    @property
    def n_iter_(self) -> int:
        """Rounds of the fitted model."""
        return self._rounds_of(self._trees)

    @property
    def train_score_(self) -> Array:
        """Scores of the rows fitted, before and after every round; empty unless it may stop."""
        return np.asarray(self._scores.get("train", []))

    @property
    def validation_score_(self) -> Array:
        """Scores of the held-out rows, before and after every round; empty without any."""
        return np.asarray(self._scores.get("validation", []))

    @property
    def is_categorical_(self) -> Array | None:
        """Which columns are categories; None when none is."""
        mask = self._columns.is_categorical
        return mask if mask.any() else None

    def _rules(self, rows: Rows) -> TreeRules:
        who, d = type(self).__name__, rows.X.shape[1]
        monotonic = directions(self.monotonic_cst, self._columns, who)
        if monotonic is not None and self.n_trees_per_iteration_ > 1:
            raise ParameterError(
                f"{who}: monotonic constraints are not supported for multiclass classification, "
                "whose scores only mean something together. Leave monotonic_cst=None."
            )
        return TreeRules(
            max_leaves=self.max_leaf_nodes or NO_LIMIT,
            max_depth=self.max_depth or NO_LIMIT,
            min_rows=float(self.min_samples_leaf),
            min_hessian=LEAST_CURVATURE,
            l2=float(self.l2_regularization),
            max_features=max(1, int(self.max_features * d)),
            monotonic=monotonic,
            groups=meeting_groups(self.interaction_cst, d, who),
        )

    def _plan(self, rows: Rows) -> Plan:
        return Plan(
            loss=self.loss_,
            learning_rate=float(self.learning_rate),
            n_columns=self.n_trees_per_iteration_,
            leaf_update=self.leaf_update,
            seed=self._seed,
        )

    def _patience(self, rows: Rows) -> int | None:
        stops = self.early_stopping
        if stops == "auto":
            total = len(rows.y) if rows.weight is None else rows.weight.sum()
            stops = total > MANY_ROWS
        return int(self.n_iter_no_change) if stops else None

    def _scorer(self, rows: Rows) -> Scorer:
        if self.scoring == "loss":
            return super()._scorer(rows)
        return scorer_of_raw(self, self.scoring, rows)


class HistGradientBoostingClassifier(BaseHistGradientBoosting, BaseBoostingClassifier):
    """Gradient boosting of class scores on histograms, for any loss of classes.

    Formula: f_m = f_{m−1} + η·tree_m, with tree_m of gain G_L²/(H_L+λ) + G_R²/(H_R+λ) − G²/(H+λ)
    and leaves −G/(H+λ), where G and H are the sums of ∂ℓ/∂f and ∂²ℓ/∂f². Cost: O(n·d) bytes for the
    binned rows, O(rounds · n · d · log leaves) time.

    Parameters
    ----------
    loss : str or Loss, default="log_loss"
        Any loss of labels: "log_loss", "exponential", "hinge", ``th.loss(...)``.
    learning_rate : float, default=0.1
        η.
    max_iter : int, default=100
        Rounds; each has one tree, or one per class.
    max_leaf_nodes : int or None, default=31
        Leaves of a tree, at least 2.
    max_depth : int or None, default=None
        Longest path of a tree.
    min_samples_leaf : int, default=20
        Rows (weight) that a leaf needs.
    l2_regularization : float, default=0.0
        λ.
    max_features : float, default=1.0
        Share of the columns looked at for each split.
    max_bins : int, default=255
        Bins of a column; missing values have one more.
    categorical_features : array-like, "from_dtype" or None
        Columns that hold categories: a mask, places or names, or by their types.
    monotonic_cst : array-like, dict or None
        −1, 0 or +1 per column: the score may only fall, do as it likes, or only rise.
    interaction_cst : "pairwise", "no_interactions", sequence of sets, or None
        Columns that may meet on a path.
    warm_start : bool, default=False
        Go on from the trees of the last fit.
    early_stopping : "auto" or bool, default="auto"
        Stop when the score no longer rises; "auto": with more than 10 000 rows.
    scoring : str, callable or None, default="loss"
        What is to rise.
    validation_fraction : float, int or None, default=0.1
        Rows held out for the score, drawn by class; None scores the rows fitted.
    n_iter_no_change : int, default=10
        Rounds without a better score after which to stop.
    tol : float, default=1e-7
        By how much a score must be better.
    verbose : int, default=0
        Print the progress.
    random_state : int, Generator, RandomState or None
        For the held-out rows and the drawn columns.
    class_weight : dict, "balanced" or None
        Weights of the classes.
    leaf_update : {"auto", "newton", "line_search"}, default="auto"
        Leaves by one Newton step, or by the minimum of the loss; "auto" takes Newton steps where
        the curvature is positive and steady.
    reoptimise : {"last", "all"}, default="last"
        "all" fits the coefficients of all trees anew after the last round.
    checkpoint : path or None, default=None
        Where to keep snapshots, so that a killed fit goes on when it is called again.

    Attributes
    ----------
    classes_ : array
        The labels in the order of their codes.
    n_iter_ : int
        Rounds of the model.
    train_score_, validation_score_ : array
        Scores before and after each round, where it may stop early.
    feature_importances_ : array
        Shares of the gain by column.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.arange(200.0).reshape(-1, 1)
    >>> y = np.where(X[:, 0] % 100 < 50, "low", "high")
    >>> th.HistGradientBoostingClassifier().fit(X, y).predict([[20.0], [70.0]]).tolist()
    ['low', 'high']
    """

    _everyday = "boosted trees"

    def __init__(
        self,
        loss: Any = "log_loss",
        *,
        learning_rate: float = 0.1,
        max_iter: int = 100,
        max_leaf_nodes: int | None = 31,
        max_depth: int | None = None,
        min_samples_leaf: int = 20,
        l2_regularization: float = 0.0,
        max_features: float = 1.0,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        warm_start: bool = False,
        early_stopping: Any = "auto",
        scoring: Any = "loss",
        validation_fraction: Any = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-7,
        verbose: int = 0,
        random_state: Any = None,
        class_weight: Any = None,
        leaf_update: str = "auto",
        reoptimise: str = "last",
        checkpoint: Any = None,
    ) -> None:
        self.loss = loss
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_features = max_features
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.warm_start = warm_start
        self.early_stopping = early_stopping
        self.scoring = scoring
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state
        self.class_weight = class_weight
        self.leaf_update = leaf_update
        self.reoptimise = reoptimise
        self.checkpoint = checkpoint


class HistGradientBoostingRegressor(BaseHistGradientBoosting, BaseBoostingRegressor):
    """Gradient boosting of numbers on histograms, for any loss of numbers.

    Formula: f_m = f_{m−1} + η·tree_m, with tree_m of gain G_L²/(H_L+λ) + G_R²/(H_R+λ) − G²/(H+λ)
    and leaves argmin_c Σ ℓ(y, f + c): −G/(H+λ) for smooth losses, quantiles for pinball losses.
    Cost: O(n·d) bytes for the binned rows, O(rounds · n · d · log leaves) time.

    Parameters
    ----------
    loss : str or Loss, default="squared_error"
        Any loss of numbers: "squared_error", "absolute_error", "poisson", "quantile", "huber",
        ``th.losses.Tukey()``, ``th.loss(...)``.
    quantile : float or None
        The level, with ``loss="quantile"``.
    learning_rate, max_iter, max_leaf_nodes, max_depth, min_samples_leaf, l2_regularization
        As in `HistGradientBoostingClassifier`.
    max_features, max_bins, categorical_features, monotonic_cst, interaction_cst, warm_start
        As in `HistGradientBoostingClassifier`.
    early_stopping, scoring, validation_fraction, n_iter_no_change, tol, verbose, random_state
        As in `HistGradientBoostingClassifier`.
    leaf_update, reoptimise, checkpoint
        As in `HistGradientBoostingClassifier`.

    Attributes
    ----------
    n_iter_ : int
        Rounds of the model.
    train_score_, validation_score_ : array
        Scores before and after each round, where it may stop early.
    feature_importances_ : array
        Shares of the gain by column.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.linspace(0, 6, 400).reshape(-1, 1)
    >>> model = th.HistGradientBoostingRegressor().fit(X, np.sin(X[:, 0]))
    >>> bool(abs(model.predict([[1.5]])[0] - np.sin(1.5)) < 0.05)
    True
    """

    _everyday = "boosted trees"

    def __init__(
        self,
        loss: Any = "squared_error",
        *,
        quantile: float | None = None,
        learning_rate: float = 0.1,
        max_iter: int = 100,
        max_leaf_nodes: int | None = 31,
        max_depth: int | None = None,
        min_samples_leaf: int = 20,
        l2_regularization: float = 0.0,
        max_features: float = 1.0,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        warm_start: bool = False,
        early_stopping: Any = "auto",
        scoring: Any = "loss",
        validation_fraction: Any = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-7,
        verbose: int = 0,
        random_state: Any = None,
        leaf_update: str = "auto",
        reoptimise: str = "last",
        checkpoint: Any = None,
    ) -> None:
        self.loss = loss
        self.quantile = quantile
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_features = max_features
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.warm_start = warm_start
        self.early_stopping = early_stopping
        self.scoring = scoring
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state
        self.leaf_update = leaf_update
        self.reoptimise = reoptimise
        self.checkpoint = checkpoint

    def _loss(self) -> Loss:
        if self.loss == "quantile":
            if self.quantile is None:
                raise ParameterError(
                    "HistGradientBoostingRegressor: loss='quantile' needs its level; "
                    "quantile=None. Give quantile=0.5 for the median."
                )
            return Quantile(level=self.quantile)
        return named(self.loss)
