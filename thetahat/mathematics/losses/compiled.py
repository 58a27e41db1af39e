"""The numbers of losses in the compiled kernels."""

from __future__ import annotations

from thetahat.mathematics.losses.base import Loss


def compiled(loss: Loss) -> tuple[int, float] | None:
    """The number of a loss in the kernels and its parameter; None if the kernels do not have it.

    Inherited numbers do not count, because a derived class may have other formulas.
    """
    known = vars(type(loss)).get("compiled_as")
    if known is None:
        return None
    return known.number, float(getattr(loss, known.parameter)) if known.parameter else 0.0


def is_softmax(loss: Loss) -> bool:
    """Whether the compiled pass of several classes has the formula of this loss."""
    return bool(vars(type(loss)).get("softmax_pass", False))
