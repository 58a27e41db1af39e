"""Best-subset regression: the L0 problem solved exactly, for small d."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.callback import with_callbacks
from sklearn.model_selection import check_cv

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Block, Source
from thetahat.data.summaries.moments import Moments, moments
from thetahat.estimator.linear import LinearRegressor
from thetahat.estimator.parameters import at_least, boolean, none, one_of, whole
from thetahat.estimator.watching import Watched
from thetahat.foundation.errors import CapabilityError, ParameterError
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Verdict, Watch
from thetahat.mathematics.linalg.best_subsets import BestSubsets, best_subsets, n_subsets
from thetahat.mathematics.linalg.least_squares import cholesky, pseudo_inverse
from thetahat.mathematics.optimizers.solution import Outcome, Solution

CRITERIA = ("rss", "aic", "bic", "cv")


class BestSubset(Watched, LinearRegressor):
    """Least squares on the best subset of the columns, found exactly.

    Formula: constrained, min ‖y − Xβ‖² with ‖β‖₀ ≤ k; penalised, min ‖y − Xβ‖² + τ‖β‖₀; or the size
    m with the least AIC = n·log(RSS_m/n) + 2m, BIC = n·log(RSS_m/n) + m·log n, or error on held-out
    rows. ‖β‖₀ counts the non-zero coefficients; the intercept is free.

    Cost: O(n d²) for the Gram matrix, in memory or out of core, then branch and bound over the 2^d
    subsets: in practice a second for d = 30 to 40, O(d³) memory. The problem is NP-hard; for more
    columns use `OrthogonalMatchingPursuit` or an L1 penalty.

    Parameters
    ----------
    max_features : int, optional
        k, the most non-zero coefficients. Default: d; a third of the rank where the columns depend
        on one another and fit y without residual, as more columns than rows do.
    tau : float, optional
        τ of the penalised form.
    criterion : {"auto", "rss", "aic", "bic", "cv"}, default="auto"
        What chooses among the best subsets of each size. "rss" is the constrained form. "auto": the
        penalised form if `tau` is given, the constrained one if `max_features` is, else "bic".
    cv : int, splitter, iterable or None
        Folds for "cv", as in scikit-learn.
    fit_intercept : bool, default=True
        Whether b is fitted.
    max_subsets : float, default=2**40
        Refuse when there are more subsets than this.

    Attributes
    ----------
    coef_, intercept_ : array
        β̂ and b̂.
    support_ : array of bool, shape (d,)
        Which columns were chosen.
    n_nonzero_coefs_ : int
        How many.
    rss_ : array of shape (k + 1,)
        RSS of the best subset of each size.
    subsets_ : list of arrays
        The columns of each.
    criterion_ : str
        What chose: "rss", "tau", "aic", "bic" or "cv".
    criterion_values_ : array of shape (k + 1,)
        Its value for each size; the smallest wins.
    solution_ : Solution
        ``gap`` is 0 when the search was completed; else RSS above the lower bound.
    n_iter_ : int
        Nodes of the search tree that were visited.

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

    _why_no_errors = "the columns were chosen by the same rows, which makes them look surer"
    _ranges = {  # noqa: RUF012
        "max_features": whole(1) | none,
        "tau": at_least(0) | none,
        "criterion": one_of("auto", *CRITERIA),
        "fit_intercept": boolean,
        "max_subsets": at_least(1),
    }
    _multi_output = False

    def __init__(
        self,
        max_features: int | None = None,
        *,
        tau: float | None = None,
        criterion: str = "auto",
        cv: Any = None,
        fit_intercept: bool = True,
        max_subsets: float = 2**40,
    ) -> None:
        self.max_features = max_features
        self.tau = tau
        self.criterion = criterion
        self.cv = cv
        self.fit_intercept = fit_intercept
        self.max_subsets = max_subsets

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> BestSubset:
        """Fit; parameters as in `LinearRegression.fit`."""
        source = self._open(X, y, sample_weight, check_finite=False)
        largest = self._largest(source.n_features)
        self.criterion_ = self._criterion()
        about = self._moments(source)
        if self.max_features is None:
            largest = min(largest, _sensible_size(about))
        with self._watching(None, lambda theta: self._shaped(theta, source), X, y) as watch:
            found = None
            try:
                found, outcome = _search(about, largest, watch)
                values = self._judge(source, about, found, watch)
            except KeyboardInterrupt as interrupt:
                so_far = getattr(interrupt, "subsets", None) if found is None else found
                if so_far is not None:
                    values = self._judge_by_all_rows(about, so_far)
                    self._keep_subsets(source, about, so_far, values, Outcome.INTERRUPTED)
                raise
        self._keep_subsets(source, about, found, values, outcome)
        self._warn_unless_converged()
        return self

    def _keep_subsets(
        self, source: Source, about: Moments, found: BestSubsets, values: Array, outcome: Outcome
    ) -> None:
        """The best subset of each size, and the fit to the one with the smallest value."""
        self.criterion_values_ = values
        size, largest = int(values.argmin()), len(found.rss) - 1
        theta, _ = _refit(about, found.members[size])
        self.rss_, self.subsets_ = found.rss, list(found.members)
        self.n_nonzero_coefs_ = size
        self.support_ = np.isin(np.arange(source.n_features), found.members[size])
        self._keep(theta, source)
        self.n_iter_ = max(1, found.nodes)
        self.solution_ = Solution(
            theta=theta,
            outcome=outcome,
            solver="branch_and_bound",
            reason=f"all {n_subsets(source.n_features, largest):,} subsets, by bounds",
            steps=found.nodes,
            value=float(found.rss[size]),
            gap=0.0 if found.complete else float(found.rss[size] - found.rss[-1]),
            gap_kind="sum of squares above that of the largest subset",
            message=outcome.value,
        )

    def _largest(self, d: int) -> int:
        """The most columns to choose, refused when there are too many subsets to look at."""
        if self.max_features is not None and self.max_features > d:
            raise ParameterError(
                f"BestSubset: max_features={self.max_features}, but X has {d} columns. Ask for "
                f"{d} or fewer."
            )
        largest = d if self.max_features is None else int(self.max_features)
        count = n_subsets(d, largest)
        if count > self.max_subsets:
            raise CapabilityError(
                f"BestSubset: {d} columns have {count:.2g} subsets of at most {largest}, more than "
                f"max_subsets={self.max_subsets:.2g}. Use OrthogonalMatchingPursuit or an L1 "
                "penalty, lower max_features, or raise max_subsets and limit the time with "
                "th.config(max_time=...)."
            )
        return largest

    def _criterion(self) -> str:
        if self.criterion == "auto":
            return "tau" if self.tau is not None else "rss" if self.max_features else "bic"
        if self.tau is not None:
            raise ParameterError(
                f"BestSubset: tau={self.tau} is the penalised form, and "
                f"criterion={self.criterion!r} another rule. Leave one of them out."
            )
        return self.criterion

    def _moments(self, source: Source) -> Moments:
        about = moments(source)
        about = about if self.fit_intercept else about.about_zero()
        about.require_squares()
        return about

    def _judge(self, source: Source, about: Moments, found: BestSubsets, watch: Watch) -> Array:
        """The criterion's value of the best subset of each size."""
        if self.criterion_ == "cv":
            return self._held_out(source, len(found.rss) - 1, watch)
        return self._judge_by_all_rows(about, found)

    def _judge_by_all_rows(self, about: Moments, found: BestSubsets) -> Array:
        """The criteria that need no folds; BIC in place of "cv"."""
        size = np.arange(len(found.rss))
        if self.criterion_ == "rss":
            return found.rss
        if self.criterion_ == "tau":
            return found.rss + float(self.tau or 0.0) * size
        n = about.weight
        # A perfect fit would be worth −∞; rounding leaves no more than this.
        floor = max(float(np.finfo(np.float64).eps) ** 1.5 * float(found.rss[0]), 1e-300)
        price = 2.0 if self.criterion_ == "aic" else np.log(n)
        return n * np.log(np.maximum(found.rss, floor) / n) + price * size

    def _held_out(self, source: Source, largest: int, watch: Watch) -> Array:
        """Mean squared error on held-out rows, a search for each fold."""
        if not isinstance(source, InMemory) or source.y is None:
            raise CapabilityError(
                "BestSubset: criterion='cv' needs its rows in memory. From a file, use 'bic'."
            )
        errors = []
        for train, test in check_cv(self.cv, source.y).split(source.X, source.y):
            about = self._moments(source.take(train))
            found, _ = _search(about, largest, watch)
            held = source.take(test)
            thetas = np.hstack([_refit(about, members)[0] for members in found.members])
            thetas = np.hstack([thetas] + [thetas[:, -1:]] * (largest + 1 - thetas.shape[1]))

            def predictions(block: Block, t: Array = thetas) -> Array:
                return block.X @ t[:-1] + t[-1]

            z = held.map_rows(predictions)
            squares = (np.asarray(held.y)[:, None] - z) ** 2
            errors.append(np.average(squares, axis=0, weights=held.weight))
        return np.mean(errors, axis=0)


