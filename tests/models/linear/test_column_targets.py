"""Targets as one column: the shapes that scikit-learn's estimator of the same name gives."""

import warnings

import numpy as np
import pandas
import pytest
import sklearn.linear_model
from sklearn.exceptions import DataConversionWarning

import thetahat as th

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((60, 5))
Y = X @ [1.0, 2.0, 0.0, 0.0, -1.0] + RANDOM.standard_normal(60)


@pytest.mark.parametrize("kind", ["column", "frame"])
@pytest.mark.parametrize(
    "name",
    [
        "LinearRegression",
        "Ridge",
        "RidgeCV",
        "Lasso",
        "ElasticNet",
        "LassoCV",
        "ElasticNetCV",
        "MultiTaskLasso",
        "OrthogonalMatchingPursuit",
        "OrthogonalMatchingPursuitCV",
        "QuantileRegressor",
        "BayesianRidge",
    ],
)
def test_one_column_has_the_shapes_of_scikit_learn(name, kind):
    y = Y[:, None] if kind == "column" else pandas.DataFrame({"y": Y})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataConversionWarning)
        ours, theirs = (getattr(home, name)().fit(X, y) for home in (th, sklearn.linear_model))
    assert ours.coef_.shape == theirs.coef_.shape
    assert np.shape(ours.intercept_) == np.shape(theirs.intercept_)
    assert ours.predict(X).shape == theirs.predict(X).shape
    assert np.shape(getattr(ours, "alpha_", 0.0)) == np.shape(getattr(theirs, "alpha_", 0.0))
    if name != "QuantileRegressor":  # with an even number of rows the median is not one number
        np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=0.05)


@pytest.mark.parametrize("options", [{}, {"alpha_per_target": True}, {"cv": 3}])
def test_one_column_gives_the_numbers_of_one_target(options):
    column, flat = (th.RidgeCV(**options).fit(X, y) for y in (Y[:, None], Y))
    np.testing.assert_allclose(column.coef_, flat.coef_)
    assert column.alpha_ == flat.alpha_
    assert column.best_score_ == pytest.approx(flat.best_score_)
