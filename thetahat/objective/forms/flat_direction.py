"""The direction of θ in which a risk is constant: the same shift of the intercepts of all classes.

The Hessian is singular along it. Newton's method adds curvature there, so that its equations can be
solved by a Cholesky factorisation instead of eigenvalues.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.foundation.types import Array
from thetahat.objective.predictor import LinearPredictor


def flat_direction(risk: Any) -> Array | None:
    """The direction, of length 1; None if the loss or the predictor has none."""
    predictor = risk.predictor
    if not risk.loss.shift_invariant or type(predictor) is not LinearPredictor:
        return None  # other predictors may penalise their bias
    if not predictor.fit_intercept or not predictor.n_outputs:
        return None
    coef = np.zeros((predictor.n_features, predictor.n_outputs))
    return predictor.pack(coef, predictor.n_outputs**-0.5)
