"""Boosting of Dask collections: rows stay on the workers, and the model is that of memory."""

import numpy as np
import pytest
from sklearn.base import clone

import thetahat as th
from tests.dask_rows import chunked, synchronous  # noqa: F401
from thetahat.data import bins
from thetahat.data.distributed import dask_source
from thetahat.data.on_disk import code_store
from thetahat.foundation.errors import ParameterError
from thetahat.models.ensemble.gradient_boosting.distributed import boosting

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

REGRESSOR, CLASSIFIER = th.HistGradientBoostingRegressor, th.HistGradientBoostingClassifier


def table(n=600):
    rng = np.random.default_rng(7)
    X = rng.standard_normal((n, 4))
    X[rng.random((n, 4)) < 0.05] = np.nan
    X[:, 3] = rng.integers(0, 6, n)
    filled = np.nan_to_num(X)
    y = filled[:, 0] + filled[:, 1] * filled[:, 2] + (X[:, 3] == 3) + 0.3 * rng.standard_normal(n)
    return X, y, rng


def fitted(model, X, y, weight=None, size=210):
    return model.fit(chunked(X, size), chunked(y, size), chunked(weight, size))


def splits(model):
    return [(tree.feature.tolist(), tree.threshold.tolist()) for tree in model._trees]


def bits(model):
    return [tree.values.tobytes() for tree in model._trees]


def whole(rng, n):
    return rng.integers(1, 4, n).astype(float)


def with_zeros(rng, n):
    return np.where(rng.random(n) < 0.3, 0.0, rng.random(n) + 0.1)


