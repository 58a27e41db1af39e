"""A decaying curve with noise, and its fit."""

import numpy as np

import thetahat as th

RANDOM = np.random.default_rng(11)
T = np.linspace(0.0, 4.0, 40)[:, np.newaxis]
TRUTH = np.array([5.0, 0.8, 1.0])


def decay(X, theta):
    return theta[0] * np.exp(-theta[1] * X[:, 0]) + theta[2]


Y = decay(T, TRUTH) + 0.1 * RANDOM.standard_normal(len(T))
START = [1.0, 1.0, 0.0]


def fitted(**options):
    return th.NonlinearRegression(decay, START, **options).fit(T, Y)
