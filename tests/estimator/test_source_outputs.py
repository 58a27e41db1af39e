"""Models of one output and rows of a source whose target is a list of columns."""

import numpy as np
import pytest

import thetahat as th
from thetahat.foundation.errors import DataError

MODELS = [
    th.HistGradientBoostingRegressor(max_iter=2),
    th.HuberRegressor(),
    th.SGDRegressor(random_state=0, shuffle=False),
    th.LassoCV(),
    th.LinearModel(),
    th.LogisticRegression(),
    th.RandomForestClassifier(n_estimators=2, random_state=0),
]
every_model = pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)


@pytest.fixture
def path(tmp_path):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((60, 5))
    X[:, 3:] = rng.integers(0, 3, (60, 2))
    np.save(tmp_path / "rows.npy", X)
    return tmp_path / "rows.npy"


@every_model
def test_two_columns_are_refused_by_models_of_one_output(path, model):
    with pytest.raises(DataError, match=rf"{type(model).__name__}: y should be a 1d array.*2 col"):
        model.fit(th.scan(path, target=[3, 4]))


@every_model
def test_a_list_of_one_column_is_that_column(path, model):
    one, listed = (
        model.fit(th.scan(path, target=key)).predict(np.ones((2, 4))) for key in (3, [3])
    )
    np.testing.assert_array_equal(one, listed)
