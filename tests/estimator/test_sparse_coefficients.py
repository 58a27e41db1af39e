"""Sparse coefficients predict what dense ones do, and become dense again."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.exceptions import NotFittedError

import thetahat as th

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((60, 5))
TWO, THREE = (X[:, 0] > 0).astype(int), RANDOM.integers(0, 3, 60)
MODELS = {
    "logistic": th.LogisticRegression(C=0.1, l1_ratio=1.0),
    "folds": th.LogisticRegressionCV(Cs=2),
    "perceptron": th.Perceptron(),
    "steps": th.SGDClassifier(penalty="l1", random_state=0),
    "regression": th.SGDRegressor(random_state=0),
    "vectors": th.LinearSVC(),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
def test_predictions_stay_the_same(name, y, tmp_path):
    model = MODELS[name].fit(X, y)
    expected, coef = model.predict(X), model.coef_.copy()
    assert model.sparsify() is model
    assert scipy.sparse.issparse(model.coef_)
    many = np.tile(X, (400, 1))
    for rows in (X, X[:1], scipy.sparse.csr_array(X), X.astype(np.float32), many):
        found = model.predict(rows)
        wanted = np.resize(expected, rows.shape[0])
        assert found.shape == wanted.shape
        np.testing.assert_allclose(found, wanted, rtol=1e-5)
    th.save(model, tmp_path / "model.th")
    np.testing.assert_allclose(th.load(tmp_path / "model.th").predict(X), expected)
    assert model.densify().densify().coef_.shape == coef.shape
    np.testing.assert_array_equal(model.coef_, coef)


def test_nothing_to_keep_before_a_fit():
    with pytest.raises(NotFittedError):
        th.SGDClassifier().sparsify()
