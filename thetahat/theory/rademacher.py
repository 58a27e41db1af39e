"""Empirical Rademacher complexity: how well a learner fits random labels.

    R̂ = E_σ [ max_h (1/n) Σ σᵢ h(xᵢ) ],    σᵢ = ±1 with probability ½ each, h(x) = ±1

A class that can fit any labels has R̂ near 1; a class that cannot has R̂ near 0. With probability
1 − δ, for every h of the class,

    true error ≤ training error + R̂ + 3·√(log(2/δ)/(2n)).

A learner that does not minimise the training error exactly gives a lower bound of R̂.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt
from typing import Any

import numpy as np
from sklearn.base import clone

from thetahat.evaluation.statistics.means import mean_interval
from thetahat.evaluation.statistics.outcome import Interval
from thetahat.foundation.randomness import generator
from thetahat.theory.requirements import probability, whole


@dataclass(frozen=True)
class RademacherComplexity:
    """The empirical Rademacher complexity of a learner on given rows.

    Formula: R̂ = E_σ max_h (1/n) Σ σᵢ h(xᵢ), estimated by fits to random labels. Cost: O(1).

    Attributes
    ----------
    complexity : Interval
        The mean over random labels, with its t interval.
    n : int
        The number of rows.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> rows = np.random.default_rng(0).standard_normal((40, 2))
    >>> box = th.AxisParallelRectangle()
    >>> found = th.theory.rademacher(box, rows, repetitions=9, random_state=0)
    >>> 0 < found.complexity.estimate < 1
    True
    """

    complexity: Interval
    n: int

    def true_error_bound(self, training_error: float, *, failure: float = 0.05) -> float:
        """An upper bound of the true error of a hypothesis with this training error.

        Formula: training error + R̂ + 3√(log(2/δ)/(2n)), capped at 1. Cost: O(1).

        Parameters
        ----------
        training_error : float
            The error of the hypothesis on the training rows, between 0 and 1.
        failure : float, default=0.05
            The accepted probability that the bound is wrong (δ), between 0 and 1.

        Returns
        -------
        float
        """
        probability(training_error, "training_error", "true_error_bound", closed=True)
        probability(failure, "failure", "true_error_bound")
        slack = 3 * sqrt(log(2 / failure) / (2 * self.n))
        return min(1.0, training_error + max(0.0, self.complexity.estimate) + slack)


def rademacher(
    learner: Any, X: Any, *, repetitions: int = 50, level: float = 0.95, random_state: Any = None
) -> RademacherComplexity:
    """Estimate the Rademacher complexity of a classifier, by fits to random labels.

    Formula: the mean over σ of (1/n) Σ σᵢ h_σ(xᵢ), where h_σ is the classifier fitted to σ. Cost:
    `repetitions` fits.

    Parameters
    ----------
    learner : classifier
        A classifier with scikit-learn's interface. It is cloned before each fit.
    X : array-like of shape (n, d)
        The rows, without labels.
    repetitions : int, default=50
        The number of random labellings, at least 2. A larger number gives a narrower interval and
        takes longer.
    level : float, default=0.95
        Confidence level of the interval, between 0 and 1. A larger value gives a wider interval.
    random_state : int, Generator or None
        Seed or generator for the random labels. The same seed gives the same result.

    Returns
    -------
    RademacherComplexity

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> rows = np.random.default_rng(0).standard_normal((40, 2))
    >>> box = th.AxisParallelRectangle()
    >>> narrow = th.theory.rademacher(box, rows[:, :1], random_state=0)
    >>> wide = th.theory.rademacher(box, rows, random_state=0)
    >>> wide.complexity.estimate > narrow.complexity.estimate
    True
    """
    whole(repetitions, "repetitions", "rademacher", low=2)
    rows = np.asarray(X, dtype=float)
    random = generator(random_state)
    agreement = []
    for _ in range(repetitions):
        labels = random.choice([-1.0, 1.0], size=len(rows))
        if abs(labels.sum()) == len(rows):  # a single class, which a constant fits
            agreement.append(1.0)
            continue
        predicted = clone(learner).fit(rows, labels).predict(rows)
        agreement.append(float(np.mean(labels * predicted)))
    return RademacherComplexity(mean_interval(agreement, level=level), len(rows))
