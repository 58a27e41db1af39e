"""Parameters of a kernel that Nystroem is given by name, as in scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.kernel_approximation import Nystroem as Peer
from sklearn.metrics.pairwise import rbf_kernel

import thetahat as th

X = np.random.default_rng(0).standard_normal((6, 2))


@pytest.mark.parametrize(
    "parameters",
    [
        {"kernel": "rbf", "kernel_params": {"gamma": 5.0}},
        {"kernel": "rbf", "gamma": 0.3, "kernel_params": {"gamma": 5.0}},
        {"kernel": "poly", "kernel_params": {"gamma": 0.5, "degree": 2, "coef0": 0.5}},
    ],
)
def test_inner_products_are_scikit_learns(parameters):
    ours, peer = th.Nystroem(n_components=6, **parameters), Peer(n_components=6, **parameters)
    found, expected = ours.fit_transform(X), peer.fit_transform(X)
    np.testing.assert_allclose(found @ found.T, expected @ expected.T, atol=1e-8)


def test_a_function_takes_no_gamma():
    with pytest.raises(th.errors.ParameterError, match="Don't pass gamma"):
        th.Nystroem(kernel=lambda x, z: float(rbf_kernel([x], [z])[0, 0]), gamma=2.0).fit(X)


def test_unknown_kernel_parameters_are_refused():
    with pytest.raises(th.errors.ParameterError, match="kernel_params has sigma"):
        th.Nystroem(kernel="rbf", kernel_params={"sigma": 2.0}, n_components=3).fit(X)
