"""Classification trees: f(x) = Σⱼ πⱼ·1[x ∈ Rⱼ], with πⱼ the class proportions of region Rⱼ."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, one_of
from thetahat.foundation.types import Array
from thetahat.models.tree.single import SingleTree
from thetahat.models.tree.tree_classifier import TreeClassifierLearner


class ClassificationTree(SingleTree, TreeClassifierLearner):
    """Tree grown from class counts; predicts class proportions and majority classes."""

    _ranges: ClassVar[dict[str, Range]] = {
        **SingleTree._ranges,
        "criterion": one_of("gini", "entropy", "log_loss", "error"),
    }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Grow the tree from the training rows. Cost: O(n·d) per level.

        Parameters
        ----------
        X : table of shape (n, d)
            Training rows with numbers, categories and missing values: an array, a sparse array or a
            data frame.
        y : array-like of shape (n,) or (n, n_outputs)
            Class labels of the training rows: text, numbers or Booleans.
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
        source = self._open_labels(X, y, sample_weight, class_weight=self.class_weight)
        return source, tuple(np.atleast_1d(self.n_classes_).tolist())

    def predict_proba(self, X: Any) -> Any:
        """Predict class probabilities: the class proportions in the leaf of each row.

        Cost: O(n · depth).

        Parameters
        ----------
        X : table of shape (n, d)
            Rows to predict, with the same columns as in `fit`.

        Returns
        -------
        array of shape (n, n_classes), or a list of such arrays for several outputs
            Probabilities in the order of ``classes_``.
        """
        rows = self._rows(X)
        shares = self.tree_.predict(rows).astype(rows.dtype, copy=False)
        if self.n_outputs_ == 1:
            return shares[:, 0]
        return [shares[:, k, :n_classes] for k, n_classes in enumerate(self.n_classes_)]

    def predict_log_proba(self, X: Any) -> Any:
        """Predict the logarithms of the class probabilities; −∞ where a probability is 0.

        Cost: O(n · depth).

        Parameters
        ----------
        X : table of shape (n, d)
            Rows to predict, with the same columns as in `fit`.

        Returns
        -------
        array of shape (n, n_classes), or a list of such arrays for several outputs
            Log-probabilities in the order of ``classes_``.
        """
        shares = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return np.log(shares) if self.n_outputs_ == 1 else [np.log(share) for share in shares]

    def predict(self, X: Any) -> Array:
        """Predict the majority class in the leaf of each row; the first one in case of ties.

        Cost: O(n · depth).

        Parameters
        ----------
        X : table of shape (n, d)
            Rows to predict, with the same columns as in `fit`.

        Returns
        -------
        array of shape (n,) or (n, n_outputs)
            The predicted class labels.
        """
        leaves = self.apply(X)
        winners = self.tree_.majority[leaves]
        if self.n_outputs_ == 1:
            return self.classes_.take(winners[:, 0])
        columns = zip(self.classes_, winners.T, strict=True)
        return np.stack([classes.take(codes) for classes, codes in columns], axis=1)


@with_parameters
class DecisionTreeClassifier(ClassificationTree):
    """Decision tree classifier with exact splits.

    The tree splits the rows by one column at a time until its leaves contain (nearly) one class.
    Categories and missing values are handled without preprocessing. The same tree results for any
    number of threads.

    Formula: each node takes the split with the largest gain φ − (w_L·φ_L + w_R·φ_R)/w, where the
    impurity φ of the class proportions π is 1 − Σπ² (Gini), −Σ π·log₂ π (entropy) or 1 − max π
    (training error). Growth is greedy, because finding the best tree is NP-complete.

    Cost: O(n·d) per level and O(n·d) memory; prediction O(depth) per row.

    Parameters
    ----------
    criterion : {"gini", "entropy", "log_loss", "error"}, default="gini"
        Impurity that splits reduce: Gini impurity, Shannon entropy ("log_loss" is the same), or the
        training error, which is the fraction of rows outside the majority class.
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
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> tree = th.DecisionTreeClassifier().fit(X, ["no", "yes", "yes", "no"])
    >>> tree.predict([[1, 0], [1, 1]]).tolist()
    ['yes', 'no']
    >>> tree.get_depth(), tree.get_n_leaves()
    (2, 4)
    """

    _: KW_ONLY
    criterion: str = "gini"
    splitter: str = "best"
    max_depth: int | None = None
    min_samples_split: float = 2
    min_samples_leaf: float = 1
    min_weight_fraction_leaf: float = 0.0
    max_features: Any = None
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
