"""Linear models whose fit gives no standard errors say so, and name the way to have them."""

import numpy as np
import pytest

import thetahat as th

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((40, 3))
Y = X @ [1.0, -2.0, 0.0] + RANDOM.standard_normal(40)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("Ridge", "the penalty biases"),
        ("RidgeCV", "the penalty biases"),
        ("Lasso", "the penalty biases"),
        ("ElasticNet", "the penalty biases"),
        ("LassoCV", "the penalty biases"),
        ("ElasticNetCV", "the penalty biases"),
        ("MultiTaskLasso", "the penalty biases"),
        ("LinearSVR", "the penalty biases"),
        ("SGDRegressor", "the penalty biases"),
        ("OrthogonalMatchingPursuit", "the same rows selected the columns"),
        ("OrthogonalMatchingPursuitCV", "the same rows selected the columns"),
        ("BestSubset", "the same rows selected the columns"),
        ("HuberRegressor", "not the likelihood"),
        ("RobustRegressor", "not the likelihood"),
        ("QuantileRegressor", "not the likelihood"),
        ("TotalLeastSquares", "errors in X"),
        ("NoiseReweightedRegression", "its own residual"),
    ],
)
def test_summary_refuses_and_names_the_bootstrap(name, reason):
    y = np.column_stack([Y, -Y]) if name == "MultiTaskLasso" else Y
    model = getattr(th, name)().fit(X, y)
    with pytest.raises(th.errors.CapabilityError, match=rf"^{name}: .*{reason}.*th\.bootstrap"):
        model.summary()
    with pytest.raises(th.errors.CapabilityError, match=r"th\.bootstrap"):
        model.summary(X, y, level=0.9)


def test_models_with_errors_keep_their_summary():
    for model in (th.LinearRegression(), th.BayesianRidge(), th.LinearModel(penalty="none")):
        assert len(model.fit(X, Y).summary().coefficients) == 4
