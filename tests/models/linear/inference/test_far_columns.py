"""Standard errors of columns far from 0 are those of the same columns, centred."""

import numpy as np
import pytest

import thetahat as th

RANDOM = np.random.default_rng(0)
N = 400
SHIFT = np.array([1e6, -1e6, 1e5])
FAR = SHIFT + RANDOM.standard_normal((N, 3))
NEAR = FAR - SHIFT
Y = NEAR @ [1.0, -0.5, 0.2] + RANDOM.standard_normal(N)
LABELS = (NEAR @ [1.0, -0.5, 0.2] + RANDOM.logistic(size=N) > 0).astype(int)
COUNTS = RANDOM.poisson(np.exp(0.3 * NEAR[:, 0] + 0.2))
CASES = {
    "LinearRegression": (th.LinearRegression(), Y),
    "GeneralizedLeastSquares": (th.GeneralizedLeastSquares(), Y),
    "squared": (th.LinearModel("squared", "none"), Y),
    "LogisticRegression": (th.LogisticRegression(C=np.inf, tol=1e-10), LABELS),
    "three classes": (th.LogisticRegression(C=np.inf, tol=1e-10), np.digitize(Y, [-1, 1])),
    "logistic": (th.LinearModel("logistic", "none"), LABELS),
    "PoissonRegressor": (th.PoissonRegressor(alpha=0, tol=1e-10), COUNTS),
    "poisson": (th.LinearModel("poisson", "none"), COUNTS),
}


def slopes(model, rows, y, covariance):
    """Estimate, standard error, statistic, p and interval of each slope."""
    given = () if covariance == "model" else (rows, y)
    summary = model.fit(rows, y).summary(*given, covariance=covariance)
    return np.array(
        [
            [value for value in vars(each).values() if isinstance(value, float)]
            for each in summary.coefficients
            if "intercept" not in each.name
        ]
    )


@pytest.mark.parametrize(
    ("case", "covariance"),
    [
        (case, covariance)
        for case in CASES
        for covariance in ("model", "HC0", "HC3")
        if case != "three classes" or covariance == "model"  # the others are for one score
    ],
)
def test_far_columns_have_the_standard_errors_of_centred_ones(case, covariance):
    model, y = CASES[case]
    far, near = (slopes(model, rows, y, covariance) for rows in (FAR, NEAR))
    assert far.shape[1] >= 5
    np.testing.assert_allclose(far, near, rtol=1e-6, atol=1e-14)


def test_the_intercept_of_far_columns_is_as_uncertain_as_that_of_least_squares():
    model = th.LinearModel("squared", "none").fit(FAR, Y)
    expected = th.LinearRegression().fit(FAR, Y).summary().coefficients
    found = model.summary().coefficients
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one.standard_error, other.standard_error, rtol=1e-6)


@pytest.mark.parametrize("mean", [1e6, 1e8])
def test_intervals_of_the_mean_do_not_depend_on_the_location_of_columns(mean):
    random = np.random.default_rng(3)
    near = random.standard_normal((400, 3))
    y = (random.random(400) < 1 / (1 + np.exp(-near[:, 0]))).astype(int)
    far = near + mean
    near = far - mean  # what the far columns still hold
    expected = th.LogisticRegression(penalty=None, tol=1e-10).fit(near, y).predict_interval(near)
    found = th.LogisticRegression(penalty=None, tol=1e-10).fit(far, y).predict_interval(far)
    np.testing.assert_allclose(found, expected, rtol=1e-4)
