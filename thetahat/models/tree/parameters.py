"""Parameters that trees and forests share, with their descriptions and ranges."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import (
    LARGEST_FACTOR,
    Range,
    at_least,
    from_to,
    infinity,
    none,
    one_of,
    share_of_all,
    whole,
)

some_columns = whole(1) | share_of_all | one_of("sqrt", "log2") | none


@with_parameters
class GrowthParameters:
    """How a tree grows and when it stops.

    Parameters
    ----------
    max_depth : int or None, default=None
        Maximum depth of a tree: the number of edges from the root to the deepest leaf. Smaller
        values reduce overfitting. None grows until the leaves are pure or too small to split.
    min_samples_split : int or float, default=2
        Minimum number of rows that a node needs to be split. A float is a fraction of all rows.
        Larger values give smaller trees.
    min_samples_leaf : int or float, default=1
        Minimum number of rows in a leaf. A float is a fraction of all rows. Larger values give
        smoother predictions.
    min_weight_fraction_leaf : float, default=0.0
        Minimum fraction of the total weight that a leaf must hold. Must lie between 0 and 0.5.
    max_features : int, float, {"sqrt", "log2"} or None, default=None
        Number of columns considered for each split, drawn at random for every node. An int is a
        number of columns, a float a fraction of them; "sqrt" and "log2" are functions of the number
        of columns; None considers all of them. Fewer columns make trees more diverse. Columns that
        are constant in the node do not count.
    max_leaf_nodes : int or None, default=None
        Maximum number of leaves of a tree. When set, the leaf whose split has the largest gain is
        split first (best-first growth). Must be at least 1; None means no limit.
    min_impurity_decrease : float, default=0.0
        Minimum weighted decrease of the impurity that a split must achieve: the decrease times the
        node's fraction of the total weight. Larger values give smaller trees. Must be at least 0.
    ccp_alpha : float, default=0.0
        Strength of minimal cost-complexity pruning, applied to every tree (α). Larger values prune
        more. Must be at least 0; 0 means no pruning.
    categorical_features : array-like, "from_dtype" or None, default="from_dtype"
        Columns to treat as unordered categories: a Boolean mask, column numbers or column names.
        "from_dtype" takes the columns of text and of categorical type, and ordered categories as
        numbers 0, 1, … in their order; None takes no column. All other columns must hold numbers or
        categories that are numbers. Categories are ordered by their mean target in the node and
        split along that order. The gain of such a split is multiplied by the share of the
        differences between the k categories that exceeds chance, 1 − (k − 3 + √(2(k − 1)))·σ²/B (at
        least 0, and 1 for k ≤ 3), where B is the sum of squares between the categories and σ² the
        variance within them. So a column with hundreds of random levels is rarely chosen, and one
        with few levels or strong effects is hardly affected. Random splits are not changed.
    """

    _ranges: ClassVar[dict[str, Range]] = {
        "max_depth": whole(1) | none,
        "min_samples_split": whole(2) | share_of_all,
        "min_samples_leaf": whole(1) | share_of_all,
        "min_weight_fraction_leaf": from_to(0, 0.5),
        "max_features": some_columns,
        "max_leaf_nodes": whole(1) | none,
        "min_impurity_decrease": at_least(0),
        "ccp_alpha": at_least(0) | infinity,
    }

    _: KW_ONLY
    max_depth: int | None = None
    min_samples_split: float = 2
    min_samples_leaf: float = 1
    min_weight_fraction_leaf: float = 0.0
    max_features: Any = None
    random_state: Any = None
    max_leaf_nodes: int | None = None
    min_impurity_decrease: float = 0.0
    ccp_alpha: float = 0.0
    monotonic_cst: Any = None
    categorical_features: Any = "from_dtype"


@with_parameters
class ClassificationParameters:
    """How trees are grown from class labels.

    Parameters
    ----------
    criterion : {"gini", "entropy", "log_loss", "error"}, default="gini"
        Impurity that splits reduce: Gini impurity, Shannon entropy ("log_loss" is the same), or the
        training error, which is the fraction of rows outside the majority class.
    class_weight : dict, list of dict, "balanced" or None, default=None
        Weight of each class, as ``{label: weight}``, or a list of such dicts for several outputs;
        multiplies `sample_weight`. "balanced" sets the weights inversely proportional to the class
        frequencies, so that all classes have the same total weight; None gives every class weight
        1.
    monotonic_cst : array-like, dict or None, default=None
        Direction of the effect of each column on the probability of the second class: 1 (must not
        decrease), 0 (no constraint) or −1 (must not increase). An array with one entry per column,
        or a dict from column names to directions. Requires two classes and one output. None means
        no constraints.
    """

    _: KW_ONLY
    criterion: str = "gini"
    class_weight: Any = None


@with_parameters
class RegressionParameters:
    """How trees are grown from numbers.

    Parameters
    ----------
    criterion : {"squared_error", "friedman_mse", "absolute_error", "poisson"}, \
    default="squared_error"
        Loss that splits reduce: the squared error, the absolute error (leaves predict medians), or
        the Poisson deviance for non-negative targets. "friedman_mse" is the same as
        "squared_error": Friedman's improvement of a split is its gain in squared error.
    monotonic_cst : array-like, dict or None, default=None
        Direction of the effect of each column on the prediction: 1 (must not decrease), 0 (no
        constraint) or −1 (must not increase). An array with one entry per column, or a dict from
        column names to directions. Requires one output. None means no constraints.
    """

    _: KW_ONLY
    criterion: str = "squared_error"


@with_parameters
class SingleTreeParameters(GrowthParameters):
    """What estimators with one tree offer in addition.

    Parameters
    ----------
    random_state : int, Generator, RandomState or None, default=None
        Seed for drawing columns, thresholds and oblique directions. Pass an int for the same result
        on every call.
    ccp_alpha : float, default=0.0
        Strength of minimal cost-complexity pruning (α). Larger values prune more; see
        `cost_complexity_pruning_path` for suitable values. Must be at least 0; 0 means no pruning.
    splitter : {"best", "random"}, default="best"
        How thresholds are chosen. "best" tries every threshold; "random" draws one threshold per
        column, uniformly between the smallest and the largest value in the node.
    categorical_split : {"subset", "equal"}, default="subset"
        How categorical columns are split: "subset" searches the best subset of categories against
        the rest (one output, and two classes in classification); "equal" separates one category
        from all others.
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
    """

    _ranges: ClassVar[dict[str, Range]] = {
        **GrowthParameters._ranges,
        "splitter": one_of("best", "random"),
        "categorical_split": one_of("subset", "equal"),
        "candidates": one_of("midpoints", "values"),
        "leaf_rate": at_least(0, LARGEST_FACTOR) | none,
        "min_gain": at_least(0),
        "oblique": whole(0),
        "ties": one_of("first", "random"),
    }

    _: KW_ONLY
    splitter: str = "best"
    categorical_split: str = "subset"
    candidates: str = "midpoints"
    leaf_rate: float | None = None
    min_gain: float = 0.0
    oblique: int = 0
    ties: str = "first"
