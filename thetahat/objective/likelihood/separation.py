"""Detection of separated classes, for which the likelihood has no maximum.

Perfect separation: some θ gives every row a positive margin, z_y − max_{c≠y} z_c > 0. The fitted θ
itself is the proof. Quasi-separation: some direction δ decreases no margin and increases some.
Along δ the loss decreases like e^{−t}, so Newton's step from a far point is such a δ with margins
of about 1, while it is 0 at an optimum. The margins of all rows show whether it is one.

The likelihood of counts has no maximum if some δ lowers the rate e^z of rows with y = 0 and changes
no other rate: the margin is −z for y = 0 and −|z| for y > 0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from thetahat.data.source import Block
from thetahat.foundation.types import Array
from thetahat.mathematics.losses.base import Targets, UnboundedLikelihood
from thetahat.mathematics.optimizers.gap import largest_entry
from thetahat.mathematics.optimizers.minimisation import minimise
from thetahat.mathematics.optimizers.smooth.newton import newton_direction
from thetahat.mathematics.penalties.base import SmoothPenalty
from thetahat.mathematics.penalties.norms import L1, L2, ElasticNet, NoPenalty
from thetahat.objective.choose import method_for
from thetahat.objective.empirical_risk import EmpiricalRisk
from thetahat.objective.predictor import LinearInParameters, LinearPredictor
from thetahat.objective.sums import Sums

ROUGH = 1e-6
"""The gap at which a direction is tested; at smaller gaps curvatures are lost to rounding."""
CERTAIN = 3.0
"""If no margin is larger than this, the coefficients do not diverge."""
LONG, LOSS = 0.3, 0.02
"""The smallest increase of a margin along δ, and the largest decrease relative to it."""
LARGEST_HESSIAN = 2000
NEGLIGIBLE = 1e-6
"""Strength relative to the sum of losses below which a penalty may be too weak to bound θ."""


class Separation(Enum):
    """How the classes, or rows with y = 0, are separated; the value is text for messages."""

    PERFECT = "the classes are perfectly separated: a hyperplane leaves every row on its own side"
    QUASI = (
        "the classes are quasi-separated: a hyperplane leaves every row on its own side or on "
        "itself"
    )
    NO_COUNTS = "all targets are 0, and no intercept, which has no penalty, is too low for them"
    EMPTY_GROUP = (
        "rows with y = 0 are separated from the others: some coefficients lower their rates and "
        "leave all other rates as they are"
    )


@dataclass(frozen=True)
class Margins:
    """The smallest and the largest margin over the rows."""

    low: float = np.inf
    high: float = -np.inf

    def merge(self, other: Margins) -> Margins:
        """The margins over both sets of rows."""
        return Margins(min(self.low, other.low), max(self.high, other.high))


def separation(risk: EmpiricalRisk, theta: Array, gap: float) -> Separation | None:
    """Whether the likelihood increases without end along some direction, given a fit θ.

    `gap` is the largest entry of the gradient at θ. None for losses that are not likelihoods, or if
    a penalty bounds θ. Cost: O(n d) if the rows are perfectly separated or far from it; else that
    of a rough fit and a Newton step.
    """
    if not isinstance(risk.loss, UnboundedLikelihood):
        return None
    if not isinstance(risk.predictor, LinearInParameters):
        return None  # z is not proportional to θ
    counts = risk.loss.targets is Targets.NONNEGATIVE
    level = _level(risk) if counts else 1.0
    if level == 0 and isinstance(risk.predictor, LinearPredictor) and risk.predictor.fit_intercept:
        return Separation.NO_COUNTS
    if _is_bounded(risk, theta, gap):
        return None
    risk = replace(risk, penalty=NoPenalty())
    reached = risk.source.reduce(_margins, risk, theta)
    if reached.low > 0:
        return Separation.NO_COUNTS if counts else Separation.PERFECT
    if reached.high < CERTAIN or risk.predictor.n_parameters > LARGEST_HESSIAN:
        return None
    rough = ROUGH * min(1.0, level or 1.0)
    if gap < rough:
        theta = minimise(risk, method_for(risk)[0], tolerance=rough).theta
    _, gradient = risk.value_and_gradient(theta)
    along = newton_direction(risk.hessian(theta), gradient)
    gained = risk.source.reduce(_margins, risk, along)
    if gained.high > LONG and gained.low > -LOSS * gained.high:
        return Separation.EMPTY_GROUP if counts else Separation.QUASI
    return None


def _is_bounded(risk: EmpiricalRisk, theta: Array, gap: float) -> bool:
    """Whether a penalty, and not early stopping, limits the size of the coefficients."""
    penalty = risk.penalty
    if isinstance(penalty, NoPenalty):
        return False
    if not isinstance(penalty, L1 | L2 | ElasticNet):
        return True
    if penalty.alpha * risk.total_weight > NEGLIGIBLE:
        return True
    # A gradient of the penalty above the remaining gap balances that of the losses.
    is_smooth = isinstance(penalty, SmoothPenalty)
    pull = largest_entry(np.asarray(risk.penalty_slope(theta))) if is_smooth else penalty.alpha
    return bool(pull > gap)


def _level(risk: EmpiricalRisk) -> float:
    """The mean of the targets."""
    (mean,) = risk.source.reduce(_target_sums).means()
    return float(mean)


def _target_sums(block: Block) -> Sums:
    weight = block.row_weights
    return Sums(float(weight.sum()), (np.asarray(weight @ np.asarray(block.y, dtype=np.float64)),))


def _margins(block: Block, risk: EmpiricalRisk, theta: Array) -> Margins:
    """Smallest and largest margin of the rows of positive weight."""
    assert isinstance(risk.loss, UnboundedLikelihood)
    margin = risk.loss.margins(block.targets, risk.predictor.raw(block.X, theta))
    if block.weight is not None:
        margin = margin[block.weight > 0]
    if not margin.size:
        return Margins()
    return Margins(float(margin.min()), float(margin.max()))
