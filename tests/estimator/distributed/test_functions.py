"""Rows that are not in memory: read by functions that can, refused with the remedy by others."""

import numpy as np
import pandas as pd
import pytest

import thetahat as th
from tests.dask_rows import synchronous  # noqa: F401
from thetahat.data.validation import as_source
from thetahat.errors import CapabilityError, DataError

dd = pytest.importorskip("dask.dataframe")

COLUMNS = ["a", "b"]
IN_MEMORY = {
    "check": th.check,
    "conformal": lambda *rows: th.conformal(th.Ridge(), *rows),
    "description_length": lambda X, *rest: th.description_length(None, X, None),
    "enet_path": lambda X, *rest: th.enet_path(X, None),
    "explain": lambda X, *rest: th.explain(th.Ridge(), X),
    "how_many_clusters": lambda X, *rest: th.how_many_clusters(X),
    "importances": lambda *rows: th.importances(th.Ridge(), *rows),
    "lars_path": lambda X, *rest: th.lars_path(X, None),
    "lasso_path": lambda X, *rest: th.lasso_path(X, None),
    "learning_curve": lambda *rows: th.learning_curve(th.Ridge(), *rows),
    "orthogonal_mp": lambda X, *rest: th.orthogonal_mp(X, None),
    "partial_dependence": lambda X, *rest: th.partial_dependence(th.Ridge(), X, 0),
    "prune": lambda *rows: th.prune(th.DecisionTreeRegressor(), *rows),
    "resampled_bias_variance": lambda *rows: th.resampled_bias_variance(th.Ridge(), *rows),
    "search": lambda *rows: th.search(th.Ridge(), {"alpha": [0.1, 1.0]}, *rows),
    "staged_curve": lambda X, *rest: th.staged_curve(th.Ridge(), X, None, score=None),
    "trustworthiness": lambda X, *rest: th.trustworthiness(X, None),
    "tune": lambda *rows: th.tune(th.Ridge(), *rows),
    "validation_curve": lambda *rows: th.validation_curve(
        th.Ridge(), *rows, parameter="alpha", values=[0.1, 1.0]
    ),
}


def table():
    random = np.random.default_rng(0)
    rows = pd.DataFrame(random.standard_normal((90, 2)), columns=COLUMNS)
    rows["y"] = rows["a"] - rows["b"] + 0.1 * random.standard_normal(90)
    rows["w"] = random.integers(1, 3, 90).astype(float)
    return rows


@pytest.fixture(params=["dataframe", "array"])
def collections(request):
    """X, y and weights as collections of which the length is unknown."""
    rows = dd.from_pandas(table(), npartitions=3)
    found = rows[COLUMNS], rows["y"], rows["w"]
    return found if request.param == "dataframe" else tuple(each.values for each in found)


def test_evaluate_reads_dask_collections(collections):
    X, y, weight = collections
    rows = table()
    expected = th.evaluate(th.Ridge(), rows[COLUMNS].to_numpy(), rows["y"].to_numpy())
    found = th.evaluate(th.Ridge(), X, y)
    np.testing.assert_allclose(found.scores["r2"], expected.scores["r2"], rtol=1e-8)
    weighted = th.evaluate(th.Ridge(), X, y, sample_weight=weight)
    assert not np.allclose(weighted.scores["r2"], expected.scores["r2"], rtol=1e-8)


def test_compare_and_bootstrap_read_dask_collections(collections):
    X, y, _ = collections
    rows = table()
    models = {"ridge": th.Ridge(), "lasso": th.Lasso(0.1)}
    here = th.compare(models, rows[COLUMNS].to_numpy(), rows["y"].to_numpy())
    there = th.compare(models, X, y)
    for name, each in here.evaluations.items():
        np.testing.assert_allclose(there.evaluations[name].scores["r2"], each.scores["r2"])
    found = th.bootstrap(th.Ridge(), X=X, y=y, n_resamples=20, random_state=0)
    source = th.from_dask(X, y)
    again = th.bootstrap(th.Ridge(), source, n_resamples=20, random_state=0)
    np.testing.assert_allclose(found.low, again.low)


def test_missing_values_are_those_of_the_model(collections):
    _, y, _ = collections
    rows = table()
    rows.loc[3, "a"] = np.nan
    X = dd.from_pandas(rows, npartitions=3)[COLUMNS]
    y = y if hasattr(y, "name") and hasattr(y, "index") else dd.from_pandas(rows["y"], 3)
    th.evaluate(th.HistGradientBoostingRegressor(max_iter=2), X, y)
    with pytest.raises(DataError, match="NaN"):
        th.evaluate(th.Ridge(), X, y)


@pytest.mark.parametrize("name", IN_MEMORY)
def test_other_functions_refuse_sources(name):
    rows = table()
    source = as_source(rows[COLUMNS].to_numpy(), rows["y"].to_numpy())
    with pytest.raises(CapabilityError, match=rf"{name} needs its rows in memory.*arrays\(\)"):
        IN_MEMORY[name](source)


@pytest.mark.parametrize("name", IN_MEMORY)
def test_other_functions_refuse_dask_collections(name, collections):
    with pytest.raises(CapabilityError, match=rf"{name} needs its rows in memory.*compute\(\)"):
        IN_MEMORY[name](*collections[:2])
