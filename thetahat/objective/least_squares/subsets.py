"""Least squares with a price for each non-zero coefficient, by exact search over the subsets."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from thetahat.data.source import Source
from thetahat.data.summaries.moments import Moments, moments
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Verdict, Watch
from thetahat.mathematics.linalg.best_subsets import BestSubsets, best_subsets, n_subsets
from thetahat.mathematics.linalg.least_squares import cholesky, pseudo_inverse
from thetahat.mathematics.optimizers.solution import Outcome, Solution

LARGEST_NUMBER_OF_SUBSETS = 2**40
"""Subsets up to which a search by bounds usually ends: all those of 40 columns."""
MOST_PARAMETERS = 41
"""Coefficients, with an intercept, that have that number of subsets."""


def counted_least_squares(
    source: Source, price: float, *, intercept: bool, watch: Watch | None = None
) -> Solution:
    """Minimise Σ wᵢ(yᵢ − xᵢᵀβ − b)² + price·#{j : βⱼ ≠ 0}, as [β; b] of shape (d + 1, 1).

    k coefficients cost k·price and lower the sum of squares by no more than RSS₀ − RSS_d, so only
    sizes k < (RSS₀ − RSS_d)/price are searched. Cost: O(n d²), then branch and bound.
    """
    about = moments(source)
    about = about if intercept else about.about_zero()
    about.require_squares()
    d = about.n_features
    largest = _most_worth_their_price(about, price)
    watch = Watch() if watch is None else watch
    try:
        found, outcome = search_subsets(about, largest, watch)
    except KeyboardInterrupt as interrupt:
        so_far = getattr(interrupt, "subsets", None)
        if so_far is not None:
            interrupt.solution = _cheapest(  # type: ignore[attr-defined]
                about, so_far, price, Outcome.INTERRUPTED
            )
        raise
    reason = f"squared loss with L0: exact search of {n_subsets(d, largest):,} subsets by bounds"
    return replace(_cheapest(about, found, price, outcome), reason=reason)


def _most_worth_their_price(about: Moments, price: float) -> int:
    """The largest number of coefficients that can be worth their price."""
    d = about.n_features
    if price <= 0:
        return d
    everything = refitted(about, _all(about))[1]
    saved = refitted(about, np.arange(0))[1] - everything
    return int(min(d, max(0.0, saved / price)))


def _cheapest(about: Moments, found: BestSubsets, price: float, outcome: Outcome) -> Solution:
    """The subset with the smallest sum of squares plus prices."""
    values = found.rss + price * np.arange(len(found.rss))
    size = int(values.argmin())
    bound = 0.0 if found.complete else float(values[size] - refitted(about, _all(about))[1])
    return Solution(
        theta=refitted(about, found.members[size])[0],
        outcome=outcome,
        solver="branch_and_bound",
        steps=found.nodes,
        value=float(values[size]),
        gap=bound,
        gap_kind="objective above its lower bound",
        message=outcome.value,
    )


def too_many_subsets(risk: Any) -> str | None:
    """A condition for `requires`: few columns."""
    if risk.predictor.n_parameters <= MOST_PARAMETERS:
        return None
    d = risk.predictor.n_features
    return f"at most {MOST_PARAMETERS - 1} columns for the exact search under L0; there are {d}"


def search_subsets(about: Moments, largest: int, watch: Watch) -> tuple[BestSubsets, Outcome]:
    """Branch and bound under a watch; the best subsets found so far if time runs out."""
    d, scatter = about.n_features, about.scatter * about.unit * about.unit[:, None]
    # More columns than rows cannot be distinguished.
    freedom = max(1, about.n_rows - int(about.is_centred))
    search = best_subsets(
        scatter[:d, :d], scatter[:d, d], max(0.0, float(scatter[d, d])), min(largest, freedom)
    )
    verdict, found = Verdict.GO_ON, None
    try:
        for step, found in enumerate(search):
            if found.complete:
                return _exact(about, found), Outcome.EXACT
            verdict = watch(step, refitted(about, found.members[-1])[0], float(found.rss[-1]))
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
    """Sums of squares of the refitted subsets, without the small ridge used in the search."""
    rss = np.array([refitted(about, members)[1] for members in found.members])
    return replace(found, rss=np.minimum.accumulate(rss))


def refitted(about: Moments, members: Array) -> tuple[Array, float]:
    """Least squares on some columns: [β; b] of shape (d + 1, 1), zero elsewhere, and the RSS."""
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


def _all(about: Moments) -> Array:
    return np.arange(about.n_features)
