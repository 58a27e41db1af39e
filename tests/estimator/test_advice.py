"""Errors and warnings of everyday mistakes: what they name, and that their advice works."""

import re
import warnings

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_val_score

import thetahat as th
from thetahat.catalog import estimators

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((60, 4))
Y = X[:, 0] + RANDOM.standard_normal(60)
LABELS = (X[:, 0] > 0).astype(int)
WEIGHED = [
    name
    for name, kind in estimators().items()
    if is_classifier(kind._example()) and "class_weight" in kind._example().get_params()
]


@pytest.mark.parametrize("name", ["Ridge", "KNeighborsRegressor", "KMeans", "SVR", "PCA"])
def test_text_is_named_with_its_place(name):
    """Not with Python's own message that it could not convert a string to float."""
    rows = [["1.5", "b"], ["2", "d"], ["3", "f"]]
    with pytest.raises(th.errors.DataError, match="text 'b' at row 0, column 1") as caught:
        estimators()[name]._example().fit(rows, [1.0, 2.0, 3.0])
    assert "could not convert" not in str(caught.value)


def test_text_as_targets_and_weights():
    with pytest.raises(th.errors.DataError, match=r"y holds the text .a. at row 0.*a classifier"):
        th.Ridge().fit(X[:3], ["a", "b", "c"])
    with pytest.raises(th.errors.DataError, match="sample_weight holds the text 'b' at row 1"):
        th.Ridge().fit(X[:3], [1.0, 2.0, 3.0], sample_weight=[1.0, "b", "c"])


@pytest.mark.parametrize("max_iter", [1, 3])
def test_the_iterations_of_a_warning_are_those_of_max_iter(max_iter):
    model = th.LinearSVR(C=1e6, epsilon=0.0, max_iter=max_iter)
    with pytest.warns(ConvergenceWarning, match=rf"\b{max_iter} iterations?, .*Raise max_iter"):
        model.fit(X, Y)
    assert model.n_iter_ == max_iter


@pytest.mark.parametrize("solver", ["auto", "cholesky", "qr", "svd", "pseudo_inverse"])
def test_advice_about_dependent_columns_leads_to_a_fit_without_advice(solver):
    rows, seen = np.column_stack([X, X[:, 0] + X[:, 1]]), []
    while solver not in seen:
        seen.append(solver)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                model = th.LinearRegression(solver=solver).fit(rows, Y)
                message = " ".join(str(each.message) for each in caught)
            except th.errors.CapabilityError as failure:
                message = str(failure)
        if not message:
            expected = (
                Y.mean()
                + np.linalg.pinv(rows - rows.mean(0)) @ (Y - Y.mean()) @ (rows - rows.mean(0)).T
            )
            np.testing.assert_allclose(model.predict(rows), expected, atol=1e-8)
            return
        solver = re.search(r'solver="(\w+)"', message)[1]
    pytest.fail(f"the advice goes in a circle: {seen}")


def test_a_function_is_made_a_loss_as_the_error_says():
    def squares(y, z):
        return (y - z) ** 2

    with pytest.raises(th.errors.ParameterError, match=r"th\.loss\(function\)"):
        th.LinearModel(squares).fit(X, Y)
    model = th.LinearModel(th.loss(squares), "none").fit(X, Y)
    np.testing.assert_allclose(model.coef_, th.LinearRegression().fit(X, Y).coef_, rtol=1e-5)


@pytest.mark.parametrize(
    ("model", "way"),
    [
        (th.HistGradientBoostingRegressor(max_iter=2), "not a single tree.*DecisionTree"),
        (th.GradientBoostingRegressor(n_estimators=2), r"not a single tree.*estimators_\[0, 0\]"),
    ],
)
def test_what_is_no_tree_of_the_library_is_not_drawn(model, way):
    with pytest.raises(th.errors.CapabilityError, match=way):
        th.plot_tree(model.fit(X, Y))


@pytest.mark.parametrize("name", WEIGHED)
def test_class_weights_of_classes_that_a_fold_lacks(name):
    """A rare class may be absent from the rows of a fold; its weight has no effect then."""
    model, peer = (estimators()[name]._example() for _ in range(2))
    for each in (model, peer):
        each.set_params(**{"random_state": 0} if "random_state" in each.get_params() else {})
    model.set_params(class_weight={0: 1.0, 1: 2.0, 2: 3.0})
    peer.set_params(class_weight={0: 1.0, 1: 2.0})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_array_equal(
            model.fit(X, LABELS).predict(X), peer.fit(X, LABELS).predict(X)
        )


def test_cross_validation_with_the_weight_of_a_rare_class():
    labels = LABELS.copy()
    labels[:2] = 2  # all in the first fold
    model = th.LogisticRegression(class_weight={0: 1.0, 1: 1.0, 2: 5.0})
    scores = cross_val_score(model, X, labels, cv=[(np.arange(20, 60), np.arange(20))])
    assert np.isfinite(scores).all()
