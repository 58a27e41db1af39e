"""Which losses the compiled kernels know, and by what number."""

from __future__ import annotations

from thetahat.mathematics.losses.base import Loss


def compiled(loss: Loss) -> tuple[int, float] | None:
    """The number of a loss in the kernels and its δ or ε; None if the kernels do not have it.

    A class derived from one that they have may have other formulas, so only a number that the class
    itself declares counts.
    """
    known = vars(type(loss)).get("compiled_as")
    if known is None:
        return None
    return known.number, float(getattr(loss, known.parameter)) if known.parameter else 0.0
