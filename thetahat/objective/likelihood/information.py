"""Value, gradient and curvature of a log-likelihood at one θ, from one pass over the rows."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from thetahat.data.source import Block
from thetahat.foundation.types import Array
from thetahat.mathematics.losses.base import Curved
from thetahat.mathematics.losses.families import Family
from thetahat.objective.predictor import LinearInParameters
from thetahat.objective.sums import gradient_sums, hessian_sums


@dataclass(frozen=True)
class Information:
    """Weighted sums over rows at one θ, merged by addition."""

    weight: float
    n_rows: int
    """Rows of positive weight."""
    loss: float
    gradient: Array
    hessian: Array
    targets: Array
    """Σ wy of one score; else Σ w in each class."""
    squares: float
    """Σ wy², for the null model of the squared loss."""
    constant: float
    saturated: float

    def merge(self, other: Information) -> Information:
        """The sums over both sets of rows."""
        return Information(
            *(
                getattr(self, field.name) + getattr(other, field.name)
                for field in fields(Information)
            )
        )


def information(
    block: Block, predictor: LinearInParameters, loss: Curved, family: Family, theta: Array
) -> Information:
    """The sums over the rows of one block."""
    slopes = gradient_sums(block, predictor, loss, theta)
    (hessian,) = hessian_sums(block, predictor, loss, theta).parts
    y = np.asarray(block.y, dtype=np.float64)
    weight = block.row_weights
    if predictor.n_outputs:
        n_classes = predictor.n_outputs + (not family.symmetric)
        targets = np.bincount(y.astype(np.intp), weight, n_classes)
    else:
        targets = np.array([float(weight @ y)])
    return Information(
        weight=slopes.weight,
        n_rows=int((weight > 0).sum()),
        loss=float(slopes.parts[0]),
        gradient=slopes.parts[1],
        hessian=hessian,
        targets=targets,
        squares=float(weight @ y**2),
        constant=float(weight @ family.constant(y)),
        saturated=float(weight @ family.saturated(y)),
    )
