"""The scale of residuals, and a start that outliers do not choose."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from thetahat.data.validation import as_source
from thetahat.objective.predictor import LinearPredictor
from thetahat.objective.robust.residual_scale import CUT, Residuals, robust_start


def rows(outliers=0):
    random = np.random.default_rng(0)
    X = random.standard_normal((2000, 2))
    y = X @ [1.0, -2.0] + 0.5 + 0.3 * random.standard_normal(2000)
    y[:outliers] += 100.0
    return as_source(X, y), np.array([1.0, -2.0, 0.5])


@pytest.mark.parametrize("kind", ["mad", "huber"])
def test_the_scale_of_normal_residuals_is_their_standard_deviation(kind):
    source, theta = rows()
    residuals = Residuals.of(source, LinearPredictor(2), theta)
    assert residuals.scale(kind) == pytest.approx(0.3, rel=0.1)
    doubled = Residuals(2 * residuals.values, residuals.weight, 3, residuals.smallest)
    assert doubled.scale(kind) == pytest.approx(2 * residuals.scale(kind))


def test_the_scale_solves_the_equation_of_hubers_proposal_2():
    values = np.random.default_rng(1).standard_t(3, 500)
    scale = Residuals(values, np.ones(500), 3, 1e-12).scale("huber")
    expected, _ = quad(lambda u: min(abs(u), CUT) ** 2 * norm.pdf(u), -20, 20, points=[-CUT, CUT])
    cut = np.minimum(np.abs(values), CUT * scale)
    assert cut @ cut / scale**2 == pytest.approx(expected * (500 - 3), rel=1e-9)


@pytest.mark.parametrize("convex", [True, False])
def test_outliers_do_not_choose_the_start(convex):
    source, theta = rows(outliers=500)
    start = robust_start(source, LinearPredictor(2), convex=convex, sample_size=400, random_state=0)
    np.testing.assert_allclose(start, theta, atol=0.6 if convex else 0.1)
