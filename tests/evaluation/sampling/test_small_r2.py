"""Differences of R² on folds of few rows."""

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

import thetahat as th


class FirstColumn(RegressorMixin, BaseEstimator):
    """Predicts the first column, which is the target."""

    def fit(self, X, y):
        self.fitted_ = True
        return self

    def predict(self, X):
        return X[:, 0]


def test_a_perfect_model_is_told_from_the_mean_on_thirty_rows():
    random = np.random.default_rng(0)
    models = {"perfect": FirstColumn(), "mean": th.ConstantRegressor()}
    told = 0
    for seed in range(20):
        X = random.standard_normal((30, 2))
        (pair,) = th.compare(models, X, X[:, 0], scoring="r2", random_state=seed).pairs
        told += pair.better == "perfect" and pair.test.rejects and pair.difference.low > 0
    assert told >= 19


def test_intervals_of_differences_cover_on_thirty_rows():
    random = np.random.default_rng(1)
    models = {"line": th.LinearRegression(), "mean": th.ConstantRegressor()}
    found = []
    for seed in range(30):
        X = random.standard_normal((30, 2))
        y = X[:, 0] + random.standard_normal(30)
        (pair,) = th.compare(models, X, y, scoring="r2", random_state=seed).pairs
        sign = 1 if pair.better == "line" else -1
        ends = sorted((sign * pair.difference.low, sign * pair.difference.high))
        found.append((sign * pair.difference.estimate, *ends))
    estimate, low, high = np.array(found).T
    truth = estimate.mean()
    assert 0.88 <= np.mean((low <= truth) & (truth <= high)) <= 1.0
    assert np.median(high - low) < 2.0
