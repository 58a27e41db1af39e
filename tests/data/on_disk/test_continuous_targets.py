"""Targets with fractions are no labels, wherever the rows are."""

import numpy as np
import pytest

import thetahat as th
from thetahat.foundation.errors import DataError


@pytest.fixture
def rows():
    rng = np.random.default_rng(3)
    return np.abs(rng.standard_normal((40, 2))), rng.standard_normal(40)


@pytest.mark.parametrize(
    "model",
    [
        th.LogisticRegression(),
        th.SGDClassifier(),
        th.GaussianNB(),
        th.MultinomialNB(),
        th.LinearDiscriminantAnalysis(),
        th.HistGradientBoostingClassifier(),
        th.RandomForestClassifier(),
        th.LinearModel(loss="logistic"),
    ],
    ids=lambda model: type(model).__name__,
)
def test_classifiers_refuse_a_continuous_target_of_a_file(tmp_path, rows, model):
    X, y = rows
    np.save(tmp_path / "X.npy", X)
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        model.fit(X, y)
    with pytest.raises(DataError, match=r"Unknown label type: continuous.*row 0 is .*regressor"):
        model.fit(th.scan(tmp_path / "X.npy", target=y))


def test_the_first_fraction_is_named(tmp_path, rows):
    X, _ = rows
    y = np.arange(40.0) % 2
    y[31] = 0.25
    np.save(tmp_path / "X.npy", X)
    with pytest.raises(DataError, match=r"row 31 is 0\.25"):
        th.LogisticRegression().fit(th.scan(tmp_path / "X.npy", target=y))


def test_classifiers_refuse_a_continuous_target_of_dask(rows):
    array = pytest.importorskip("dask.array")
    X, y = rows
    given = array.from_array(X, chunks=(20, -1)), array.from_array(y, chunks=20)
    with pytest.raises(DataError, match=r"Unknown label type: continuous"):
        th.LogisticRegression().fit(*given)


def test_whole_numbers_in_floating_point_are_labels(tmp_path, rows):
    X, _ = rows
    y = np.where(X[:, 0] > 0.5, 2.0, -1.0)
    np.save(tmp_path / "X.npy", X)
    model = th.LogisticRegression().fit(th.scan(tmp_path / "X.npy", target=y))
    assert model.classes_.tolist() == [-1.0, 2.0]
