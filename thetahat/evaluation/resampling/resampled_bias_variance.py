"""Bias and variance without knowing the truth, from fits to bootstrap samples of the rows.

Each row is predicted by the fits that did not draw it. With f̂ over those fits and f̄ their mean,

    mean (y − f̂)² = mean (y − f̄)² + mean var f̂          squares: bias² and noise, plus variance
    error rate    = error of the main prediction, and how often fits differ from it      labels

Bias and noise can only be separated with repeated y at the same x, so they are reported together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier

from thetahat.data.columns.labels import LabelEncoding
from thetahat.data.resampling import bootstrap_indices, take_rows
from thetahat.estimator.distributed.functions import needs_memory
from thetahat.estimator.parameters import check_value, whole
from thetahat.evaluation.folds import targets_of
from thetahat.foundation.errors import DataError
from thetahat.foundation.many_fits import Failure, parallel_map
from thetahat.foundation.randomness import RandomState, generator
from thetahat.foundation.types import Array


@dataclass(frozen=True)
class ResampledBiasVariance:
    """The part of a learner's error that is due to the random choice of the training set.

    Formula: error = systematic + variance for squared errors. For labels, systematic is the error
    of the main (most frequent) prediction, and variance the share of fits that differ from it.
    Cost: O(n).

    Attributes
    ----------
    error : float
        Mean squared error, or error rate, of the fits on rows that they did not draw.
    systematic : float
        Bias² and noise together: the error that remains after averaging over all training sets.
    variance : float
        The part of the error that averaging over training sets, as in bagging, would remove.
    predictions : array of shape (n,)
        The mean prediction of each row, or its main label. NaN or None for rows that every sample
        drew.
    n_resamples : int
        The number of bootstrap samples and fits.
    n_counted : int
        The number of rows that at least one sample did not draw. Other rows are not counted.

    Examples
    --------
    >>> import thetahat as th
    >>> data = th.datasets.make_linear(60, 10, noise=2.0, random_state=0)
    >>> found = th.resampled_bias_variance(th.LinearRegression(), data.X, data.y, random_state=0)
    >>> round(found.error - found.systematic - found.variance, 10)
    0.0
    """

    error: float
    systematic: float
    variance: float
    predictions: Array
    n_resamples: int
    n_counted: int

    def __str__(self) -> str:
        missed = len(self.predictions) - self.n_counted
        left = f"; {missed} of {len(self.predictions)} rows were in every sample and do not count"
        return (
            f"error {self.error:.4g} over {self.n_resamples} bootstrap fits: bias² and noise "
            f"{self.systematic:.4g}, variance {self.variance:.4g}{left if missed else ''}"
        )

    __repr__ = __str__


@needs_memory
def resampled_bias_variance(
    learner: Any, X: Any, y: Any, *, n_resamples: int = 100, random_state: RandomState = None
) -> ResampledBiasVariance:
    """Decompose a learner's error into a systematic part and variance, by the bootstrap.

    Formula: each row is predicted by the fits that did not draw it; mean (y − f̂)² =
    mean (y − f̄)² + mean var f̂. Cost: `n_resamples` fits, run in parallel.

    Parameters
    ----------
    learner : estimator
        An estimator with scikit-learn's interface. It is cloned before each fit. For a classifier,
        errors of the predicted labels are counted.
    X, y : array-like, sparse, table
        The rows and their targets, held in memory. A table of one column is accepted for y.
    n_resamples : int, default=100
        The number of bootstrap samples, at least 2. More samples give more accurate results. With
        few samples some rows are drawn by all of them (probability 0.632^n_resamples), and are then
        not counted.
    random_state : int, Generator or None
        Seed or generator for the samples. The same seed gives the same result.

    Returns
    -------
    ResampledBiasVariance

    Examples
    --------
    >>> import thetahat as th
    >>> data = th.datasets.make_linear(60, 10, noise=2.0, random_state=0)
    >>> plain, shrunk = (
    ...     th.resampled_bias_variance(model, data.X, data.y, random_state=0)
    ...     for model in (th.LinearRegression(), th.Ridge(alpha=30.0)))
    >>> plain.variance > shrunk.variance
    True
    """
    check_value(n_resamples, whole(2), "n_resamples", "resampled_bias_variance")
    y, targets = targets_of(X, y, "resampled_bias_variance", several=False)
    seeds = generator(random_state).integers(2**63, size=n_resamples)

    def out_of_bag(seed: int) -> tuple[Array, Array]:
        drawn, rest = bootstrap_indices(targets.size, random_state=int(seed))
        fitted = clone(learner).fit(take_rows(X, drawn), take_rows(y, drawn))
        return rest, np.asarray(fitted.predict(take_rows(X, rest)))

    fits = []
    for number, found in enumerate(parallel_map(out_of_bag, seeds.tolist())):
        if isinstance(found, Failure):
            raise DataError(
                f"resampled_bias_variance: the fit to bootstrap sample {number} failed "
                f"({found.reason}). Give more rows, or a learner that can fit such samples."
            ) from found.error
        fits.append(found)
    split = _of_labels if is_classifier(learner) else _of_numbers
    return split(fits, targets)


def _of_numbers(fits: list[tuple[Array, Array]], y: Array) -> ResampledBiasVariance:
    count, total, squares = (np.zeros(y.size) for _ in range(3))
    for rows, predicted in fits:
        count[rows] += 1
        total[rows] += predicted - y[rows]
        squares[rows] += (predicted - y[rows]) ** 2
    seen = _require_seen(count)
    mean = total[seen] / count[seen]
    error = float(np.mean(squares[seen] / count[seen]))
    systematic = float(np.mean(mean**2))
    predictions = np.full(y.size, np.nan)
    predictions[seen] = y[seen] + mean
    return ResampledBiasVariance(
        error, systematic, error - systematic, predictions, len(fits), seen.size
    )


def _of_labels(fits: list[tuple[Array, Array]], y: Array) -> ResampledBiasVariance:
    encoding = LabelEncoding.of(y)
    truth = encoding.encode(y)
    votes = np.zeros((y.size, encoding.n_classes))
    for rows, predicted in fits:
        votes[rows, encoding.encode(predicted)] += 1
    seen = _require_seen(votes.sum(axis=1))
    shares = votes[seen] / votes[seen].sum(axis=1, keepdims=True)
    main = shares.argmax(axis=1)
    every = np.arange(seen.size)
    predictions = encoding.classes[main]
    if seen.size < y.size:
        some, predictions = predictions, np.full(y.size, None, dtype=object)
        predictions[seen] = some
    return ResampledBiasVariance(
        float(np.mean(1 - shares[every, truth[seen]])),
        float(np.mean(main != truth[seen])),
        float(np.mean(1 - shares[every, main])),
        predictions,
        len(fits),
        seen.size,
    )


def _require_seen(count: Array) -> Array:
    seen = np.flatnonzero(count)
    if not seen.size:
        raise DataError(
            "resampled_bias_variance: every sample drew all rows. Use a larger n_resamples."
        )
    return seen
