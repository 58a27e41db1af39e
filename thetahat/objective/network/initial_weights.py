"""Initial weights of a layer: small, random and different for every unit.

Units that start with equal weights have equal gradients and stay equal. Weights that are too large
saturate sigmoid units, whose gradients then vanish. The rules below draw weights whose size depends
on the number of inputs (m) and outputs (k) of the layer:

=========  ==================================================================================
glorot     uniform on ±√(6/(m + k)), for the sigmoid ±√(2/(m + k)); intercepts likewise
he         normal with variance 2/m, for rectified linear units; intercepts 0
small      normal with standard deviation 0.01; intercepts 0
large      normal with standard deviation 10, which saturates sigmoid units: to be avoided
equal      all weights 0.1: units of one layer stay equal; to be avoided
zeros      all weights 0: layers above and below get no gradient; to be avoided
=========  ==================================================================================
"""

from __future__ import annotations

import numpy as np

from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array

RULES = ("glorot", "he", "small", "large", "equal", "zeros")
SMALL, LARGE, EQUAL = 0.01, 10.0, 0.1


def initial_weights(
    rule: str, n_inputs: int, n_outputs: int, gain: float, random: np.random.Generator
) -> tuple[Array, Array]:
    """Weights of shape (inputs, outputs) and intercepts, drawn by a rule."""
    shape = (n_inputs, n_outputs)
    if rule == "glorot":
        bound = np.sqrt(gain / (n_inputs + n_outputs))
        return random.uniform(-bound, bound, shape), random.uniform(-bound, bound, n_outputs)
    intercepts = np.zeros(n_outputs)
    if rule in ("equal", "zeros"):
        return np.full(shape, EQUAL if rule == "equal" else 0.0), intercepts
    sizes = {"he": np.sqrt(2.0 / n_inputs), "small": SMALL, "large": LARGE}
    return sizes[rule] * random.standard_normal(shape), intercepts


def require_rule(rule: object, who: str) -> None:
    """Raise an error unless this is the name of a rule."""
    if rule not in RULES:
        raise ParameterError(
            f"{who}: initialisation={rule!r} must be one of {', '.join(map(repr, RULES))}."
        )
