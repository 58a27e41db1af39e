"""A warm start with other columns, categories or classes is refused, and the model is kept."""

import numpy as np
import pandas as pd
import pytest

import thetahat as th
from thetahat.foundation.errors import DataError, ParameterError

ROUNDS = {"HistGradientBoosting": "max_iter"}
KINDS = ["HistGradientBoosting", "GradientBoosting", "RandomForest", "ExtraTrees", "Bagging"]
RANDOM = np.random.default_rng(3)
X = RANDOM.standard_normal((60, 4))
SIGN = (X[:, 0] > 0).astype(int)


def refused(kind, task, first, second, message):
    """Continue a fit to the first rows and targets with the second."""
    rounds = ROUNDS.get(kind, "n_estimators")
    model = getattr(th, kind + task)(warm_start=True, random_state=0, **{rounds: 3})
    model.fit(*first).set_params(**{rounds: 5})
    before = model.predict(first[0])
    with pytest.raises(DataError, match=f"{message}.*set warm_start=False"):
        model.fit(*second)
    np.testing.assert_array_equal(model.predict(first[0]), before)
    return model


@pytest.mark.parametrize("task", ["Classifier", "Regressor"])
@pytest.mark.parametrize("kind", KINDS)
def test_other_columns(kind, task):
    model = refused(kind, task, (X, SIGN), (X[:, :3], SIGN), "had 4, but X has 3")
    model.fit(X, SIGN)
    model.set_params(warm_start=False).fit(X[:, :3], SIGN)
    assert model.n_features_in_ == 3


@pytest.mark.parametrize("kind", KINDS)
def test_other_classes(kind):
    three, letters = np.arange(60) % 3, np.array(["a", "b"])[SIGN]
    message = r"had \[0, 1\], but y has "
    refused(kind, "Classifier", (X, SIGN), (X, three), message + r"\[0, 1, 2\]")
    refused(kind, "Classifier", (X, SIGN), (X, letters), message + r"\['a', 'b'\]")
    many = np.arange(60) % 20
    refused(kind, "Classifier", (X, SIGN), (X, many), message + r".*6, 7, … \(20 in all\)")


@pytest.mark.parametrize("kind", KINDS[:4])
def test_other_names_and_categories(kind):
    first = pd.DataFrame({"size": X[:, 0], "colour": pd.Categorical(["red", "blue"] * 30)})
    turned = first.rename(columns={"size": "weight"})
    green = first.assign(colour=pd.Categorical(["red", "green"] * 30))
    numbers = first.assign(colour=X[:, 1])
    y = X[:, 2]
    for other, message in [
        (turned, "had 'size' as column 0, but X has 'weight'"),
        (green, r"had \['blue', 'red'\] in column 'colour', but X has \['green', 'red'\]"),
        (numbers, "but X has no categories"),
    ]:
        refused(kind, "Regressor", (first, y), (other, y), message)


def test_several_outputs():
    Y = np.column_stack([SIGN, np.arange(60) % 3])
    other = np.column_stack([SIGN, np.array(["x", "y", "z"])[np.arange(60) % 3]])
    refused("RandomForest", "Classifier", (X, Y), (X, other.astype(object)), "but y has ")


def test_another_criterion_or_number_of_outputs():
    model = th.RandomForestRegressor(n_estimators=3, warm_start=True).fit(X, X[:, 0])
    model.set_params(n_estimators=5)
    with pytest.raises(ParameterError, match=r"and 1 outputs, but now they are .* and 2"):
        model.fit(X, X[:, :2])
    with pytest.raises(ParameterError, match=r"'squared_error' and .* 'poisson'"):
        model.set_params(criterion="poisson").fit(X, np.abs(X[:, 0]))


def test_dask_collections():
    dask, da = pytest.importorskip("dask"), pytest.importorskip("dask.array")
    numbers = np.arange(60)

    def opened(values):
        return da.from_array(values, chunks=(25, *values.shape[1:]))

    model = th.HistGradientBoostingClassifier(max_iter=2, warm_start=True)
    with dask.config.set(scheduler="synchronous"):
        model.fit(opened(X), opened(SIGN)).set_params(max_iter=3)
        for rows, y, message in [
            (X[:, :3], SIGN, "had 4, but X has 3"),
            (X, numbers % 3, r"y has \[0, 1, 2\]"),
            (X, SIGN + 5, r"y has \[5, 6\]"),
        ]:
            with pytest.raises(DataError, match=f"{message}.*set warm_start=False"):
                model.fit(opened(rows), opened(y))
        assert model.n_iter_ == 2
        assert model.classes_.tolist() == [0, 1]
