"""Distributions that belong to losses: log p(y | z) = −ℓ(y, z)/φ − constant(y).

If φ is 1, the loss is the negative log-likelihood up to a constant; for the squared loss the
variance φ is estimated. The deviance is 2Σw(ℓ(y, z) − ℓ(y, best z)), with the best z that of a
model with a parameter for each row. A loss declares its family by its class attribute ``family``;
unless φ is estimated, such a loss is linear in y.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.foundation.types import Array


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
    """The terms of each row that the loss omits."""
    saturated: Callable[[Array], Array] = _none
    """The loss of each row at its best z."""
    dispersed: bool = False
    """Whether φ is estimated."""
    symmetric: bool = False
    """Whether every class has a score, so that only differences of scores matter."""


NORMAL = Family("normal", dispersed=True)
BERNOULLI = Family("Bernoulli")
CATEGORICAL = Family("categorical")
CLASS_SCORES = Family("categorical", symmetric=True)
POISSON = Family("Poisson", _log_factorial, _saturated_poisson)


def family_of(loss: Any) -> Family | None:
    """The family that the class of a loss itself declares; None if it is not a likelihood.

    Inherited families do not count, because a derived class may have other formulas.
    """
    return loss.family if "family" in vars(type(loss)) else None
