"""What all forests share: how their trees are planned, grown and asked."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_matrix, hstack
from sklearn.callback import with_callbacks
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from thetahat.data.in_memory import InMemory
from thetahat.estimator.parameters import Range, at_least, boolean, more_than, none, one_of, whole
from thetahat.estimator.watching import Watched
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.randomness import generator
from thetahat.foundation.threads import n_threads
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.solution import Outcome
from thetahat.models.ensemble.forest.growing import ForestPlan, RowDraws, grow_forest
from thetahat.models.ensemble.forest.grown_forest import GrownForest
from thetahat.models.ensemble.forest.members import ForestMembers
from thetahat.models.tree.growth.codes import EXACT_ROWS, column_codes, plain_values
from thetahat.models.tree.growth.constraints import directions, require_one_number
from thetahat.models.tree.growth.directions import Directions
from thetahat.models.tree.growth.limits import columns_to_draw, rows_meant
from thetahat.models.tree.learner import TreeLearner
from thetahat.models.tree.single import share

NO_DIRECTIONS = Directions(np.empty((0, 2), dtype=np.int64), np.empty((0, 2)))
"""Trees of forests have no oblique splits."""

WORTH_A_THREAD = 1 << 14
"""Rows times trees."""

some_columns = whole(1) | share | one_of("sqrt", "log2") | none


class Forest(Watched, TreeLearner):
    """Fitted trees in one block; ``estimators_`` makes single trees of it when they are asked for.

    The same ``random_state`` gives the same bits on any number of threads.
    """

    _ranges: ClassVar[dict[str, Range]] = {
        "n_estimators": whole(1),
        "max_depth": whole(1) | none,
        "min_samples_split": whole(2) | share,
        "min_samples_leaf": whole(1) | share,
        "min_weight_fraction_leaf": Range(
            lambda value: at_least(0).holds(value) and value <= 0.5, "a number from 0 to 0.5"
        ),
        "max_features": some_columns,
        "max_leaf_nodes": whole(1) | none,
        "min_impurity_decrease": at_least(0),
        "bootstrap": boolean,
        "oob_score": boolean | Range(callable, "a function of (y, prediction)"),
        "n_jobs": whole(-64) | none,
        "verbose": at_least(0) | boolean,
        "warm_start": boolean,
        "ccp_alpha": at_least(0),
        "max_samples": more_than(0) | none,
        "max_features_per_tree": some_columns,
        "max_candidates": whole(1) | none,
        "splits": one_of("auto", "histogram", "exact"),
    }
    _multi_output = True
    _random_thresholds: ClassVar[bool] = False
    _kind_of_tree: ClassVar[type[Any]]
    """What ``estimators_`` holds."""

    _forest: GrownForest
    _row_draws: RowDraws
    n_outputs_: int
    n_estimators: int

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Grow the forest.

        Parameters
        ----------
        X : table of shape (n, d)
            Numbers, categories and missing values; an array, a sparse array or a data frame.
        y : array-like of shape (n,) or (n, n_outputs)
            Targets.
        sample_weight : array-like of shape (n,), optional
            How many rows each row stands for; a row of weight 0 is not there. With ``bootstrap``
            rows are drawn with chances in proportion to it.

        Returns
        -------
        self
        """
        source, n_classes = self._open_targets(X, y, sample_weight)
        plan = self._plan(source, n_classes)
        before = self._trees_so_far(plan)
        draw = generator(self.random_state)
        seeds = draw.integers(2**63, size=self.n_estimators, dtype=np.uint64)[len(before) :]

        def attributes(forest: GrownForest) -> dict[str, Any]:
            return {"_forest": before.followed_by(forest), "_row_draws": plan.rows}

        with self._watching(len(seeds), attributes, X, y) as watch:
            solution = grow_forest(plan, seeds, watch)
        self.__dict__.update(attributes(solution.theta))
        self.solution_ = replace(solution, theta=self._forest)
        self._warn_if_stopped(len(before))
        if self.oob_score and (len(seeds) or not hasattr(self, "oob_score_")):
            self._judge_left_out(source, plan)
        return self

    # What a fit is made of.

    @abstractmethod
    def _open_targets(self, X: Any, y: Any, sample_weight: Any) -> tuple[InMemory, tuple[int, ...]]:
        """The rows with their targets, and the number of classes per output (1: numbers)."""

    @abstractmethod
    def _judge_left_out(self, source: InMemory, plan: ForestPlan) -> None:
        """Keep what the trees say of rows they were not grown on, and how good it is."""

    def _plan(self, source: InMemory, n_classes: tuple[int, ...]) -> ForestPlan:
        who = type(self).__name__
        if self.oob_score and not self.bootstrap:
            raise ParameterError(
                f"{who}: oob_score={self.oob_score!r} judges rows that a tree did not draw, and "
                "with bootstrap=False it takes all. Out of bag estimation is only available if "
                "bootstrap=True."
            )
        if self.max_samples is not None and not self.bootstrap:
            raise ParameterError(
                f"{who}: max_samples={self.max_samples!r} is a number of draws, and cannot be set "
                "if bootstrap=False. Use bootstrap=True, or max_samples=None."
            )
        weight = source.weight
        n_rows = source.n_rows if weight is None else int(np.count_nonzero(weight))
        d = source.n_features
        per_tree = min(columns_to_draw(self.max_features_per_tree, d), d)
        absolute = self.criterion == "absolute_error"
        if absolute and (self.max_features_per_tree, self.max_candidates) != (None, None):
            raise ParameterError(
                f"{who}: criterion='absolute_error' tries every threshold of the columns of a "
                "node. Leave max_features_per_tree and max_candidates None."
            )
        return ForestPlan(
            X=source.X,
            columns=None if absolute else self._columns_to_grow_on(source.X, weight),
            categorical=self._columns.is_categorical,
            y=np.ascontiguousarray(source.y, dtype=np.float64).reshape(source.n_rows, -1),
            weight=weight,
            criterion=self.criterion,
            n_classes=n_classes,
            rows=RowDraws(source.n_rows, self._n_draws(n_rows, weight), weight),
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
            threads=self._n_threads(n_rows),
        )

    def _columns_to_grow_on(self, X: Array, weight: Array | None) -> Any:
        if self._random_thresholds:
            return plain_values(X, self._columns)
        return column_codes(X, weight, self._columns, self.splits)

    def _n_draws(self, n_rows: int, weight: Array | None) -> int:
        """Rows drawn for a tree; 0 without ``bootstrap``: all are taken."""
        if not self.bootstrap:
            return 0
        if self.max_samples is None:
            return n_rows
        if isinstance(self.max_samples, Integral):
            return int(self.max_samples)
        total = float(n_rows if weight is None else weight.sum())
        return max(1, int(self.max_samples * total))

    def _n_threads(self, n_rows: int) -> int:
        """As many as are allowed; one for forests that are done before a second has started."""
        if n_rows * self.n_estimators < WORTH_A_THREAD:
            return 1
        return min(n_threads(), self.n_jobs) if (self.n_jobs or 0) > 0 else n_threads()

    def _monotone(self, n_classes: tuple[int, ...]) -> Array | None:
        """The sign of each column, −1, 0 or 1; none where nothing is asked for."""
        signs = directions(self.monotonic_cst, self._columns, type(self).__name__)
        if signs is not None:
            require_one_number(n_classes, len(n_classes), type(self).__name__)
        return signs

    def _trees_so_far(self, plan: ForestPlan) -> GrownForest:
        """With ``warm_start`` the trees of the last fit, to which more are added."""
        if not self.warm_start or not self.__sklearn_is_fitted__():
            return plan.empty()
        forest, who = self._forest, type(self).__name__
        if len(forest) > self.n_estimators:
            raise ParameterError(
                f"{who}: n_estimators={self.n_estimators} must be larger or equal to the "
                f"{len(forest)} trees there are when warm_start=True. Raise it, or start anew with "
                "warm_start=False."
            )
        if (forest.criterion, forest.n_classes, forest.packed.n_features) != (
            plan.criterion,
            plan.n_classes,
            plan.X.shape[1],
        ):
            raise ParameterError(
                f"{who}: warm_start=True adds trees to those of the last fit, whose columns, "
                "classes or criterion were others. Start anew with warm_start=False."
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
            f"of {self.n_estimators} trees. Raise th.config(max_time=...), or go on with "
            "warm_start=True.",
            ConvergenceWarning,
        )

    def __sklearn_is_fitted__(self) -> bool:
        return "_forest" in self.__dict__

    # What a fitted forest is asked.

    @property
    def estimators_(self) -> ForestMembers:
        """The trees as estimators of their own, each made when it is asked for."""
        check_is_fitted(self)
        return ForestMembers(self._forest, self._member)

    @property
    def estimator_(self) -> Any:
        """The kind of tree, not fitted."""
        return self._kind_of_tree(**self._parameters_of_trees())

    def _parameters_of_trees(self) -> dict[str, Any]:
        known = self.get_params(deep=False)
        shared = self._kind_of_tree._get_param_names()
        return {name: known[name] for name in shared if name in known and name != "class_weight"}

    def _member(self, number: int) -> Any:
        """One of the trees, as if it had been fitted alone to its draw of the rows."""
        seed = int(self._forest.seeds[number])
        member = self._kind_of_tree(**{**self._parameters_of_trees(), "random_state": seed})
        told = (
            "n_features_in_",
            "feature_names_in_",
            "n_outputs_",
            "classes_",
            "n_classes_",
            "_columns",
        )
        member.__dict__.update(
            {name: self.__dict__[name] for name in told if name in self.__dict__},
            _directions=NO_DIRECTIONS,
            max_features_=columns_to_draw(self.max_features, self.n_features_in_),
            tree_=self._forest.tree(number),
        )
        return member

    @property
    def estimators_samples_(self) -> list[Array]:
        """The rows that each tree drew, as often as it drew them; made when asked for."""
        check_is_fitted(self)
        return [
            np.repeat(np.arange(counts.size), counts)
            for counts in map(self._row_draws.counts, self._forest.seeds.tolist())
        ]

    @property
    def feature_importances_(self) -> Array:
        """The share of each column in what the splits of a tree gained, averaged over trees."""
        check_is_fitted(self)
        return self._forest.feature_importances

    def apply(self, X: Any) -> Array:
        """The number of the leaf in which each row ends, (n, n_trees)."""
        return self._packed_rows(X, lambda packed, rows: packed.leaves(rows)).T.astype(np.int64)

    def decision_path(self, X: Any) -> tuple[csr_matrix, Array]:
        """The nodes that each row passes, (n, n_nodes of all trees), and where each tree begins."""
        rows = self._rows(X)
        paths = [member.decision_path(rows) for member in self.estimators_]
        return hstack(paths).tocsr(), self._forest.packed.roots

    def _packed_rows(self, X: Any, ask: Callable[[Any, Array], Array]) -> Array:
        rows = self._rows(X)
        check_is_fitted(self)
        return ask(self._forest.packed, rows)

    def _mean_answers(self, X: Any) -> Array:
        """The mean over the trees of what the leaves of each row answer, (n, outputs, classes)."""
        rows = self._rows(X)
        check_is_fitted(self)
        sums = self._forest.packed.sum(rows)
        sums /= len(self._forest)
        return sums.astype(rows.dtype, copy=False).reshape(rows.shape[0], self.n_outputs_, -1)
