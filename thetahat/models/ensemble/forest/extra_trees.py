"""Extremely randomised trees: the best of a few random splits, averaged."""

from __future__ import annotations

from typing import Any

from thetahat.models.ensemble.forest.classifier import ForestClassifier
from thetahat.models.ensemble.forest.regressor import ForestRegressor
from thetahat.models.tree.extra_tree import ExtraTreeClassifier, ExtraTreeRegressor


class ExtraTreesClassifier(ForestClassifier):
    """Many trees with random thresholds, on all rows, that vote with their class proportions.

    Formula: f(x) = (1/M)·Σₘ π_m(x), with π_m(x) the class proportions of the leaf of tree m
    that holds x. Each node draws √d columns and for each one threshold, uniform between the
    extremes of its rows, and takes the best of these splits. Faster than a random forest, and
    with trees that differ more.

    Cost: O(√d·n log n) per tree, one tree per thread; 16 bytes a node; prediction O(depth) a tree.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    criterion : {"gini", "entropy", "log_loss", "error"}, default="gini"
        Impurity that splits lower; log_loss is entropy, error the share outside the majority.
    max_depth : int, optional
        Most questions in a row; None: until leaves are pure.
    min_samples_split, min_samples_leaf : int or float, default=2 and 1
        Least rows of a node that is divided and of a leaf; a float is a share of all rows.
    min_weight_fraction_leaf : float, default=0.0
        Least share of a tree's weight in a leaf.
    max_features : int, float, {"sqrt", "log2"} or None, default="sqrt"
        Columns tried at a node, drawn anew at each; more while all of them are constant there.
    max_leaf_nodes : int, optional
        Most leaves of a tree; the leaf that gains most is divided first (best-first growth).
    min_impurity_decrease : float, default=0.0
        Least gain of a split times the node's share of the weight.
    bootstrap : bool, default=False
        Grow each tree on rows drawn with replacement; else on all rows.
    oob_score : bool or function of (y, prediction), default=False
        Judge the forest by the rows that trees did not draw: accuracy, or the function.
    n_jobs : int, optional
        Most threads; None and −1: those of ``th.config(threads=...)``. Results do not depend on it.
    random_state : int, Generator, RandomState or None, default=None
        What is drawn depends on it alone.
    verbose : int, default=0
        Not used: progress is told by ``set_callbacks(sklearn.callback.ProgressBar())``.
    warm_start : bool, default=False
        Add trees to those of the last fit, up to ``n_estimators``.
    class_weight : dict, list of dict, "balanced", "balanced_subsample" or None, default=None
        Factors of the weights of classes; "balanced_subsample" balances every draw.
    ccp_alpha : float, default=0.0
        Prune the weakest links of every tree up to this level.
    max_samples : int or float, optional
        Draws for a tree, or their share of the weight of all rows; None: one for each row.
    monotonic_cst : array of shape (d,), optional
        1 or −1 for columns along which the probability of the second class must not fall or rise.
    max_features_per_tree : int, float, {"sqrt", "log2"} or None, default=None
        Columns drawn once for each tree, of which its nodes draw theirs; None: all. With
        ``max_features=None`` only trees differ in columns, not nodes.
    max_candidates : int, optional
        Thresholds tried per column and node, drawn among all; None: all (random thresholds:
        one, whatever is said here).
    splits : {"auto", "histogram", "exact"}, default="auto"
        As of random forests; random thresholds are drawn among all numbers, whatever is said
        here.
    categorical_features : array-like, optional
        Columns to be read as categories, besides those that are by their type.

    Attributes
    ----------
    estimators_ : sequence of ExtraTreeClassifier
        The trees, each made when it is asked for; ``len`` and indices as of a list.
    classes_ : array of shape (C,), or list of them
    n_classes_ : int, or list of them
    feature_importances_ : array of shape (d,)
        Shares of the columns in what the splits gained.
    estimators_samples_ : list of arrays
        The rows that each tree drew.
    oob_decision_function_ : array of shape (n, C)
        What the trees that did not draw a row say of it; NaN where all drew it.
    oob_score_ : float
        How good that is, with ``oob_score_interval_``, its 95 % interval.
    n_outputs_ : int
    solution_ : Solution
        How the fit ended, and with how many trees.

    Examples
    --------
    >>> import thetahat as th
    >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]
    >>> y = ["low", "low", "low", "high", "high", "high"]
    >>> forest = th.ExtraTreesClassifier(random_state=0).fit(X, y)
    >>> forest.predict([[0.5], [4.5]]).tolist()
    ['low', 'high']
    """

    _random_thresholds = True
    _kind_of_tree = ExtraTreeClassifier

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = "sqrt",
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = False,
        oob_score: Any = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        class_weight: Any = None,
        ccp_alpha: float = 0.0,
        max_samples: float | None = None,
        monotonic_cst: Any = None,
        max_features_per_tree: Any = None,
        max_candidates: int | None = None,
        splits: str = "auto",
        categorical_features: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.max_features_per_tree = max_features_per_tree
        self.max_candidates = max_candidates
        self.splits = splits
        self.categorical_features = categorical_features


