"""A smoothing kernel whose width is the distance to the k-th neighbour."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from thetahat.foundation.errors import ParameterError
from thetahat.mathematics.parts import Part, whole
from thetahat.mathematics.smoothing.base import SmoothingKernel


@dataclass(frozen=True)
class Nearest(Part):
    """The kernel of the k nearest neighbours, K(d(x, x_i)/h(x)) with a width for every query.

    The width h(x) is the distance from x to its k-th neighbour. With the uniform shape the
    prediction is the plain average of the k nearest rows, and of further rows only if they are
    exactly as far as the k-th. Other shapes give less weight to farther neighbours, and the k-th
    none, as in loess. Cost: that of a search for k neighbours per query.

    Parameters
    ----------
    k : int, default=10
        Number of neighbours that determines the width. Larger values give smoother predictions.
        Must be at least 1. Rows count with their weights.
    shape : str or SmoothingKernel, default="uniform"
        The kernel that is scaled to this width: a name or a value of ``th.smoothing``.

    Examples
    --------
    >>> import thetahat as th
    >>> model = th.NadarayaWatson(kernel=th.smoothing.Nearest(2))
    >>> model.fit([[0.0], [1.0], [5.0]], [10.0, 20.0, 90.0]).predict([[0.4], [6.0]])
    array([15., 55.])
    """

    k: int = whole(10, at_least=1)
    shape: Any = "uniform"

    name = "nearest"
    aliases = ("knn",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.shape, str | SmoothingKernel):
            raise ParameterError(
                f"Nearest(shape={self.shape!r}): shape must be a smoothing kernel or the name of "
                "one, such as 'tricube'."
            )