def _sensible_size(about: Moments) -> int:
    """All columns, unless they can fit anything: then neither bounds nor criteria mean much."""
    fit, d = pseudo_inverse(about), about.n_features
    total = float(about.scatter[d, d] * about.unit[d] ** 2)
    saturated = fit.rank < d and float(fit.residual[0]) <= 1e-9 * total
    return max(1, fit.rank // 3) if saturated else d


def _search(about: Moments, largest: int, watch: Watch) -> tuple[BestSubsets, Outcome]:
    """Branch and bound under a watch; the best subsets so far when time runs out."""
    d, scatter = about.n_features, about.scatter * about.unit * about.unit[:, None]
    # No more columns than there are rows to tell them apart.
    freedom = max(1, about.n_rows - int(about.is_centred))
    search = best_subsets(
        scatter[:d, :d], scatter[:d, d], max(0.0, float(scatter[d, d])), min(largest, freedom)
    )
    verdict, found = Verdict.GO_ON, None
    try:
        for step, found in enumerate(search):
            if found.complete:
                return _exact(about, found), Outcome.EXACT
            verdict = watch(step, _refit(about, found.members[-1])[0], float(found.rss[-1]))
            if verdict is not Verdict.GO_ON:
                break
    except KeyboardInterrupt as interrupt:
        if found is not None:
            interrupt.subsets = _exact(about, found)  # type: ignore[attr-defined]
        raise
    assert found is not None
    stopped = verdict is Verdict.STOPPED
    return _exact(about, found), Outcome.INTERRUPTED if stopped else Outcome.OUT_OF_TIME


def _exact(about: Moments, found: BestSubsets) -> BestSubsets:
    """The sums of squares of the refitted subsets: the search's own are off by its tiny ridge."""
    rss = np.array([_refit(about, members)[1] for members in found.members])
    return replace(found, rss=np.minimum.accumulate(rss))


def _refit(about: Moments, members: Array) -> tuple[Array, float]:
    """Least squares on some columns: [β; b] of shape (d + 1, 1), zeros elsewhere; and the RSS."""
    d, theta = about.n_features, np.zeros((about.n_features + 1, 1))
    kept = np.append(members, d)
    part = replace(
        about,
        mean=about.mean[kept],
        scatter=np.ascontiguousarray(about.scatter[np.ix_(kept, kept)]),
        unit=about.unit[kept],
        n_features=len(members),
    )
    if not len(members):
        theta[-1] = about.y_mean
        return theta, float(about.scatter[d, d] * about.unit[d] ** 2)
    fit = cholesky(part) or pseudo_inverse(part)
    theta[members], theta[-1] = fit.coef, fit.intercept
    return theta, float(fit.residual[0])
