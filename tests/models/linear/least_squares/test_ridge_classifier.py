"""RidgeClassifier and RidgeClassifierCV: least squares on ±1, scikit-learn's answers, labels."""

import numpy as np
import pytest
import scipy.sparse
import sklearn.linear_model
from sklearn.datasets import load_iris

import thetahat as th
from tests.models.linear.least_squares.ridge_data import leave_one_out

X, CODES = load_iris(return_X_y=True)
NAMES = np.array(["a", "b", "c"])[CODES]
WEIGHT = np.random.default_rng(0).integers(1, 4, 150)
TARGETS = {"three": NAMES, "text": NAMES[50:], "boolean": CODES[50:] == 1, "whole": CODES[50:]}
ALPHAS = np.logspace(-3, 3, 7)


def rows(y):
    return X[150 - len(y) :]


@pytest.mark.parametrize("labels", TARGETS)
@pytest.mark.parametrize("intercept", [True, False])
def test_equals_scikit_learn(labels, intercept):
    y = TARGETS[labels]
    weight = WEIGHT[: len(y)]
    options = {"alpha": 0.5, "fit_intercept": intercept}
    ours = th.RidgeClassifier(**options).fit(rows(y), y, weight)
    theirs = sklearn.linear_model.RidgeClassifier(**options).fit(rows(y), y, weight)
    np.testing.assert_allclose(ours.coef_, np.atleast_2d(theirs.coef_), rtol=1e-8)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-9)
    np.testing.assert_array_equal(ours.predict(rows(y)), theirs.predict(rows(y)))
    assert ours.predict(rows(y)).dtype == y.dtype
    np.testing.assert_allclose(
        ours.decision_function(rows(y)), theirs.decision_function(rows(y)), atol=1e-9
    )


def test_it_is_ridge_on_signs():
    signs = np.where(CODES[:, None] == np.arange(3), 1.0, -1.0)
    ridge = th.Ridge(alpha=2.0).fit(X, signs)
    model = th.RidgeClassifier(alpha=2.0).fit(X, NAMES)
    np.testing.assert_allclose(model.coef_, ridge.coef_, rtol=1e-10)
    each = th.RidgeClassifier(alpha=[1.0, 2.0, 3.0]).fit(X, NAMES)
    np.testing.assert_allclose(each.coef_[1], model.coef_[1], rtol=1e-10)


def test_balanced_classes_equal_scikit_learn():
    y = NAMES[20:]
    ours = th.RidgeClassifier(class_weight="balanced").fit(X[20:], y)
    theirs = sklearn.linear_model.RidgeClassifier(class_weight="balanced").fit(X[20:], y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8)
    named = {"a": 1.0, "b": 2.0, "c": 0.5}
    ours = th.RidgeClassifier(class_weight=named).fit(X, NAMES)
    weight = [named[label] for label in NAMES]
    weighted = th.RidgeClassifier().fit(X, NAMES, sample_weight=weight)
    np.testing.assert_allclose(ours.coef_, weighted.coef_, rtol=1e-10)


def test_sparse_rows_and_files(tmp_path):
    expected = th.RidgeClassifier().fit(X, CODES)
    model = th.RidgeClassifier().fit(scipy.sparse.csr_array(X), CODES)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-8)
    np.save(tmp_path / "rows.npy", np.column_stack([X, CODES]))
    source = th.scan(tmp_path / "rows.npy", target=4)
    np.testing.assert_allclose(
        th.RidgeClassifier().fit(source).coef_, expected.coef_, rtol=1e-8, atol=1e-10
    )
    cross = th.RidgeClassifierCV(ALPHAS).fit(source)
    assert cross.alpha_ == th.RidgeClassifierCV(ALPHAS).fit(X, CODES).alpha_
    with pytest.raises(th.errors.CapabilityError, match="rows in memory"):
        th.RidgeClassifierCV(ALPHAS, cv=3).fit(source)


