"""The losses that the kernels know, and their numbers (`Loss` in native/losses/losses.hpp)."""

from __future__ import annotations

from thetahat.mathematics.losses.base import Loss
from thetahat.mathematics.losses.likelihood import Logistic, Poisson
from thetahat.mathematics.losses.margin import (
    ClassHuber,
    Hinge,
    Perceptron,
    SignLogistic,
    SquaredHinge,
)
from thetahat.mathematics.losses.residual.pinball import Absolute
from thetahat.mathematics.losses.residual.squared import Huber, Squared
from thetahat.mathematics.losses.residual.tube import EpsilonInsensitive, SquaredEpsilonInsensitive

NUMBERS: dict[type[Loss], int] = {
    Hinge: 0,
    SquaredHinge: 1,
    SignLogistic: 2,
    ClassHuber: 3,
    Perceptron: 4,
    Squared: 5,
    Huber: 6,
    EpsilonInsensitive: 7,
    Absolute: 7,
    SquaredEpsilonInsensitive: 8,
    Logistic: 9,
    Poisson: 10,
}
KNEES: dict[type[Loss], str] = {
    Huber: "delta",
    EpsilonInsensitive: "epsilon",
    SquaredEpsilonInsensitive: "epsilon",
}


def compiled(loss: Loss) -> tuple[int, float] | None:
    """The number of a loss in the kernels and its δ or ε; None if the kernels do not have it.

    Only the exact classes count, because a derived class may have a different formula.
    """
    number = NUMBERS.get(type(loss))
    if number is None:
        return None
    knee = KNEES.get(type(loss))
    return number, float(getattr(loss, knee)) if knee else 0.0
