"""Amplify confidence by repetition: run a randomised learner until one run has succeeded.

If one run gives a good hypothesis with probability p, all of t independent runs fail with
probability (1 − p)^t ≤ δ for t ≥ log δ/log(1 − p). A hold-out set identifies the good one: with
log(2t/δ)/(2ε²) rows every measured error is within ε of the true error. A majority vote over
repetitions of one hypothesis gains nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.evaluation.cross_fitting import rows_wrong
from thetahat.evaluation.folds import targets_of
from thetahat.evaluation.statistics.counts import proportion_interval
from thetahat.evaluation.statistics.outcome import Interval
from thetahat.foundation.errors import DataError
from thetahat.foundation.randomness import generator
from thetahat.foundation.types import Array
from thetahat.theory.requirements import probability
from thetahat.theory.sample_size import amplification_rounds, holdout_size


@dataclass(frozen=True)
class Amplified:
    """The best of several runs of a learner, chosen by a hold-out set.

    Formula: P(no run succeeds) ≤ (1 − p)^t. Cost: O(rounds).

    Attributes
    ----------
    model : estimator
        The fitted model with the smallest hold-out error.
    rounds : int
        The number of runs of the learner (t).
    holdout_errors : array of shape (rounds,)
        The error of each run on the hold-out rows.
    error : Interval
        The error of the best run, with the Clopper-Pearson interval at level 1 − δ/2t. It is
        correct with probability 1 − δ/2, whichever run is chosen.
    accuracy_of_holdout : float
        With probability 1 − δ, all hold-out errors are within this distance of the true errors (ε).

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> random = np.random.default_rng(0)
    >>> X = random.random((300, 1))
    >>> y = (X[:, 0] > 0.5).astype(int)
    >>> def learn(X, y, random):
    ...     rows = random.choice(len(y), 10)
    ...     return th.AxisParallelRectangle().fit(X[rows], y[rows])
    >>> found = th.theory.amplify(learn, X, y, success=0.2, failure=0.1, random_state=0)
    >>> found.rounds, bool(found.holdout_errors.min() < 0.1)
    (14, True)
    """

    model: Any
    rounds: int
    holdout_errors: Array
    error: Interval
    accuracy_of_holdout: float


def amplify(
    learn: Callable[[Array, Array, np.random.Generator], Any],
    X: Any,
    y: Any,
    *,
    success: float,
    failure: float = 0.05,
    holdout_share: float = 0.3,
    random_state: Any = None,
) -> Amplified:
    """Run a randomised learner as often as its success probability requires, and choose the best.

    Formula: t = ⌈log(δ/2)/log(1 − p)⌉ runs, the best by hold-out error. Cost: t fits.

    Parameters
    ----------
    learn : callable
        A function ``learn(X, y, random)`` that returns a fitted classifier, which is good with
        probability `success`.
    X, y : array-like
        The rows and their labels.
    success : float
        The probability that one run gives a good classifier (p), between 0 and 1.
    failure : float, default=0.05
        The accepted probability of failure (δ), half for the runs and half for the hold-out set.
        Smaller values need more runs.
    holdout_share : float, default=0.3
        The share of rows that is held out to choose the best run.
    random_state : int, Generator or None
        Seed or generator for the split and the runs. The same seed gives the same result.

    Returns
    -------
    Amplified

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.linspace(0, 1, 200)[:, None]
    >>> y = (X[:, 0] > 0.5).astype(int)
    >>> def learn(X, y, random):
    ...     rows = random.choice(len(y), 10)
    ...     return th.AxisParallelRectangle().fit(X[rows], y[rows])
    >>> th.theory.amplify(learn, X, y, success=0.2, failure=0.1, random_state=0).rounds
    14
    """
    probability(holdout_share, "holdout_share", "amplify")
    probability(failure, "failure", "amplify")
    rounds = amplification_rounds(success, failure / 2)
    random = generator(random_state)
    rows = np.asarray(X)
    _, labels = targets_of(rows, y, "amplify", several=False)
    order = random.permutation(len(labels))
    held = order[: max(1, round(holdout_share * len(labels)))]
    kept = order[len(held) :]
    if not kept.size:
        raise DataError(
            f"amplify: {len(labels)} row{'s' * (len(labels) != 1)} cannot be split. Give more rows."
        )
    models = [learn(rows[kept], labels[kept], random) for _ in range(rounds)]
    wrong = [int(rows_wrong(model, rows[held], labels[held], "amplify").sum()) for model in models]
    best = int(np.argmin(wrong))
    # Wilson's interval is correct on average, but misses too often at such a high level.
    measured = proportion_interval(
        wrong[best], len(held), method="clopper_pearson", level=1 - failure / (2 * rounds)
    )
    errors = np.array(wrong) / len(held)
    return Amplified(models[best], rounds, errors, measured, _accuracy(len(held), failure, rounds))


def _accuracy(n: int, failure: float, models: int) -> float:
    """The smallest ε for which n hold-out rows are enough."""
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (
            (low, middle)
            if holdout_size(middle, failure / 2, models=models) <= n
            else (middle, high)
        )
    return high
