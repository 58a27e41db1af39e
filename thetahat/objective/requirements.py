"""What a method of the risk requires of its loss, penalty, predictor and source.

Each requirement is a condition for `offered`: it returns None when the risk meets it, else what is
lacking and which part is at fault, as the end of "LBFGS needs …".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from thetahat.data.in_memory import InMemory
from thetahat.mathematics.losses.base import Curved, Reweightable, Smooth, Subdifferentiable
from thetahat.mathematics.losses.residual import Squared
from thetahat.mathematics.penalties.base import Proximable, SmoothPenalty
from thetahat.mathematics.penalties.coordinatewise import Coordinatewise
from thetahat.mathematics.penalties.norms import L2, NoPenalty

Condition = Callable[[Any], str | None]


def name(part: Any) -> str:
    """How messages call a part: by its class, or by its own name where a user gave it one."""
    return str(vars(part).get("name", type(part).__name__))


def _is(role: str, kind: Any, lack: str) -> Condition:
    """The risk's part of that role is of some kind; `lack` says so of the part in braces."""

    def condition(risk: Any) -> str | None:
        part = getattr(risk, role)
        return None if isinstance(part, kind) else lack.format(name(part))

    return condition


subdifferentiable_loss = _is(
    "loss", Subdifferentiable, "a loss with a subgradient; {} has only a value"
)
smooth_loss = _is("loss", Smooth, "a smooth loss; {} is not")
curved_loss = _is("loss", Curved, "a loss with a second derivative; {} has none")
reweightable_loss = _is("loss", Reweightable, "a loss that reweights residuals; {} does not")
squared_loss = _is("loss", Squared, "the squared loss; {} is another")

smooth_penalty = _is("penalty", SmoothPenalty, "a smooth penalty; {} is not")
proximable_penalty = _is(
    "penalty", SmoothPenalty | Proximable, "a penalty with a proximal step; {} has none"
)
coordinatewise_penalty = _is(
    "penalty", Coordinatewise, "a penalty made of |θ| and θ² in a box; {} is not"
)
ridge_or_no_penalty = _is("penalty", L2 | NoPenalty, "the ridge penalty or none; {} is another")
no_penalty = _is("penalty", NoPenalty, "residuals alone, without a penalty; {} is one")

rows_in_any_order = _is("source", InMemory, "rows in any order; {} gives them one after another")


def one_output(risk: Any) -> str | None:
    """z is 1-D."""
    outputs = risk.predictor.n_outputs
    return f"a single output; this model has {outputs}" if outputs else None
