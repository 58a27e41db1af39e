"""Sparse coefficients predict what dense ones do, and become dense again."""

import numpy as np
import pytest
import scipy.sparse
from sklearn import config_context
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


ROWS = scipy.sparse.random(40, 6, 0.5, "csr", random_state=0)
SIDES = np.arange(40) % 3
SPARSE_RESULTS = {
    "dual_coef_ of SVC": lambda: th.SVC(kernel="linear").fit(ROWS, SIDES).dual_coef_,
    "support_vectors_": lambda: th.SVC().fit(ROWS, SIDES).support_vectors_,
    "coef_ of SVC": lambda: th.SVC(kernel="linear").fit(ROWS, SIDES).coef_,
    "coef_ of two classes": lambda: th.SVC(kernel="linear").fit(ROWS, SIDES > 0).coef_,
    "dual_coef_ of SVR": lambda: th.SVR().fit(ROWS, SIDES).dual_coef_,
    "dual_coef_ of OneClassSVM": lambda: th.OneClassSVM().fit(ROWS).dual_coef_,
    "sparse_coef_": lambda: th.Lasso(0.01).fit(ROWS, SIDES).sparse_coef_,
    "sparsify": lambda: th.LinearSVC().fit(ROWS, SIDES).sparsify().coef_,
    "components_": lambda: th.SparseRandomProjection(3).fit(ROWS).components_,
    "transform": lambda: th.SparseRandomProjection(3).fit_transform(ROWS),
}


@pytest.mark.parametrize("name", SPARSE_RESULTS)
def test_results_are_sparse_matrices_or_arrays_as_configured_in_scikit_learn(name):
    assert scipy.sparse.isspmatrix_csr(SPARSE_RESULTS[name]())
    with config_context(sparse_interface="sparray"):
        assert isinstance(SPARSE_RESULTS[name](), scipy.sparse.csr_array)


def test_products_of_a_migrated_program_stay_those_of_matrices():
    model = th.SVC(kernel="linear").fit(ROWS, SIDES > 0)
    coef = model.dual_coef_ * model.support_vectors_
    np.testing.assert_allclose(coef.toarray(), model.coef_.toarray())
    scores = (ROWS * coef.T).toarray().ravel() + model.intercept_
    np.testing.assert_allclose(scores, model.decision_function(ROWS))
