"""Fitting one weak learner after the other on rows whose weights change.

A learner that takes weights is given them; any other gets rows drawn in proportion to them, which
has the same mean. Where rows are to be drawn for a learner that takes weights, each weight is
multiplied by an exponential random number, the Bayesian bootstrap: as random as drawn rows, and it
does not jump when weights differ by rounding.
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
    """Called with weights: a fitted clone of `estimator`, and its answers on the rows."""

    estimator: Any
    X: Array
    y: Array
    answer: Callable[[Any, Array], Array]
    """``answer(learner, X)``."""
    random: np.random.Generator
    resample: bool
    total: float
    """What the weights sum up to, the number of rows: a learner's penalty keeps its meaning."""

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
    """The estimator with a fresh seed for every random choice that it or its parts make."""
    seeds = {
        name: int(random.integers(np.iinfo(np.int32).max))
        for name in sorted(estimator.get_params(deep=True))
        if name == "random_state" or name.endswith("__random_state")
    }
    return estimator.set_params(**seeds) if seeds else estimator
