"""Stacking: out-of-fold columns, and what a last model makes of them."""

import numpy as np
import pytest
from sklearn import ensemble as peers
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.inspection import partial_dependence
from sklearn.model_selection import KFold, ShuffleSplit, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline

import thetahat as th

RANDOM = np.random.default_rng(0)
N = 150
X = RANDOM.standard_normal((N, 3))
Y = X @ [1.0, 2.0, -1.0] + np.sin(4 * X[:, 0]) + 0.3 * RANDOM.standard_normal(N)
LABELS = np.array(["low", "mid", "high"])[np.searchsorted([-1.0, 1.0], Y)]
TWO = np.where(Y > 0, "yes", "no")

REGRESSORS = [("plain", th.LinearRegression()), ("near", KNeighborsRegressor())]
CLASSIFIERS = [("logistic", th.LogisticRegression()), ("ridge", th.RidgeClassifier())]


@pytest.mark.parametrize("passthrough", [False, True], ids=["outputs", "with X"])
@pytest.mark.parametrize("cv", [None, 3, KFold(4, shuffle=True, random_state=0)], ids=str)
def test_regressors_as_scikit_learn(cv, passthrough):
    final = th.Ridge(alpha=0.1)
    ours, theirs = (
        kind(REGRESSORS, final, cv=cv, passthrough=passthrough).fit(X, Y)
        for kind in (th.StackingRegressor, peers.StackingRegressor)
    )
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-8)
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), rtol=1e-10)
    assert list(ours.get_feature_names_out()) == list(theirs.get_feature_names_out())
    assert ours.stack_method_ == theirs.stack_method_
    assert ours.n_features_in_ == 3


@pytest.mark.parametrize("method", ["auto", "predict_proba", "decision_function", "predict"])
@pytest.mark.parametrize("y", [TWO, LABELS], ids=["two", "three"])
def test_classifiers_as_scikit_learn(method, y):
    members = [("logistic", th.LogisticRegression()), ("strict", th.LogisticRegression(C=0.1))]
    if method == "auto":
        members = [*members, ("ridge", th.RidgeClassifier())]
    final = th.LogisticRegression(tol=1e-9, max_iter=1000)
    ours, theirs = (
        kind(members, final, stack_method=method).fit(X, y)
        for kind in (th.StackingClassifier, peers.StackingClassifier)
    )
    assert ours.stack_method_ == theirs.stack_method_
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-6)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-5)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert list(ours.get_feature_names_out()) == list(theirs.get_feature_names_out())


def test_defaults_are_those_of_the_course():
    """f = Σ αₘfₘ by regularised least squares, and a logistic regression for labels."""
    assert type(th.StackingRegressor(REGRESSORS).fit(X, Y).final_estimator_) is th.RidgeCV
    model = th.StackingClassifier(CLASSIFIERS).fit(X, LABELS)
    assert type(model.final_estimator_) is th.LogisticRegression
    assert model.score(X, LABELS) > 0.7


def test_weights_are_least_squares_on_models_as_features():
    """α of Σ αₘfₘ by hand: normal equations of the out-of-fold predictions."""
    model = th.StackingRegressor(REGRESSORS, th.LinearCombination()).fit(X, Y)
    outputs = np.column_stack(
        [cross_val_predict(clone(member), X, Y, cv=5) for _, member in REGRESSORS]
    )
    alpha = np.linalg.solve(outputs.T @ outputs, outputs.T @ Y)
    np.testing.assert_allclose(model.final_estimator_.coef_, alpha, rtol=1e-9)
    members = np.column_stack([clone(member).fit(X, Y).predict(X) for _, member in REGRESSORS])
    np.testing.assert_allclose(model.predict(X), members @ alpha, rtol=1e-9)


