"""Trees, forests and boosting on sparse rows are those on the same rows as a dense array."""

import numpy as np
import pytest
import scipy.sparse as sp

import thetahat as th

N, D = 160, 24
CLASSIFIERS = ("gini", "entropy", "error")
REGRESSORS = ("squared_error", "friedman_mse", "absolute_error", "poisson")
WEIGHTS = ("none", "whole", "real")


def rows(*, missing=False, seed=0, dtype=np.float64):
    """Columns from almost empty to full, some with negative values; stored zeros, too."""
    random = np.random.default_rng(seed)
    X = np.round(random.normal(size=(N, D)) * 2, 1)
    X[:, ::3] = np.abs(X[:, ::3])
    X[random.random((N, D)) > np.linspace(0.02, 1.0, D)] = 0.0
    if missing:
        X[(random.random((N, D)) < 0.1) & (X != 0)] = np.nan
    sparse = sp.csr_array(X.astype(dtype))
    sparse.data[::17] = 0.0
    return sparse


def targets(X, seed=1):
    random = np.random.default_rng(seed)
    score = np.nan_to_num(X.toarray()).astype(np.float64) @ random.normal(size=D)
    return score + 0.1 * random.normal(size=N)


def weights(kind):
    random = np.random.default_rng(2)
    whole = random.integers(0, 3, N).astype(np.float64)
    return {"none": None, "whole": whole, "real": random.random(N)}[kind]


def assert_same_tree(tree, other, *, exact):
    for name in ("feature", "left", "missing_left", "count", "values", "threshold"):
        np.testing.assert_array_equal(getattr(tree, name), getattr(other, name), err_msg=name)
    for name in ("gain", "impurity", "weight"):
        found, expected = getattr(tree, name), getattr(other, name)
        if exact:
            np.testing.assert_array_equal(found, expected, err_msg=name)
        else:
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12, err_msg=name)


def both(model, X, y, weight=None):
    dense = model.fit(X.toarray(), y, sample_weight=weight)
    sparse = type(model)(**model.get_params()).fit(X, y, sample_weight=weight)
    return dense, sparse


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("criterion", CLASSIFIERS)
@pytest.mark.parametrize("cuts", [[0.0], [-2.0, 2.0]])
def test_classification_trees(criterion, kind, missing, cuts):
    X = rows(missing=missing)
    y = np.digitize(targets(X), cuts)
    dense, sparse = both(th.DecisionTreeClassifier(criterion=criterion), X, y, weights(kind))
    assert_same_tree(sparse.tree_, dense.tree_, exact=kind != "real")
    np.testing.assert_array_equal(sparse.predict_proba(X), dense.predict_proba(X.toarray()))


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("criterion", REGRESSORS)
def test_regression_trees(criterion, kind, missing):
    # Leaves of several rows, because splits of two rows tie.
    X = rows(missing=missing)
    y = targets(X) if criterion != "poisson" else np.exp(targets(X) / 8)
    model = th.DecisionTreeRegressor(criterion=criterion, min_samples_leaf=6)
    dense, sparse = both(model, X, y, weights(kind))
    assert_same_tree(sparse.tree_, dense.tree_, exact=False)
    np.testing.assert_array_equal(sparse.predict(X), dense.predict(X.toarray()))


@pytest.mark.parametrize(
    "parameters",
    [
        {"max_features": 0.3},
        {"splitter": "random"},
        {"splitter": "random", "max_features": "sqrt"},
        {"max_leaf_nodes": 9},
        {"min_samples_leaf": 7, "min_weight_fraction_leaf": 0.06},
        {"ties": "random"},
        {"candidates": "values"},
        {"monotonic_cst": [1] * D},
    ],
    ids=lambda parameters: "-".join(parameters),
)
@pytest.mark.parametrize("missing", [False, True])
def test_every_way_to_grow(parameters, missing):
    X = rows(missing=missing, seed=3)
    y = (targets(X) > 0).astype(int)
    model = th.DecisionTreeClassifier(random_state=5, **parameters)
    dense, sparse = both(model, X, y)
    assert_same_tree(sparse.tree_, dense.tree_, exact=True)


def test_several_outputs():
    X = rows()
    y = targets(X)
    labels = np.column_stack([y > 0, np.digitize(y, [-2, 2])]).astype(int)
    dense, sparse = both(th.DecisionTreeClassifier(), X, labels)
    assert_same_tree(sparse.tree_, dense.tree_, exact=True)
    dense, sparse = both(th.DecisionTreeRegressor(max_depth=5), X, np.column_stack([y, y**2]))
    assert_same_tree(sparse.tree_, dense.tree_, exact=False)


