"""Single trees with random thresholds, the members of extremely randomised forests."""

from __future__ import annotations

from typing import Any

from thetahat.models.tree.classification import ClassificationTree
from thetahat.models.tree.regression import RegressionTree


class ExtraTreeClassifier(ClassificationTree):
    """A tree whose thresholds are drawn at random, the best of a few such splits taken.

    Formula: at each node √d columns are drawn, for each a threshold uniform between its extremes in
    the node, and the split of largest gain (see `DecisionTreeClassifier`) is taken. Meant for
    ensembles: alone it varies much.

    Cost: O(n·√d) per level after sorting the columns; prediction O(depth) per row.

    Parameters
    ----------
    criterion, splitter, max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, \
max_features, random_state, max_leaf_nodes, min_impurity_decrease, class_weight, ccp_alpha, \
monotonic_cst, categorical_features, categorical_split, candidates, leaf_rate, min_gain, oblique, \
ties
        As in `DecisionTreeClassifier`, with other defaults.

    Attributes
    ----------
    tree_ : Tree
        The nodes, with scikit-learn's names.
    classes_ : array of shape (C,), or list of them
    feature_importances_ : array of shape (d,)
        Shares of the columns in what the splits gained.

    Examples
    --------
    >>> import thetahat as th
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> tree = th.ExtraTreeClassifier(random_state=0).fit(X, [0, 0, 1, 1])
    >>> tree.predict(X).tolist()
    [0, 0, 1, 1]
    """

    def __init__(
        self,
        *,
        criterion: str = "gini",
        splitter: str = "random",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = "sqrt",
        random_state: Any = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        class_weight: Any = None,
        ccp_alpha: float = 0.0,
        monotonic_cst: Any = None,
        categorical_features: Any = None,
        categorical_split: str = "subset",
        candidates: str = "midpoints",
        leaf_rate: float | None = None,
        min_gain: float = 0.0,
        oblique: int = 0,
        ties: str = "first",
    ) -> None:
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.categorical_features = categorical_features
        self.categorical_split = categorical_split
        self.candidates = candidates
        self.leaf_rate = leaf_rate
        self.min_gain = min_gain
        self.oblique = oblique
        self.ties = ties


class ExtraTreeRegressor(RegressionTree):
    """A tree whose thresholds are drawn at random, the best of a few such splits taken.

    Formula: at each node a threshold uniform between the column's extremes in the node is drawn for
    every column, and the split of largest gain (see `DecisionTreeRegressor`) is taken. Meant for
    ensembles: alone it varies much.

    Cost: O(n·d) per level after sorting the columns; prediction O(depth) per row.

    Parameters
    ----------
    criterion, splitter, max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, \
max_features, random_state, min_impurity_decrease, max_leaf_nodes, ccp_alpha, monotonic_cst, \
categorical_features, categorical_split, candidates, leaf_rate, min_gain, oblique, \
ties
        As in `DecisionTreeRegressor`, with other defaults.

    Attributes
    ----------
    tree_ : Tree
        The nodes, with scikit-learn's names.
    feature_importances_ : array of shape (d,)
        Shares of the columns in what the splits gained.

    Examples
    --------
    >>> import thetahat as th
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> th.ExtraTreeRegressor(random_state=0).fit(X, [1, 2, 3, 4]).predict(X)
    array([1., 2., 3., 4.])
    """

    def __init__(
        self,
        *,
        criterion: str = "squared_error",
        splitter: str = "random",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = 1.0,
        random_state: Any = None,
        min_impurity_decrease: float = 0.0,
        max_leaf_nodes: int | None = None,
        ccp_alpha: float = 0.0,
        monotonic_cst: Any = None,
        categorical_features: Any = None,
        categorical_split: str = "subset",
        candidates: str = "midpoints",
        leaf_rate: float | None = None,
        min_gain: float = 0.0,
        oblique: int = 0,
        ties: str = "first",
    ) -> None:
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.min_impurity_decrease = min_impurity_decrease
        self.max_leaf_nodes = max_leaf_nodes
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.categorical_features = categorical_features
        self.categorical_split = categorical_split
        self.candidates = candidates
        self.leaf_rate = leaf_rate
        self.min_gain = min_gain
        self.oblique = oblique
        self.ties = ties
