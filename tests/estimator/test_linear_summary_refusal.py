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
        ("Ridge", "the penalty pulls"),
        ("RidgeCV", "the penalty pulls"),
        ("Lasso", "the penalty pulls"),
        ("ElasticNet", "the penalty pulls"),
        ("LassoCV", "the penalty pulls"),
        ("ElasticNetCV", "the penalty pulls"),
        ("MultiTaskLasso", "the penalty pulls"),
        ("LinearSVR", "the penalty pulls"),
        ("SGDRegressor", "the penalty pulls"),
        ("OrthogonalMatchingPursuit", "chosen by the same rows"),
        ("OrthogonalMatchingPursuitCV", "chosen by the same rows"),
        ("BestSubset", "chosen by the same rows"),
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
