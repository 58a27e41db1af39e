"""Losses ℓ(y, z) at the raw prediction z: th.losses.Huber(delta=1.0), or the string "huber"."""

from thetahat.mathematics.losses.base import Loss
from thetahat.mathematics.losses.likelihood import Logistic, Poisson
from thetahat.mathematics.losses.links import sigmoid, softmax
from thetahat.mathematics.losses.margin import (
    ClassHuber,
    Exponential,
    Hinge,
    Perceptron,
    SignLogistic,
    SquaredHinge,
    ZeroOne,
)
from thetahat.mathematics.losses.multiclass.class_scores import MulticlassHinge, SoftmaxCrossEntropy
from thetahat.mathematics.losses.multiclass.crammer_singer import CrammerSinger
from thetahat.mathematics.losses.residual.pinball import Absolute, Quantile
from thetahat.mathematics.losses.residual.redescending import Cauchy, Forsyth, Tukey
from thetahat.mathematics.losses.residual.squared import Huber, Squared
from thetahat.mathematics.losses.residual.tube import EpsilonInsensitive, SquaredEpsilonInsensitive
from thetahat.mathematics.losses.tweedie import Gamma, Tweedie
from thetahat.mathematics.parts import part_named

__all__ = [
    "Absolute",
    "Cauchy",
    "ClassHuber",
    "CrammerSinger",
    "EpsilonInsensitive",
    "Exponential",
    "Forsyth",
    "Gamma",
    "Hinge",
    "Huber",
    "Logistic",
    "MulticlassHinge",
    "Perceptron",
    "Poisson",
    "Quantile",
    "SignLogistic",
    "SoftmaxCrossEntropy",
    "Squared",
    "SquaredEpsilonInsensitive",
    "SquaredHinge",
    "Tukey",
    "Tweedie",
    "ZeroOne",
    "named",
    "sigmoid",
    "softmax",
]


def named(loss: str | Loss) -> Loss:
    """Return the loss with this name and its default parameters.

    Formula: "huber" ↦ ``Huber()``. Names from other libraries ("squared_error", "log_loss", ...)
    are accepted, and a loss is returned unchanged. Cost: O(1).

    Parameters
    ----------
    loss : str or Loss
        The name of a loss, one of its aliases, or a loss.

    Returns
    -------
    Loss

    Examples
    --------
    >>> import thetahat as th
    >>> th.losses.named("huber")
    Huber(delta=1.35)
    >>> th.losses.named("squared_error") == th.losses.Squared()
    True
    """
    return part_named("loss", loss, Loss, _BY_NAME)  # type: ignore[type-abstract]


_BY_NAME: dict[str, type[Loss]] = {
    part.name: part
    for part in (globals()[name] for name in __all__)
    if isinstance(part, type) and issubclass(part, Loss)
}


def __dir__() -> list[str]:
    return sorted(__all__)
