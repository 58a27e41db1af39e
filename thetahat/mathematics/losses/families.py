"""Distributions that belong to losses: log p(y | z) = −ℓ(y, z)/φ − constant(y).

If φ is 1, the loss is the negative log-likelihood up to a constant that no fit needs. For the
squared loss, φ is the variance and has to be estimated. The deviance is
2Σw(ℓ(y, z) − ℓ(y, best z)), where the best z is that of a model with one parameter for each row.
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
    """The parts of a likelihood that its loss does not contain."""

    name: str
    constant: Callable[[Array], Array] = _none
    """The terms of each row that the loss leaves out."""
    saturated: Callable[[Array], Array] = _none
    """The loss of each row at its best z."""
    dispersed: bool = False
    """Whether φ is estimated."""
    symmetric: bool = False
    """Whether every class has a score, so that only differences of scores matter."""


FAMILIES: dict[type[Loss], Family] = {
    Logistic: Family("Bernoulli"),
    ReferenceSoftmax: Family("categorical"),
    SoftmaxCrossEntropy: Family("categorical", symmetric=True),
    Poisson: Family("Poisson", _log_factorial, _saturated_poisson),
    Squared: Family("normal", dispersed=True),
}


def family_of(loss: Loss) -> Family | None:
    """The family that the loss belongs to; None if the loss is not a negative log-likelihood."""
    return FAMILIES.get(type(loss))