def test_members_that_learned_by_heart_are_not_trusted():
    """One neighbour knows every row it saw; out of fold it is found out, in the rows it is not."""
    pure = np.random.default_rng(1).standard_normal(N)  # no model can foresee it
    members = [("mean", th.Ridge(alpha=1e9)), ("by heart", KNeighborsRegressor(1))]
    weights = th.LinearCombination(positive=True, sum_to_one=True)
    held_out = th.StackingRegressor(members, weights).fit(X, pure)
    fitted = [(name, clone(member).fit(X, pure)) for name, member in members]
    fooled = th.StackingRegressor(fitted, weights, cv="prefit").fit(X, pure)
    assert held_out.final_estimator_.coef_[1] < 0.2
    assert fooled.final_estimator_.coef_[1] > 0.99


def test_fitted_members_are_taken_as_they_are():
    half = N // 2
    members = [(name, clone(member).fit(X[:half], Y[:half])) for name, member in REGRESSORS]
    model = th.StackingRegressor(members, th.Ridge(), cv="prefit").fit(X[half:], Y[half:])
    theirs = peers.StackingRegressor(members, th.Ridge(), cv="prefit").fit(X[half:], Y[half:])
    assert model.estimators_[0] is members[0][1]
    np.testing.assert_allclose(model.predict(X), theirs.predict(X), rtol=1e-9)
    labelled = [(name, clone(member).fit(X, LABELS)) for name, member in CLASSIFIERS]
    for method in ("auto", "predict"):
        stack = th.StackingClassifier(labelled, cv="prefit", stack_method=method).fit(X, LABELS)
        assert stack.score(X, LABELS) > 0.7
    with pytest.raises(NotFittedError, match="'near', a KNeighborsRegressor, is not fitted yet"):
        th.StackingRegressor([members[0], REGRESSORS[1]], cv="prefit").fit(X, Y)


def test_dropped_members_and_nested_parameters():
    model = th.StackingRegressor(REGRESSORS, th.Ridge()).set_params(near="drop")
    model.set_params(final_estimator__alpha=2.0, plain__fit_intercept=False).fit(X, Y)
    assert model.final_estimator_.alpha == 2.0
    assert not model.estimators_[0].fit_intercept
    assert model.transform(X).shape == (N, 1)
    assert model.named_estimators_.near == "drop"
    assert model.get_params()["final_estimator__alpha"] == 2.0


def test_a_class_that_a_fold_misses_has_probability_zero():
    y = np.r_[["rare"] * 2, LABELS[2:]]
    folds = [(np.arange(2, N), np.arange(2)), (np.arange(2), np.arange(2, N))]
    near = KNeighborsClassifier(2)
    model = th.StackingClassifier([("near", near)], cv=folds).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert model.transform(X).shape == (N, 4)


def test_rows_reach_members_untouched():
    import pandas
    from sklearn.compose import make_column_transformer
    from sklearn.preprocessing import OneHotEncoder

    frame = pandas.DataFrame(X, columns=list("abc")).assign(kind=np.where(X[:, 0] > 0, "u", "v"))
    columns = make_column_transformer((OneHotEncoder(), ["kind"]), ("passthrough", ["b", "c"]))
    members = [
        ("one", make_pipeline(columns, th.LinearRegression())),
        ("two", make_pipeline(columns, KNeighborsRegressor())),
    ]
    model = th.StackingRegressor(members).fit(frame, Y)
    assert model.score(frame, Y) > 0.7
    numbers = frame[list("abc")]
    wide = th.StackingRegressor(REGRESSORS, passthrough=True).fit(numbers, Y)
    assert list(wide.get_feature_names_out())[-3:] == list("abc")
    assert wide.set_output(transform="pandas").transform(numbers).shape == (N, 5)


def test_sparse_rows_pass_through():
    import scipy.sparse as sp

    members = [("plain", th.LinearRegression()), ("shrunk", th.Ridge())]
    model = th.StackingRegressor(members, th.Ridge(), passthrough=True)
    dense, sparse = model.fit(X, Y).predict(X), model.fit(sp.csr_array(X), Y)
    assert sp.issparse(sparse.transform(sp.csr_array(X)))
    np.testing.assert_allclose(sparse.predict(sp.csr_array(X)), dense, rtol=1e-8)


