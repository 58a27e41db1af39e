"""Ridge fits for many penalties from one spectrum."""

import numpy as np
import pytest

from thetahat.data.summaries.moments import moments
from thetahat.data.validation import as_source
from thetahat.objective.least_squares.direct import direct_least_squares
from thetahat.objective.least_squares.ridge_path import RidgePath

PENALTIES = np.array([0.1, 10.0])


def source_of(n, d):
    random = np.random.default_rng(0)
    X = random.standard_normal((n, d)) * 50 + 3.0
    return as_source(X, random.standard_normal((n, 2)), random.random(n) + 0.5)


@pytest.mark.parametrize("chosen", [0, 1])
@pytest.mark.parametrize("shape", [(30, 4), (5, 8)], ids=["many rows", "few rows"])
def test_every_penalty_gives_the_ridge_fit(chosen, shape):
    source = source_of(*shape)
    if shape[0] > shape[1]:
        path = RidgePath.of(moments(source), PENALTIES)
    else:
        path = RidgePath.of_few_rows(source, PENALTIES, intercept=True)
    theta = path.theta(np.array([chosen, chosen]))
    fit = direct_least_squares(source, ridge=PENALTIES[chosen], solver="svd").fit
    np.testing.assert_allclose(theta[:-1], fit.coef, rtol=1e-6, atol=1e-10)
    np.testing.assert_allclose(theta[-1], fit.intercept, rtol=1e-6, atol=1e-8)


def test_the_share_of_noise_is_that_of_the_weakest_penalty():
    source = source_of(30, 4)
    path = RidgePath.of(moments(source), np.array([1e-9, 10.0]))
    fit = direct_least_squares(source).fit
    total = ((source.y - np.average(source.y, axis=0, weights=source.weight)) ** 2).T
    assert path.noise_share() == pytest.approx((fit.residual / (total @ source.weight)).min())
