"""Value, gradient and curvature of a log-likelihood at one θ, from one pass over the rows."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from thetahat.data.source import Block
from thetahat.foundation.products import product
from thetahat.foundation.types import Array
from thetahat.mathematics.losses.base import Curved
from thetahat.mathematics.losses.families import Family
from thetahat.objective.predictor import LinearPredictor, in_double
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
    marks: Array
    """Σwx, Σwxy and Σwx² of every column, the intercept's included: (p, 3)."""

    def merge(self, other: Information) -> Information:
        """The sums over both sets of rows."""
        return Information(
            *(
                getattr(self, field.name) + getattr(other, field.name)
                for field in fields(Information)
            )
        )


def information(
    block: Block, predictor: LinearPredictor, loss: Curved, family: Family, theta: Array
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
        marks=_marks(block, predictor, weight, y),
    )


def _marks(block: Block, predictor: LinearPredictor, weight: Array, y: Array) -> Array:
    both = np.column_stack([weight, weight * y]).astype(np.float64)
    if isinstance(block.X, np.ndarray):
        X = in_double(block.X)
        sums, squares = product(X.T, both), product((X * X).T, both[:, 0])
    else:
        sums, squares = block.X.T @ both, block.X.power(2).T @ both[:, 0]
    marks = np.column_stack([sums, squares])
    if not predictor.fit_intercept:
        return marks
    return np.vstack([marks, [both[:, 0].sum(), both[:, 1].sum(), both[:, 0].sum()]])
