"""Classification trees: f(x) = Σⱼ πⱼ·1[x ∈ Rⱼ] with πⱼ the class proportions of region Rⱼ."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.estimator.parameters import Range, one_of
from thetahat.foundation.types import Array
from thetahat.models.tree.single import SingleTree
from thetahat.models.tree.tree_classifier import TreeClassifierLearner


class ClassificationTree(SingleTree, TreeClassifierLearner):
    """Grows by class counts; answers with proportions and majorities."""

    _ranges: ClassVar[dict[str, Range]] = {
        **SingleTree._ranges,
        "criterion": one_of("gini", "entropy", "log_loss", "error"),
    }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Grow the tree.

        Parameters
        ----------
        X : table of shape (n, d)
            Numbers, categories and missing values; an array, a sparse array or a data frame.
        y : array-like of shape (n,) or (n, n_outputs)
            Labels: text, numbers or Booleans.
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
        source = self._open_labels(X, y, sample_weight, class_weight=self.class_weight)
        return source, tuple(np.atleast_1d(self.n_classes_).tolist())

    def predict_proba(self, X: Any) -> Any:
        """The class proportions of each row's leaf, (n, C); a list of them for several outputs."""
        rows = self._rows(X)
        shares = self.tree_.predict(rows).astype(rows.dtype, copy=False)
        if self.n_outputs_ == 1:
            return shares[:, 0]
        return [shares[:, k, :n_classes] for k, n_classes in enumerate(self.n_classes_)]

    def predict_log_proba(self, X: Any) -> Any:
        """The logarithms of `predict_proba`, −∞ for classes that a leaf does not hold."""
        shares = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return np.log(shares) if self.n_outputs_ == 1 else [np.log(share) for share in shares]

    def predict(self, X: Any) -> Array:
        """The majority class of each row's leaf, (n,) or (n, n_outputs); the first at a tie."""
        leaves = self.apply(X)
        winners = self.tree_.majority[leaves]
        if self.n_outputs_ == 1:
            return self.classes_.take(winners[:, 0])
        columns = zip(self.classes_, winners.T, strict=True)
        return np.stack([classes.take(codes) for classes, codes in columns], axis=1)


class DecisionTreeClassifier(ClassificationTree):
    """A tree that asks one question after the other until its leaves are (nearly) of one class.

    Formula: each node takes the split of largest gain φ − (w_L·φ_L + w_R·φ_R)/w, with the impurity
    φ = 1 − Σπ² (Gini), −Σ π·log₂ π (entropy) or 1 − max π (training error) of its class proportions
    π. Finding the best partition is NP-complete, so growth is greedy. Exact splits on columns that
    are sorted once; the same tree for any number of threads.

    Cost: O(n·d) per level, O(n·d) memory; prediction O(depth) per row.

    Parameters
    ----------
    criterion : {"gini", "entropy", "log_loss", "error"}, default="gini"
        The impurity; log_loss is entropy.
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
        Most leaves; the leaf that gains most is divided first (best-first growth).
    min_impurity_decrease : float, default=0.0
        Least gain of a split times the node's share of the weight.
    class_weight : dict, list of dict, "balanced" or None, default=None
        Factors of the weights of classes.
    ccp_alpha : float, default=0.0
        Prune weakest links up to this level.
    monotonic_cst : array of shape (d,), optional
        1 or −1 for columns along which the probability of the second class must not fall or rise.
    categorical_features : array-like, optional
        Columns to be read as categories, besides those that are by their type.
    categorical_split : {"subset", "equal"}, default="subset"
        Best subset of categories against the rest (two classes), or one against the others.
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
    classes_ : array of shape (C,), or list of them
    n_classes_ : int or list of int
    feature_importances_ : array of shape (d,)
        Shares of the columns in what the splits gained.
    max_features_, n_outputs_, n_features_in_ : int
    feature_names_in_ : array of shape (d,)
        Defined when X has names.

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

    def __init__(
        self,
        *,
        criterion: str = "gini",
        splitter: str = "best",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = None,
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
