"""The distributions behind losses: log p(y | z) = −ℓ(y, z)/φ − constant(y).

Where φ is 1 the loss is the likelihood itself, but for a constant that no fit needs; the squared
loss leaves the variance φ to be estimated. The deviance is 2Σw(ℓ(y, z) − ℓ(y, best z)), with the
best z that of a model with a parameter for each row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from thetahat.foundation.types import Array
from thetahat.mathematics.losses.base import Loss
from thetahat.mathematics.losses.likelihood import Logistic, Poisson
from thetahat.mathematics.losses.multiclass.class_scores import SoftmaxCrossEntropy
from thetahat.mathematics.losses.multiclass.reference_softmax import ReferenceSoftmax
from thetahat.mathematics.losses.residual.squared import Squared


def _none(y: Array) -> Array:
    return np.zeros(len(y))


def _log_factorial(y: Array) -> Array:
    from scipy.special import gammaln

    return gammaln(y + 1.0)


def _saturated_poisson(y: Array) -> Array:
    from scipy.special import xlogy

    return y - xlogy(y, y)


@dataclass(frozen=True)
class Family:
    """What a likelihood knows beside its loss."""

    name: str
    constant: Callable[[Array], Array] = _none
    """What the loss leaves out, row by row."""
    saturated: Callable[[Array], Array] = _none
    """The loss at the best z of each row."""
    dispersed: bool = False
    """Whether φ is estimated."""
    symmetric: bool = False
    """Whether there is a score for every class, so that only their differences count."""


FAMILIES: dict[type[Loss], Family] = {
    Logistic: Family("Bernoulli"),
    ReferenceSoftmax: Family("categorical"),
    SoftmaxCrossEntropy: Family("categorical", symmetric=True),
    Poisson: Family("Poisson", _log_factorial, _saturated_poisson),
    Squared: Family("normal", dispersed=True),
}


def family_of(loss: Loss) -> Family | None:
    """The family whose likelihood the loss is; None for losses that are no likelihood."""
    return FAMILIES.get(type(loss))
