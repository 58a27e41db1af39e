"""Parameters that are small numbers of NumPy: a model is the same, and products do not overflow."""

import numpy as np
import pytest
from sklearn.base import clone

import thetahat as th
from tests.conformance.estimator_cases import ESTIMATORS, answer, suited, targets

ROWS = 80


def narrowed(value):
    """The same number in one or two bytes."""
    return np.int8(value) if isinstance(value, int) else np.float16(value)


def whole_and_short(model):
    """The parameters that are exact in so few bytes."""
    numbers = {
        name: value
        for name, value in model.get_params(deep=False).items()
        if type(value) in (int, float) and abs(value) <= 127 and float(np.float16(value)) == value
    }
    return {name: narrowed(value) for name, value in numbers.items()}


@pytest.mark.parametrize(
    "name", [name for name, model in ESTIMATORS.items() if whole_and_short(model)]
)
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::RuntimeWarning")
def test_small_numbers_give_the_same_model(name):
    wide = clone(ESTIMATORS[name])
    x, y = suited(wide)[:ROWS], targets(wide)[:ROWS]
    numbers = whole_and_short(wide)
    narrow = clone(wide).set_params(**numbers).fit(x, y)
    np.testing.assert_array_equal(answer(narrow, x), answer(wide.fit(x, y), x))
    kept = narrow.get_params(deep=False)
    assert all(kept[each] is number for each, number in numbers.items())


@pytest.mark.parametrize(
    "model",
    [
        th.GaussianMixture(2, max_iter=100, n_init=3),
        th.MiniBatchNMF(2, max_iter=100, batch_size=10),
        th.FastICA(3, algorithm="deflation", max_iter=100),
        th.MDS(2, max_iter=100, n_init=3),
        th.HistGradientBoostingRegressor(max_leaf_nodes=100, n_iter_no_change=100),
        th.SVR(cache_size=100),
        th.MLPRegressor(hidden_layer_sizes=(4,), batch_size=100, max_iter=5),
        th.PLSRegression(2, max_iter=100),
        th.LocallyLinearEmbedding(n_neighbors=20, max_iter=100),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_products_of_small_numbers_do_not_overflow(model):
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    x, y = suited(model)[:ROWS], targets(model)[:ROWS]
    wide = clone(model).fit(x, y)
    narrow = clone(model).set_params(**whole_and_short(model)).fit(x, y)
    np.testing.assert_array_equal(answer(narrow, x), answer(wide, x))
