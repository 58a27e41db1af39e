"""Isolation forest: score(x) = −2^(−h(x)/c(ψ)), with the mean length h(x) of the paths of x."""

from __future__ import annotations

from dataclasses import KW_ONLY, replace
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from thetahat.data.in_memory import InMemory
from thetahat.data.validation import is_sparse
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.density import OutlierDetector
from thetahat.estimator.parameters import (
    MOST_MEMBERS,
    Range,
    at_least,
    boolean,
    more_than,
    none,
    one_of,
    positive_fraction,
    whole,
)
from thetahat.estimator.watching import Watched, with_callbacks
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import CapabilityError, ParameterError
from thetahat.foundation.randomness import generator
from thetahat.foundation.threads import n_threads
from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.losses.constants import weighted_quantile
from thetahat.mathematics.optimizers.solution import Outcome
from thetahat.models.ensemble.forest.members import ForestMembers
from thetahat.models.ensemble.isolation.growing import (
    Draws,
    IsolationPlan,
    grow_isolation_forest,
)
from thetahat.models.ensemble.members import MemberSequence
from thetahat.models.tree.extra_tree import ExtraTreeRegressor
from thetahat.models.tree.growth.directions import Directions
from thetahat.models.tree.growth.grown_forest import GrownForest
from thetahat.models.tree.learner import TreeLearner

ROWS_OF_A_TREE = 256
"""Number of rows of a tree with ``max_samples="auto"``."""
WORTH_A_THREAD = 1 << 12
"""Minimum number of rows of all trees together for which several threads are used."""
ALL_LEFT = -0.5
"""Threshold of the score with ``contamination="auto"``, from the original paper."""
NO_DIRECTIONS = Directions(np.empty((0, 2), dtype=np.int64), np.empty((0, 2)))


class GrownTrees:
    """What a fitted isolation forest holds."""

    _forest: GrownForest
    _draws: Draws
    max_samples_: int
    offset_: float


