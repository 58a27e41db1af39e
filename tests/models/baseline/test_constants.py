"""The constants that minimise each loss."""

import numpy as np
import pytest

import thetahat as th

X = np.zeros((7, 1))
Y = np.array([1.0, 2.0, 2.0, 3.0, 5.0, 8.0, 13.0])


@pytest.mark.parametrize(
    ("loss", "constant"),
    [
        ("squared", Y.mean()),
        ("absolute", 3.0),
        (th.losses.Quantile(0.9), 13.0),
        ("poisson", Y.mean()),
    ],
    ids=["squared", "absolute", "quantile", "poisson"],
)
def test_the_best_constant_of_a_loss(loss, constant):
    model = th.ConstantRegressor(loss).fit(X, Y)
    assert model.constant_ == pytest.approx(constant)
    np.testing.assert_allclose(model.predict(X[:2]), [constant, constant])


def test_weights_count_rows():
    weight = np.array([0, 0, 0, 0, 0, 1, 3])
    assert th.ConstantRegressor().fit(X, Y, weight).constant_ == pytest.approx(47 / 4)
    labels = np.array(["a", "b", "b", "b", "c", "c", "a"])
    shares = th.ConstantClassifier().fit(X, labels, [1, 0, 0, 0, 1, 1, 2]).class_prior_
    np.testing.assert_allclose(shares, [0.6, 0.0, 0.4])


def test_targets_that_a_loss_cannot_take_are_refused():
    with pytest.raises(th.errors.DataError, match="negative"):
        th.ConstantRegressor("poisson").fit(X[:2], [1.0, -1.0])


def test_the_most_frequent_class():
    model = th.ConstantClassifier().fit(X[:5], ["b", "a", "b", "a", "c"])
    assert model.predict(X[:1]).tolist() == ["a"]  # the smaller one of equals
    np.testing.assert_allclose(model.predict_proba(X[:1]), [[0.4, 0.4, 0.2]])
