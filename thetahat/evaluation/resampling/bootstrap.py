"""The bootstrap: standard errors and intervals from fits to resampled rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri
from sklearn.base import clone, is_classifier
from sklearn.utils.validation import has_fit_parameter

from thetahat.data.resampling import bootstrap_indices, take_rows, weighted_indices
from thetahat.data.source import Block, Source
from thetahat.data.validation import as_weight
from thetahat.data.views import reweighted
from thetahat.estimator.distributed.functions import reads_sources
from thetahat.estimator.parameters import check_value, inner_fraction, one_of, whole
from thetahat.evaluation.resampling.bootstrap_result import BootstrapResult
from thetahat.evaluation.statistics_of_models import statistic_of
from thetahat.foundation.errors import CapabilityError, DataError
from thetahat.foundation.many_fits import Failure, parallel_map
from thetahat.foundation.randomness import RandomState, generator
from thetahat.foundation.types import Array

JACKKNIFE_GROUPS = 200
"""Number of groups left out in turn for the acceleration of "bca" (single rows if fewer)."""


@reads_sources
def bootstrap(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    statistic: str | Callable[[Any], Any] | None = None,
    n_resamples: int = 1000,
    level: float = 0.95,
    kind: str = "percentile",
    resample: str = "rows",
    sample_weight: Any = None,
    random_state: RandomState = None,
) -> BootstrapResult:
    """Estimate standard errors, bias and intervals of any model by the bootstrap.

    Formula: fit to B resamples of n rows drawn with replacement, giving t*₁, …, t*_B. Then
    se = std(t*), bias = mean(t*) − t, and the interval of level 1 − α is: "percentile"
    [t*_{α/2}, t*_{1−α/2}]; "basic" [2t − t*_{1−α/2}, 2t − t*_{α/2}]; "normal" t − bias ± z·se;
    "bca" percentiles adjusted for median bias and acceleration (second-order correct). A penalised
    estimate is biased towards zero; its interval is for the expected penalised estimate, not for
    the true coefficients.

    Cost: B fits (and up to 200 more for "bca"), run in parallel; the result does not depend on the
    number of threads. Rows are not copied if the model accepts row weights: a row drawn twice has
    weight 2.

    Parameters
    ----------
    model : estimator
        An estimator with scikit-learn's interface. It is cloned before each fit, so the object
        itself stays unfitted.
    X : array-like, sparse, table or Source
        The rows, in memory or as a Source.
    y : array-like, optional
        The targets, one per row. Omit them for a Source that holds its own.
    statistic : "coef", callable or None
        The quantity computed from each fitted model. "coef" and None stand for the intercept and
        the coefficients. A function takes the fitted model and returns a number or an array, such
        as ``lambda model: model.predict(X_new)``.
    n_resamples : int, default=1000
        The number of resamples (B), at least 2. More resamples give more accurate intervals.
    level : float, default=0.95
        Confidence level of the intervals, between 0 and 1. A larger value gives wider intervals.
    kind : {"percentile", "basic", "normal", "bca"}, default="percentile"
        How the intervals are computed; see the formula.
    resample : {"rows", "residuals"}, default="rows"
        What is drawn. "rows" draws whole rows (x, y). "residuals" keeps X and adds residuals drawn
        at random to the fitted values; for regression with errors of the same distribution at all
        x.
    sample_weight : array-like of shape (n,), optional
        Row weights. Whole numbers count rows: Σw rows are drawn, each with probability wᵢ/Σw. Other
        weights multiply the counts of n rows drawn with equal probability.
    random_state : int, Generator or None
        Seed or generator for the resamples. The same seed gives the same result.

    Returns
    -------
    BootstrapResult

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> random = np.random.default_rng(0)
    >>> X = random.standard_normal((100, 2))
    >>> y = X @ [1.0, 2.0] + random.standard_normal(100)
    >>> result = th.bootstrap(th.Ridge(alpha=1.0), X, y, n_resamples=200, random_state=0)
    >>> result.names
    ('intercept', 'x0', 'x1')
    >>> bool((result.low < [0.0, 1.0, 2.0]).all() and (result.high > [0.0, 1.0, 2.0]).all())
    True
    """
    check_value(n_resamples, whole(2), "n_resamples", "bootstrap")
    check_value(level, inner_fraction, "level", "bootstrap")
    check_value(kind, one_of("percentile", "basic", "normal", "bca"), "kind", "bootstrap")
    check_value(resample, one_of("rows", "residuals"), "resample", "bootstrap")
    data = _Data.of(model, X, y, sample_weight, residuals=resample == "residuals")
    measure = statistic_of(statistic)
    original = data.fitted(model, None)
    estimate, names = measure(original)
    if data.by_residuals:
        data = data.with_residuals_of(original)
    seeds = generator(random_state).integers(2**63, size=n_resamples)

    def replicate(seed: int) -> Array:
        return _like(estimate, measure(data.fitted(model, np.random.default_rng(seed)))[0])

    found = list(parallel_map(replicate, (int(seed) for seed in seeds)))
    kept = [one for one in found if not isinstance(one, Failure)]
    failures = Counter(one.reason for one in found if isinstance(one, Failure))
    if len(kept) < 2:
        raise DataError(
            f"bootstrap: {len(found) - len(kept)} of {n_resamples} fits failed "
            f"({failures.most_common(1)[0][0]}), and at least two must succeed. Give more rows, or "
            "a model that can be fitted to resamples."
        )
    replicates = np.stack(kept)
    acceleration = _acceleration(model, data, measure, estimate) if kind == "bca" else None
    low, high = _interval(estimate, replicates, level, kind, acceleration)
    return BootstrapResult(
        names=names,
        estimate=estimate,
        standard_error=replicates.std(axis=0, ddof=1),
        bias=replicates.mean(axis=0) - estimate,
        low=low,
        high=high,
        level=float(level),
        kind=kind,
        resample=resample,
        n_resamples=int(n_resamples),
        failures=dict(failures),
        replicates=replicates,
    )


@dataclass(frozen=True)
class _Data:
    """The rows, and how a model is fitted to a resample of them."""

    X: Any
    y: Any
    n_rows: int
    by_weight: bool
    by_residuals: bool
    frequency: Array | None = None
    """The count of each row, if all weights are whole numbers."""
    importance: Array | None = None
    """The weights, if they are not whole numbers."""
    fit_values: Array | None = None
    errors: Array | None = None

    @classmethod
    def of(cls, model: Any, X: Any, y: Any, sample_weight: Any, *, residuals: bool) -> _Data:
        n = X.n_rows if isinstance(X, Source) else X.shape[0] if hasattr(X, "shape") else len(X)
        by_weight = has_fit_parameter(model, "sample_weight") or isinstance(X, Source)
        if residuals:
            if is_classifier(model) or isinstance(X, Source) or sample_weight is not None:
                raise CapabilityError(
                    "bootstrap: resample='residuals' needs a regression on unweighted rows in "
                    "memory. Use resample='rows'."
                )
            return cls(X, np.asarray(y), int(n), by_weight=False, by_residuals=True)
        if isinstance(X, Source) and is_classifier(model) and X.has_target:
            y = X.map_rows(lambda block: block.targets)  # to see which classes a resample holds
        if isinstance(X, list):
            X = np.asarray(X)
        y = np.asarray(y) if isinstance(y, list) else y
        if sample_weight is None:
            return cls(X, y, int(n), by_weight, by_residuals=False)
        if not by_weight:
            raise CapabilityError(
                f"bootstrap: {type(model).__name__} does not accept sample_weight. Repeat rows "
                "instead."
            )
        weight = as_weight(sample_weight, int(n), "bootstrap")
        counts = bool((weight == np.round(weight)).all())
        kinds = {"frequency" if counts else "importance": weight}
        return cls(X, y, int(n), by_weight, by_residuals=False, **kinds)

    def with_residuals_of(self, model: Any) -> _Data:
        """The same rows, with the fit whose residuals are drawn."""
        values = np.asarray(model.predict(self.X))
        errors = self.y - values
        centred = errors - errors.mean(axis=0)
        return _Data(self.X, self.y, self.n_rows, False, True, fit_values=values, errors=centred)

    def fitted(self, model: Any, random: np.random.Generator | None) -> Any:
        """The model fitted to a resample, or without a generator to the original rows."""
        if self.by_residuals:
            y = self.y
            if random is not None:
                assert self.fit_values is not None
                assert self.errors is not None
                drawn = bootstrap_indices(self.n_rows, random_state=random).drawn
                y = self.fit_values + self.errors[drawn]
            return clone(model).fit(self.X, y)
        return self.fitted_to(model, None if random is None else self._drawn(random))

    def fitted_to(self, model: Any, drawn: Array | None) -> Any:
        """The model fitted to rows given by number, with repetitions; None for all rows."""
        fresh = clone(model)
        if drawn is not None and is_classifier(model):
            self._require_every_class(drawn)
        if not self.by_weight:
            return fresh.fit(*self._taken(drawn))
        weight = self._base_weight() if drawn is None else self._weight_of(drawn)
        if isinstance(self.X, Source):
            return fresh.fit(self.X if weight is None else _reweighted(self.X, weight))
        target = () if self.y is None else (self.y,)
        options = {} if weight is None else {"sample_weight": weight}
        return fresh.fit(self.X, *target, **options)

    def _require_every_class(self, drawn: Array) -> None:
        """Fail if a class was not drawn; weights of 0 would hide this from the model."""
        if self.y is None:
            return
        labels = np.asarray(self.y)
        held, known = len(np.unique(labels[drawn])), len(np.unique(labels))
        if held < known:
            raise DataError(f"a resample held rows of {held} of {known} classes")

    def _base_weight(self) -> Array | None:
        return self.frequency if self.frequency is not None else self.importance

    def _weight_of(self, drawn: Array) -> Array:
        counts = np.bincount(drawn, minlength=self.n_rows).astype(np.float64)
        return counts if self.importance is None else counts * self.importance

    def _drawn(self, random: np.random.Generator) -> Array:
        if self.frequency is None:
            return bootstrap_indices(self.n_rows, random_state=random).drawn
        total = int(self.frequency.sum())
        return weighted_indices(self.frequency, size=total, random_state=random)

    def _taken(self, drawn: Array | None) -> tuple[Any, ...]:
        arrays = (self.X,) if self.y is None else (self.X, self.y)
        if drawn is None:
            return arrays
        return tuple(take_rows(array, drawn) for array in arrays)

    def without_groups(self) -> Iterator[Array]:
        """The rows that remain when each of at most `JACKKNIFE_GROUPS` groups is left out."""
        rows = np.arange(self.n_rows)
        if self.frequency is not None:
            rows = np.repeat(rows, self.frequency.astype(np.int64))
        # Every g-th row rather than slices, since neighbouring rows are often similar.
        groups = min(len(rows), JACKKNIFE_GROUPS)
        place = np.arange(len(rows)) % groups
        for group in range(groups):
            yield rows[place != group]


def _reweighted(source: Source, weight: Array) -> Source:
    def of_rows(block: Block) -> Array:
        return weight[block.start : block.start + block.n_rows]

    return reweighted(source, of_rows, lazy=True, by_position=True)


def _like(estimate: Array, value: Array) -> Array:
    if value.shape != estimate.shape:
        raise ValueError(
            f"the statistic has shape {value.shape} on a resample and {estimate.shape} on all "
            "rows (a class that was not drawn?)"
        )
    if not np.isfinite(value).all():
        raise ValueError("the statistic is NaN or infinite on a resample")
    return value


def _acceleration(model: Any, data: _Data, measure: Any, estimate: Array) -> Array:
    """a = Σd³/(6(Σd²)^{3/2}) from the jackknife deviations d, by groups if there are many rows."""
    if data.by_residuals:
        raise CapabilityError(
            "bootstrap: kind='bca' needs resample='rows'. Use kind='percentile' for residuals."
        )

    def estimate_without(rows: Array) -> Array:
        return _like(estimate, measure(data.fitted_to(model, rows))[0])

    tried = parallel_map(estimate_without, data.without_groups())
    found = [one for one in tried if not isinstance(one, Failure)]
    if len(found) < 2:
        return np.zeros_like(estimate)
    deviation = np.mean(found, axis=0) - np.stack(found)
    spread = (deviation**2).sum(axis=0) ** 1.5
    return (deviation**3).sum(axis=0) / (6 * np.where(spread > 0, spread, np.inf))


def _interval(
    estimate: Array, replicates: Array, level: float, kind: str, acceleration: Array | None
) -> tuple[Array, Array]:
    tail = (1 - level) / 2
    if kind == "normal":
        middle = 2 * estimate - replicates.mean(axis=0)
        half = -ndtri(tail) * replicates.std(axis=0, ddof=1)
        return middle - half, middle + half
    if kind == "bca":
        assert acceleration is not None
        return _accelerated(estimate, replicates, tail, acceleration)
    low, high = np.quantile(replicates, [tail, 1 - tail], axis=0)
    return (low, high) if kind == "percentile" else (2 * estimate - high, 2 * estimate - low)


def _accelerated(
    estimate: Array, replicates: Array, tail: float, acceleration: Array
) -> tuple[Array, Array]:
    """Percentiles at Φ(z₀ + (z₀ + z)/(1 − a(z₀ + z))), where z₀ is the median bias."""
    count = len(replicates)
    # Ties count half. A share of 0 or 1 would make z₀ infinite.
    below = ((replicates < estimate).sum(axis=0) + (replicates <= estimate).sum(axis=0)) / 2
    shift = ndtri(np.clip(below / count, 0.5 / count, 1 - 0.5 / count))
    flat = replicates.reshape(count, -1)
    bounds = []
    for z in (ndtri(tail), -ndtri(tail)):
        moved = shift + z
        levels = ndtr(shift + moved / (1 - acceleration * moved))
        columns = zip(flat.T, levels.ravel(), strict=True)
        bounds.append(np.array([np.quantile(column, one) for column, one in columns]))
    return bounds[0].reshape(estimate.shape), bounds[1].reshape(estimate.shape)