@pytest.mark.parametrize("labels", TARGETS)
@pytest.mark.parametrize(
    "options",
    [{}, {"scoring": "accuracy"}, {"cv": 4}, {"cv": 4, "scoring": "f1_macro"}],
    ids=["errors", "accuracy", "folds", "folds scored"],
)
def test_chosen_penalty_equals_scikit_learn(labels, options):
    y = TARGETS[labels]
    ours = th.RidgeClassifierCV(ALPHAS, **options).fit(rows(y), y)
    theirs = sklearn.linear_model.RidgeClassifierCV(ALPHAS, **options).fit(rows(y), y)
    if options == {"scoring": "accuracy"} and labels != "three":
        # With one score for two classes, the peer calls every row left out right.
        signs = np.where(y == ours.classes_[1], 1.0, -1.0)
        left_out = [
            np.mean(signs * (signs - leave_one_out(rows(y), signs, alpha, True)) > 0)
            for alpha in ALPHAS[::3]
        ]
        ours = th.RidgeClassifierCV(ALPHAS[::3], **options).fit(rows(y), y)
        assert ours.best_score_ == pytest.approx(max(left_out))
        assert ours.alpha_ == ALPHAS[::3][int(np.argmax(left_out))]
        return
    assert ours.alpha_ == theirs.alpha_
    assert ours.best_score_ == pytest.approx(theirs.best_score_)
    np.testing.assert_allclose(ours.coef_, np.atleast_2d(theirs.coef_), rtol=1e-8)


def test_kept_results_have_scikit_learn_shapes():
    for y in (NAMES, CODES == 1):
        for scoring in (None, "accuracy"):
            options = {"store_cv_results": True, "scoring": scoring}
            ours = th.RidgeClassifierCV(ALPHAS, **options).fit(X, y).cv_results_
            theirs = sklearn.linear_model.RidgeClassifierCV(ALPHAS, **options).fit(X, y)
            np.testing.assert_allclose(ours, theirs.cv_results_, rtol=1e-6, atol=1e-9)


def test_bad_input():
    with pytest.raises(th.errors.DataError, match="one class only, 'a'"):
        th.RidgeClassifier().fit(X, ["a"] * 150)
    with pytest.raises(th.errors.ParameterError, match="alpha=-1"):
        th.RidgeClassifier(alpha=-1).fit(X, CODES)
    with pytest.raises(
        th.errors.DataError, match=r"RidgeClassifier: .* 3 targets, and alpha has shape \(2,\)"
    ):
        th.RidgeClassifier(alpha=[1.0, 2.0]).fit(X, CODES)
    with pytest.raises(th.errors.ParameterError, match="contains 'z', which is not a class"):
        th.RidgeClassifier(class_weight={"z": 1.0}).fit(X, NAMES)
    with pytest.raises(th.errors.ParameterError, match="Use cv=None"):
        th.RidgeClassifierCV(cv=3, store_cv_results=True).fit(X, NAMES)
    with pytest.raises(ValueError, match="Unknown label type"):
        th.RidgeClassifier().fit(X, X[:, 0])


def test_folds_weigh_their_rows_as_scikit_learn():
    random = np.random.default_rng(4)
    rows = random.standard_normal((60, 3))
    y = rows @ [1.0, -1.0, 0.5] + random.standard_normal(60) > 0
    weight = random.uniform(0.2, 3.0, 60)
    ours, theirs = (
        home.RidgeClassifierCV([1.0], cv=4).fit(rows, y, sample_weight=weight)
        for home in (th, sklearn.linear_model)
    )
    assert ours.best_score_ == pytest.approx(theirs.best_score_, rel=1e-10)


@pytest.mark.parametrize("options", [{}, {"alpha": 3.0, "class_weight": "balanced"}], ids=str)
def test_rows_with_several_labels(options, tmp_path):
    marks = np.column_stack([CODES > 0, CODES == 1, X[:, 0] > 6]).astype(int)
    ours = th.RidgeClassifier(**options).fit(X, marks, WEIGHT)
    theirs = sklearn.linear_model.RidgeClassifier(**options).fit(X, marks, WEIGHT)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-7)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_array_equal(ours.classes_, theirs.classes_)
    assert ours.score(X, marks) == theirs.score(X, marks)
    th.save(ours, tmp_path / "model.th")
    np.testing.assert_array_equal(th.load(tmp_path / "model.th").predict(X), ours.predict(X))
    assert ours.fit(X, NAMES).predict(X[:1]).shape == (1,)


def test_coefficients_of_one_sign_by_scikit_learns_name():
    """Its "lbfgs" is the only solver there that takes positive=True."""
    options = {"solver": "lbfgs", "positive": True, "tol": 1e-10}
    for ours, theirs, y in (
        (th.RidgeClassifier, sklearn.linear_model.RidgeClassifier, NAMES),
        (th.Ridge, sklearn.linear_model.Ridge, CODES.astype(float)),
    ):
        found = ours(**options).fit(X, y)
        assert (found.coef_ >= 0).all()
        np.testing.assert_allclose(found.coef_, theirs(**options).fit(X, y).coef_, atol=1e-5)
