"""Experiments that show what the theory says: true errors by simulation, and how they shrink.

A problem is a function ``draw(n, random)`` that gives n rows and their labels; whatever is learned
can then be judged by as many fresh rows as it takes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from thetahat.evaluation.statistics.counts import proportion_interval
from thetahat.evaluation.statistics.means import mean_interval
from thetahat.evaluation.statistics.outcome import Interval
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.optional import optional_import
from thetahat.foundation.randomness import generator
from thetahat.foundation.types import Array
from thetahat.theory.requirements import probability, whole

Draw = Callable[[int, np.random.Generator], tuple[Array, Array]]

DRAWS = 1000
"""Training sets of one class that are drawn again before a consistency experiment gives up."""


def true_error(
    model: Any, draw: Draw, *, n: int = 100_000, level: float = 0.95, random_state: Any = None
) -> Interval:
    """The probability that a fitted model errs, estimated on fresh rows.

    Formula: Pr_{(x,y)~D}[h(x) ≠ y] ≈ errors/n, with Wilson's interval. Cost: n predictions.

    Parameters
    ----------
    model : fitted classifier
        h.
    draw : callable
        ``draw(n, random)`` gives n rows and labels.
    n : int, default=100_000
        Fresh rows.
    level : float, default=0.95
        The confidence.
    random_state : int, Generator or None
        For `draw`.

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
    return proportion_interval(float(np.sum(_wrong(model, X, y, "true_error"))), n, level=level)


@dataclass(frozen=True)
class ErrorBySize:
    """True errors of a learner for growing training sets; `plot` draws them.

    Formula: E Pr[h_n(x) ≠ y] for each n. Cost: O(sizes).

    Attributes
    ----------
    sizes : tuple of int
        n.
    errors : tuple of Interval
        The mean true error over training sets of each size.
    training_errors : array of shape (n_sizes,)
        The mean error on the rows that were learned.
    bayes_error : float or None
        The best there is, where it is known.

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

    def plot(self, axes: Any = None) -> Any:
        """True and training error over the size, with the Bayes error. Cost: O(sizes)."""
        plt = optional_import("matplotlib.pyplot", extra="plot", purpose="ErrorBySize.plot")
        axes = axes if axes is not None else plt.subplots(layout="constrained")[1]
        low, mid, high = np.array([[e.low, e.estimate, e.high] for e in self.errors]).T
        axes.fill_between(self.sizes, low, high, alpha=0.2, lw=0)
        axes.semilogx(self.sizes, mid, "o-", label="true error")
        axes.semilogx(self.sizes, self.training_errors, "s--", label="error on its own rows")
        if self.bayes_error is not None:
            axes.axhline(self.bayes_error, color="black", lw=0.8, label="Bayes error")
        axes.set(xlabel="rows learned", ylabel="error")
        axes.legend(frameon=False)
        return axes


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
    """Whether a learner reaches the Bayes error: its true error for growing training sets.

    Formula: consistent when E Pr[h_n(x) ≠ y] → p* as n → ∞. Cost: sizes × repetitions fits.

    Parameters
    ----------
    learner_for : callable
        ``learner_for(n)`` gives a classifier for n rows, so that it may grow with them
        (k = log n neighbours).
    draw : callable
        ``draw(n, random)`` gives n rows and labels.
    sizes : sequence of int
        n, each at least 2. Rows of one class only are drawn again, up to 1000 times: the errors are
        those given that two classes were seen.
    repetitions : int, default=20
        Training sets of each size; at least 2.
    test_rows : int, default=2000
        Fresh rows that each fit is judged by.
    bayes_error : float, optional
        p*, to be drawn beside.
    random_state : int, Generator or None
        For `draw`.

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
        raise ParameterError("consistency: sizes=() must name at least one size.")
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
    X, y = _two_classes(draw, n, random)
    fitted = clone(learner).fit(X, y)
    fresh, truth = _drawn(draw, test_rows, random, "consistency")
    own = _wrong(fitted, X, y, "consistency")
    return float(np.mean(_wrong(fitted, fresh, truth, "consistency"))), float(np.mean(own))


def _two_classes(draw: Draw, n: int, random: np.random.Generator) -> tuple[Array, Array]:
    for _ in range(DRAWS):
        X, y = _drawn(draw, n, random, "consistency")
        if np.unique(y).size > 1:
            return X, y
    raise DataError(
        f"consistency: {DRAWS:,} draws of {n} rows held one class only, such as {y[0]!r}; learning "
        "takes two. Give larger sizes, or a problem whose classes are less rare."
    )


def _drawn(draw: Draw, n: int, random: np.random.Generator, who: str) -> tuple[Array, Array]:
    """n rows and labels, and no other number of them."""
    X, y = draw(n, random)
    rows, labels = X.shape[0] if hasattr(X, "shape") else len(X), np.asarray(y)
    if rows != n or labels.shape != (n,):
        raise DataError(
            f"{who}: draw({n}, random) gave {rows} rows and labels of shape {labels.shape}; give "
            f"{n} rows and labels of shape ({n},)."
        )
    return X, labels


def _wrong(model: Any, X: Array, y: Array, who: str) -> Array:
    predicted = np.asarray(model.predict(X))
    if predicted.shape != y.shape:
        raise DataError(
            f"{who}: {type(model).__name__} predicts an array of shape {predicted.shape} for "
            f"{y.size} rows. Give a classifier of one label per row."
        )
    return predicted != y
