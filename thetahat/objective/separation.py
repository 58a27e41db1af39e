"""Is there a hyperplane that separates the classes? Then the likelihood has no maximum.

Perfect: some θ gives every row a positive margin, z_y − max_{c≠y} z_c > 0. The fitted θ itself is
the proof. Quasi: some direction δ loses no row any margin and gains some. Along it the loss falls
like e^{−t} for ever, so Newton's step from a far point is such a δ of about unit margin; from an
optimum it is 0. The rows decide whether it is one.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from thetahat.data.source import Block
from thetahat.mathematics.optimizers.loop import minimise
from thetahat.mathematics.optimizers.newton import Newton, newton_direction
from thetahat.objective.empirical_risk import EmpiricalRisk

Array = Any

ROUGH = 1e-6
"""The gap at which a direction is judged: nearer the end, curvatures are lost to rounding."""
CERTAIN = 3.0
"""A margin below which no row is nearly certain yet, so that nothing is running away."""
LONG, LOSS = 0.3, 0.02
"""The least gain of margin along δ, and the largest loss, as a share of the gain."""
LARGEST_HESSIAN = 2000


class Separation(Enum):
    """How the classes are separated; the value says it in words."""

    PERFECT = "perfectly separated: a hyperplane leaves every row on its own side"
    QUASI = "quasi-separated: a hyperplane leaves every row on its own side or on itself"


@dataclass(frozen=True)
class Margins:
    """The smallest margin of any row, and the largest."""

    low: float = np.inf
    high: float = -np.inf

    def merge(self, other: Margins) -> Margins:
        """Those of both sets of rows."""
        return Margins(min(self.low, other.low), max(self.high, other.high))


def separation(risk: EmpiricalRisk, theta: Array, gap: float) -> Separation | None:
    """Whether the classes are separated, judged from a fit θ whose gradient is within `gap`.

    Cost: O(n d) when they are perfectly separated or far from it; else that of a Newton step.
    """
    reached = risk.source.reduce(_margins, risk, theta)
    if reached.low > 0:
        return Separation.PERFECT
    if reached.high < CERTAIN or risk.predictor.n_parameters > LARGEST_HESSIAN:
        return None
    if gap < ROUGH:
        theta = minimise(risk, Newton(), tolerance=ROUGH).theta
    _, gradient = risk.value_and_gradient(theta)
    along = newton_direction(risk.hessian(theta), gradient)
    gained = risk.source.reduce(_margins, risk, along)
    if gained.high > LONG and gained.low > -LOSS * gained.high:
        return Separation.QUASI
    return None


def _margins(block: Block, risk: EmpiricalRisk, theta: Array) -> Margins:
    """Smallest and largest of z_y − z_c over rows that count and classes c ≠ y."""
    z = risk.predictor.raw(block.X, theta)
    if z.ndim == 1:
        margin = np.where(np.asarray(block.y) > 0, z, -z)[:, None]
    else:
        z = risk.loss.all_scores(z) if hasattr(risk.loss, "all_scores") else z
        right = np.asarray(block.y).astype(np.intp)[:, None]
        margin = np.take_along_axis(z, right, axis=1) - z
        margin = margin[np.arange(z.shape[1]) != right].reshape(len(z), -1)
    if block.weight is not None:
        margin = margin[block.weight > 0]
    if not margin.size:
        return Margins()
    return Margins(float(margin.min()), float(margin.max()))
