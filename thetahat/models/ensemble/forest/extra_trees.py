"""Extremely randomised trees: averages of trees with random thresholds."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

from thetahat.estimator.declaration import with_parameters
from thetahat.models.ensemble.forest.classifier import ForestClassifier
from thetahat.models.ensemble.forest.regressor import ForestRegressor
from thetahat.models.tree.extra_tree import ExtraTreeClassifier, ExtraTreeRegressor


@with_parameters
class ExtraTreesClassifier(ForestClassifier):
    """Extra-trees classifier: the average of many trees with random thresholds.

    Each split draws √d columns and one random threshold per column, uniformly between the smallest
    and the largest value in the node, and takes the best of these splits. Compared with a random
    forest, training is faster and the trees differ more. By default each tree uses all rows.

    Formula: f(x) = (1/M)·Σₘ π_m(x), with π_m(x) the class proportions in the leaf of tree m that
    contains x.

    Cost: O(√d·n log n) per tree, one tree per thread; 16 bytes per node; prediction O(depth) per
    tree and row.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees in the forest. More trees reduce the variance of the predictions and take
        proportionally longer. Must be at least 1.
    criterion : {"gini", "entropy", "log_loss", "error"}, default="gini"
        Impurity that splits reduce: Gini impurity, Shannon entropy ("log_loss" is the same), or the
        training error, which is the fraction of rows outside the majority class.
    max_depth : int or None, default=None
        Maximum depth of each tree: the number of edges from the root to the deepest leaf. Smaller
        values reduce overfitting. None grows until the leaves are pure or too small to split.
    min_samples_split : int or float, default=2
        Minimum number of rows that a node needs to be split. A float is a fraction of all rows.
        Larger values give smaller trees.
    min_samples_leaf : int or float, default=1
        Minimum number of rows in a leaf. A float is a fraction of all rows. Larger values give
        smoother predictions.
    min_weight_fraction_leaf : float, default=0.0
        Minimum fraction of the total weight that a leaf must hold. Must lie between 0 and 0.5.
    max_features : int, float, {"sqrt", "log2"} or None, default="sqrt"
        Number of columns considered for each split, drawn at random for every node. An int is a
        number of columns, a float a fraction of them; "sqrt" and "log2" are functions of the number
        of columns; None considers all of them. Fewer columns make trees more diverse. Columns that
        are constant in the node do not count.
    max_leaf_nodes : int or None, default=None
        Maximum number of leaves of each tree. When set, the leaf whose split has the largest gain
        is split first (best-first growth). Must be at least 1; None means no limit.
    min_impurity_decrease : float, default=0.0
        Minimum weighted decrease of the impurity that a split must achieve: the decrease times the
        node's fraction of the total weight. Larger values give smaller trees. Must be at least 0.
    bootstrap : bool, default=False
        If True, each tree is grown on rows drawn at random with replacement. If False, each tree is
        grown on all rows.
    oob_score : bool or callable, default=False
        Whether to estimate the accuracy from the out-of-bag rows, the rows that a tree did not
        draw. A function of (y, prediction) replaces the accuracy. Requires ``bootstrap=True``.
    n_jobs : int or None, default=None
        Maximum number of threads. None and −1 use the threads allowed by
        ``th.config(threads=...)``. The result does not depend on the number of threads.
    random_state : int, Generator, RandomState or None, default=None
        Seed for drawing rows, columns and thresholds. Pass an int for the same result on every
        call.
    verbose : int, default=0
        Has no effect. Accepted for compatibility with scikit-learn; use ``set_callbacks`` to follow
        the progress of a fit.
    warm_start : bool, default=False
        If True, the next call to `fit` keeps the trees of the last fit and adds new ones until
        there are ``n_estimators``. If False, every fit grows a new forest.
    class_weight : dict, list of dict, "balanced", "balanced_subsample" or None, default=None
        Weight of each class, as ``{label: weight}``, or a list of such dicts for several outputs;
        multiplies `sample_weight`. "balanced" sets the weights inversely proportional to the class
        frequencies, so that all classes have the same total weight; "balanced_subsample" does the
        same for the rows drawn for each tree; None gives every class weight 1.
    ccp_alpha : float, default=0.0
        Strength of minimal cost-complexity pruning, applied to every tree (α). Larger values prune
        more. Must be at least 0; 0 means no pruning.
    max_samples : int, float or None, default=None
        Number of rows drawn for each tree. A float is a fraction of the total weight of the rows;
        None draws as many as there are rows. Requires ``bootstrap=True``.
    monotonic_cst : array-like, dict or None, default=None
        Direction of the effect of each column on the probability of the second class: 1 (must not
        decrease), 0 (no constraint) or −1 (must not increase). An array with one entry per column,
        or a dict from column names to directions. Requires two classes and one output. None means
        no constraints.
    max_features_per_tree : int, float, {"sqrt", "log2"} or None, default=None
        Number of columns drawn once for each tree, in the same forms as ``max_features``; the nodes
        of the tree choose among these. None uses all columns. With ``max_features=None``, only the
        trees differ in their columns.
    max_candidates : int or None, default=None
        Maximum number of thresholds tried per column and node. It has no effect here: one random
        threshold is always drawn per column.
    splits : {"auto", "histogram", "exact"}, default="auto"
        How thresholds are found. It has no effect here: random thresholds are drawn from the values
        themselves.
    categorical_features : array-like or None, default=None
        Columns to treat as unordered categories: a Boolean mask, column numbers or column names.
        Columns of text and of categorical type are always treated as categories; None adds no
        others.

    Attributes
    ----------
    estimators_ : sequence of ExtraTreeClassifier
        The trees of the forest. Each tree is created when it is accessed; the sequence supports
        ``len`` and indexing like a list.
    classes_ : array of shape (n_classes,), or list of such arrays
        The class labels, in sorted order; a list of arrays for several outputs.
    n_classes_ : int or list of int
        Number of classes; a list of numbers for several outputs.
    n_outputs_ : int
        Number of outputs, that is, of columns of y.
    feature_importances_ : array of shape (d,)
        Relative importance of each column: its share of the total decrease of impurity, averaged
        over the trees. The shares sum to 1.
    estimators_samples_ : list of arrays
        Numbers of the rows drawn for each tree, repeated as often as they were drawn.
    oob_decision_function_ : array of shape (n, n_classes)
        Class probabilities of each row, averaged over the trees that did not draw it; NaN where
        every tree drew the row. Defined with ``oob_score``.
    oob_score_ : float
        Score of the out-of-bag predictions. Its 95 % interval is in ``oob_score_interval_``.
        Defined with ``oob_score``.
    solution_ : Solution
        How the fit ended, and the number of trees that were grown.

    Examples
    --------
    >>> import thetahat as th
    >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]
    >>> y = ["low", "low", "low", "high", "high", "high"]
    >>> forest = th.ExtraTreesClassifier(random_state=0).fit(X, y)
    >>> forest.predict([[0.5], [4.5]]).tolist()
    ['low', 'high']
    """

    n_estimators: int = 100
    _: KW_ONLY
    criterion: str = "gini"
    max_depth: int | None = None
    min_samples_split: float = 2
    min_samples_leaf: float = 1
    min_weight_fraction_leaf: float = 0.0
    max_features: Any = "sqrt"
    max_leaf_nodes: int | None = None
    min_impurity_decrease: float = 0.0
    bootstrap: bool = False
    oob_score: Any = False
    n_jobs: int | None = None
    random_state: Any = None
    verbose: int = 0
    warm_start: bool = False
    class_weight: Any = None
    ccp_alpha: float = 0.0
    max_samples: float | None = None
    monotonic_cst: Any = None
    max_features_per_tree: Any = None
    max_candidates: int | None = None
    splits: str = "auto"
    categorical_features: Any = None

    _random_thresholds = True
    _kind_of_tree = ExtraTreeClassifier


@with_parameters
class ExtraTreesRegressor(ForestRegressor):
    """Extra-trees regressor: the average of many regression trees with random thresholds.

    Each split draws one random threshold per column, uniformly between the smallest and the largest
    value in the node, and takes the best of these splits. Predictions are smoother than those of a
    random forest. By default each tree uses all rows.

    Formula: f(x) = (1/M)·Σₘ v_m(x), with v_m(x) the mean target in the leaf of tree m that contains
    x.

    Cost: O(d·n log n) per tree, one tree per thread; 16 bytes per node; prediction O(depth) per
    tree and row.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees in the forest. More trees reduce the variance of the predictions and take
        proportionally longer. Must be at least 1.
    criterion : {"squared_error", "absolute_error", "friedman_mse", "poisson"}, \
    default="squared_error"
        Loss that splits reduce: the squared error, the absolute error (leaves predict medians),
        Friedman's improvement score, or the Poisson deviance for non-negative targets.
    max_depth : int or None, default=None
        Maximum depth of each tree: the number of edges from the root to the deepest leaf. Smaller
        values reduce overfitting. None grows until the leaves are pure or too small to split.
    min_samples_split : int or float, default=2
        Minimum number of rows that a node needs to be split. A float is a fraction of all rows.
        Larger values give smaller trees.
    min_samples_leaf : int or float, default=1
        Minimum number of rows in a leaf. A float is a fraction of all rows. Larger values give
        smoother predictions.
    min_weight_fraction_leaf : float, default=0.0
        Minimum fraction of the total weight that a leaf must hold. Must lie between 0 and 0.5.
    max_features : int, float, {"sqrt", "log2"} or None, default=1.0
        Number of columns considered for each split, drawn at random for every node. An int is a
        number of columns, a float a fraction of them; "sqrt" and "log2" are functions of the number
        of columns; None considers all of them. Fewer columns make trees more diverse. Columns that
        are constant in the node do not count.
    max_leaf_nodes : int or None, default=None
        Maximum number of leaves of each tree. When set, the leaf whose split has the largest gain
        is split first (best-first growth). Must be at least 1; None means no limit.
    min_impurity_decrease : float, default=0.0
        Minimum weighted decrease of the impurity that a split must achieve: the decrease times the
        node's fraction of the total weight. Larger values give smaller trees. Must be at least 0.
    bootstrap : bool, default=False
        If True, each tree is grown on rows drawn at random with replacement. If False, each tree is
        grown on all rows.
    oob_score : bool or callable, default=False
        Whether to estimate R² from the out-of-bag rows, the rows that a tree did not draw. A
        function of (y, prediction) replaces R². Requires ``bootstrap=True``.
    n_jobs : int or None, default=None
        Maximum number of threads. None and −1 use the threads allowed by
        ``th.config(threads=...)``. The result does not depend on the number of threads.
    random_state : int, Generator, RandomState or None, default=None
        Seed for drawing rows, columns and thresholds. Pass an int for the same result on every
        call.
    verbose : int, default=0
        Has no effect. Accepted for compatibility with scikit-learn; use ``set_callbacks`` to follow
        the progress of a fit.
    warm_start : bool, default=False
        If True, the next call to `fit` keeps the trees of the last fit and adds new ones until
        there are ``n_estimators``. If False, every fit grows a new forest.
    ccp_alpha : float, default=0.0
        Strength of minimal cost-complexity pruning, applied to every tree (α). Larger values prune
        more. Must be at least 0; 0 means no pruning.
    max_samples : int, float or None, default=None
        Number of rows drawn for each tree. A float is a fraction of the total weight of the rows;
        None draws as many as there are rows. Requires ``bootstrap=True``.
    monotonic_cst : array-like, dict or None, default=None
        Direction of the effect of each column on the prediction: 1 (must not decrease), 0 (no
        constraint) or −1 (must not increase). An array with one entry per column, or a dict from
        column names to directions. Requires one output. None means no constraints.
    max_features_per_tree : int, float, {"sqrt", "log2"} or None, default=None
        Number of columns drawn once for each tree, in the same forms as ``max_features``; the nodes
        of the tree choose among these. None uses all columns. With ``max_features=None``, only the
        trees differ in their columns.
    max_candidates : int or None, default=None
        Maximum number of thresholds tried per column and node. It has no effect here: one random
        threshold is always drawn per column.
    splits : {"auto", "histogram", "exact"}, default="auto"
        How thresholds are found. It has no effect here: random thresholds are drawn from the values
        themselves.
    categorical_features : array-like or None, default=None
        Columns to treat as unordered categories: a Boolean mask, column numbers or column names.
        Columns of text and of categorical type are always treated as categories; None adds no
        others.

    Attributes
    ----------
    estimators_ : sequence of ExtraTreeRegressor
        The trees of the forest. Each tree is created when it is accessed; the sequence supports
        ``len`` and indexing like a list.
    n_outputs_ : int
        Number of outputs, that is, of columns of y.
    feature_importances_ : array of shape (d,)
        Relative importance of each column: its share of the total decrease of impurity, averaged
        over the trees. The shares sum to 1.
    estimators_samples_ : list of arrays
        Numbers of the rows drawn for each tree, repeated as often as they were drawn.
    oob_prediction_ : array of shape (n,) or (n, n_outputs)
        Prediction for each row, averaged over the trees that did not draw it; NaN where every tree
        drew the row. Defined with ``oob_score``.
    oob_score_ : float
        Score of the out-of-bag predictions. Its 95 % interval is in ``oob_score_interval_``.
        Defined with ``oob_score``.
    solution_ : Solution
        How the fit ended, and the number of trees that were grown.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.arange(20.0)[:, None]
    >>> forest = th.ExtraTreesRegressor(random_state=0).fit(X, np.arange(20.0) > 9)
    >>> forest.predict([[2.0], [17.0]]).round(2).tolist()
    [0.0, 1.0]
    """

    n_estimators: int = 100
    _: KW_ONLY
    criterion: str = "squared_error"
    max_depth: int | None = None
    min_samples_split: float = 2
    min_samples_leaf: float = 1
    min_weight_fraction_leaf: float = 0.0
    max_features: Any = 1.0
    max_leaf_nodes: int | None = None
    min_impurity_decrease: float = 0.0
    bootstrap: bool = False
    oob_score: Any = False
    n_jobs: int | None = None
    random_state: Any = None
    verbose: int = 0
    warm_start: bool = False
    ccp_alpha: float = 0.0
    max_samples: float | None = None
    monotonic_cst: Any = None
    max_features_per_tree: Any = None
    max_candidates: int | None = None
    splits: str = "auto"
    categorical_features: Any = None

    _random_thresholds = True
    _kind_of_tree = ExtraTreeRegressor
