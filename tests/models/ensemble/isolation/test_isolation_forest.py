"""Isolation forests: scores, thresholds, draws of rows and columns."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble
from scipy import sparse

import thetahat as th
from thetahat.models.ensemble.isolation.growing import Draws


def rows(n=400, d=3, seed=0):
    X = np.random.default_rng(seed).standard_normal((n, d))
    X[:5] += 6.0
    return X


def test_scores_are_those_of_scikit_learn_up_to_chance():
    X = rows()
    ours = th.IsolationForest(n_estimators=400, random_state=0).fit(X)
    theirs = sklearn.ensemble.IsolationForest(n_estimators=400, random_state=0).fit(X)
    np.testing.assert_allclose(ours.score_samples(X), theirs.score_samples(X), atol=0.03)
    assert ours.offset_ == theirs.offset_
    assert ours.max_samples_ == theirs.max_samples_
    assert (ours.predict(X[:5]) == -1).all()


@pytest.mark.parametrize("max_features", [1.0, 2])
def test_scores_follow_from_the_paths_of_the_trees(max_features):
    X = rows()
    model = th.IsolationForest(n_estimators=30, max_features=max_features, random_state=0)
    model.fit(X)
    lengths = 0.0
    for tree, drawn, columns in zip(
        model.estimators_, model.estimators_samples_, model.estimators_features_, strict=True
    ):
        leaves = tree.apply(X)
        count = np.bincount(leaves[drawn], minlength=tree.tree_.node_count)[leaves]
        np.testing.assert_array_equal(count, tree.tree_.n_node_samples[leaves])
        split = tree.tree_.feature[tree.tree_.feature >= 0]
        assert set(split) <= set(columns)
        more = np.zeros(len(X))
        several = count > 2
        n = count[several]
        more[several] = 2 * (np.log(n - 1) + np.euler_gamma) - 2 * (n - 1) / n
        lengths += tree.tree_.depth[leaves] + np.where(count == 2, 1.0, more)
    c = 2 * (np.log(255) + np.euler_gamma) - 2 * 255 / 256
    np.testing.assert_allclose(model.score_samples(X), -(2.0 ** (-lengths / 30 / c)))


def test_one_split_of_three_rows():
    """The row at 10 is alone after the first split in 9 of 10 trees."""
    X = np.array([[0.0], [1.0], [10.0]])
    model = th.IsolationForest(n_estimators=4000, random_state=0).fit(X)
    assert model.max_samples_ == 3
    c = 2 * (np.log(2) + np.euler_gamma) - 4 / 3
    # Paths: alone at once with depth 1 (0.9), else two splits; the depth is at most 2.
    expected = -(2.0 ** (-(0.9 * 1 + 0.1 * 2) / c))
    assert model.score_samples([[10.0]])[0] == pytest.approx(expected, abs=0.005)


@pytest.mark.parametrize("contamination", [0.01, 0.1, 0.5])
def test_the_share_of_outliers_is_the_contamination(contamination):
    X = rows()
    model = th.IsolationForest(contamination=contamination, random_state=0).fit(X)
    assert np.mean(model.predict(X) == -1) == pytest.approx(contamination, abs=0.005)
    np.testing.assert_array_equal(
        model.decision_function(X), model.score_samples(X) - model.offset_
    )


@pytest.mark.parametrize("bootstrap", [True, False])
def test_rows_are_drawn_in_proportion_to_their_weights(bootstrap):
    X, weight = rows(100), np.ones(100)
    weight[:50], weight[50:60] = 3.0, 0.0
    model = th.IsolationForest(
        n_estimators=2000, max_samples=8, bootstrap=bootstrap, random_state=0
    ).fit(X, sample_weight=weight)
    counts = np.bincount(np.concatenate(model.estimators_samples_), minlength=100)
    assert not counts[50:60].any()
    ratio = counts[:50].mean() / counts[60:].mean()
    assert ratio == pytest.approx(3.0, rel=0.1)
    if not bootstrap:
        assert all(len(set(drawn)) == 8 for drawn in model.estimators_samples_)


def test_rows_of_weight_zero_change_nothing():
    X = rows(60)
    weight = np.r_[np.ones(50), np.zeros(10)]
    model = th.IsolationForest(contamination=0.1, random_state=0)
    first = model.fit(X, sample_weight=weight)
    other = X.copy()
    other[50:] += 100.0
    last = th.IsolationForest(contamination=0.1, random_state=0).fit(other, sample_weight=weight)
    assert first.max_samples_ == 50
    np.testing.assert_array_equal(first.decision_function(X), last.decision_function(X))


def test_sparse_and_table_rows():
    X = np.maximum(rows(), 0.0)
    plain = th.IsolationForest(random_state=0).fit(X).score_samples(X)
    held = sparse.csr_array(X)
    np.testing.assert_array_equal(
        th.IsolationForest(random_state=0).fit(held).score_samples(held), plain
    )
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    np.testing.assert_array_equal(
        th.IsolationForest(random_state=0).fit(table).score_samples(table), plain
    )
    with pytest.raises(ValueError, match="column 'kind' holds categories"):
        th.IsolationForest().fit(pd.DataFrame({"kind": ["a", "b", "a"]}))


def test_missing_values_are_taken():
    X = rows()
    X[::7, 1] = np.nan
    X[:, 2] = np.nan
    model = th.IsolationForest(random_state=0).fit(X)
    assert np.isfinite(model.score_samples(X)).all()
    assert all((tree.tree_.feature != 2).all() for tree in model.estimators_)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_same_bits_for_any_number_of_threads(threads):
    X = rows(5000)
    with th.config(threads=threads):
        found = th.IsolationForest(max_samples=1000, random_state=0).fit(X).score_samples(X)
    with th.config(threads=3):
        expected = th.IsolationForest(max_samples=1000, random_state=0).fit(X).score_samples(X)
    np.testing.assert_array_equal(found, expected)


def test_warm_start_equals_one_fit():
    X = rows()
    model = th.IsolationForest(n_estimators=10, warm_start=True, random_state=0).fit(X)
    model.set_params(n_estimators=25).fit(X)
    whole = th.IsolationForest(n_estimators=25, random_state=0).fit(X)
    np.testing.assert_array_equal(model.score_samples(X), whole.score_samples(X))
    with pytest.warns(UserWarning, match="does not fit new trees"):
        model.fit(X)
    with pytest.raises(ValueError, match="number of existing trees, 25"):
        model.set_params(n_estimators=5).fit(X)
    with pytest.raises(ValueError, match="have changed since"):
        model.set_params(n_estimators=30).fit(X[:, :2])


def test_one_row_and_equal_rows():
    for X in (np.zeros((1, 2)), np.zeros((9, 2))):
        model = th.IsolationForest(random_state=0).fit(X)
        assert (model.score_samples([[0.0, 0.0], [5.0, 5.0]]) >= -0.5).all()
        assert (model.predict(X) == 1).all()


def test_extreme_numbers():
    X = np.array([[-1e308], [1e308], [0.0], [5e-324]])
    assert np.isfinite(th.IsolationForest(random_state=0).fit(X).score_samples(X)).all()


def test_numbers_of_rows_and_columns():
    X = rows(50)
    assert th.IsolationForest(max_samples=0.3).fit(X).max_samples_ == 15
    with pytest.warns(UserWarning, match=r"max_samples \(90\) is greater"):
        assert th.IsolationForest(max_samples=90).fit(X).max_samples_ == 50
    with pytest.raises(ValueError, match="at most the number of columns, 3"):
        th.IsolationForest(max_features=4).fit(X)


def test_verbose_prints(capsys):
    th.IsolationForest(n_estimators=7, verbose=1).fit(rows(50))
    assert capsys.readouterr().out == "IsolationForest: 7 trees of 50 rows each\n"


def test_tiny_weights_are_drawn_before_rows_of_weight_zero():
    weight = np.ones(30)
    weight[0], weight[1:5] = 1e-320, 0.0
    draws = Draws(30, 26, weight, replacement=False, n_columns=2, width=2)
    for seed in range(20):
        assert (weight[draws.of(seed)[0]] > 0).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("options", [{}, {"max_features": 0.3}, {"bootstrap": True}])
def test_trees_on_sparse_rows_are_those_on_dense_rows(dtype, options):
    random = np.random.default_rng(3)
    X = np.round(random.standard_normal((300, 40)), 1).astype(dtype)
    X[random.random(X.shape) > np.linspace(0.005, 1.0, 40)] = 0.0
    X[random.random(X.shape) < 0.01] = np.nan
    held = sparse.csr_array(X)
    held.data[::9] = 0.0
    X = held.toarray()
    model = th.IsolationForest(n_estimators=30, random_state=0, contamination=0.1, **options)
    expected = model.fit(X).score_samples(X)
    offset, trees = model.offset_, [tree.tree_ for tree in model.estimators_]
    found = model.fit(held)
    for tree, other in zip(found.estimators_, trees, strict=True):
        np.testing.assert_array_equal(tree.tree_.feature, other.feature)
        np.testing.assert_array_equal(tree.tree_.threshold, other.threshold)
        np.testing.assert_array_equal(tree.tree_.missing_left, other.missing_left)
    np.testing.assert_array_equal(found.score_samples(held), expected)
    assert found.offset_ == offset


def test_wide_sparse_rows_are_never_made_dense():
    held = sparse.random(300, 100_000, density=2e-4, format="csr", random_state=0)
    tracemalloc.start()
    model = th.IsolationForest(n_estimators=20, random_state=0, contamination=0.1).fit(held)
    assert model.score_samples(held).shape == (300,)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 12e6  # a dense array takes 240 MB, one number per tree and column 16 MB


def test_numbers_of_drawn_rows_and_columns_can_be_negated():
    model = th.IsolationForest(n_estimators=2, random_state=0, max_features=2).fit(rows(50))
    for drawn in (*model.estimators_samples_, *model.estimators_features_):
        assert drawn.dtype == np.int64
