"""Class probabilities: given, or the shares of the rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.estimator.generative_classifier import SHARE_TOLERANCE, class_shares
from thetahat.estimator.parameters import Range, finite_vector
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array

any_priors = Range(
    lambda value: value is None or finite_vector.holds(value),
    "one number ≥ 0 per class, or None",
)


def class_priors(priors: Any, weight: Array, classes: Array, who: str) -> Array:
    """The given probabilities, divided by their sum if it is not 1, or the shares of the rows."""
    if priors is None:
        return weight / weight.sum()
    given = np.asarray(priors, dtype=np.float64)
    if (given < 0).any():
        raise ParameterError(f"{who}: priors must be non-negative, but priors={priors!r:.80}.")
    total = float(given.sum())
    if np.isfinite(total) and total > 0 and abs(total - 1.0) > SHARE_TOLERANCE:
        warn(
            f"{who}: The priors do not sum to 1. Normalizing such that it sums to one: they are "
            f"divided by their sum, {total:g}."
        )
        given = given / total
    shares = class_shares(weight / weight.sum(), given, who)
    empty = (weight == 0) & (shares > 0)
    if empty.any():
        label = classes.tolist()[int(np.argmax(empty))]
        raise DataError(
            f"{who}: class {label!r} has a positive probability in priors, but no row of positive "
            "weight. Add rows of the class, or set its probability to 0."
        )
    return shares


def log_priors(priors: Array) -> Array:
    """log π; −inf for a class of probability 0."""
    with np.errstate(divide="ignore"):
        return np.log(priors)
