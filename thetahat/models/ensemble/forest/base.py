"""Parts shared by all forests: planning, growing and prediction."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_matrix, hstack
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from thetahat.data.in_memory import InMemory
from thetahat.data.row_pieces import RowPieces
from thetahat.estimator.watching import Watched, with_callbacks
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import CapabilityError, ParameterError
from thetahat.foundation.randomness import generator
from thetahat.foundation.threads import n_threads
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.solution import Outcome
from thetahat.models.ensemble.forest.growing import ForestPlan, RowDraws, grow_forest
from thetahat.models.ensemble.forest.members import SHARED, ForestMembers, forest_of
from thetahat.models.ensemble.forest.on_workers import WorkerColumns, columns_on_workers
from thetahat.models.ensemble.forest.parameters import ForestParameters
from thetahat.models.ensemble.last_fit import LastFit
from thetahat.models.ensemble.members import MemberSequence
from thetahat.models.tree.growth.codes import EXACT_ROWS, column_codes, columns_for_random_splits
from thetahat.models.tree.growth.constraints import directions, require_one_number
from thetahat.models.tree.growth.directions import Directions
from thetahat.models.tree.growth.grown_forest import GrownForest
from thetahat.models.tree.growth.limits import columns_to_draw, rows_meant
from thetahat.models.tree.learner import TreeLearner
from thetahat.models.tree.packed import PackedTrees
from thetahat.models.tree.weighted_trees import WeightedTrees

NO_DIRECTIONS = Directions(np.empty((0, 2), dtype=np.int64), np.empty((0, 2)))
"""Trees in forests have no oblique splits."""

WORTH_A_THREAD = 1 << 14
"""Minimum number of rows times trees for which several threads are used."""


class Forest(ForestParameters, MemberSequence, Watched, TreeLearner):
    """A forest whose trees are stored in one block; ``estimators_`` creates single trees on access.

    The same ``random_state`` gives the same bits for any number of threads.

    Attributes
    ----------
    feature_importances_ : array of shape (d,)
        Relative importance of each column: its share of the total decrease of impurity, averaged
        over the trees. The shares sum to 1.
    n_outputs_ : int
        Number of outputs, that is, of columns of y.
    estimators_samples_ : list of arrays
        Numbers of the rows drawn for each tree, repeated as often as they were drawn.
    oob_score_ : float
        Score of the out-of-bag predictions. Its 95 % interval is in ``oob_score_interval_``.
        Defined with ``oob_score``.
    solution_ : Solution
        How the fit ended, and the number of trees that were grown.
    """

    _multi_output = True
    _keeps_sparse = True
    _streams = True
    _reads_on_client = False
    _random_thresholds: ClassVar[bool] = False
    _kind_of_tree: ClassVar[type[Any]]
    """Class of the elements of ``estimators_``."""

    _forest: GrownForest
    _row_draws: RowDraws
    criterion: str
    n_outputs_: int
    oob_score_: float
    oob_score_interval_: tuple[float, float]

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Grow the forest.

        Parameters
        ----------
        X : table of shape (n, d)
            Training rows with numbers, categories and missing values: an array, a sparse array or a
            data frame.
        y : array-like of shape (n,) or (n, n_outputs)
            Target of each training row: class labels or numbers.
        sample_weight : array-like of shape (n,), optional
            Row weights. With ``bootstrap=True``, rows are drawn with probabilities proportional to
            their weights; with ``bootstrap=False`` or ``replacement=False`` a row of weight 2
            counts as two equal rows in the trees that use it. None gives every row weight 1.

        Returns
        -------
        self
            The fitted estimator.
        """
        last = LastFit.of(self)
        source, n_classes = self._open_targets(X, y, sample_weight)
        last.require_same(self)
        plan = self._plan(source, n_classes)
        before = self._trees_so_far(plan)
        draw = generator(self.random_state)
        seeds = draw.integers(2**32, size=self.n_estimators, dtype=np.uint64)[len(before) :]

        def attributes(forest: GrownForest) -> dict[str, Any]:
            return {"_forest": before.followed_by(forest), "_row_draws": plan.rows}

        with self._watching(len(seeds), attributes, X, y) as watch:
            solution = grow_forest(plan, seeds, watch)
        self.__dict__.update(attributes(solution.theta))
        self.solution_ = replace(solution, theta=self._forest)
        self._warn_if_stopped(len(before))
        if self.oob_score and (len(seeds) or not hasattr(self, "oob_score_")):
            self._score_out_of_bag(source, plan)
        return self

    # The steps of a fit.

    @abstractmethod
    def _open_targets(self, X: Any, y: Any, sample_weight: Any) -> tuple[InMemory, tuple[int, ...]]:
        """Rows with their targets, and the number of classes per output (1 for regression)."""

    @abstractmethod
    def _score_out_of_bag(self, source: InMemory, plan: ForestPlan) -> None:
        """Store the out-of-bag predictions and their score."""

    def _plan(self, source: InMemory, n_classes: tuple[int, ...]) -> ForestPlan:
        who = type(self).__name__
        if self.oob_score and not self.bootstrap:
            raise ParameterError(
                f"{who}: oob_score={self.oob_score!r} needs rows that a tree did not draw, but "
                "with bootstrap=False every tree uses all rows. Out of bag estimation is only "
                "available if bootstrap=True."
            )
        if self.max_samples is not None and not self.bootstrap:
            raise ParameterError(
                f"{who}: max_samples={self.max_samples!r} is the number of rows to draw and cannot "
                "be set if bootstrap=False. Use bootstrap=True, or max_samples=None."
            )
        weight = source.weight
        n_rows = source.n_rows if weight is None else int(np.count_nonzero(weight))
        d = source.n_features
        per_tree = min(columns_to_draw(self.max_features_per_tree, d), d)
        absolute = self.criterion == "absolute_error"
        if absolute and (self.max_features_per_tree, self.max_candidates) != (None, None):
            raise ParameterError(
                f"{who}: criterion='absolute_error' always tries every threshold. Set "
                "max_features_per_tree=None and max_candidates=None."
            )
        if absolute and isinstance(source.X, RowPieces):
            raise CapabilityError(
                f"{who}: criterion='absolute_error' sorts the columns, which must be in memory, "
                "but these rows are read block by block. Use criterion='squared_error', or load "
                "the rows with X, y, sample_weight = source.arrays()."
            )
        y = np.ascontiguousarray(source.y, dtype=np.float64).reshape(source.n_rows, -1)
        columns = None if absolute else self._columns_to_grow_on(source.X, y, weight)
        on_workers = columns if isinstance(columns, WorkerColumns) else None
        return ForestPlan(
            X=source.X,
            columns=columns,
            categorical=self._columns.is_categorical,
            y=y,
            weight=weight,
            criterion=self.criterion,
            n_classes=n_classes,
            rows=RowDraws(
                source.n_rows, self._n_draws(n_rows, weight), weight, bool(self.replacement)
            ),
            balanced=False,
            max_features=min(columns_to_draw(self.max_features, d), per_tree),
            features_per_tree=per_tree,
            max_candidates=self.max_candidates or 0,
            exact_rows=source.n_rows if self.splits == "exact" else EXACT_ROWS,
            random_thresholds=self._random_thresholds,
            max_depth=self.max_depth,
            max_leaves=self.max_leaf_nodes,
            min_split=max(2, rows_meant(self.min_samples_split, n_rows)),
            min_leaf=max(1, rows_meant(self.min_samples_leaf, n_rows)),
            min_weight_share=float(self.min_weight_fraction_leaf),
            min_decrease=float(self.min_impurity_decrease),
            monotone=self._monotone(n_classes),
            ccp_alpha=float(self.ccp_alpha),
            threads=on_workers.threads if on_workers else self._n_threads(n_rows),
        )

    def _columns_to_grow_on(self, X: Array, y: Array, weight: Array | None) -> Any:
        random = self._random_thresholds
        found = columns_on_workers(X, y, weight, self._columns, self.splits, random)
        if found is not None:
            return found
        coded = columns_for_random_splits if self._random_thresholds else column_codes
        return coded(X, weight, self._columns, self.splits)

    def _n_draws(self, n_rows: int, weight: Array | None) -> int:
        """Number of rows drawn for a tree; 0 without ``bootstrap``, which uses all rows."""
        if not self.bootstrap:
            return 0
        if self.max_samples is None:
            return n_rows
        if not self.replacement:
            return self._n_distinct(n_rows)
        if isinstance(self.max_samples, Integral):
            return int(self.max_samples)
        total = float(n_rows if weight is None else weight.sum())
        return max(1, int(self.max_samples * total))

    def _n_distinct(self, n_rows: int) -> int:
        """Number of rows drawn without replacement, of those with positive weight."""
        assert self.max_samples is not None
        is_count = isinstance(self.max_samples, Integral)
        if self.max_samples > (n_rows if is_count else 1.0):
            raise ParameterError(
                f"{type(self).__name__}: max_samples={self.max_samples!r} with replacement=False "
                f"must be at most {n_rows if is_count else 1.0}: X has {n_rows} rows of positive "
                "weight, and each is drawn at most once. Reduce it, or use replacement=True."
            )
        return max(1, int(self.max_samples if is_count else self.max_samples * n_rows))

    def _n_threads(self, n_rows: int) -> int:
        """Number of threads; one for small forests, where starting threads takes longer."""
        if n_rows * int(self.n_estimators) < WORTH_A_THREAD:
            return 1
        wanted = self.n_jobs or 0
        return min(n_threads(), wanted) if wanted > 0 else n_threads()

    def _monotone(self, n_classes: tuple[int, ...]) -> Array | None:
        """Direction of each column, −1, 0 or 1; None without constraints."""
        signs = directions(self.monotonic_cst, self._columns, type(self).__name__)
        if signs is not None:
            require_one_number(n_classes, len(n_classes), type(self).__name__)
        return signs

    def _trees_so_far(self, plan: ForestPlan) -> GrownForest:
        """With ``warm_start`` the trees of the last fit, otherwise an empty forest."""
        if not self.warm_start or not self.__sklearn_is_fitted__():
            return plan.empty()
        forest, who = self._forest, type(self).__name__
        if len(forest) > self.n_estimators:
            raise ParameterError(
                f"{who}: n_estimators={self.n_estimators} must be larger or equal to the number of "
                f"existing trees, {len(forest)}, when warm_start=True. Increase it, or set "
                "warm_start=False."
            )
        if (forest.criterion, forest.n_classes) != (plan.criterion, plan.n_classes):
            raise ParameterError(
                f"{who}: warm_start=True adds trees to the last fit, which had criterion="
                f"{forest.criterion!r} and {len(forest.n_classes)} outputs, but now they are "
                f"{plan.criterion!r} and {len(plan.n_classes)}. Use the same, or set "
                "warm_start=False."
            )
        if len(forest) == self.n_estimators:
            warn(
                f"{who}: Warm-start fitting without increasing n_estimators fits no new trees.",
                UserWarning,
            )
        return forest

    def _warn_if_stopped(self, before: int) -> None:
        if self.solution_.outcome is not Outcome.OUT_OF_TIME:
            return
        warn(
            f"{type(self).__name__}: {Outcome.OUT_OF_TIME.value}: {before + self.solution_.steps} "
            f"of {self.n_estimators} trees. Increase th.config(max_time=...), or continue with "
            "warm_start=True.",
            ConvergenceWarning,
        )

    def __sklearn_is_fitted__(self) -> bool:
        return "_forest" in self.__dict__

    # Predictions and properties of the fitted forest.

    @property
    def estimators_(self) -> ForestMembers:
        """The trees as estimators; each is created when it is accessed.

        Fitted trees with the same columns, outputs and classes can be assigned, for example those
        of two forests: ``a.estimators_ += b.estimators_``.
        """
        check_is_fitted(self)
        return ForestMembers(self._forest, self._member)

    @estimators_.setter
    def estimators_(self, members: Sequence[Any]) -> None:
        check_is_fitted(self)
        self._forest = forest_of(self, members)

    @property
    def estimator_(self) -> Any:
        """An unfitted tree of the class that the forest consists of."""
        return self._kind_of_tree(**self._parameters_of_trees())

    @property
    def estimator(self) -> Any:
        """The same as ``estimator_``, as in scikit-learn."""
        return self.estimator_

    def _parameters_of_trees(self) -> dict[str, Any]:
        known = self.get_params(deep=False)
        shared = self._kind_of_tree._get_param_names()
        return {name: known[name] for name in shared if name in known and name != "class_weight"}

    def _member(self, number: int) -> Any:
        """One of the trees, as if it had been fitted alone to the rows it drew."""
        seed = int(self._forest.seeds[number])
        member = self._kind_of_tree(**{**self._parameters_of_trees(), "random_state": seed})
        member.__dict__.update(
            {name: self.__dict__[name] for name in SHARED if name in self.__dict__},
            _directions=NO_DIRECTIONS,
            max_features_=columns_to_draw(self.max_features, self.n_features_in_),
            tree_=self._forest.tree(number),
        )
        return member

    @property
    def estimators_samples_(self) -> list[Array]:
        """Numbers of the rows drawn for each tree, repeated as often as they were drawn."""
        check_is_fitted(self)
        return [
            np.repeat(np.arange(counts.size, dtype=np.int32), counts)
            for counts in map(self._row_draws.counts, self._forest.seeds.tolist())
        ]

    @property
    def feature_importances_(self) -> Array:
        """Share of each column in the decrease of impurity, averaged over the trees."""
        check_is_fitted(self)
        return self._forest.feature_importances

    def apply(self, X: Any) -> Array:
        """Return the leaf that each row reaches in each tree. Cost: O(n · trees · depth).

        Parameters
        ----------
        X : table of shape (n, d)
            Rows to send through the trees, with the same columns as in `fit`.

        Returns
        -------
        array of shape (n, n_trees)
            Number of the leaf within its tree.
        """
        return self._packed_rows(X, lambda packed, rows: packed.leaves(rows)).T.astype(np.int64)

    def decision_path(self, X: Any) -> tuple[csr_matrix, Array]:
        """Return the nodes that each row passes in each tree. Cost: O(n · trees · depth).

        Parameters
        ----------
        X : table of shape (n, d)
            Rows to send through the trees, with the same columns as in `fit`.

        Returns
        -------
        indicator : sparse matrix of shape (n, n_nodes)
            Entries are 1 for the nodes that a row passes; the trees lie side by side.
        n_nodes_ptr : array of shape (n_trees + 1,)
            Tree t has the columns from ``n_nodes_ptr[t]`` to ``n_nodes_ptr[t + 1]``.
        """
        rows = self._whole_rows(X)
        paths = [member.decision_path(rows) for member in self.estimators_]
        return hstack(paths).tocsr(), self._forest.packed.roots

    def _packed_rows(self, X: Any, ask: Callable[[Any, Array], Array]) -> Array:
        rows = self._rows(X)
        check_is_fitted(self)
        return ask(self._forest.packed, rows)

    def _summed(self) -> PackedTrees:
        """The trees with the leaf values that predictions average."""
        return self._forest.packed

    def _shapley_values(self, X: Any, background: Any) -> tuple[Array, Array]:
        rows = self._rows(X)
        check_is_fitted(self)
        return self._weighted_trees().shapley(rows)

    def _weighted_trees(self) -> WeightedTrees:
        """The mean of the trees with the weights of their leaves."""
        packed = self._summed()
        weights = np.zeros(packed.nodes.shape[0])
        weights[packed.nodes["feature"] < 0] = self._forest.leaf_weights
        return WeightedTrees(packed, weights, np.zeros(packed.values.shape[1]), len(self._forest))

    def _mean_answers(self, X: Any) -> Array:
        """Mean over the trees of the leaf values of each row, (n, outputs, classes)."""
        rows = self._rows(X)
        check_is_fitted(self)
        sums = self._summed().sum(rows)
        sums /= len(self._forest)
        return sums.astype(rows.dtype, copy=False).reshape(len(sums), self.n_outputs_, -1)
