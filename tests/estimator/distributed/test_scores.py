"""Scores of Dask collections of unknown length are those of memory, for every model."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.base import is_classifier, is_regressor

import thetahat as th
from tests.conformance.estimator_cases import ESTIMATORS, brief
from tests.dask_rows import synchronous  # noqa: F401
from thetahat.catalog import estimators
from thetahat.data.validation import as_source

dd = pytest.importorskip("dask.dataframe")

COLUMNS = ["a", "b"]
SEVERAL_TARGETS = {"MultiTaskElasticNet", "MultiTaskLasso"}
WHOLE_NUMBERS = {"CategoricalNB"}
DENSITIES = [name for name, kind in estimators().items() if hasattr(kind, "log_density")]
PREDICTORS = [
    name
    for name, kind in estimators().items()
    if name not in SEVERAL_TARGETS | WHOLE_NUMBERS
    and (is_classifier(kind._example()) or is_regressor(kind._example()))
    and hasattr(kind, "score")
]


def table():
    random = np.random.default_rng(0)
    X = np.abs(random.standard_normal((60, 2)))
    rows = pd.DataFrame(X, columns=COLUMNS)
    rows["y"] = X[:, 0] + 0.5 * X[:, 1] + 0.1 * random.random(60)
    rows["k"] = (X[:, 0] > X[:, 1]).astype(int)
    rows["w"] = random.integers(0, 3, 60).astype(float)
    return rows


@cache
def of_unknown_length(kind):
    """X, and a function that gives a column, as collections of which the length is unknown."""
    rows = dd.from_pandas(table(), npartitions=3)
    if kind == "dataframe":
        return rows[COLUMNS], lambda name: rows[name]
    return rows[COLUMNS].values, lambda name: rows[name].values


@pytest.fixture(params=["dataframe", "array"])
def collections(request):
    return of_unknown_length(request.param)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PREDICTORS)
def test_scores_of_predictions(name):
    rows, (X, column) = table(), of_unknown_length("array")
    model = brief(ESTIMATORS[name])
    target, here = "k" if is_classifier(model) else "y", rows[COLUMNS].to_numpy()
    model.fit(here, rows[target].to_numpy())
    expected = model.score(here, rows[target].to_numpy())
    assert model.score(X, column(target)) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("model", [th.Ridge(), th.MLPRegressor(solver="lbfgs", tol=0.01)])
def test_weights_of_scores(model, collections):
    rows, (X, column) = table(), collections
    here = rows[COLUMNS] if hasattr(X, "columns") else rows[COLUMNS].to_numpy()
    model.fit(here, rows["y"])
    expected = model.score(here, rows["y"], sample_weight=rows["w"])
    found = model.score(X, column("y"), sample_weight=column("w"))
    assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name", [name for name in DENSITIES if hasattr(estimators()[name], "score_samples")]
)
def test_log_densities_stay_lazy(name):
    da = pytest.importorskip("dask.array")
    rows, (X, column) = table(), of_unknown_length("array")
    here = rows[COLUMNS].to_numpy()
    model = estimators()[name]._example().fit(here)
    lazy = model.score_samples(X)
    assert isinstance(lazy, da.Array)
    np.testing.assert_allclose(lazy.compute(), model.score_samples(here), rtol=1e-9)
    if name != "EllipticEnvelope":
        assert model.score(X) == pytest.approx(model.score(here), rel=1e-9)
        expected = model.score(here, sample_weight=rows["w"])
        assert model.score(X, sample_weight=column("w")) == pytest.approx(expected, rel=1e-9)


def test_the_score_of_an_outlier_detector_compares_labels(collections):
    rows, (X, column) = table(), collections
    here = rows[COLUMNS] if hasattr(X, "columns") else rows[COLUMNS].to_numpy()
    model = th.EllipticEnvelope(random_state=0).fit(here)
    labels = dd.from_pandas(2 * rows["k"] - 1, npartitions=3)
    given = labels if hasattr(X, "columns") else labels.values
    expected = model.score(here, 2 * rows["k"] - 1)
    assert expected != model.score(here)
    assert model.score(X, given) == pytest.approx(expected)
    assert model.score(X) == pytest.approx(model.score(here))
    weighted = model.score(here, sample_weight=rows["w"])
    assert model.score(X, sample_weight=column("w")) == pytest.approx(weighted)


@pytest.mark.parametrize("model", [th.CircleFit(), th.KernelDensity(), th.GaussianMixture()])
def test_a_score_counts_the_weights_of_a_source(model):
    rows = table()
    X, weight = rows[COLUMNS].to_numpy(), rows["w"].to_numpy()
    expected = model.fit(X).score(X, sample_weight=weight)
    assert model.score(as_source(X, None, weight)) == pytest.approx(expected, rel=1e-9)


def test_targets_of_another_width(collections):
    X, column = collections
    rows = table()
    model = th.Ridge().fit(rows[COLUMNS].to_numpy(), rows[["y", "w"]].to_numpy())
    with pytest.raises(th.errors.DataError, match=r"y has 1 column\(s\), .* was fitted to 2"):
        model.score(X, column("y"))
