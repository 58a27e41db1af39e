"""Best-subset regression: least squares on few columns, solved exactly for small d."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Block, Source
from thetahat.data.summaries.moments import Moments, moments
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.fold_routing import splits_of
from thetahat.estimator.linear import OneTargetRegressor
from thetahat.estimator.parameters import (
    LARGEST_FACTOR,
    at_least,
    boolean,
    infinity,
    none,
    one_of,
    whole,
)
from thetahat.estimator.watching import WatchedSolver, keep_so_far, with_callbacks
from thetahat.foundation.errors import CapabilityError, ParameterError
from thetahat.foundation.precision import EPSILON
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Watch
from thetahat.mathematics.linalg.best_subsets import BestSubsets, n_subsets
from thetahat.mathematics.linalg.least_squares import pseudo_inverse
from thetahat.mathematics.optimizers.solution import Outcome, Solution
from thetahat.objective.least_squares.subsets import (
    LARGEST_NUMBER_OF_SUBSETS,
    refitted,
    search_subsets,
)

CRITERIA = ("rss", "aic", "bic", "cv")


@with_parameters
class BestSubset(WatchedSolver, OneTargetRegressor):
    """Least squares on the best subset of the columns, found by exact search.

    Formula: with a limit k, min ‖y − Xβ‖² subject to ‖β‖₀ ≤ k; with a penalty τ, min ‖y − Xβ‖² +
    τ‖β‖₀; otherwise the subset size m with the smallest AIC = n·log(RSS_m/n) + 2m,
    BIC = n·log(RSS_m/n) + m·log n, or error on held-out rows. ‖β‖₀ is the number of non-zero
    coefficients; the intercept is not counted.

    Cost: O(n d²) for the Gram matrix, in memory or block by block, then branch and bound over the
    2^d subsets: usually about a second for d = 30 to 40, with O(d³) memory. The problem is NP-hard;
    for more columns use `OrthogonalMatchingPursuit` or an L1 penalty.

    Parameters
    ----------
    max_features : int or None, default=None
        Largest number of non-zero coefficients (k). None allows all d columns; if the columns are
        linearly dependent and fit y without residual (for example with more columns than rows), a
        third of the rank.
    tau : float or None, default=None
        Penalty for each non-zero coefficient (τ). Larger values select fewer columns. Requires
        ``criterion="auto"``.
    criterion : {"auto", "rss", "aic", "bic", "cv"}, default="auto"
        Rule that chooses between the best subsets of each size. "rss" takes the smallest residual
        sum of squares with at most `max_features` columns; "aic" and "bic" are information
        criteria; "cv" is the mean squared error on held-out rows. "auto" uses `tau` if it is given,
        "rss" if `max_features` is given, and otherwise "bic".
    cv : int, splitter, iterable or None, default=None
        Folds for ``criterion="cv"``. An int is the number of folds; a splitter of scikit-learn or
        an iterable of (train, test) row numbers is used as given. None means 5 folds.
    max_subsets : float, default=2**40
        Largest number of subsets that may be searched. If there are more, an error is raised before
        the search starts. ``math.inf`` allows any number.

    Attributes
    ----------
    support_ : array of bool, shape (d,)
        Mask of the selected columns.
    n_nonzero_coefs_ : int
        Number of selected columns.
    rss_ : array of shape (k + 1,)
        Residual sum of squares of the best subset of each size 0, …, k.
    subsets_ : list of arrays
        Column numbers of the best subset of each size.
    criterion_ : str
        The rule that was used: "rss", "tau", "aic", "bic" or "cv".
    criterion_values_ : array of shape (k + 1,)
        Value of the rule for each size; the smallest is chosen.
    solution_ : Solution
        Report of the search. ``solution_.gap`` is 0 if the search was completed; otherwise it is
        the residual sum of squares above its lower bound.
    n_iter_ : int
        Number of nodes of the search tree that were visited.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> random = np.random.default_rng(0)
    >>> X = random.standard_normal((60, 8))
    >>> y = 2 * X[:, 1] - X[:, 5] + 0.1 * random.standard_normal(60)
    >>> np.flatnonzero(th.BestSubset().fit(X, y).support_).tolist()
    [1, 5]
    """

    max_features: int | None = None
    _: KW_ONLY
    tau: float | None = None
    criterion: str = "auto"
    cv: Any = None
    fit_intercept: bool = True
    max_subsets: float = LARGEST_NUMBER_OF_SUBSETS

    _why_no_errors = "they would be too small, because the same rows selected the columns"
    _ranges = {  # noqa: RUF012
        "max_features": whole(1) | none,
        "tau": at_least(0, LARGEST_FACTOR) | none,
        "criterion": one_of("auto", *CRITERIA),
        "fit_intercept": boolean,
        "max_subsets": at_least(1) | infinity,
    }

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> BestSubset:
        """Search the best subset and fit the model."""
        source = self._open(X, y, sample_weight, check_finite=False)
        largest = self._largest(source.n_features)
        self.criterion_ = self._criterion()
        about = self._moments(source)
        if self.max_features is None:
            largest = min(largest, _sensible_size(about))
        with self._watching(None, lambda theta: self._shaped(theta, source), X, y) as watch:
            found = None
            try:
                found, outcome = search_subsets(about, largest, watch)
                values = self._judge(source, about, found, watch)
            except KeyboardInterrupt as interrupt:
                so_far = getattr(interrupt, "subsets", None) if found is None else found
                if so_far is not None:
                    values = self._judge_by_all_rows(about, so_far)
                    self._keep_subsets(source, about, so_far, values, Outcome.INTERRUPTED)
                    keep_so_far(self, interrupt)
                raise
        self._keep_subsets(source, about, found, values, outcome)
        self._warn_unless_converged()
        return self

    def _keep_subsets(
        self, source: Source, about: Moments, found: BestSubsets, values: Array, outcome: Outcome
    ) -> None:
        """Store the best subset of each size, and the fit to the one with the smallest value."""
        self.criterion_values_ = values
        size, largest = int(values.argmin()), len(found.rss) - 1
        theta, _ = refitted(about, found.members[size])
        self.rss_, self.subsets_ = found.rss, list(found.members)
        self.n_nonzero_coefs_ = size
        self.support_ = np.isin(np.arange(source.n_features), found.members[size])
        self._keep(theta, source)
        self.n_iter_ = max(1, found.nodes)
        self.solution_ = Solution(
            theta=theta,
            outcome=outcome,
            solver="branch_and_bound",
            reason=f"exact search of {n_subsets(source.n_features, largest):,} subsets by bounds",
            steps=found.nodes,
            value=float(found.rss[size]),
            gap=0.0 if found.complete else float(found.rss[size] - found.rss[-1]),
            gap_kind="sum of squares above that of the largest subset",
            message=outcome.value,
        )

    def _largest(self, d: int) -> int:
        """Largest number of columns to select; an error if there are too many subsets."""
        if self.max_features is not None and self.max_features > d:
            raise ParameterError(
                f"BestSubset: max_features={self.max_features} is more than the number of columns "
                f"of X, {d}. Use max_features={d} or fewer."
            )
        largest = d if self.max_features is None else int(self.max_features)
        count = n_subsets(d, largest)
        if count > self.max_subsets:
            raise CapabilityError(
                f"BestSubset: there are {count:.2g} subsets of at most {largest} of {d} columns, "
                f"more than max_subsets={self.max_subsets:.2g}. Use OrthogonalMatchingPursuit or "
                "an L1 penalty, lower max_features, or raise max_subsets and limit the time with "
                "th.config(max_time=...)."
            )
        return largest

    def _criterion(self) -> str:
        if self.criterion == "auto":
            return "tau" if self.tau is not None else "rss" if self.max_features else "bic"
        if self.tau is not None:
            raise ParameterError(
                f"BestSubset: tau={self.tau} and criterion={self.criterion!r} are different rules "
                "for choosing the subset. Give only one of them."
            )
        return self.criterion

    def _moments(self, source: Source) -> Moments:
        about = moments(source)
        about = about if self.fit_intercept else about.about_zero()
        about.require_squares()
        return about

    def _judge(self, source: Source, about: Moments, found: BestSubsets, watch: Watch) -> Array:
        """Value of the criterion for the best subset of each size."""
        if self.criterion_ == "cv":
            return self._held_out(source, len(found.rss) - 1, watch)
        return self._judge_by_all_rows(about, found)

    def _judge_by_all_rows(self, about: Moments, found: BestSubsets) -> Array:
        """Criteria that need no folds; BIC in place of "cv"."""
        size = np.arange(len(found.rss))
        if self.criterion_ == "rss":
            return found.rss
        if self.criterion_ == "tau":
            return found.rss + float(self.tau or 0.0) * size
        n = about.weight
        # The logarithm of a perfect fit is −∞; differences of moments leave at most this residual.
        floor = max(len(size) * EPSILON * float(found.rss[0]), 1e-300)
        price = 2.0 if self.criterion_ == "aic" else np.log(n)
        return n * np.log(np.maximum(found.rss, floor) / n) + price * size

    def _held_out(self, source: Source, largest: int, watch: Watch) -> Array:
        """Mean squared error on held-out rows, with one search per fold."""
        if not isinstance(source, InMemory) or source.y is None:
            raise CapabilityError(
                "BestSubset: criterion='cv' needs the rows in memory, but these are read block by "
                "block. Use criterion='bic'."
            )
        errors = []
        for train, test in splits_of(self.cv, source.X, source.y, who="BestSubset"):
            about = self._moments(source.take(train))
            found, _ = search_subsets(about, largest, watch)
            held = source.take(test)
            thetas = np.hstack([refitted(about, members)[0] for members in found.members])
            thetas = np.hstack([thetas] + [thetas[:, -1:]] * (largest + 1 - thetas.shape[1]))

            def predictions(block: Block, t: Array = thetas) -> Array:
                return block.X @ t[:-1] + t[-1]

            z = held.map_rows(predictions)
            squares = (np.asarray(held.y)[:, None] - z) ** 2
            errors.append(np.average(squares, axis=0, weights=held.weight))
        return np.mean(errors, axis=0)


def _sensible_size(about: Moments) -> int:
    """All columns, or a third of the rank if the columns fit y without residual."""
    fit, d = pseudo_inverse(about), about.n_features
    total = float(about.scatter[d, d] * about.unit[d] ** 2)
    assert fit.rank is not None
    saturated = fit.rank < d and float(fit.residual[0]) <= 1e-9 * total
    return max(1, fit.rank // 3) if saturated else d
