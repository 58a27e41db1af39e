"""Rows, targets and small forests."""

import numpy as np

import thetahat as th

CLASSIFIERS = ("RandomForestClassifier", "ExtraTreesClassifier")
REGRESSORS = ("RandomForestRegressor", "ExtraTreesRegressor")
FORESTS = (*CLASSIFIERS, *REGRESSORS)
RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((300, 5))
Y = X[:, 0] + np.sin(3.0 * X[:, 1]) + 0.2 * RANDOM.standard_normal(300)
LABELS = np.array(["a", "b", "c"])[np.digitize(Y, [-0.7, 0.7])]


def forest(name, **parameters):
    return getattr(th, name)(**{"n_estimators": 10, "random_state": 0, **parameters})


def targets(name):
    return LABELS if name in CLASSIFIERS else Y


def answer(model, rows=X):
    return model.predict_proba(rows) if hasattr(model, "predict_proba") else model.predict(rows)