def test_how_sure_the_last_model_is():
    model = th.StackingRegressor(REGRESSORS, th.BayesianRidge()).fit(X, Y)
    mean, spread = model.predict(X, return_std=True)
    np.testing.assert_allclose(mean, model.predict(X))
    assert (spread > 0).all()


def test_weights_reach_members_and_the_last_model():
    weight = np.r_[np.ones(100), np.zeros(N - 100)]
    folds = list(KFold(5).split(X))
    short = [(train[train < 100], test[test < 100]) for train, test in folds]
    members = [("plain", th.LinearRegression()), ("shrunk", th.Ridge())]
    weighted = th.StackingRegressor(members, th.Ridge(), cv=folds).fit(X, Y, sample_weight=weight)
    fewer = [(train, test) for train, test in short if len(test)]
    with_fewer = th.StackingRegressor(members, th.Ridge(), cv=fewer).fit(X[:100], Y[:100])
    np.testing.assert_allclose(weighted.predict(X), with_fewer.predict(X), rtol=1e-9)
    with pytest.raises(TypeError, match="KNeighborsRegressor, does not support sample weights"):
        th.StackingRegressor(REGRESSORS).fit(X, Y, sample_weight=weight)
    with pytest.raises(TypeError, match="final estimator, a KNeighborsRegressor"):
        th.StackingRegressor(members, KNeighborsRegressor()).fit(X, Y, sample_weight=weight)


def test_partial_dependence_sees_the_stack():
    model = th.StackingRegressor(REGRESSORS).fit(X, Y)
    found = partial_dependence(model, X, features=[1], grid_resolution=4)
    assert (np.diff(found["average"][0]) > 0).all()


def test_bad_input():
    with pytest.raises(th.errors.DataError, match=r"cv=5 folds of n_samples=3.*more rows"):
        th.StackingRegressor(REGRESSORS).fit(X[:3], Y[:3])
    with pytest.raises(th.errors.ParameterError, match="each must be held out once"):
        th.StackingRegressor(REGRESSORS, cv=ShuffleSplit(3, random_state=0)).fit(X, Y)
    with pytest.raises(
        th.errors.ParameterError, match="ridge does not implement the method 'predict_pro"
    ):
        th.StackingClassifier(CLASSIFIERS, stack_method="predict_proba").fit(X, LABELS)
    with pytest.raises(th.errors.ParameterError, match="stack_method='proba' must be one of"):
        th.StackingClassifier(CLASSIFIERS, stack_method="proba").fit(X, LABELS)
    with pytest.raises(
        th.errors.ParameterError, match="final_estimator='ridge' must be an estimator"
    ):
        th.StackingRegressor(REGRESSORS, "ridge").fit(X, Y)
    with pytest.raises(th.errors.ParameterError, match="non-empty list"):
        th.StackingRegressor([]).fit(X, Y)
    with pytest.raises(th.errors.DataError, match=r"Input y contains NaN.*row 3"):
        th.StackingRegressor(REGRESSORS).fit(X, np.where(np.arange(N) == 3, np.nan, Y))
    with pytest.raises(NotFittedError):
        th.StackingRegressor(REGRESSORS).predict(X)


@pytest.mark.parametrize("method", ["auto", "decision_function", "predict"])
def test_folds_that_lack_classes(method):
    """A member that saw two of three classes gives one score; the others have three columns."""
    random = np.random.default_rng(0)
    rows, labels = random.standard_normal((60, 4)), np.repeat(["a", "b", "c"], 20)
    members = [("ridge", th.RidgeClassifier()), ("svc", th.LinearSVC())]
    folds = KFold(3)  # each lacks one class in its training rows
    model = th.StackingClassifier(members, cv=folds, stack_method=method).fit(rows, labels)
    assert model.predict_proba(rows).shape == (60, 3)
