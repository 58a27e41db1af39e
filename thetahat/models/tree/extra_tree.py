"""Single trees with random thresholds, the members of extremely randomised forests."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

from thetahat.estimator.declaration import with_parameters
from thetahat.models.tree.classification import ClassificationTree
from thetahat.models.tree.regression import RegressionTree


@with_parameters
class ExtraTreeClassifier(ClassificationTree):
    """Decision tree classifier with random thresholds.

    Each node draws √d columns and one threshold per column, uniformly between the smallest and the
    largest value in the node, and takes the best of these splits. A single such tree has a high
    variance; use it inside ensembles such as `ExtraTreesClassifier`.

    Formula: the gain of a split is that of `DecisionTreeClassifier`.

    Cost: O(n·√d) per level after sorting the columns; prediction O(depth) per row.

    Parameters
    ----------
    criterion : {"gini", "entropy", "log_loss", "error"}, default="gini"
        Impurity that splits reduce: Gini impurity, Shannon entropy ("log_loss" is the same), or the
        training error, which is the fraction of rows outside the majority class.
    splitter : {"best", "random"}, default="random"
        How thresholds are chosen. "best" tries every threshold; "random" draws one threshold per
        column, uniformly between the smallest and the largest value in the node.
    max_depth : int or None, default=None
        Maximum depth of the tree: the number of edges from the root to the deepest leaf. Smaller
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
        of columns; None considers all of them. Columns that are constant in the node do not count.
    random_state : int, Generator, RandomState or None, default=None
        Seed for drawing columns, thresholds and oblique directions. Pass an int for the same result
        on every call.
    max_leaf_nodes : int or None, default=None
        Maximum number of leaves. When set, the leaf whose split has the largest gain is split first
        (best-first growth). Must be at least 1; None means no limit.
    min_impurity_decrease : float, default=0.0
        Minimum weighted decrease of the impurity that a split must achieve: the decrease times the
        node's fraction of the total weight. Larger values give smaller trees. Must be at least 0.
    class_weight : dict, list of dict, "balanced" or None, default=None
        Weight of each class, as ``{label: weight}``, or a list of such dicts for several outputs;
        multiplies `sample_weight`. "balanced" sets the weights inversely proportional to the class
        frequencies, so that all classes have the same total weight; None gives every class weight
        1.
    ccp_alpha : float, default=0.0
        Strength of minimal cost-complexity pruning (α). Larger values prune more; see
        `cost_complexity_pruning_path` for suitable values. Must be at least 0; 0 means no pruning.
    monotonic_cst : array-like, dict or None, default=None
        Direction of the effect of each column on the probability of the second class: 1 (must not
        decrease), 0 (no constraint) or −1 (must not increase). An array with one entry per column,
        or a dict from column names to directions. Requires two classes and one output. None means
        no constraints.
    categorical_features : array-like or None, default=None
        Columns to treat as unordered categories: a Boolean mask, column numbers or column names.
        Columns of text and of categorical type are always treated as categories; None adds no
        others.
    categorical_split : {"subset", "equal"}, default="subset"
        How categorical columns are split: "subset" searches the best subset of categories against
        the rest (two classes); "equal" separates one category from all others.
    candidates : {"midpoints", "values"}, default="midpoints"
        Where thresholds lie: halfway between neighbouring values of a column, or at the values
        themselves (x ≤ t).
    leaf_rate : float or None, default=None
        Limits the number of leaves to τ·N^(1/3), with N the total weight of the rows and τ this
        value. Must be at least 0; None means no such limit.
    min_gain : float, default=0.0
        Minimum decrease of the impurity that a split must achieve, relative to the weight of its
        own node (δ). Unlike ``min_impurity_decrease``, it does not depend on the size of the node.
        Must be at least 0.
    oblique : int, default=0
        Number of random linear combinations of two columns that are added as candidates for splits.
        0 allows axis-parallel splits only.
    ties : {"first", "random"}, default="first"
        Which column to use when several splits have the same gain, which is frequent in small
        nodes: the first column, or one chosen at random.

    Attributes
    ----------
    tree_ : Tree
        The nodes of the tree as arrays, with the same names as in scikit-learn.
    classes_ : array of shape (n_classes,), or list of such arrays
        The class labels, in sorted order; a list of arrays for several outputs.
    n_classes_ : int or list of int
        Number of classes; a list of numbers for several outputs.
    feature_importances_ : array of shape (d,)
        Relative importance of each column: its share of the total decrease of impurity. The shares
        sum to 1.
    max_features_ : int
        Number of columns considered for each split.
    n_outputs_ : int
        Number of outputs, that is, of columns of y.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : array of shape (d,)
        Names of the columns seen in `fit`. Defined only when X has column names that are all
        strings.

    Examples
    --------
    >>> import thetahat as th
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> tree = th.ExtraTreeClassifier(random_state=0).fit(X, [0, 0, 1, 1])
    >>> tree.predict(X).tolist()
    [0, 0, 1, 1]
    """

    _: KW_ONLY
    criterion: str = "gini"
    splitter: str = "random"
    max_depth: int | None = None
    min_samples_split: float = 2
    min_samples_leaf: float = 1
    min_weight_fraction_leaf: float = 0.0
    max_features: Any = "sqrt"
    random_state: Any = None
    max_leaf_nodes: int | None = None
    min_impurity_decrease: float = 0.0
    class_weight: Any = None
    ccp_alpha: float = 0.0
    monotonic_cst: Any = None
    categorical_features: Any = None
    categorical_split: str = "subset"
    candidates: str = "midpoints"
    leaf_rate: float | None = None
    min_gain: float = 0.0
    oblique: int = 0
    ties: str = "first"


@with_parameters
class ExtraTreeRegressor(RegressionTree):
    """Decision tree regressor with random thresholds.

    Each node draws one threshold per column, uniformly between the smallest and the largest value
    in the node, and takes the best of these splits. A single such tree has a high variance; use it
    inside ensembles such as `ExtraTreesRegressor`.

    Formula: the gain of a split is that of `DecisionTreeRegressor`.

    Cost: O(n·d) per level after sorting the columns; prediction O(depth) per row.

    Parameters
    ----------
    criterion : {"squared_error", "friedman_mse", "absolute_error", "poisson"}, \
    default="squared_error"
        Loss that splits reduce: the squared error, the absolute error (leaves predict medians),
        Friedman's improvement score, or the Poisson deviance for non-negative targets.
    splitter : {"best", "random"}, default="random"
        How thresholds are chosen. "best" tries every threshold; "random" draws one threshold per
        column, uniformly between the smallest and the largest value in the node.
    max_depth : int or None, default=None
        Maximum depth of the tree: the number of edges from the root to the deepest leaf. Smaller
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
        of columns; None considers all of them. Columns that are constant in the node do not count.
    random_state : int, Generator, RandomState or None, default=None
        Seed for drawing columns, thresholds and oblique directions. Pass an int for the same result
        on every call.
    min_impurity_decrease : float, default=0.0
        Minimum weighted decrease of the impurity that a split must achieve: the decrease times the
        node's fraction of the total weight. Larger values give smaller trees. Must be at least 0.
    max_leaf_nodes : int or None, default=None
        Maximum number of leaves. When set, the leaf whose split has the largest gain is split first
        (best-first growth). Must be at least 1; None means no limit.
    ccp_alpha : float, default=0.0
        Strength of minimal cost-complexity pruning (α). Larger values prune more; see
        `cost_complexity_pruning_path` for suitable values. Must be at least 0; 0 means no pruning.
    monotonic_cst : array-like, dict or None, default=None
        Direction of the effect of each column on the prediction: 1 (must not decrease), 0 (no
        constraint) or −1 (must not increase). An array with one entry per column, or a dict from
        column names to directions. Requires one output. None means no constraints.
    categorical_features : array-like or None, default=None
        Columns to treat as unordered categories: a Boolean mask, column numbers or column names.
        Columns of text and of categorical type are always treated as categories; None adds no
        others.
    categorical_split : {"subset", "equal"}, default="subset"
        How categorical columns are split: "subset" searches the best subset of categories against
        the rest (one output); "equal" separates one category from all others.
    candidates : {"midpoints", "values"}, default="midpoints"
        Where thresholds lie: halfway between neighbouring values of a column, or at the values
        themselves (x ≤ t).
    leaf_rate : float or None, default=None
        Limits the number of leaves to τ·N^(1/3), with N the total weight of the rows and τ this
        value. Must be at least 0; None means no such limit.
    min_gain : float, default=0.0
        Minimum decrease of the impurity that a split must achieve, relative to the weight of its
        own node (δ). Unlike ``min_impurity_decrease``, it does not depend on the size of the node.
        Must be at least 0.
    oblique : int, default=0
        Number of random linear combinations of two columns that are added as candidates for splits.
        0 allows axis-parallel splits only.
    ties : {"first", "random"}, default="first"
        Which column to use when several splits have the same gain, which is frequent in small
        nodes: the first column, or one chosen at random.

    Attributes
    ----------
    tree_ : Tree
        The nodes of the tree as arrays, with the same names as in scikit-learn.
    feature_importances_ : array of shape (d,)
        Relative importance of each column: its share of the total decrease of impurity. The shares
        sum to 1.
    max_features_ : int
        Number of columns considered for each split.
    n_outputs_ : int
        Number of outputs, that is, of columns of y.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : array of shape (d,)
        Names of the columns seen in `fit`. Defined only when X has column names that are all
        strings.

    Examples
    --------
    >>> import thetahat as th
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> th.ExtraTreeRegressor(random_state=0).fit(X, [1, 2, 3, 4]).predict(X)
    array([1., 2., 3., 4.])
    """

    _: KW_ONLY
    criterion: str = "squared_error"
    splitter: str = "random"
    max_depth: int | None = None
    min_samples_split: float = 2
    min_samples_leaf: float = 1
    min_weight_fraction_leaf: float = 0.0
    max_features: Any = 1.0
    random_state: Any = None
    min_impurity_decrease: float = 0.0
    max_leaf_nodes: int | None = None
    ccp_alpha: float = 0.0
    monotonic_cst: Any = None
    categorical_features: Any = None
    categorical_split: str = "subset"
    candidates: str = "midpoints"
    leaf_rate: float | None = None
    min_gain: float = 0.0
    oblique: int = 0
    ties: str = "first"
