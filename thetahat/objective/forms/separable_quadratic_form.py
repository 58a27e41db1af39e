"""A risk with the squared loss as a quadratic in the columns of X, with separable terms."""

from __future__ import annotations

import numpy as np

from thetahat.data.source import Source
from thetahat.data.summaries.moments import moments
from thetahat.mathematics.optimizers.coordinate.coordinate_descent import SeparableQuadratic
from thetahat.mathematics.penalties.coordinatewise import Coordinatewise
from thetahat.objective.predictor import LinearPredictor


def separable_quadratic_form(
    predictor: LinearPredictor, penalty: Coordinatewise, source: Source
) -> SeparableQuadratic:
    """The mean squared loss and its penalty, from the moments of the rows. Cost: O(n d²)."""
    d, about = predictor.n_features, moments(source)
    terms = penalty.kernel_terms(d)
    if not predictor.fit_intercept:
        scatter = about.about_zero().covariance()
        return SeparableQuadratic(scatter[:d, :d], scatter[:d, d], float(scatter[d, d]) / 2, *terms)
    scatter = about.covariance()
    # The last coordinate is the prediction at the mean row: curvature 1, and no penalty.
    level = float(about.y_mean[0])
    gram = np.zeros((d + 1, d + 1))
    gram[:d, :d], gram[d, d] = scatter[:d, :d], 1.0
    constant = (float(scatter[d, d]) + level * level) / 2
    l1, l2, lower, upper = (
        np.append(term, free) for term, free in zip(terms, (0.0, 0.0, -np.inf, np.inf), strict=True)
    )
    linear = np.append(scatter[:d, d], level)
    return SeparableQuadratic(gram, linear, constant, l1, l2, lower, upper, about.x_mean)
