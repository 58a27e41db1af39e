"""Rows, targets and bags of a few members."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

import thetahat as th

RANDOM = np.random.default_rng(0)
N = 300
X = RANDOM.standard_normal((N, 4))
Y = X @ [1.0, 2.0, 0.0, -1.0] + RANDOM.standard_normal(N)
LABELS = np.array(["low", "mid", "high"])[np.searchsorted([-1.0, 1.0], Y)]


def bag(**options):
    defaults = {"estimator": th.LinearRegression(), "n_estimators": 10, "random_state": 0}
    return th.BaggingRegressor(**(defaults | options))


def class_bag(**options):
    defaults = {"estimator": th.LogisticRegression(), "n_estimators": 10, "random_state": 0}
    return th.BaggingClassifier(**(defaults | options))


class OnlyVotes(ClassifierMixin, BaseEstimator):
    """A user's classifier without probabilities or weights: the nearest class mean."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.means_ = np.array([X[y == label].mean(axis=0) for label in self.classes_])
        return self

    def predict(self, X):
        far = ((X[:, None] - self.means_) ** 2).sum(axis=2)
        return self.classes_[far.argmin(axis=1)]
