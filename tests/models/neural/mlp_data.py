"""Both networks, iris and waves to fit them to."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

import thetahat as th

MLPS = [th.MLPRegressor, th.MLPClassifier]
both = pytest.mark.parametrize("kind", MLPS)
X_IRIS, Y_IRIS = load_iris(return_X_y=True)
X_IRIS = (X_IRIS - X_IRIS.mean(axis=0)) / X_IRIS.std(axis=0)


def waves(n=300, seed=0):
    random = np.random.default_rng(seed)
    X = random.uniform(-2, 2, (n, 2))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] ** 2 / 2


def quietly(model, *data, **params):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(*data, **params)