class ExtraTreesRegressor(ForestRegressor):
    """Many regression trees with random thresholds, on all rows, whose answers are averaged.

    Formula: f(x) = (1/M)·Σₘ v_m(x), with v_m(x) the mean target of the leaf of tree m that
    holds x. Each node draws for each of its columns one threshold, uniform between the extremes
    of its rows, and takes the best of these splits: f is smoother than that of a random forest.

    Cost: O(d·n log n) per tree, one tree per thread; 16 bytes a node; prediction O(depth) a tree.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    criterion : {"squared_error", "absolute_error", "friedman_mse", "poisson"}, \
default="squared_error"
        What a leaf's constant loses; absolute errors have medians in the leaves.
    max_depth : int, optional
        Most questions in a row; None: until leaves are pure.
    min_samples_split, min_samples_leaf : int or float, default=2 and 1
        Least rows of a node that is divided and of a leaf; a float is a share of all rows.
    min_weight_fraction_leaf : float, default=0.0
        Least share of a tree's weight in a leaf.
    max_features : int, float, {"sqrt", "log2"} or None, default=1.0
        Columns tried at a node, drawn anew at each; more while all of them are constant there.
    max_leaf_nodes : int, optional
        Most leaves of a tree; the leaf that gains most is divided first (best-first growth).
    min_impurity_decrease : float, default=0.0
        Least gain of a split times the node's share of the weight.
    bootstrap : bool, default=False
        Grow each tree on rows drawn with replacement; else on all rows.
    oob_score : bool or function of (y, prediction), default=False
        Judge the forest by the rows that trees did not draw: R², or the function.
    n_jobs : int, optional
        Most threads; None and −1: those of ``th.config(threads=...)``. Results do not depend on it.
    random_state : int, Generator, RandomState or None, default=None
        What is drawn depends on it alone.
    verbose : int, default=0
        Not used: progress is told by ``set_callbacks(sklearn.callback.ProgressBar())``.
    warm_start : bool, default=False
        Add trees to those of the last fit, up to ``n_estimators``.
    ccp_alpha : float, default=0.0
        Prune the weakest links of every tree up to this level.
    max_samples : int or float, optional
        Draws for a tree, or their share of the weight of all rows; None: one for each row.
    monotonic_cst : array of shape (d,), optional
        1 or −1 for columns along which the answer must not fall or rise.
    max_features_per_tree : int, float, {"sqrt", "log2"} or None, default=None
        Columns drawn once for each tree, of which its nodes draw theirs; None: all. With
        ``max_features=None`` only trees differ in columns, not nodes.
    max_candidates : int, optional
        Thresholds tried per column and node, drawn among all; None: all (random thresholds:
        one, whatever is said here).
    splits : {"auto", "histogram", "exact"}, default="auto"
        As of random forests; random thresholds are drawn among all numbers, whatever is said
        here.
    categorical_features : array-like, optional
        Columns to be read as categories, besides those that are by their type.

    Attributes
    ----------
    estimators_ : sequence of ExtraTreeRegressor
        The trees, each made when it is asked for; ``len`` and indices as of a list.
    feature_importances_ : array of shape (d,)
        Shares of the columns in what the splits gained.
    estimators_samples_ : list of arrays
        The rows that each tree drew.
    oob_prediction_ : array of shape (n,) or (n, n_outputs)
        What the trees that did not draw a row say of it; NaN where all drew it.
    oob_score_ : float
        How good that is, with ``oob_score_interval_``, its 95 % interval.
    n_outputs_ : int
    solution_ : Solution
        How the fit ended, and with how many trees.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.arange(20.0)[:, None]
    >>> forest = th.ExtraTreesRegressor(random_state=0).fit(X, np.arange(20.0) > 9)
    >>> forest.predict([[2.0], [17.0]]).round(2).tolist()
    [0.0, 1.0]
    """

    _random_thresholds = True
    _kind_of_tree = ExtraTreeRegressor

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = 1.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = False,
        oob_score: Any = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        ccp_alpha: float = 0.0,
        max_samples: float | None = None,
        monotonic_cst: Any = None,
        max_features_per_tree: Any = None,
        max_candidates: int | None = None,
        splits: str = "auto",
        categorical_features: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.max_features_per_tree = max_features_per_tree
        self.max_candidates = max_candidates
        self.splits = splits
        self.categorical_features = categorical_features
