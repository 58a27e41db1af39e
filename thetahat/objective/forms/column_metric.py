"""The metric of a linear risk for gradient steps: the units of the columns of X.

A gradient entry has the unit of its column, and a coefficient its inverse. Steps and stopping rules
on raw entries thus depend on the units: a column of very small numbers has a small gradient however
wrong its coefficient is. With uⱼ² = mean xⱼ² + λ, over the entries of column j that are not 0, the
search over uⱼθⱼ and its gradient gⱼ/uⱼ do not depend on the units of columns without a penalty.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.foundation.types import Array
from thetahat.mathematics.penalties.norms import L2, NoPenalty
from thetahat.objective.forms.output_metric import has_output_metric, output_metric
from thetahat.objective.predictor import LinearPredictor

WIDE = 100.0
"""Ratio of the largest to the smallest unit from which they matter beside a penalty."""


def has_metric(risk: Any) -> str | None:
    """A condition for `requires`: rows in memory of a linear predictor, and L2 or no penalty."""
    if has_output_metric(risk) is None:
        return None
    if type(risk.predictor) is not LinearPredictor:
        return "a linear predictor"
    if not isinstance(risk.source, InMemory):
        return "rows in memory"
    if type(risk.source.X) is not np.ndarray and not risk.source.is_sparse:
        return "rows on the CPU"
    return None if isinstance(risk.penalty, L2 | NoPenalty) else "an L2 penalty or none"


def metric_of(risk: Any) -> Array | None:
    """A matrix for several outputs with L2, else 1/uⱼ of each parameter; None if it is all ones.

    Units close together change little beside a penalty, whose own unit the tolerance then has.
    Cost: O(n d) for units, O(n d² + d³) for a matrix.
    """
    if has_output_metric(risk) is None:
        return output_metric(risk)
    units = column_units(risk)
    return None if units is None else 1.0 / units


def column_units(risk: Any) -> Array | None:
    """uⱼ of every parameter, with 1 for intercepts; None where gradients are used as they are."""
    if has_metric(risk) is not None or has_output_metric(risk) is None:
        return None
    if isinstance(risk.penalty, L2):
        own = math.sqrt(risk.penalty.alpha)
        if _are_close(own, math.hypot(risk.source.largest_entry, own)):
            return None  # every unit lies between these two
        unit = np.hypot(risk.source.column_sizes, own)
        if _are_close(unit.min(), unit.max()):
            return None
    else:
        unit = risk.source.column_sizes
    coef, intercept = risk.predictor.split(risk.predictor.zeros())
    whole = np.ones_like(coef) * unit.reshape(-1, *[1] * (coef.ndim - 1))
    return np.asarray(risk.predictor.pack(whole, np.ones_like(intercept)))


def _are_close(least: float, most: float) -> bool:
    """Whether units from the least to the most, and 1 of the intercept, matter little."""
    return max(most, 1.0) <= WIDE * min(least, 1.0)
