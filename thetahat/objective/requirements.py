"""Requirements of the methods of a risk on its loss, penalty, predictor and source.

Each requirement is a condition for `requires`: it returns None if the risk meets it, else a text
that names what is missing and the part that lacks it, and completes "LBFGS needs …".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.foundation.errors import ParameterError
from thetahat.mathematics.losses.base import (
    Curved,
    PiecewiseLinear,
    Reweightable,
    Smooth,
    Subdifferentiable,
)
from thetahat.mathematics.losses.box_dual import BoxDual
from thetahat.mathematics.penalties.base import Proximable, SmoothPenalty
from thetahat.mathematics.penalties.coordinatewise import Coordinatewise, every
from thetahat.mathematics.penalties.norms import L1, L2, ElasticNet, NoPenalty
from thetahat.objective.predictor import LinearInParameters, LinearPredictor, Restrictable

Condition = Callable[[Any], str | None]


def name(part: Any) -> str:
    """The name of a part in messages: the name that a user gave it, or else its class."""
    return str(vars(part).get("name", type(part).__name__))


def _is(role: str, kind: Any, lack: str) -> Condition:
    """A requirement on the type of a part; `lack` is its message, with the part in braces."""

    def condition(risk: Any) -> str | None:
        part = getattr(risk, role)
        return None if isinstance(part, kind) else lack.format(name(part))

    return condition


def _declares(attribute: str, lack: str) -> Condition:
    """A requirement on what the loss declares."""

    def condition(risk: Any) -> str | None:
        return None if getattr(risk.loss, attribute) else lack.format(name(risk.loss))

    return condition


subdifferentiable_loss = _is(
    "loss", Subdifferentiable, "a loss with a subgradient; {} has only a value"
)
smooth_loss = _is("loss", Smooth, "a smooth loss; {} is not")
curved_loss = _is("loss", Curved, "a loss with a second derivative; {} has none")


def convex_loss(risk: Any) -> str | None:
    """The loss is convex."""
    return None if risk.loss.convex else f"a convex loss; {name(risk.loss)} is not"


reweightable_loss = _is("loss", Reweightable, "a loss that reweights residuals; {} does not")
crammer_singer_loss = _declares("class_dual", "the loss of Crammer and Singer; {} is another")
piecewise_linear_loss = _is("loss", PiecewiseLinear, "a piecewise linear loss; {} is not")
squared_loss = _declares("quadratic", "the squared loss; {} is another")
box_dual_loss = _is("loss", BoxDual, "a loss that is the best of many lines; {} is not")

smooth_penalty = _is("penalty", SmoothPenalty, "a smooth penalty; {} is not")
proximable_penalty = _is(
    "penalty", SmoothPenalty | Proximable, "a penalty with a proximal step; {} has none"
)
coordinatewise_penalty = _is(
    "penalty", Coordinatewise, "a penalty made of |θ| and θ² in a box; {} is not"
)
ridge_or_no_penalty = _is("penalty", L2 | NoPenalty, "the ridge penalty or none; {} is another")
norm_penalty = _is(
    "penalty", NoPenalty | L2 | L1 | ElasticNet, "a penalty made of |θ| and θ²; {} is not"
)
no_penalty = _is("penalty", NoPenalty, "residuals alone, without a penalty; {} is one")


def positive_l2_penalty(risk: Any) -> str | None:
    """The penalty is λ/2‖β‖² with λ > 0, so that the dual determines β."""
    if isinstance(risk.penalty, L2) and risk.penalty.alpha > 0:
        return None
    return f"an L2 penalty with alpha > 0; {risk.penalty!r} is not one"


rows_in_any_order = _is("source", InMemory, "rows in any order; {} gives them one after another")


def rows_in_their_order(risk: Any) -> str | None:
    """The source gives its rows block by block only."""
    return "rows that are not in memory" if isinstance(risk.source, InMemory) else None


linear_in_parameters = _is(
    "predictor", LinearInParameters, "a predictor that is linear in its parameters; {} is not"
)
restrictable = _is(
    "predictor", Restrictable, "a predictor that can be restricted to columns; {} cannot"
)
linear_predictor = _is("predictor", LinearPredictor, "a linear predictor; {} is not")


def curved_risk(risk: Any) -> str | None:
    """The second derivative of the loss is all that the Hessian needs."""
    return curved_loss(risk) or linear_in_parameters(risk)


def columns_of_x_alone(risk: Any) -> str | None:
    """The predictor is linear and uses only the columns of X."""
    if (lack := linear_predictor(risk)) is not None:
        return lack
    if risk.predictor.n_features == risk.source.n_features:
        return None
    return f"a predictor of the columns of X alone; {name(risk.predictor)} adds one"


def penalised_coordinates(risk: Any) -> str | None:
    """Every coefficient has a |θ| or θ² term, and no bound but θ ≥ 0, so that a dual exists."""
    return terms_with_a_dual(risk.penalty, risk.predictor.n_features)


def terms_with_a_dual(penalty: Any, n_features: int) -> str | None:
    """The same for a penalty on this number of coefficients."""
    if not isinstance(penalty, Coordinatewise):
        return f"a penalty made of |θ| and θ²; {name(penalty)} is not"
    try:
        l1, l2, lower, upper = penalty.terms((n_features,))
    except ParameterError:
        return f"a penalty on a vector of coefficients; {name(penalty)} is not"
    if not every(l1 + l2 > 0):
        return f"a penalty on every coefficient; {name(penalty)} leaves some free"
    if not (every((lower == 0) | (lower == -np.inf)) and every(upper == np.inf)):
        return f"no bounds but θ ≥ 0; {name(penalty)} has others"
    return None


def one_output(risk: Any) -> str | None:
    """z is 1-D."""
    outputs = risk.predictor.n_outputs
    return f"a single output; this model has {outputs}" if outputs else None


def one_linear_output(risk: Any) -> str | None:
    """z = Xβ + b is 1-D."""
    return linear_predictor(risk) or one_output(risk)


def one_output_of_columns(risk: Any) -> str | None:
    """z = Xβ + b is 1-D, with only the columns of X."""
    return columns_of_x_alone(risk) or one_output(risk)
