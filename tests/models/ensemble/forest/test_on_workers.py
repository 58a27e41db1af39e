"""Forests of Dask collections: workers grow the trees, which are those of the client."""

import numpy as np
import pytest

import thetahat as th
from tests.dask_rows import chunked, synchronous  # noqa: F401
from thetahat.data.distributed.dask_source import DaskSource
from thetahat.models.ensemble.forest import base, on_workers

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")


def table(n=400):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((n, 5))
    X[rng.random((n, 5)) < 0.05] = np.nan
    X[:, 4] = rng.integers(0, 6, n)
    filled = np.nan_to_num(X)
    y = filled[:, 0] + filled[:, 1] * filled[:, 2] + (X[:, 4] == 3) + 0.3 * rng.standard_normal(n)
    return X, y, np.where(rng.random(n) < 0.2, 0.0, rng.random(n) + 0.1)


def fitted(model, X, y, weight=None, size=130):
    return model.fit(chunked(X, size), chunked(y, size), chunked(weight, size))


def bits(model):
    forest, packed = model._forest, model._forest.packed
    arrays = (packed.nodes, packed.roots, packed.values, packed.sets, forest.seeds, forest.gains)
    leaves = (forest.leaf_counts, forest.leaf_weights, forest.leaf_impurities)
    return [each.tobytes() for each in (*arrays, *leaves)]


CASES = {
    "regression": (th.RandomForestRegressor, {}, False),
    "weights": (th.RandomForestRegressor, {"max_leaf_nodes": 9}, True),
    "two outputs": (th.ExtraTreesRegressor, {}, False),
    "random thresholds": (th.ExtraTreesRegressor, {"bootstrap": True}, True),
    "classes": (th.RandomForestClassifier, {"class_weight": "balanced_subsample"}, False),
    "labels": (th.RandomForestClassifier, {"min_samples_leaf": 3, "ccp_alpha": 0.01}, True),
    "categories": (th.ExtraTreesClassifier, {"categorical_features": [4]}, False),
}


def targets(case, y):
    if case == "two outputs":
        return np.column_stack([y, -(y**2)])
    if case == "labels":
        return np.array(["low", "mid", "top"])[np.digitize(y, [-0.5, 0.5])]
    return np.digitize(y, [-0.5, 0.5]) if case in ("classes", "categories") else y


@pytest.mark.parametrize("case", CASES)
def test_the_forest_has_the_bits_of_the_client(case, monkeypatch):
    kind, settings, weighted = CASES[case]
    X, y, weight = table()
    y, weight = targets(case, y), weight if weighted else None
    settings = {"n_estimators": 7, "random_state": 0, **settings}
    with monkeypatch.context() as patched:
        patched.setattr(base, "columns_on_workers", lambda *_: None)
        client = fitted(kind(**settings), X, y, weight)
    monkeypatch.setattr(DaskSource, "blocks", None)  # no row is read by the client
    for size, threads in ((130, 3), (401, 1), (57, 10)):
        monkeypatch.setattr(on_workers, "threads_of_all", lambda threads=threads: threads)
        assert bits(fitted(kind(**settings), X, y, weight, size)) == bits(client)
    memory = kind(**settings, splits="histogram").fit(X, y, weight)
    if not client._random_thresholds:
        for one, other in zip(memory.estimators_, client.estimators_, strict=True):
            np.testing.assert_array_equal(one.tree_.feature, other.tree_.feature)
            np.testing.assert_allclose(one.tree_.value, other.tree_.value)


def test_a_warm_start_adds_trees():
    X, y, _ = table(200)
    model = fitted(th.RandomForestRegressor(2, random_state=1, warm_start=True), X, y)
    fitted(model.set_params(n_estimators=5), X, y)
    whole = fitted(th.RandomForestRegressor(5, random_state=1), X, y)
    np.testing.assert_array_equal(model.predict(X), whole.predict(X))


@pytest.mark.parametrize("weighted", [False, True])
def test_out_of_bag_predictions(weighted, monkeypatch):
    X, y, weight = table(300)
    weight = weight if weighted else None
    settings = {"n_estimators": 30, "random_state": 0, "oob_score": True}
    with monkeypatch.context() as patched:
        patched.setattr(base, "columns_on_workers", lambda *_: None)
        client = fitted(th.RandomForestRegressor(**settings), X, y, weight)
    monkeypatch.setattr(DaskSource, "blocks", None)
    there = fitted(th.RandomForestRegressor(**settings), X, y, weight)
    np.testing.assert_array_equal(there.oob_prediction_, client.oob_prediction_)
    assert there.oob_score_ == client.oob_score_


def test_rows_too_many_for_a_worker_are_read_by_the_client(monkeypatch):
    X, y, _ = table(200)
    settings = {"n_estimators": 3, "random_state": 0}
    expected = bits(fitted(th.RandomForestRegressor(**settings), X, y))
    monkeypatch.setattr(on_workers, "worker_sizes", lambda: [(1 << 30, 1), (10_000, 1)])
    monkeypatch.setattr(on_workers, "bin_table", None)
    assert bits(fitted(th.RandomForestRegressor(**settings), X, y)) == expected
