"""Boosted trees on sparse rows: the same trees as on the same rows stored densely."""

import numpy as np
import pytest
import scipy.sparse

import thetahat as th


@pytest.mark.parametrize("min_samples_leaf", [1, 5, 20, 60])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"max_features": 0.3},
        {"monotonic_cst": [1] * 10 + [0] * 190},
        {"l2_regularization": 5.0},
    ],
    ids=["plain", "some columns", "monotonic", "penalised"],
)
def test_sparse_rows_give_the_trees_of_dense_rows(min_samples_leaf, weighted, options):
    random = np.random.default_rng(min_samples_leaf)
    X = scipy.sparse.random_array((600, 200), density=0.05, rng=random).tocsr()
    dense = X.toarray()
    y = (dense[:, :40].sum(axis=1) + 0.2 * random.standard_normal(600) > 1).astype(int)
    weight = random.uniform(0.2, 3.0, 600) if weighted else None
    model = th.HistGradientBoostingClassifier(
        max_iter=8, min_samples_leaf=min_samples_leaf, random_state=0, **options
    )
    expected = model.fit(dense, y, sample_weight=weight).predict_proba(dense)
    found = model.fit(X, y, sample_weight=weight).predict_proba(dense)
    assert np.array_equal(found, expected)
    assert np.unique(expected).size > 2 or min_samples_leaf == 60


@pytest.mark.parametrize("share", [0.3, 0.8])
def test_trees_of_some_rows_are_those_of_dense_rows(share):
    """Missing and negative entries, three classes, and rows that are drawn for each tree."""
    random = np.random.default_rng(1)
    X = scipy.sparse.random_array(
        (500, 120), density=0.1, rng=random, data_sampler=random.standard_normal
    ).tocsr()
    y = np.digitize(X[:, :30].sum(axis=1), [-0.6, 0.6])
    X.data[::9] = np.nan
    model = th.GradientBoostingClassifier(
        n_estimators=6, subsample=share, min_samples_leaf=3, max_depth=6, random_state=0
    )
    expected = model.fit(X.toarray(), y).predict_proba(X.toarray())
    assert np.array_equal(model.fit(X, y).predict_proba(X.toarray()), expected)
    assert np.unique(expected).size > 100


@pytest.mark.parametrize("max_leaf_nodes", [31, None])
def test_any_number_of_threads_gives_the_same_trees(max_leaf_nodes):
    random = np.random.default_rng(2)
    X = scipy.sparse.random_array((9000, 300), density=0.06, rng=random).tocsr()
    y = X[:, :40].sum(axis=1) + 0.1 * random.standard_normal(9000)
    model = th.HistGradientBoostingRegressor(
        max_iter=3, max_leaf_nodes=max_leaf_nodes, early_stopping=False
    )
    found = []
    for threads in (1, 3):
        with th.config(threads=threads):
            found.append(model.fit(X, y).predict(X))
    assert np.array_equal(*found)


def test_columns_of_few_entries_cannot_split():
    random = np.random.default_rng(0)
    X = np.zeros((200, 3))
    X[:19, 0] = 1.0  # one row short of a leaf
    X[:25, 1] = random.uniform(1.0, 2.0, 25)
    y = X[:, 0] * 5 + X[:, 1]
    model = th.HistGradientBoostingRegressor(max_iter=5, min_samples_leaf=20)
    model.fit(scipy.sparse.csr_array(X), y)
    predicted = model.predict(1.5 * np.eye(3))
    assert predicted[0] == predicted[2] != predicted[1]
