"""Matrices and rows to compute with, in memory and in a file."""

import numpy as np

import thetahat as th

RNG = np.random.default_rng(0)
A = RNG.normal(size=(4, 4))
SPD = A @ A.T + 0.1 * np.eye(4)
ROWS = RNG.normal(size=(300, 4)) @ A + 50.0


def on_disk(X, tmp_path, **columns):
    np.save(tmp_path / "rows.npy", X)
    return th.scan(tmp_path / "rows.npy", **columns)