@with_parameters
class IsolationForest(GrownTrees, OutlierDetector, MemberSequence, Watched, TreeLearner):
    """Outlier detection by random splits: few of them are enough to isolate an outlier.

    Each tree splits a small sample of the rows at random columns and thresholds until every row is
    alone, or a depth of log₂ ψ is reached. Outliers lie in sparse regions and have short paths from
    the root. Missing values (NaN) go to a random side of a split.

    Formula: score(x) = −2^(−h(x)/c(ψ)), where h(x) is the mean over the trees of the depth of the
    leaf of x plus c(rows in the leaf), ψ is the number of rows per tree, and c(n) = 2(log(n − 1) +
    γ) − 2(n − 1)/n is the mean depth of a row in a random search tree of n rows.

    Cost: O(trees · ψ · log ψ) time to fit, O(trees · log ψ) per row to predict. Memory: O(trees ·
    ψ). Sparse rows stay sparse, and columns without entries are not looked at.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees. More trees give more stable scores and take proportionally longer. Must be
        at least 1.
    max_samples : "auto", int or float, default="auto"
        Number of rows drawn for each tree (ψ). An int is a number of rows, a float in (0, 1] a
        fraction of them, and "auto" means at most 256 rows. Small samples separate outliers better
        from dense groups of them, and cost less.
    contamination : "auto" or float, default="auto"
        Share of the training rows that are outliers, more than 0 and at most 0.5. It sets
        ``offset_``. With "auto", rows with a score below −0.5 are outliers.
    max_features : int or float, default=1.0
        Number of columns drawn for each tree: an int is a number of columns, a float in (0, 1] a
        fraction of them. Fewer columns make trees more diverse.
    bootstrap : bool, default=False
        If True, the rows of a tree are drawn with replacement. If False, each row is drawn at most
        once per tree.
    n_jobs : int or None, default=None
        Maximum number of threads that grow trees. None and −1 use all threads of
        ``th.config(threads=...)``. The result does not depend on it.
    random_state : int, Generator, RandomState or None, default=None
        Seed for drawing rows, columns and splits. Pass an int for the same result on every call.
    verbose : int, default=0
        If positive, prints the number of trees after the fit.
    warm_start : bool, default=False
        If True, the next call to `fit` keeps the trees of the last fit and adds more of them. If
        False, every fit starts from the beginning.

    Attributes
    ----------
    estimators_samples_ : list of arrays
        Numbers of the rows drawn for each tree, repeated as often as they were drawn.
    max_samples_ : int
        Number of rows drawn for each tree (ψ).
    offset_ : float
        Threshold of `score_samples` below which a row is an outlier.
    solution_ : Solution
        How the fit ended, and the number of trees that were grown.

    Examples
    --------
    >>> import thetahat as th
    >>> X = [[-1.1], [0.3], [0.5], [100.0]]
    >>> model = th.IsolationForest(random_state=0).fit(X)
    >>> model.predict([[0.1], [0.0], [90.0]]).tolist()
    [1, 1, -1]
    """

    _prints_itself = True
    _keeps_sparse = True
    # It predicts no target, so it has no kind.
    _instead_of_blocks = "fit it to some of the rows, or use SGDOneClassSVM, which reads blocks"
    _generative = None  # type: ignore[assignment]
    _parametric = None  # type: ignore[assignment]
    _: KW_ONLY
    n_estimators: int = 100
    max_samples: Any = "auto"
    contamination: Any = "auto"
    max_features: Any = 1.0
    bootstrap: bool = False
    n_jobs: int | None = None
    random_state: Any = None
    verbose: int = 0
    warm_start: bool = False

    _draws_rows = True
    _ranges: ClassVar[dict[str, Range]] = {
        "n_estimators": whole(1, MOST_MEMBERS),
        "max_samples": one_of("auto") | whole(1) | positive_fraction,
        "contamination": one_of("auto") | more_than(0, 0.5),
        "max_features": whole(1) | positive_fraction,
        "bootstrap": boolean,
        "n_jobs": none | whole(-(1 << 31)),
        "verbose": at_least(0) | boolean,
        "warm_start": boolean,
    }

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> IsolationForest:
        """Grow the trees, and set the threshold.

        Parameters
        ----------
        X : table of shape (n, d)
            Training rows with numbers and missing values: an array, a sparse array or a data frame.
        y : ignored
            Has no effect. Accepted for compatibility with scikit-learn.
        sample_weight : array-like of shape (n,), optional
            Row weights. Rows are drawn with probabilities proportional to them. None gives every
            row weight 1.

        Returns
        -------
        self
            The fitted estimator.
        """
        source = self._open(X, None, sample_weight, supervised=False)
        self._require_numbers()
        plan = self._plan(source)
        before = self._trees_so_far(plan)
        draw = generator(self.random_state)
        seeds = draw.integers(2**63, size=self.n_estimators, dtype=np.uint64)[len(before) :]

        def attributes(forest: GrownForest) -> dict[str, Any]:
            joined = before.followed_by(forest) if len(forest) else before
            size = plan.draws.size
            return {
                "_forest": joined,
                "_draws": plan.draws,
                "max_samples_": size,
                "offset_": ALL_LEFT,
            }

        with self._watching(len(seeds), attributes, X, y) as watch:
            solution = grow_isolation_forest(plan, seeds, watch)
        self.__dict__.update(attributes(solution.theta))
        self.solution_ = replace(solution, theta=self._forest)
        self._warn_if_stopped()
        if self.contamination != "auto":
            self.offset_ = self._threshold(source)
        if self.verbose:
            print(f"IsolationForest: {len(self._forest)} trees of {self.max_samples_} rows each")
        return self

    # The steps of a fit.

    def _require_numbers(self) -> None:
        if self._columns.categorical:
            first = self._columns.categorical[0]
            name = self._columns.names[first] if self._columns.names else first
            raise CapabilityError(
                f"IsolationForest: column {name!r} holds categories, but random thresholds need "
                "numbers. Encode it first, for example with scikit-learn's OneHotEncoder."
            )

    def _plan(self, source: InMemory) -> IsolationPlan:
        weight, n, d = source.weight, source.n_rows, source.n_features
        if weight is not None and (weight == weight[0]).all():
            weight = None
        n_drawable = n if weight is None else int(np.count_nonzero(weight))
        size = self._n_drawn(n, n_drawable)
        return IsolationPlan(
            X=source.X if is_sparse(source.X) else np.ascontiguousarray(source.X),
            draws=Draws(n, size, weight, bool(self.bootstrap), d, self._n_columns(d)),
            max_depth=deepest(size),
            threads=self._n_threads(size),
        )

    def _n_drawn(self, n: int, n_drawable: int) -> int:
        """Number of rows of a tree; at most the rows of positive weight without ``bootstrap``."""
        most = n if self.bootstrap else n_drawable
        if isinstance(self.max_samples, str):
            return min(ROWS_OF_A_TREE, n_drawable)
        if isinstance(self.max_samples, Integral):
            wanted = int(self.max_samples)
            if wanted > n:
                warn(
                    f"IsolationForest: max_samples ({wanted}) is greater than the total "
                    f"number of samples ({n}). max_samples will be set to n_samples for "
                    "estimation.",
                    UserWarning,
                )
            return min(wanted, most)
        return max(1, min(int(self.max_samples * n), most))

    def _n_columns(self, d: int) -> int:
        if not isinstance(self.max_features, Integral):
            return max(1, int(self.max_features * d))
        wanted = int(self.max_features)
        if wanted > d:
            raise ParameterError(
                f"IsolationForest: max_features={wanted} must be at most the number of "
                f"columns, {d}. Reduce it, or give a fraction such as 1.0."
            )
        return wanted

    def _n_threads(self, size: int) -> int:
        """Number of threads; one for small forests, where starting threads takes longer."""
        if size * int(self.n_estimators) < WORTH_A_THREAD:
            return 1
        wanted = self.n_jobs or 0
        return min(n_threads(), wanted) if wanted > 0 else n_threads()

    def _trees_so_far(self, plan: IsolationPlan) -> GrownForest:
        """With ``warm_start`` the trees of the last fit, otherwise an empty forest."""
        if not self.warm_start or not self.__sklearn_is_fitted__():
            return plan.empty()
        forest = self._forest
        if len(forest) > self.n_estimators:
            raise ParameterError(
                f"IsolationForest: n_estimators={self.n_estimators} must be larger or equal to the "
                f"number of existing trees, {len(forest)}, when warm_start=True. Increase it, or "
                "set warm_start=False."
            )
        if (forest.packed.n_features, self.max_samples_) != (plan.X.shape[1], plan.draws.size):
            raise ParameterError(
                "IsolationForest: warm_start=True adds trees to the last fit, but the columns or "
                "the number of rows of a tree have changed since. Fit again with "
                "warm_start=False."
            )
        if len(forest) == self.n_estimators:
            warn(
                "IsolationForest: Warm-start fitting without increasing n_estimators does not fit "
                "new trees.",
                UserWarning,
            )
        return forest

    def _threshold(self, source: InMemory) -> float:
        """The quantile of the scores of the training rows at ``contamination``."""
        scores = self._scores(source.X)
        if source.weight is None:
            return float(np.percentile(scores, 100.0 * self.contamination))
        return float(weighted_quantile(scores, source.weight, self.contamination))

    def _warn_if_stopped(self) -> None:
        if self.solution_.outcome is Outcome.OUT_OF_TIME:
            warn(
                f"IsolationForest: {Outcome.OUT_OF_TIME.value}: {len(self._forest)} of "
                f"{self.n_estimators} trees. Increase th.config(max_time=...), or continue with "
                "warm_start=True.",
                ConvergenceWarning,
            )

    def __sklearn_is_fitted__(self) -> bool:
        return "_forest" in self.__dict__

    # Scores and properties of the fitted forest.

    def score_samples(self, X: Any) -> Array:
        """Compute the score of each row. Cost: O(n · trees · log ψ).

        Parameters
        ----------
        X : table of shape (n, d)
            Rows to score, with the same columns as in `fit`.

        Returns
        -------
        scores : array of shape (n,)
            −2^(−h(x)/c(ψ)), between −1 and 0. Smaller scores belong to rows that are isolated by
            fewer splits; −0.5 is the score of a row with a path of mean length.
        """
        rows = self._rows(X)
        check_is_fitted(self)
        return self._scores(rows)

    def _scores(self, rows: Matrix) -> Array:
        usual = len(self._forest) * mean_path(self.max_samples_)
        lengths = self._forest.packed.sum(rows)[:, 0]
        # A single training row has a path of length 0, like every other row.
        scores = -np.exp2(-lengths / usual) if usual else np.full(len(lengths), -0.5)
        return scores.astype(rows.dtype, copy=False)

    def decision_function(self, X: Any) -> Array:
        """Compute `score_samples` minus the threshold: negative for outliers.

        Cost: O(n · trees · log ψ).

        Parameters
        ----------
        X : table of shape (n, d)
            Rows to score, with the same columns as in `fit`.

        Returns
        -------
        decision : array of shape (n,)
            The signed score of every row.
        """
        return self.score_samples(X) - self.offset_

    @property
    def estimator_(self) -> ExtraTreeRegressor:
        """An unfitted tree of the class that the forest consists of."""
        return ExtraTreeRegressor(max_features=1, random_state=self.random_state)

    @property
    def estimators_(self) -> ForestMembers:
        """The trees as estimators, which predict lengths of paths; created on access."""
        check_is_fitted(self)
        return ForestMembers(self._forest, self._member)

    def _member(self, number: int) -> ExtraTreeRegressor:
        seed = int(self._forest.seeds[number])
        depth = deepest(self.max_samples_)
        member = ExtraTreeRegressor(max_features=1, max_depth=depth, random_state=seed)
        member.__dict__.update(
            n_features_in_=self.n_features_in_,
            n_outputs_=1,
            max_features_=1,
            _columns=self._columns,
            _directions=NO_DIRECTIONS,
            tree_=self._forest.tree(number),
        )
        return member

    @property
    def estimators_samples_(self) -> list[Array]:
        """Numbers of the rows drawn for each tree, repeated as often as they were drawn."""
        check_is_fitted(self)
        return [self._draws.of(seed)[0].astype(np.int64) for seed in self._forest.seeds.tolist()]

    @property
    def estimators_features_(self) -> list[Array]:
        """Numbers of the columns drawn for each tree."""
        check_is_fitted(self)
        return [self._draws.of(seed)[1].astype(np.int64) for seed in self._forest.seeds.tolist()]


def mean_path(n: int) -> float:
    """Mean depth of a row in a random search tree of n rows."""
    if n <= 2:
        return float(n == 2)
    return float(2.0 * (np.log(n - 1.0) + np.euler_gamma) - 2.0 * (n - 1.0) / n)


def deepest(n: int) -> int:
    """Maximum depth of a tree of n rows, ⌈log₂ n⌉: outliers are isolated before it is reached."""
    return int(np.ceil(np.log2(max(n, 2))))
