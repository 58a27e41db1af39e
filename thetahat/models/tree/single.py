"""Parts shared by the estimators that consist of one tree: growing, pruning and prediction."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.utils import Bunch
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted

from thetahat import _native
from thetahat.data.in_memory import InMemory
from thetahat.foundation.errors import CapabilityError, ParameterError
from thetahat.foundation.randomness import generator
from thetahat.foundation.types import Array, Matrix
from thetahat.models.tree.growth.columns import dense_rows
from thetahat.models.tree.growth.constraints import directions, require_one_number
from thetahat.models.tree.growth.directions import Directions
from thetahat.models.tree.growth.forest_tree import grow_forest_tree
from thetahat.models.tree.growth.growing import grow_tree, sorted_columns
from thetahat.models.tree.growth.limits import columns_to_draw, rows_meant
from thetahat.models.tree.learner import TreeLearner
from thetahat.models.tree.parameters import SingleTreeParameters
from thetahat.models.tree.pruning import weakest_links
from thetahat.models.tree.structure import Tree
from thetahat.models.tree.weighted_trees import WeightedTrees

MANY_COLUMNS, MANY_UNTRIED = 100, 8
"""Columns, and columns per column tried, from which keeping all of them in order costs more than
sorting a few in every node."""


class SingleTree(SingleTreeParameters, TreeLearner, ABC):
    """A tree, grown greedily with exact or random splits and pruned at ``ccp_alpha``.

    Attributes
    ----------
    tree_ : Tree
        The nodes of the tree as arrays, with the same names as in scikit-learn.
    feature_importances_ : array of shape (d,)
        Relative importance of each column: its share of the total decrease of impurity. The shares
        sum to 1.
    max_features_ : int
        Number of columns considered for each split.
    directions_ : array of shape (oblique, d)
        Coefficients of the oblique directions: ``direction_k`` of a split is the sum of the columns
        times row k. Without rows if ``oblique=0``.
    n_outputs_ : int
        Number of outputs, that is, of columns of y.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : array of shape (d,)
        Names of the columns seen in `fit`. Defined only when X has column names that are all
        strings.
    """

    _multi_output = True
    # Options for speed are not metadata to be routed.
    __metadata_request__fit: ClassVar[dict[str, str]] = {"check_input": UNUSED}
    __metadata_request__predict: ClassVar[dict[str, str]] = {"check_input": UNUSED}
    _keeps_sparse = True
    criterion: str
    tree_: Tree
    max_features_: int
    n_outputs_: int
    _directions: Directions

    @abstractmethod
    def _opened(
        self, X: Any, y: Any, sample_weight: Any = None
    ) -> tuple[InMemory, tuple[int, ...]]:
        """Rows of `fit`, and the number of classes per output (empty for regression)."""

    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, check_input: bool = True
    ) -> Any:
        """Grow the tree from the training rows. Cost: O(n·d) per level.

        Parameters
        ----------
        X : table of shape (n, d)
            Training rows with numbers, categories and missing values: an array, a sparse array or a
            data frame.
        y : array-like of shape (n,) or (n, n_outputs)
            Target of each training row: class labels or numbers.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.
        check_input : bool, default=True
            Accepted as in scikit-learn and has no effect: rows are always validated.

        Returns
        -------
        self
            The fitted estimator.
        """
        self._grow(*self._opened(X, y, sample_weight))
        return self

    def _grow(
        self,
        source: InMemory,
        n_classes: tuple[int, ...] = (),
        columns: _native.SortedColumns | None = None,
    ) -> None:
        """Grow ``tree_`` from numeric targets, or from codes of `n_classes` classes.

        `columns` are the sorted columns of the source, if they were sorted before for another tree.
        """
        random = generator(self.random_state)
        usable = ~self._columns.is_categorical
        who = type(self).__name__
        given = dense_rows(source.X, who) if self.oblique else source.X
        X = given
        if self.oblique and source.weight is not None:
            X = X[source.weight > 0]
        self._directions = Directions.draw(X, usable, self.oblique, random)
        X = self._directions.extend(given)
        self.max_features_ = columns_to_draw(self.max_features, X.shape[1])
        assert source.y is not None
        monotone = self._monotone(n_classes)
        limits: dict[str, Any] = {
            "criterion": self.criterion,
            "n_classes": n_classes,
            "max_features": self.max_features_,
            "seed": int(random.integers(2**63)),
            **self._stopping(source),
        }
        if columns is None and monotone is None and self._grows_as_in_a_forest(X):
            tree = grow_forest_tree(
                X,
                source.y,
                source.weight,
                self._columns,
                random_thresholds=self.splitter == "random",
                **limits,
            )
            self.tree_ = self._pruned(tree)
            return
        alone = columns is None
        if columns is None:
            categorical = np.zeros(X.shape[1], dtype=bool)
            categorical[: usable.shape[0]] = ~usable
            columns = sorted_columns(X, categorical, ordered=self.splitter == "best")
        tree = grow_tree(
            columns,
            source.y,
            source.weight,
            at_values=self.candidates == "values",
            category_subsets=self.categorical_split == "subset",
            random_ties=self.ties == "random",
            use_up=alone,
            min_gain=float(self.min_gain),
            monotone=monotone,
            **limits,
        )
        self.tree_ = self._pruned(tree)

    def _grows_as_in_a_forest(self, X: Matrix) -> bool:
        """Whether the engine of forests can grow the tree, and does it faster.

        It keeps no column in order, which pays where most columns are not tried in most nodes.
        """
        d = X.shape[1]
        tries_few = d >= MANY_COLUMNS and MANY_UNTRIED * self.max_features_ <= d
        plain = self.candidates == "midpoints" and self.categorical_split == "subset"
        return (
            (self.splitter == "random" or (tries_few and plain))
            and self.criterion != "absolute_error"
            and self.ties == "first"
            and not self.oblique
            and not self.min_gain
        )

    def _stopping(self, source: InMemory) -> dict[str, Any]:
        """Limits on the growth; fractions refer to the rows of positive weight."""
        weight = source.weight
        n_rows = source.n_rows if weight is None else int(np.count_nonzero(weight))
        total = float(source.n_rows if weight is None else weight.sum())
        leaves = self.max_leaf_nodes
        if self.leaf_rate is not None:
            rate = max(1, int(min(self.leaf_rate * total ** (1.0 / 3.0), n_rows) + 1e-9))
            leaves = rate if leaves is None else min(rate, leaves)
        return {
            "max_depth": self.max_depth,
            "max_leaves": leaves,
            "min_split": max(2, rows_meant(self.min_samples_split, n_rows)),
            "min_leaf": max(1, rows_meant(self.min_samples_leaf, n_rows)),
            "min_weight": self.min_weight_fraction_leaf * total,
            "min_decrease": float(self.min_impurity_decrease),
        }

    def _monotone(self, n_classes: tuple[int, ...]) -> Array | None:
        """Direction of each column, −1, 0 or 1; None without constraints."""
        signs = directions(self.monotonic_cst, self._columns, type(self).__name__)
        if signs is None:
            return None
        require_one_number(n_classes, self.n_outputs_, type(self).__name__)
        if self.oblique:
            raise ParameterError(
                f"{type(self).__name__}: monotonic_cst cannot be combined with oblique="
                f"{self.oblique}. Set oblique=0."
            )
        return signs

    def _pruned(self, tree: Tree) -> Tree:
        if not self.ccp_alpha:
            return tree
        sequence = weakest_links(tree)
        return sequence.tree_at(sequence.step_at(self.ccp_alpha))

    def _rows(self, X: Any) -> Matrix:
        """Rows in the form that all trees use, followed by the oblique directions."""
        rows = super()._rows(X)
        if self._directions.n_directions:
            rows = dense_rows(rows, type(self).__name__)
        return self._directions.extend(rows)

    def __sklearn_is_fitted__(self) -> bool:
        return "tree_" in self.__dict__

    # Predictions and properties of the fitted tree.

    @property
    def feature_importances_(self) -> Array:
        """Share of each column in the total decrease of impurity; all 0 for a single leaf."""
        check_is_fitted(self)
        gains = self.tree_.compute_feature_importances()
        return self._directions.shared(gains, self.n_features_in_)

    @property
    def directions_(self) -> Array:
        """Coefficients of the oblique directions, (n_directions, d); direction_k is x · row k."""
        check_is_fitted(self)
        return self._directions.coefficients(self.n_features_in_)

    def _shapley_values(self, X: Any, background: Any) -> tuple[Array, Array]:
        check_is_fitted(self)
        return self._weighted_trees().shapley(self._rows(X))

    def _weighted_trees(self) -> WeightedTrees:
        """The tree with the weights of its leaves, where columns can be left out."""
        if self.oblique:
            raise CapabilityError(
                f"{type(self).__name__}: contributions of columns are not available for splits "
                f"along several columns (oblique={self.oblique}). Set oblique=0."
            )
        tree = self.tree_
        return WeightedTrees(tree.packed, tree.weight, np.zeros(tree.values.shape[1]))

    def get_depth(self) -> int:
        """Return the depth: the number of edges from the root to the deepest leaf."""
        check_is_fitted(self)
        return self.tree_.max_depth

    def get_n_leaves(self) -> int:
        """Return the number of leaves of the tree."""
        check_is_fitted(self)
        return self.tree_.n_leaves

    def apply(self, X: Any, check_input: bool = True) -> Array:
        """Return the number of the leaf that each row reaches. Cost: O(n · depth).

        Parameters
        ----------
        X : table of shape (n, d)
            Rows to send through the tree, with the same columns as in `fit`.
        check_input : bool, default=True
            Accepted as in scikit-learn and has no effect: rows are always validated.

        Returns
        -------
        array of shape (n,)
            Number of the leaf in ``tree_``.
        """
        rows = self._rows(X)
        return self.tree_.apply(rows)

    def decision_path(self, X: Any, check_input: bool = True) -> csr_matrix:
        """Return the nodes that each row passes. Cost: O(n · depth).

        Parameters
        ----------
        X : table of shape (n, d)
            Rows to send through the tree, with the same columns as in `fit`.
        check_input : bool, default=True
            Accepted as in scikit-learn and has no effect: rows are always validated.

        Returns
        -------
        sparse matrix of shape (n, n_nodes)
            Entries are 1 for the nodes that a row passes.
        """
        return self.tree_.decision_path(self._rows(X))

    def cost_complexity_pruning_path(self, X: Any, y: Any, sample_weight: Any = None) -> Bunch:
        """Compute the values of ``ccp_alpha`` at which the pruned tree changes. Cost: one `fit`.

        Parameters
        ----------
        X : table of shape (n, d)
            Training rows with numbers, categories and missing values: an array, a sparse array or a
            data frame.
        y : array-like of shape (n,) or (n, n_outputs)
            Target of each training row: class labels or numbers.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.

        Returns
        -------
        Bunch
            ``ccp_alphas`` and the total impurity of the leaves at each of them, ``impurities``,
            from the full tree to the root alone.
        """
        whole_tree = clone(self).set_params(ccp_alpha=0.0).fit(X, y, sample_weight=sample_weight)
        sequence = weakest_links(whole_tree.tree_)
        return Bunch(ccp_alphas=sequence.levels, impurities=sequence.risks)
