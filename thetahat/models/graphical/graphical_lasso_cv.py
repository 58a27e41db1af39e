"""The graphical lasso with its penalty chosen by cross-validation."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, replace
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.fold_routing import RoutesToFolds, splits_of
from thetahat.estimator.parameters import Range, how_many_or_which, none, whole
from thetahat.estimator.watching import with_callbacks
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.threads import ordered_map
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Watch
from thetahat.mathematics.optimizers.solution import Outcome
from thetahat.models.graphical.precision_block import inverse_of, log_determinant
from thetahat.models.graphical.sparse_precision import SparsePrecision, solve_precision

ENOUGH = 1e-2
"""Size of the last step from which the scores of a fold no longer change visibly."""
LARGEST_DENSE = 200
"""Most columns of precision matrices that are kept with their zeros during the search."""
SMALLEST_SHARE = 1e-2
"""Ratio of the smallest to the largest penalty of the first grid."""


@with_parameters
class GraphicalLassoCV(RoutesToFolds, SparsePrecision):
    """Graphical lasso that chooses its penalty by cross-validation.

    Formula: α̂ = argmax over α of the mean log-likelihood of the held-out rows, averaged over the
    folds, log p(x) = −½ ((x − μ̂)ᵀ Q̂ (x − μ̂) − log det Q̂ + d·log 2π) with μ̂ and Q̂ of the other
    rows. The final model is a `GraphicalLasso` with α̂ fitted to all rows.

    The first grid is a geometric sequence from the largest |s_ij| down to a hundredth of it. Each
    refinement places a new grid between the neighbours of the best penalty so far. Solutions are
    computed from large to small penalties, each from the one before it.

    Cost: that of n_alphas·n_refinements·n_folds fits of `GraphicalLasso`; folds run in parallel.
    Memory O(d²) per fold.

    Parameters
    ----------
    alphas : int or array-like, default=4
        Number of penalties of each grid, or the penalties themselves, which must be positive. More
        penalties search more finely and take longer.
    n_refinements : int, default=4
        Number of grids, each finer than the one before. Not used if ``alphas`` is an array. Must be
        at least 1.
    n_jobs : int or None, default=None
        Has no effect. Accepted for compatibility with scikit-learn; set the number of threads with
        ``th.config(threads=...)``.

    Attributes
    ----------
    alpha_ : float
        The penalty chosen by cross-validation.
    cv_results_ : dict of ndarrays
        "alphas": the penalties that were tried, largest first, and 0 at the end.
        "split0_test_score", "split1_test_score", ...: mean log-likelihood of the held-out rows of
        each fold. "mean_test_score" and "std_test_score": mean and standard deviation over the
        folds. NaN for fits that were not finished within ``th.config(max_time=...)``.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(200, 1))
    >>> X = np.hstack([x, x + rng.normal(size=(200, 1)), rng.normal(size=(200, 1))])
    >>> model = th.GraphicalLassoCV().fit(X)
    >>> len(model.cv_results_["alphas"])
    17
    """

    _: KW_ONLY
    alphas: Any = 4
    n_refinements: int = 4
    cv: Any = None
    n_jobs: int | None = None

    _streams = False
    _instead_of_blocks = (
        "use a model that reads blocks, such as GraphicalLasso with a given alpha, or LedoitWolf"
    )
    _splits_rows = True
    _ranges: ClassVar[dict[str, Range]] = SparsePrecision._ranges | {
        "alphas": how_many_or_which,
        "n_refinements": whole(1),
        "n_jobs": none | whole(-64),
    }

    @classmethod
    def _example(cls) -> GraphicalLassoCV:
        # Far smaller penalties of few rows have almost singular solutions, which take long.
        return cls(alphas=[0.2, 0.5], cv=3)

    @with_callbacks
    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any
    ) -> GraphicalLassoCV:
        """Choose the penalty by cross-validation and fit all rows.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            Training rows with finite numbers. They must be in memory.
        y : None
            Has no effect on the model. It is passed on to the splitter ``cv``.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.
        **params : dict
            Arguments for the splitter ``cv``, such as ``groups``. They need
            ``sklearn.set_config(enable_metadata_routing=True)``.

        Returns
        -------
        self
            The fitted estimator.
        """
        for_folds, watch = self._for_folds(params), Watch()
        source = self._open(X, None, sample_weight, supervised=False)
        assert isinstance(source, InMemory)
        location, covariance = self._about_several_rows(source)
        splits = splits_of(self.cv, source.X, y, who=type(self).__name__, **for_folds)
        folds = [self._fold(source, at, *rows) for at, rows in enumerate(splits)]
        tried, scores = self._search(folds, covariance, watch)
        best = _best(scores)
        self.alpha_ = float(tried[best])
        without = np.array([fold.score_without_penalty() for fold in folds])
        self.cv_results_ = _results(np.append(tried, 0.0), np.vstack([scores, without]))
        self._solve(source, location, covariance, self.alpha_, X, y)
        if np.isnan(scores).any() and self.solution_.outcome is not Outcome.OUT_OF_TIME:
            message = "out of time before all penalties were tried: alpha was chosen among the rest"
            self.solution_ = replace(self.solution_, outcome=Outcome.OUT_OF_TIME, message=message)
            self._warn_unless_converged()
        return self

    def _fold(self, source: InMemory, number: int, train: Any, test: Any) -> Fold:
        parts = [source.take(np.asarray(rows)) for rows in (train, test)]
        try:
            location, covariance = self._about_several_rows(parts[0])
            held_out, spread = self._about_rows(parts[1])
        except DataError as failure:
            raise DataError(f"{failure} This concerns fold {number} of cv={self.cv!r}.") from None
        gap = held_out - (0.0 if self.assume_centered else location)
        if not self.assume_centered:
            spread = spread + np.outer(gap, gap)
        return Fold(covariance, spread, float(self.tol), int(self.max_iter), {})

    def _search(self, folds: list[Fold], covariance: Array, watch: Watch) -> tuple[Array, Array]:
        """The penalties that were tried, largest first, and their scores in each fold."""
        makes_grid = isinstance(self.alphas, Integral)
        if makes_grid:
            most = _largest_off_diagonal(covariance)
            low, high, ends = SMALLEST_SHARE * most, most, 0
        else:
            alphas = self._given()
        tried, scores = np.empty(0), np.empty((0, len(folds)))
        for _ in range(int(self.n_refinements) if makes_grid else 1):
            if makes_grid:
                count = int(self.alphas) + 2 * ends
                grid = np.geomspace(high, low, count) if count > 1 else np.array([high])
                alphas = grid[1:-1] if ends else grid
            found = _scores(folds, alphas, watch)
            order = np.argsort(-np.concatenate([tried, alphas]), kind="stable")
            tried = np.concatenate([tried, alphas])[order]
            scores = np.vstack([scores, found])[order]
            best, ends = _best(scores), 1
            high = tried[max(best - 1, 0)]
            low = tried[best + 1] if best + 1 < len(tried) else SMALLEST_SHARE * tried[best]
            if watch.is_over:
                break
        return tried, scores

    def _given(self) -> Array:
        alphas = np.sort(np.asarray(self.alphas, dtype=np.float64))[::-1]
        if alphas.size == 0 or not (alphas[-1] > 0 and np.isfinite(alphas[0])):
            raise ParameterError(
                f"{type(self).__name__}: every penalty in alphas={self.alphas!r:.80} must be > 0 "
                "and finite. Leave out 0, which is always tried, or pass a number of penalties."
            )
        return alphas


@dataclass(frozen=True)
class Fold:
    """The covariance of the training rows, and that of the held-out rows about their mean."""

    covariance: Array
    held_out: Array
    tolerance: float
    max_steps: int
    solved: dict[float, Any]
    """Precision matrices by penalty, sparse, from which smaller penalties start."""

    def scores(self, alphas: Array) -> Array:
        """Mean log-likelihood of the held-out rows for each penalty, largest penalty first."""
        return np.array([self._score(float(alpha)) for alpha in alphas])

    def _score(self, alpha: float) -> float:
        above = min((known for known in self.solved if known >= alpha), default=None)
        start = None if above is None else _dense(self.solved[above])
        solution, _ = solve_precision(
            self.covariance, alpha, self.tolerance, self.max_steps, start, settled=ENOUGH
        )
        if solution.outcome is Outcome.OUT_OF_TIME:
            return math.nan
        self.solved[alpha] = _compact(solution.theta)
        log_det = log_determinant(solution.theta)
        assert log_det is not None
        return self._log_likelihood(solution.theta, log_det)

    def score_without_penalty(self) -> float:
        """The same for the inverse of the covariance; −inf if it is singular."""
        found = inverse_of(self.covariance)
        return -math.inf if found is None else self._log_likelihood(found[1], -found[0])

    def _log_likelihood(self, precision: Array, log_det: float) -> float:
        distance = float(np.einsum("ij,ij->", self.held_out, precision))
        return 0.5 * (log_det - distance - len(precision) * math.log(2.0 * math.pi))


def _scores(folds: list[Fold], alphas: Array, watch: Watch) -> Array:
    """A row per penalty and a column per fold, with the time that is left as the limit."""

    def work(fold: Fold) -> Array:
        return fold.scores(alphas)

    return np.column_stack(list(ordered_map(watch.in_time(work), folds)))


def _dense(matrix: Any) -> Array:
    return np.asarray(matrix if isinstance(matrix, np.ndarray) else matrix.toarray())


def _compact(matrix: Array) -> Any:
    """The matrix for later starts, without its zeros if it is large."""
    from scipy.sparse import csr_array

    return matrix if len(matrix) <= LARGEST_DENSE else csr_array(matrix)


def _largest_off_diagonal(covariance: Array) -> float:
    """max |s_ij|, or a small positive number where all are zero."""
    sizes = np.abs(covariance)
    floor = 1e-10 * float(np.einsum("ii->i", sizes).max())
    np.fill_diagonal(sizes, 0.0)
    return max(float(sizes.max()), floor)


def _best(scores: Array) -> int:
    """The best mean score; of equal ones that of the smallest penalty."""
    mean = scores.mean(axis=1)
    mean = np.where(np.isnan(mean), -np.inf, mean)
    return int(len(mean) - 1 - np.argmax(mean[::-1]))


def _results(alphas: Array, scores: Array) -> dict[str, Array]:
    found = {"alphas": alphas}
    found |= {f"split{at}_test_score": column for at, column in enumerate(scores.T)}
    found["mean_test_score"] = scores.mean(axis=1)
    with np.errstate(invalid="ignore"):  # of −inf
        found["std_test_score"] = scores.std(axis=1)
    return found
