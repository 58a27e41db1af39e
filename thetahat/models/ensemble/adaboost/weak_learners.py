"""Fitting weak learners one after another to rows whose weights change.

A learner that supports weights receives them; any other is fitted to rows drawn in proportion to
the weights, which is the same on average. If rows are to be drawn for a learner that supports
weights, each weight is multiplied by an exponential random number (the Bayesian bootstrap): it is
as random as drawing rows, but small changes of the weights have small effects.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from thetahat.data.resampling import take_rows, weighted_indices
from thetahat.foundation.types import Array


@dataclass(frozen=True)
class WeakLearners:
    """Callable that maps weights to a fitted clone of `estimator` and its predictions."""

    estimator: Any
    X: Array
    y: Array
    answer: Callable[[Any, Array], Array]
    """``answer(learner, X)``."""
    random: np.random.Generator
    resample: bool
    total: float
    """Sum of the weights, the number of rows, so that penalties of the learner keep their scale."""

    def __call__(self, weight: Array) -> tuple[Any, Array]:
        learner = reseeded(clone(self.estimator), self.random)
        weighs = takes_weights(learner)
        if self.resample and weighs:
            weight = redrawn(weight, self.random)
        if not weighs:
            rows = weighted_indices(weight, random_state=self.random)
            learner.fit(take_rows(self.X, rows), self.y[rows])
        else:
            learner.fit(self.X, self.y, sample_weight=weight * (self.total / weight.sum()))
        return learner, self.answer(learner, self.X)


def redrawn(weight: Array, random: np.random.Generator) -> Array:
    """Weights as random as a sample drawn in proportion to them."""
    return weight * random.standard_exponential(weight.shape[0])


def takes_weights(estimator: Any) -> bool:
    """Whether ``fit`` has a parameter ``sample_weight``."""
    return bool(has_fit_parameter(estimator, "sample_weight"))


def reseeded(estimator: Any, random: np.random.Generator) -> Any:
    """The estimator with a new seed for itself and for the estimators inside it."""
    seeds = {
        name: int(random.integers(np.iinfo(np.int32).max))
        for name in sorted(estimator.get_params(deep=True))
        if name == "random_state" or name.endswith("__random_state")
    }
    return estimator.set_params(**seeds) if seeds else estimator
