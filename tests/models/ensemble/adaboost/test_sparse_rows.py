"""AdaBoost on sparse rows is AdaBoost on the same rows as a dense array, and never makes one."""

import numpy as np
import pytest
import scipy.sparse as sp

import thetahat as th

N, D = 300, 20


def rows(seed=0):
    random = np.random.default_rng(seed)
    X = np.round(random.normal(size=(N, D)) * 2, 1)
    X[random.random((N, D)) < 0.8] = 0.0
    return sp.csr_array(X)


X = rows()
SCORE = X.toarray() @ np.random.default_rng(1).normal(size=D)
TWO, THREE = (SCORE > 0).astype(int), np.digitize(SCORE, [-1.0, 1.0])
WEIGHT = np.random.default_rng(2).integers(0, 4, N)
CLASSIFIERS = {
    "stumps": (th.AdaBoostClassifier(n_estimators=15), TWO),
    "three classes": (th.AdaBoostClassifier(n_estimators=15), THREE),
    "real": (th.AdaBoostClassifier(n_estimators=15, algorithm="real"), TWO),
    "trees": (th.AdaBoostClassifier(th.DecisionTreeClassifier(max_depth=3), n_estimators=9), TWO),
    "oblique": (
        th.AdaBoostClassifier(
            th.DecisionTreeClassifier(max_depth=2, oblique=3), n_estimators=5, random_state=0
        ),
        TWO,
    ),
}


@pytest.mark.parametrize("weight", [None, WEIGHT])
@pytest.mark.parametrize("kind", CLASSIFIERS)
@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_classifiers(kind, weight, form):
    model, y = CLASSIFIERS[kind]
    dense = model.fit(X.toarray(), y, weight)
    scores, votes = dense.decision_function(X.toarray()), dense.estimator_weights_
    staged = list(dense.staged_score(X.toarray(), y))
    sparse = model.fit(X.asformat(form), y, weight)
    np.testing.assert_array_equal(sparse.estimator_weights_, votes)
    np.testing.assert_array_equal(sparse.decision_function(X.asformat(form)), scores)
    np.testing.assert_array_equal(sparse.decision_function(X.toarray()), scores)
    assert list(sparse.staged_score(X.asformat(form), y)) == staged


def test_regressors():
    tree = th.DecisionTreeRegressor(max_depth=2, splitter="random")
    model = th.AdaBoostRegressor(tree, n_estimators=9, random_state=0)
    dense = model.fit(X.toarray(), SCORE, WEIGHT).predict(X.toarray())
    sparse = model.fit(X, SCORE, WEIGHT)
    np.testing.assert_allclose(sparse.predict(X), dense, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(sparse.predict(X), sparse.predict(X.toarray()))


@pytest.mark.parametrize("make", [th.AdaBoostClassifier, th.AdaBoostRegressor])
def test_wide_rows_are_never_made_dense(make):
    wide = sp.random(100, 200_000, density=1e-4, format="csr", random_state=0)
    y = np.arange(100) % 2
    wide = sp.hstack([wide, sp.csr_array(y[:, None] * (np.arange(100) % 7 > 0)[:, None])], "csr")
    with th.config(memory=20_000_000):  # a dense array takes 160 MB
        model = make(n_estimators=5).fit(wide, y)
        assert model.predict(wide).shape == (100,)
