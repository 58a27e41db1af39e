"""Rows whose distances overflow, covariances of other estimators, and models with wrong shapes."""

import numpy as np
import pytest

import thetahat as th
from thetahat.errors import ParameterError

MODELS = [
    th.QuadraticDiscriminantAnalysis(),
    th.QuadraticDiscriminantAnalysis(covariance="diagonal"),
    th.NearestCentroid(),
    th.NearestCentroid(priors="empirical"),
    th.LinearDiscriminantAnalysis(),
    th.GaussianNB(),
]


def _data(n_classes):
    rng = np.random.default_rng(0)
    y = np.arange(90) % n_classes
    X = rng.normal(size=(90, 3)) * (1 + y[:, None] / 4)
    X[:, 0] += y
    return X, y


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_rows_beyond_float64_are_classified_like_rows_far_away(model, n_classes):
    """Squares of 1e300 overflow; the classes of such rows are those of the same direction."""
    model = model.fit(*_data(n_classes))
    directions = np.array([[1.0, 0, 0], [-1.0, 1.0, 0.3], [0.2, 1.0, -2.0]])
    for size in (1e160, 1e300):
        found, far = model.predict(size * directions), model.predict(1e8 * directions)
        np.testing.assert_array_equal(found, far)
        shares = model.predict_proba(size * directions)
        np.testing.assert_allclose(shares.sum(axis=1), 1)
        np.testing.assert_array_equal(model.classes_[shares.argmax(axis=1)], far)
        if hasattr(model, "decision_function"):
            scores = model.decision_function(size * directions)
            assert not np.isnan(scores).any()
            if n_classes == 2:
                np.testing.assert_array_equal(scores > 0, far == 1)


@pytest.mark.parametrize("size", [1e9, 1e17, 1e30, 1e100])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_of_far_rows_agree_with_the_nearest_centroid(n_classes, size):
    """Squared distances of such rows are equal up to rounding; their differences are not."""
    X, y = _data(n_classes)
    model = th.NearestCentroid().fit(X, y)
    rows = size * np.array([[1.0, 0, 0], [-1.0, 1.0, 0.3], [np.nan, 1.0, -2.0]])
    wanted = model.predict_proba(1e5 * rows / size).argmax(axis=1)
    assert (model.predict_proba(rows).max(axis=1) > 0.99).all()
    np.testing.assert_array_equal(model.predict_proba(rows).argmax(axis=1), wanted)
    scores = model.decision_function(rows)
    found = (scores > 0).astype(int) if n_classes == 2 else scores.argmax(axis=1)
    np.testing.assert_array_equal(found, wanted)


class Answers:
    """A covariance estimator that answers with a given matrix."""

    def __init__(self, answer=None):
        self.answer = answer

    def get_params(self, deep=True):
        return {"answer": self.answer}

    def set_params(self, **params):
        self.answer = params.get("answer", self.answer)
        return self

    def fit(self, X):
        self.covariance_ = self.answer
        return self


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (np.full((3, 3), np.nan), r"class 0 covariance_\[0, 0\] is nan"),
        (np.diag([1.0, np.inf, 1.0]), r"covariance_\[1, 1\] is inf"),
        (np.eye(2), r"of shape \(3, 3\), but for class 0 it has shape \(2, 2\)"),
        (np.array([[1, 0.5, 0], [0.1, 1, 0], [0, 0, 1]]), r"covariance_\[0, 1\] is 0\.5 and"),
        (np.array([[1, 2.0, 0], [2, 1, 0], [0, 0, 1]]), r"has the eigenvalue -1\. Use an"),
        (np.diag([1.0, -1.0, 1.0]), r"positive semi-definite"),
        ("matrix", r"must be a real number or an array of real numbers"),
    ],
)
@pytest.mark.parametrize("model", [th.QuadraticDiscriminantAnalysis, th.LinearDiscriminantAnalysis])
def test_covariances_of_other_estimators_are_checked(model, answer, message):
    given = {"solver": "lsqr"} if model is th.LinearDiscriminantAnalysis else {"solver": "eigen"}
    with pytest.raises(ParameterError, match=message):
        model(covariance_estimator=Answers(answer), **given).fit(*_data(2))
