"""Regression trees: f(x) = Σⱼ vⱼ·1[x ∈ Rⱼ], with vⱼ the mean (or median) of the targets in Rⱼ."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

from sklearn.base import RegressorMixin

from thetahat.data.in_memory import InMemory
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, one_of
from thetahat.foundation.types import Array
from thetahat.mathematics.losses.likelihood import Poisson
from thetahat.mathematics.losses.targets import check_targets
from thetahat.models.tree.single import SingleTree


class RegressionTree(RegressorMixin, SingleTree):
    """Tree grown from sums of targets; predicts the mean or median of the leaf."""

    _ranges: ClassVar[dict[str, Range]] = {
        **SingleTree._ranges,
        "criterion": one_of("squared_error", "friedman_mse", "absolute_error", "poisson"),
    }

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Grow the tree from the training rows. Cost: O(n·d) per level.

        Parameters
        ----------
        X : table of shape (n, d)
            Training rows with numbers, categories and missing values: an array, a sparse array or a
            data frame.
        y : array-like of shape (n,) or (n, n_outputs)
            Target value of each training row.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.

        Returns
        -------
        self
            The fitted estimator.
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
        """Predict the value of the leaf of each row.

        Cost: O(n · depth).

        Parameters
        ----------
        X : table of shape (n, d)
            Rows to predict, with the same columns as in `fit`.

        Returns
        -------
        array of shape (n,) or (n, n_outputs)
            The predicted targets.
        """
        rows = self._rows(X)
        values = self.tree_.predict(rows).astype(rows.dtype, copy=False)[:, :, 0]
        return values[:, 0] if self.n_outputs_ == 1 else values


@with_parameters
class DecisionTreeRegressor(RegressionTree):
    """Decision tree regressor with exact splits.

    The tree splits the rows by one column at a time and predicts a constant in each leaf.
    Categories and missing values are handled without preprocessing. The same tree results for any
    number of threads.

    Formula: each node takes the split with the smallest Σ_L (y − c_L)² + Σ_R (y − c_R)², where c_L
    and c_R are the means of the two sides (or the smallest absolute error with medians, or the
    smallest Poisson deviance). All splits of a sorted column together cost O(n).

    Cost: O(n·d) per level and O(n·d) memory; prediction O(depth) per row. The absolute error costs
    O(n·log n·d) per level.

    Parameters
    ----------
    criterion : {"squared_error", "friedman_mse", "absolute_error", "poisson"}, \
    default="squared_error"
        Loss that splits reduce: the squared error, the absolute error (leaves predict medians),
        Friedman's improvement score, or the Poisson deviance for non-negative targets.
    splitter : {"best", "random"}, default="best"
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
    max_features : int, float, {"sqrt", "log2"} or None, default=None
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
    >>> tree = th.DecisionTreeRegressor(max_depth=1).fit([[1], [2], [3], [4]], [1, 3, 9, 0])
    >>> tree.tree_.threshold[0], tree.predict([[0], [5]])
    (np.float64(3.5), array([4.33333333, 0.        ]))
    """

    _: KW_ONLY
    criterion: str = "squared_error"
    splitter: str = "best"
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
    categorical_features: Any = None
    categorical_split: str = "subset"
    candidates: str = "midpoints"
    leaf_rate: float | None = None
    min_gain: float = 0.0
    oblique: int = 0
    ties: str = "first"
