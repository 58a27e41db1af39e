"""Activations x = σ(t) of networks: th.activations.Tanh(), or the string "tanh"."""

from thetahat.mathematics.activations.base import Activation
from thetahat.mathematics.activations.identity import Identity
from thetahat.mathematics.activations.relu import LeakyReLU, ReLU
from thetahat.mathematics.activations.sigmoid import Sigmoid
from thetahat.mathematics.activations.softmax import Softmax
from thetahat.mathematics.activations.step import Step
from thetahat.mathematics.activations.tanh import Tanh
from thetahat.mathematics.parts import part_named

__all__ = [
    "Activation",
    "Identity",
    "LeakyReLU",
    "ReLU",
    "Sigmoid",
    "Softmax",
    "Step",
    "Tanh",
    "named",
]


def named(activation: str | Activation) -> Activation:
    """Return the activation with this name and its default parameters.

    Formula: "relu" ↦ ``ReLU()``, "logistic" ↦ ``Sigmoid()``. An activation is returned unchanged.
    Cost: O(1).

    Parameters
    ----------
    activation : str or Activation
        The name of an activation, one of its aliases, or an activation.

    Returns
    -------
    Activation

    Examples
    --------
    >>> import thetahat as th
    >>> th.activations.named("logistic")
    Sigmoid()
    """
    return part_named("activation", activation, Activation, _BY_NAME)  # type: ignore[type-abstract]


_BY_NAME: dict[str, type[Activation]] = {
    part.name: part
    for part in (globals()[name] for name in __all__)
    if isinstance(part, type) and issubclass(part, Activation) and part is not Activation
}


def __dir__() -> list[str]:
    return sorted(__all__)