CASES = {
    "squared": (REGRESSOR, {}, None),
    "integer weights": (REGRESSOR, {}, whole),
    "weights with zeros": (REGRESSOR, {}, with_zeros),
    "depth": (REGRESSOR, {"max_leaf_nodes": None, "max_depth": 3}, None),
    "categories": (REGRESSOR, {"categorical_features": [3]}, None),
    "constraints": (
        REGRESSOR,
        {
            "monotonic_cst": [1, 0, 0, 0],
            "interaction_cst": [[0, 1], [2, 3]],
            "max_features": 0.6,
        },
        None,
    ),
    "two classes": (CLASSIFIER, {"min_samples_leaf": 30}, None),
    "two classes, weights": (CLASSIFIER, {"class_weight": "balanced"}, with_zeros),
    "three classes": (CLASSIFIER, {}, None),
    "held-out rows": (CLASSIFIER, {"early_stopping": True, "n_iter_no_change": 2}, None),
    "all rows": (REGRESSOR, {"early_stopping": True, "validation_fraction": None}, with_zeros),
    "gamma": (REGRESSOR, {"loss": "gamma"}, with_zeros),
    "tweedie": (REGRESSOR, {"loss": th.losses.Tweedie(power=1.5)}, None),
    "absolute": (REGRESSOR, {"loss": "absolute_error"}, None),
    "absolute, weights": (REGRESSOR, {"loss": "absolute_error"}, with_zeros),
    "quantile": (REGRESSOR, {"loss": "quantile", "quantile": 0.8}, whole),
    "quantile, constraints": (
        REGRESSOR,
        {"loss": "quantile", "quantile": 0.25, "monotonic_cst": [1, 0, 0, 0]},
        None,
    ),
    "huber": (REGRESSOR, {"loss": "huber"}, None),
    "huber, weights": (REGRESSOR, {"loss": th.losses.Huber(delta=0.2)}, with_zeros),
    "line search": (CLASSIFIER, {"leaf_update": "line_search"}, whole),
    "line search, three classes": (
        CLASSIFIER,
        {"leaf_update": "line_search", "min_samples_leaf": 120},
        None,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_model_is_that_of_memory(case, monkeypatch):
    kind, settings, weights = CASES[case]
    X, y, rng = table()
    weight = None if weights is None else weights(rng, len(y))
    if kind is CLASSIFIER:
        cuts = [-0.5, 0.5] if "three classes" in case else [0.0]
        y = np.array(["low", "mid", "high"])[np.digitize(y, cuts)]
    if case in ("gamma", "tweedie"):
        y = np.exp(y) if case == "gamma" else np.maximum(np.exp(y) - 1, 0)
    model = kind(max_iter=3, learning_rate=0.3, random_state=0, max_leaf_nodes=6).set_params(
        **settings
    )
    here = clone(model).fit(X, y, weight)
    monkeypatch.setattr(dask_source.DaskSource, "blocks", None)  # no row is read by the client
    there = fitted(model, X, y, weight)
    assert splits(there) == splits(here)
    np.testing.assert_allclose(there._raw(X), here._raw(X), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(there.train_score_, here.train_score_, rtol=1e-9)
    np.testing.assert_allclose(there.validation_score_, here.validation_score_, rtol=1e-9)


def test_equal_partitions_give_equal_bits_and_others_equal_splits():
    X, y, _ = table(600)
    model = REGRESSOR(max_iter=3, max_leaf_nodes=6)
    first = bits(fitted(model, X, y, size=130))
    assert bits(fitted(model, X, y, size=130)) == first
    trees = splits(model)
    assert splits(fitted(model, X, y, size=601)) == trees


def test_the_client_receives_the_sample_for_the_bins_only(monkeypatch):
    X, y, _ = table(800)
    monkeypatch.setattr(code_store, "SAMPLE_ROWS", 64)
    monkeypatch.setattr(bins, "SAMPLE_ROWS", 64)
    rows, computed = [], dask_source.computed

    def rows_in(found):
        if isinstance(found, list | tuple):
            return sum(map(rows_in, found))
        return len(found) if np.ndim(found) == 2 and found.shape[1] == X.shape[1] else 0

    def counted(tasks):
        found = computed(tasks)
        rows.append(rows_in(found))
        return found

    for module in (dask_source, boosting):
        monkeypatch.setattr(module, "computed", counted)
    monkeypatch.setattr(dask_source.DaskSource, "blocks", None)
    model = fitted(REGRESSOR(max_iter=3, max_leaf_nodes=6), X, y, size=150)
    assert sum(rows) == 64
    assert splits(model) == splits(REGRESSOR(max_iter=3, max_leaf_nodes=6).fit(X, y))


def test_a_warm_start_continues():
    X, y, _ = table(500)
    model = fitted(REGRESSOR(max_iter=2, max_leaf_nodes=6, warm_start=True), X, y)
    fitted(model.set_params(max_iter=4), X, y)
    assert splits(model) == splits(REGRESSOR(max_iter=4, max_leaf_nodes=6).fit(X, y))


def test_given_validation_rows_stay_here():
    X, y, _ = table(600)
    settings = {"max_iter": 5, "max_leaf_nodes": 6, "n_iter_no_change": 2}
    here = REGRESSOR(**settings).fit(X[:400], y[:400], X_val=X[400:], y_val=y[400:])
    there = REGRESSOR(**settings).fit(
        chunked(X[:400], 150), chunked(y[:400], 150), X_val=X[400:], y_val=y[400:]
    )
    np.testing.assert_allclose(there.validation_score_, here.validation_score_, rtol=1e-9)


def test_a_partition_without_fitted_rows():
    X, y, _ = table(400)
    weight = np.repeat([1.0, 0.0], 200)
    model = fitted(REGRESSOR(max_iter=2, max_leaf_nodes=4), X, y, weight, size=100)
    assert splits(model) == splits(REGRESSOR(max_iter=2, max_leaf_nodes=4).fit(X, y, weight))


@pytest.mark.parametrize(
    "settings", [{"early_stopping": True, "scoring": "r2"}, {"reoptimise": "all"}]
)
def test_other_settings_are_read_by_the_client(settings):
    X, y, _ = table(300)
    settings = {"max_iter": 2, "random_state": 0, **settings}
    model = fitted(REGRESSOR(**settings), X, y)
    here = REGRESSOR(**settings).fit(X, y)
    np.testing.assert_allclose(model.predict(X), here.predict(X))


@pytest.mark.parametrize("kind", [REGRESSOR, CLASSIFIER, th.ExtraTreesRegressor])
def test_infinity_is_accepted_as_in_memory(kind):
    X, y, rng = table(300)
    X[rng.random(X.shape) < 0.1] = np.inf
    X[rng.random(X.shape) < 0.1] = -np.inf
    y = (y > 0).astype(int) if kind is CLASSIFIER else y
    model = kind(**{"n_estimators": 3} if kind is th.ExtraTreesRegressor else {"max_iter": 3})
    model.set_params(random_state=0)
    here = model.fit(X, y).predict(X)
    there = fitted(model, X, y)
    np.testing.assert_allclose(there.predict(X), here)
    assert there.score(chunked(X, 110), chunked(y, 110)) == pytest.approx(there.score(X, y))


def test_divergence_is_reported():
    X, y, _ = table(60)
    with pytest.raises(ParameterError, match="Lower learning_rate"):
        fitted(REGRESSOR(learning_rate=1e30, max_iter=20, max_leaf_nodes=2), X, y, size=60)
