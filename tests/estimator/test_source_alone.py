"""A source holds its own targets and weights: whatever is given beside it is refused, not lost."""

from inspect import signature

import numpy as np
import pytest
from sklearn.utils import get_tags

import thetahat as th
from tests.dask_rows import synchronous  # noqa: F401
from tests.data.on_disk.file_cases import write_parquet
from thetahat.catalog import estimators
from thetahat.errors import CapabilityError, DataError

FEATURES = ["a", "b"]
SUPERVISED = [
    name
    for name, kind in estimators().items()
    if get_tags(kind._example()).target_tags.required
    and "y" in signature(kind._example().fit).parameters
]
TREES = [
    "DecisionTreeRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "HistGradientBoostingClassifier",
    "HistGradientBoostingRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
]


@pytest.fixture
def scan(tmp_path):
    random = np.random.default_rng(0)
    X = random.standard_normal((80, 2))
    table = {"a": X[:, 0], "b": X[:, 1], "y": X[:, 0], "k": (X[:, 0] > 0).astype(int)}
    write_parquet(tmp_path / "rows.parquet", table)
    return lambda target: th.scan(tmp_path / "rows.parquet", target=target, features=FEATURES)


def opened(model, scan):
    return scan("k" if get_tags(model).estimator_type == "classifier" else "y")


def test_the_trees_are_among_the_supervised():
    assert set(TREES) <= set(SUPERVISED)


@pytest.mark.parametrize("name", SUPERVISED)
def test_a_target_beside_a_source_is_refused(name, scan):
    model = estimators()[name]._example()
    with pytest.raises(DataError, match="a source holds its own y and sample_weight"):
        model.fit(opened(model, scan), np.zeros(80))


@pytest.mark.parametrize("weight", [np.ones(80), np.ones(7), 2.0])
@pytest.mark.parametrize("name", TREES)
def test_weights_beside_a_source_are_refused(name, weight, scan):
    model = estimators()[name]._example()
    with pytest.raises(DataError, match=rf"{name}: a source holds its own.*from_dask\(X, y"):
        model.fit(opened(model, scan), sample_weight=weight)


@pytest.mark.parametrize("name", ["KMeans", "GaussianMixture", "PCA"])
def test_a_target_that_is_ignored_may_stand_beside_a_source(name, scan):
    estimators()[name]._example().fit(scan(None), np.zeros(80))


def test_a_source_of_dask_holds_its_own_target_too():
    da = pytest.importorskip("dask.array")
    X = np.random.default_rng(0).standard_normal((80, 2))
    rows = th.from_dask(da.from_array(X, chunks=(40, 2)), da.from_array(X[:, 0], chunks=40))
    with pytest.raises(DataError, match="a source holds its own"):
        th.HistGradientBoostingRegressor(max_iter=2).fit(rows, -X[:, 0])


def test_weights_in_a_score_beside_a_source_are_refused(scan):
    model = th.GaussianMixture(random_state=0).fit(scan(None))
    with pytest.raises(DataError, match="a source holds its own"):
        model.score(scan(None), sample_weight=np.ones(80))


def test_neighbourhood_components_need_their_rows_in_memory(scan):
    with pytest.raises(CapabilityError, match=r"needs its rows in memory.*source\.arrays\(\)"):
        th.NeighborhoodComponentsAnalysis().fit(scan("k"))
    with pytest.raises(DataError, match="requires y to be passed"):
        th.NeighborhoodComponentsAnalysis().fit(np.ones((4, 2)))
