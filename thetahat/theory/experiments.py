"""Simulations of learning: the true error of a model, and its dependence on the number of rows.

A problem is a function ``draw(n, random)`` that returns n rows and their labels, so that a model
can be tested on any number of fresh rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from thetahat.evaluation.cross_fitting import rows_wrong
from thetahat.evaluation.statistics.counts import proportion_interval
from thetahat.evaluation.statistics.means import mean_interval
from thetahat.evaluation.statistics.outcome import Interval
from thetahat.foundation.drawing import draws
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.randomness import generator
from thetahat.foundation.types import Array
from thetahat.theory.requirements import probability, whole

Draw = Callable[[int, np.random.Generator], tuple[Array, Array]]

DRAWS = 1000
"""Largest number of draws for a training set with two classes before an error is raised."""


def true_error(
    model: Any, draw: Draw, *, n: int = 100_000, level: float = 0.95, random_state: Any = None
) -> Interval:
    """Estimate the true error of a fitted model on fresh rows.

    Formula: Pr_{(x,y)~D}[h(x) ≠ y] ≈ errors/n, with Wilson's interval. Cost: n predictions.

    Parameters
    ----------
    model : fitted classifier
        The fitted classifier to test (h).
    draw : callable
        A function ``draw(n, random)`` that returns n rows and their labels.
    n : int, default=100_000
        The number of fresh rows. More rows give a narrower interval.
    level : float, default=0.95
        Confidence level of the interval, between 0 and 1. A larger value gives a wider interval.
    random_state : int, Generator or None
        Seed or generator for `draw`. The same seed gives the same result.

    Returns
    -------
    Interval

    Examples
    --------
    >>> import thetahat as th
    >>> def draw(n, random):
    ...     X = random.random((n, 1))
    ...     return X, X[:, 0] > 0.5
    >>> box = th.AxisParallelRectangle().fit([[0.4], [0.6], [1.0]], [False, True, True])
    >>> round(th.theory.true_error(box, draw, random_state=0).estimate, 2)
    0.1
    """
    whole(n, "n", "true_error", low=1)
    X, y = _drawn(draw, n, generator(random_state), "true_error")
    return proportion_interval(float(rows_wrong(model, X, y, "true_error").sum()), n, level=level)


@dataclass(frozen=True)
class ErrorBySize:
    """True errors of a learner for growing training sets, with a method `plot`.

    Formula: E Pr[h_n(x) ≠ y] for each n. Cost: O(sizes).

    Attributes
    ----------
    sizes : tuple of int
        The sizes of the training sets (n).
    errors : tuple of Interval
        The mean true error over training sets of each size.
    training_errors : array of shape (n_sizes,)
        The mean error on the training rows for each size.
    bayes_error : float or None
        The error of the best possible classifier, if it is known.

    Examples
    --------
    >>> import thetahat as th
    >>> def draw(n, random):
    ...     X = random.random((n, 1))
    ...     return X, X[:, 0] > 0.5
    >>> found = th.theory.consistency(
    ...     lambda n: th.AxisParallelRectangle(), draw, sizes=[10, 100], repetitions=20,
    ...     random_state=0)
    >>> found.errors[1].estimate < found.errors[0].estimate
    True
    """

    sizes: tuple[int, ...]
    errors: tuple[Interval, ...]
    training_errors: Array
    bayes_error: float | None = None

    @draws
    def plot(self, axes: Any = None) -> None:
        """Plot true error, training error and Bayes error over the size. Cost: O(sizes)."""
        low, mid, high = np.array([[e.low, e.estimate, e.high] for e in self.errors]).T
        axes.fill_between(self.sizes, low, high, alpha=0.2, lw=0)
        axes.semilogx(self.sizes, mid, "o-", label="true error")
        axes.semilogx(self.sizes, self.training_errors, "s--", label="training error")
        if self.bayes_error is not None:
            axes.axhline(self.bayes_error, color="black", lw=0.8, label="Bayes error")
        axes.set(xlabel="training rows", ylabel="error")
        axes.legend(frameon=False)


def consistency(
    learner_for: Callable[[int], Any],
    draw: Draw,
    sizes: Sequence[int],
    *,
    repetitions: int = 20,
    test_rows: int = 2000,
    bayes_error: float | None = None,
    random_state: Any = None,
) -> ErrorBySize:
    """Estimate the true error of a learner for growing training sets.

    Use it to see whether a learner is consistent, that is, reaches the Bayes error.

    Formula: consistent if E Pr[h_n(x) ≠ y] → p* as n → ∞. Cost: sizes × repetitions fits.

    Parameters
    ----------
    learner_for : callable
        A function ``learner_for(n)`` that returns a classifier for n rows, so that it may depend on
        their number (such as k = log n neighbours).
    draw : callable
        A function ``draw(n, random)`` that returns n rows and their labels.
    sizes : sequence of int
        The sizes of the training sets (n), each at least 2. Training sets with a single class are
        drawn again, up to 1000 times, so errors are conditional on two classes.
    repetitions : int, default=20
        The number of training sets of each size, at least 2.
    test_rows : int, default=2000
        The number of fresh rows on which each fit is tested.
    bayes_error : float, optional
        The error of the best possible classifier (p*), shown in the plot.
    random_state : int, Generator or None
        Seed or generator for `draw`. The same seed gives the same result.

    Returns
    -------
    ErrorBySize

    Examples
    --------
    >>> import thetahat as th
    >>> def draw(n, random):
    ...     X = random.random((n, 1))
    ...     return X, X[:, 0] > 0.5
    >>> found = th.theory.consistency(
    ...     lambda n: th.AxisParallelRectangle(), draw, sizes=[10, 100], random_state=0)
    >>> found.sizes
    (10, 100)
    """
    whole(repetitions, "repetitions", "consistency", low=2)
    if bayes_error is not None:
        probability(bayes_error, "bayes_error", "consistency", closed=True)
    whole(test_rows, "test_rows", "consistency", low=1)
    if not len(sizes):
        raise ParameterError("consistency: sizes is empty. Give at least one size.")
    for n in sizes:
        whole(n, "sizes", "consistency", low=2)
    random = generator(random_state)
    errors, training = [], []
    for n in sizes:
        found = [_errors_of(learner_for(int(n)), draw, int(n), test_rows, random)
                 for _ in range(repetitions)]  # fmt: skip
        fresh, own = np.array(found).T
        errors.append(mean_interval(fresh))
        training.append(float(own.mean()))
    return ErrorBySize(tuple(map(int, sizes)), tuple(errors), np.array(training), bayes_error)


def _errors_of(
    learner: Any, draw: Draw, n: int, test_rows: int, random: np.random.Generator
) -> tuple[float, float]:
    who = "consistency"
    X, y = _two_classes(draw, n, random)
    fitted = clone(learner).fit(X, y)
    fresh, truth = _drawn(draw, test_rows, random, who)
    wrong, own = rows_wrong(fitted, fresh, truth, who), rows_wrong(fitted, X, y, who)
    return float(wrong.mean()), float(own.mean())


def _two_classes(draw: Draw, n: int, random: np.random.Generator) -> tuple[Array, Array]:
    for _ in range(DRAWS):
        X, y = _drawn(draw, n, random, "consistency")
        if np.unique(y).size > 1:
            return X, y
    raise DataError(
        f"consistency: {DRAWS:,} draws of {n} rows had one class only, such as {y[0]!r}, but a fit "
        "needs two. Give larger sizes, or a problem with more balanced classes."
    )


def _drawn(draw: Draw, n: int, random: np.random.Generator, who: str) -> tuple[Array, Array]:
    """Exactly n rows and labels; raises an error if draw returns another number."""
    X, y = draw(n, random)
    rows, labels = X.shape[0] if hasattr(X, "shape") else len(X), np.asarray(y)
    if rows != n or labels.shape != (n,):
        raise DataError(
            f"{who}: draw({n}, random) gave {rows} rows and labels of shape {labels.shape}. Give "
            f"{n} rows and labels of shape ({n},)."
        )
    return X, labels
