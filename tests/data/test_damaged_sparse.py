"""Sparse matrices whose indices point outside: refused by the functions that take rows."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import thetahat as th

X = np.random.default_rng(0).standard_normal((30, 3))


def damaged():
    entries = csr_array(X)
    entries.indices[3] = 2**30
    return entries


@pytest.mark.parametrize(
    "call",
    [
        lambda: th.check(damaged()),
        lambda: th.distances.Euclidean().pairwise(damaged()),
        lambda: th.distances.Cosine().embedded(damaged()),
        lambda: th.kernels.Linear().gram(damaged()),
        lambda: th.kernels.RBF(1.0).gram(damaged()),
        lambda: th.kernels.Laplacian(1.0).gram(damaged()),
        lambda: th.kernels.Polynomial(2).block(damaged(), damaged()),
    ],
)
def test_functions_refuse_indices_that_point_outside(call):
    with pytest.raises(th.errors.DataError, match="point outside of it"):
        call()
