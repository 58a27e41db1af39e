"""Regression trees: f(x) = Σⱼ vⱼ·1[x ∈ Rⱼ] with vⱼ the mean (or median) of the targets in Rⱼ."""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn.base import RegressorMixin

from thetahat.data.in_memory import InMemory
from thetahat.estimator.parameters import Range, one_of
from thetahat.foundation.types import Array
from thetahat.mathematics.losses.likelihood import Poisson
from thetahat.mathematics.losses.targets import check_targets
from thetahat.models.tree.single import SingleTree


class RegressionTree(RegressorMixin, SingleTree):
    """Grows by sums of targets; answers with the leaf's mean or median."""

    _ranges: ClassVar[dict[str, Range]] = {
        **SingleTree._ranges,
        "criterion": one_of("squared_error", "friedman_mse", "absolute_error", "poisson"),
    }

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Grow the tree.

        Parameters
        ----------
        X : table of shape (n, d)
            Numbers, categories and missing values; an array, a sparse array or a data frame.
        y : array-like of shape (n,) or (n, n_outputs)
            Targets.
        sample_weight : array-like of shape (n,), optional
            How many rows each row stands for; a row of weight 0 is not there.

        Returns
        -------
        self
        """
        self._grow(*self._opened(X, y, sample_weight))
        return self

    def _opened(
        self, X: Any, y: Any, sample_weight: Any = None
    ) -> tuple[InMemory, tuple[int, ...]]:
        source = self._open(X, y, sample_weight)
        if self.criterion == "poisson":
            check_targets(Poisson(), source.y, who=type(self).__name__)
        assert source.y is not None
        self.n_outputs_ = 1 if source.y.ndim == 1 else source.y.shape[1]
        return source, ()

    def predict(self, X: Any) -> Array:
        """The value of each row's leaf, (n,) or (n, n_outputs)."""
        rows = self._rows(X)
        values = self.tree_.predict(rows).astype(rows.dtype, copy=False)[:, :, 0]
        return values[:, 0] if self.n_outputs_ == 1 else values


class DecisionTreeRegressor(RegressionTree):
    """A tree that divides the rows where their targets differ most, with a constant in each leaf.

    Formula: each node takes the split of least Σ_L (y − c_L)² + Σ_R (y − c_R)², c the means of the
    two sides (or of least absolute error with medians, or least Poisson deviance). A threshold
    slides over the sorted rows, so all splits of a column cost O(n). Exact splits on columns that
    are sorted once; the same tree for any number of threads.

    Cost: O(n·d) per level, O(n·d) memory; prediction O(depth) per row. O(n·log n·d) per level for
    absolute errors.

    Parameters
    ----------
    criterion : {"squared_error", "friedman_mse", "absolute_error", "poisson"}, \
default="squared_error"
        What a leaf's constant loses; Friedman's improvement averages outputs before it squares.
    splitter : {"best", "random"}, default="best"
        Try every threshold, or one drawn uniformly between a column's extremes in the node.
    max_depth : int, optional
        Most questions in a row.
    min_samples_split, min_samples_leaf : int or float, default=2 and 1
        Least rows of a node that is divided and of a leaf; a float is a share of all rows.
    min_weight_fraction_leaf : float, default=0.0
        Least share of the weight in a leaf.
    max_features : int, float, {"sqrt", "log2"} or None, default=None
        Columns tried at a node, drawn anew at each; columns that are constant there do not count.
    random_state : int, Generator, RandomState or None, default=None
        What is drawn depends on it alone.
    max_leaf_nodes : int, optional
        Most leaves; the leaf with the largest drop of the error is divided first.
    min_impurity_decrease : float, default=0.0
        Least gain of a split times the node's share of the weight.
    ccp_alpha : float, default=0.0
        Prune weakest links up to this level.
    monotonic_cst : array of shape (d,), optional
        1 or −1 for columns along which the prediction must not fall or rise.
    categorical_features : array-like, optional
        Columns to be read as categories, besides those that are by their type.
    categorical_split : {"subset", "equal"}, default="subset"
        Best subset of categories against the rest (one output), or one against the others.
    candidates : {"midpoints", "values"}, default="midpoints"
        Thresholds: halfway between neighbouring values, or the values themselves (x ≤ t).
    leaf_rate : float, optional
        τ: at most τ·N^(1/3) leaves, with N the weight of the rows.
    min_gain : float, default=0.0
        δ: least gain of a split, by its own node's weight.
    oblique : int, default=0
        Random combinations of two columns that are offered as further columns.
    ties : {"first", "random"}, default="first"
        Of columns that gain alike, as most do in nodes of few rows: the first of them, or any one.

    Attributes
    ----------
    tree_ : Tree
        The nodes, with scikit-learn's names.
    feature_importances_ : array of shape (d,)
        Shares of the columns in what the splits gained.
    max_features_, n_outputs_, n_features_in_ : int
    feature_names_in_ : array of shape (d,)
        Defined when X has names.

    Examples
    --------
    >>> import thetahat as th
    >>> tree = th.DecisionTreeRegressor(max_depth=1).fit([[1], [2], [3], [4]], [1, 3, 9, 0])
    >>> tree.tree_.threshold[0], tree.predict([[0], [5]])
    (np.float64(3.5), array([4.33333333, 0.        ]))
    """

    def __init__(
        self,
        *,
        criterion: str = "squared_error",
        splitter: str = "best",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = None,
        random_state: Any = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
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