def test_float32_and_any_sparse_format():
    X = rows(dtype=np.float32)
    y = (targets(X) > 0).astype(int)
    dense = th.DecisionTreeClassifier().fit(X.toarray(), y)
    for convert in (sp.csc_array, sp.coo_array, sp.csr_matrix):
        given = convert(X)
        before = given.toarray()
        sparse = th.DecisionTreeClassifier().fit(given, y)
        assert_same_tree(sparse.tree_, dense.tree_, exact=True)
        assert sparse.predict_proba(given).dtype == np.float32
        np.testing.assert_array_equal(given.toarray(), before)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize(
    ("forest", "parameters"),
    [
        (th.RandomForestClassifier, {}),
        (th.RandomForestClassifier, {"criterion": "entropy", "max_features": None}),
        (th.RandomForestClassifier, {"splits": "histogram", "min_samples_leaf": 3}),
        (th.RandomForestClassifier, {"max_leaf_nodes": 12, "max_candidates": 3}),
        (th.ExtraTreesClassifier, {}),
        (th.ExtraTreesClassifier, {"max_features": None, "min_samples_leaf": 3}),
    ],
)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_forests_of_classifiers(forest, parameters, kind, missing, n_classes):
    X = rows(missing=missing, seed=4)
    y = np.digitize(targets(X), [0.0] if n_classes == 2 else [-3.0, 0.0, 3.0])
    model = forest(n_estimators=6, random_state=0, **parameters)
    dense, sparse = both(model, X, y, weights(kind))
    np.testing.assert_array_equal(sparse.apply(X), dense.apply(X.toarray()))
    np.testing.assert_array_equal(sparse.predict_proba(X), dense.predict_proba(X.toarray()))


@pytest.mark.parametrize(
    ("forest", "parameters"),
    [
        (th.RandomForestRegressor, {"max_features": 0.4}),
        (th.RandomForestRegressor, {"criterion": "absolute_error", "max_features": 0.4}),
        (th.ExtraTreesRegressor, {}),
    ],
)
def test_forests_of_regressors(forest, parameters):
    X = rows(seed=5)
    y = targets(X)
    model = forest(n_estimators=5, random_state=0, min_samples_leaf=6, **parameters)
    dense, sparse = both(model, X, y)
    np.testing.assert_allclose(sparse.predict(X), dense.predict(X.toarray()), rtol=1e-9)


def test_out_of_bag_rows_of_sparse_forests():
    X = rows(seed=6)
    y = (targets(X) > 0).astype(int)
    model = th.RandomForestClassifier(20, oob_score=True, random_state=0)
    dense, sparse = both(model, X, y)
    np.testing.assert_array_equal(sparse.oob_decision_function_, dense.oob_decision_function_)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"max_features": 0.5},
        {"interaction_cst": "no_interactions", "monotonic_cst": [1] * D},
        {"early_stopping": True, "max_bins": 10},
    ],
    ids=lambda parameters: "-".join(parameters) or "plain",
)
def test_boosted_regressors(parameters, kind, missing):
    X = rows(missing=missing, seed=7)
    y = targets(X)
    model = th.HistGradientBoostingRegressor(max_iter=8, random_state=0, **parameters)
    dense, sparse = both(model, X, y, weights(kind))
    np.testing.assert_array_equal(sparse.predict(X), dense.predict(X.toarray()))
    assert sparse.feature_importances_.shape == (D,)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_boosted_classifiers(n_classes):
    X = rows(missing=True, seed=8)
    y = np.digitize(targets(X), [0.0] if n_classes == 2 else [-2.0, 2.0])
    dense, sparse = both(th.HistGradientBoostingClassifier(max_iter=8), X, y)
    np.testing.assert_array_equal(sparse.predict_proba(X), dense.predict_proba(X.toarray()))
    model = th.GradientBoostingClassifier(n_estimators=8, subsample=0.7, random_state=0)
    dense, sparse = both(model, X, y)
    np.testing.assert_array_equal(sparse.predict_proba(X), dense.predict_proba(X.toarray()))


def test_rows_that_no_dense_array_could_hold():
    random = np.random.default_rng(0)
    X = sp.random_array((20_000, 50_000), density=2e-4, rng=random, format="csr")
    y = (np.asarray(X.sum(axis=1)).ravel() > 5).astype(int)
    models = (
        th.DecisionTreeClassifier(max_depth=3),
        th.RandomForestClassifier(2, max_depth=3, random_state=0),
        th.ExtraTreesClassifier(2, max_depth=3, random_state=0),
        th.HistGradientBoostingClassifier(max_iter=2, early_stopping=False),
    )
    with th.config(memory=1 << 30):  # a dense array needs 8 GB
        for model in models:
            assert model.fit(X, y).predict(X).shape == y.shape


def test_threads_change_no_bit_of_a_sparse_tree():
    random = np.random.default_rng(0)
    X = sp.random_array((3000, 400), density=0.3, rng=random, format="csr")
    y = np.asarray(X.sum(axis=1)).ravel() + random.normal(size=3000)
    found = []
    for threads in (1, 2):
        with th.config(threads=threads):
            found.append(
                (
                    th.DecisionTreeRegressor(max_depth=4).fit(X, y).tree_.values,
                    th.HistGradientBoostingRegressor(max_iter=3).fit(X, y).predict(X),
                )
            )
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_array_equal(found[0][1], found[1][1])


def test_a_forest_keeps_the_gains_of_the_columns_that_it_uses():
    random = np.random.default_rng(0)
    X = sp.random_array((200, 5000), density=1e-3, format="csr", rng=random)
    model = th.RandomForestClassifier(20, random_state=0).fit(X, random.integers(0, 2, 200))
    used = {(tree, column) for tree, each in enumerate(model.estimators_)
            for column in each.tree_.feature[each.tree_.feature >= 0]}  # fmt: skip
    gains = model._forest.gains
    assert len(gains) <= len(used) < 20 * 5000 / 10
    assert set(zip(gains["tree"].tolist(), gains["column"].tolist(), strict=True)) <= used
