"""Sparse matrices whose indices point outside: refused by the functions that take rows."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone

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
    with pytest.raises(th.errors.DataError, match="no indices into it"):
        call()


@pytest.mark.parametrize("name", ["LogisticRegression", "MultinomialNB", "Ridge", "NMF", "KMeans"])
@pytest.mark.parametrize(
    ("attribute", "dtype"),
    [("indptr", np.int64), ("indices", np.int64), ("indices", ">i4"), ("indices", np.uint32)],
)
def test_indices_of_any_whole_numbers_give_the_same_model(name, attribute, dtype):
    rows, y = np.where(X > 0, X, 0.0), (X[:, 0] > 0).astype(int)
    fitted = []
    for change in (False, True):
        given = csr_array(rows)
        if change:
            setattr(given, attribute, getattr(given, attribute).astype(dtype))
        model = clone(getattr(th, name)._example())
        if "random_state" in model.get_params():
            model.set_params(random_state=0)
        model.fit(given, y)
        fitted.append(getattr(model, "predict", getattr(model, "transform", None))(given))
    np.testing.assert_array_equal(*fitted)


def test_indices_that_are_no_whole_numbers_are_refused():
    given = csr_array(X)
    given.indices = given.indices.astype(float)
    with pytest.raises(th.errors.DataError, match="indices or indptr are no indices into it"):
        th.Ridge().fit(given, X[:, 0])
