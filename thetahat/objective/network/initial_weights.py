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

A layer can also start from given weights, for example those of another network.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array

RULES = ("glorot", "he", "small", "large", "equal", "zeros")
SMALL, LARGE, EQUAL = 0.01, 10.0, 0.1


@dataclass(frozen=True, eq=False)
class GivenWeights:
    """Weights of shape (inputs, units) and intercepts from which a layer starts."""

    weights: Array
    intercepts: Array

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, GivenWeights)
            and np.array_equal(self.weights, other.weights)
            and np.array_equal(self.intercepts, other.intercepts)
        )

    def __hash__(self) -> int:
        return hash((self.weights.shape, self.weights.tobytes(), self.intercepts.tobytes()))


def given_weights(pair: Sequence[object], units: int, who: str) -> GivenWeights:
    """A pair (W, b) as checked, read-only arrays."""
    if len(pair) == 2:
        W, b = (np.array(part, dtype=np.float64) for part in pair)
        finite = np.isfinite(W).all() and np.isfinite(b).all()
        if W.ndim == 2 and W.shape[1] == units and b.shape == (units,) and finite:
            W.flags.writeable = b.flags.writeable = False
            return GivenWeights(W, b)
    raise ParameterError(
        f"{who}: initialisation must be the name of a rule or a pair of finite weights of shape "
        f"(inputs, {units}) and intercepts of shape ({units},). Pass for example (W, b)."
    )


def initial_weights(
    rule: str | GivenWeights,
    n_inputs: int,
    n_outputs: int,
    gain: float,
    random: np.random.Generator,
) -> tuple[Array, Array]:
    """Weights of shape (inputs, outputs) and intercepts, drawn by a rule."""
    shape = (n_inputs, n_outputs)
    if isinstance(rule, GivenWeights):
        if rule.weights.shape != shape:
            raise ParameterError(
                f"Dense: the layer has {n_inputs} inputs, but its initial weights have shape "
                f"{rule.weights.shape}. Use weights of shape {shape}."
            )
        return rule.weights, rule.intercepts
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
    if not isinstance(rule, str) or rule not in RULES:
        raise ParameterError(
            f"{who}: initialisation={rule!r} must be one of {', '.join(map(repr, RULES))}."
        )
