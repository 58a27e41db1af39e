"""Rows and labels at the edge: linear models refuse them in words, or fit them as they are."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import thetahat as th

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((60, 3))
Y = (X[:, 0] + RANDOM.standard_normal(60) > 0).astype(int)
CLASSIFIERS = (th.LogisticRegression, th.LinearSVC, th.RidgeClassifier, th.Perceptron)


@pytest.mark.parametrize("kind", CLASSIFIERS)
@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.array([1, "a"] * 30, dtype=object), "labels mix int and str"),
        ([1, None, 0] * 20, r"20 of 60 labels are missing \(first at row 1: None\)"),
        (["a", None, "b"] * 20, r"20 of 60 labels are missing \(first at row 1: None\)"),
        (Y + 1j, r"^\w+: Complex data not supported: y holds complex .*Booleans\.$"),
        (np.array([1j, 2] * 30, dtype=object), "Complex data not supported: y holds complex"),
        ([1j, 2] * 30, "Complex data not supported: y holds complex"),
    ],
    ids=["mixed", "no number", "no text", "complex", "complex objects", "complex list"],
)
def test_labels_that_are_none(kind, labels, message):
    with pytest.raises(th.errors.DataError, match=message):
        kind().fit(X, labels)


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_rows_of_weight_zero_bring_no_class(kind):
    with pytest.raises(th.errors.DataError, match="rows of positive weight belong to one class, 1"):
        kind().fit(X, Y, sample_weight=Y)
    three = np.where(X[:, 1] > 1, 2, Y)
    kind().fit(X, three, sample_weight=three != 2)


@pytest.mark.parametrize(
    "model",
    [
        th.LogisticRegression(),
        th.LogisticRegression(l1_ratio=1.0),
        th.PoissonRegressor(),
        th.LinearSVC(),
        th.LinearSVC(loss="hinge"),
        th.LinearSVR(),
        th.LinearModel("logistic"),
    ],
    ids=str,
)
@pytest.mark.parametrize("size", [1e160, 1e200, 1e300])
def test_columns_whose_squares_overflow(model, size):
    with pytest.raises(
        th.errors.DataError, match=r"squares of columns beyond.*Divide those columns"
    ):
        model.fit(X * size, Y)


def test_names_that_are_not_known_come_with_all_that_are():
    with pytest.raises(th.errors.ParameterError, match=r"class_huber \(modified_huber\).*log_loss"):
        th.SGDClassifier(loss="other").fit(X, Y)
    with pytest.raises(th.errors.ParameterError, match=r"lbfgs.*liblinear.*newton-cholesky"):
        th.LogisticRegression(solver="other").fit(X, Y)


def test_an_unknown_gap_is_said_in_words():
    with pytest.warns(ConvergenceWarning, match=r"gap to the optimum not known\)"):
        th.LinearModel("hinge", "none", solver="subgradient", max_iter=3).fit(X, 2 * Y - 1)
