"""Single-row steps: one way to take them beside another."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model as sk

import thetahat as th
from tests.models.linear.stochastic.sgd_data import (
    CLASSES,
    IN_ORDER,
    PENALTIES,
    SIGNS,
    D,
    N,
    X,
    Y,
    assert_same,
    parameters,
    sigmoid,
)

OWN = {
    "squared_error": th.loss(lambda y, z: (z - y) ** 2 / 2),
    "log_loss": th.loss(lambda y, z: np.logaddexp(0, -y * z), targets="signs", link="logit"),
    "hinge": th.loss(lambda y, z: np.maximum(0, 1 - y * z), targets="signs"),
}


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("loss", OWN)
def test_your_own_loss_takes_the_compiled_steps(loss, penalty):
    random = np.random.default_rng(3)
    options = {**PENALTIES[penalty], "learning_rate": "constant", "eta0": 0.02, "random_state": 0}
    options |= {"max_iter": 2, "tol": None, "average": 30}
    rows = np.where(X[:60] < 0, 0.0, X[:60])
    weight = random.integers(0, 3, 60)
    compiled = th.SGDClassifier(loss, **options).fit(rows, SIGNS[:60], sample_weight=weight)
    own = th.SGDClassifier(OWN[loss], **options).fit(rows, SIGNS[:60], sample_weight=weight)
    assert_same(own, compiled)
    sparse = th.SGDClassifier(OWN[loss], **options)
    assert_same(sparse.fit(sp.csr_array(rows), SIGNS[:60], sample_weight=weight), compiled)


def test_losses_with_a_link_predict_means():
    random = np.random.default_rng(4)
    counts = random.poisson(np.exp(0.3 * X[:, 0]))
    model = th.SGDRegressor("poisson", eta0=0.02, max_iter=5, tol=None, random_state=0)
    model.fit(X, counts)
    np.testing.assert_allclose(model.predict(X), np.exp(X @ model.coef_ + model.intercept_))


@pytest.mark.parametrize("penalty", PENALTIES)
def test_dense_equals_sparse_in_any_memory_order(penalty):
    rows = np.where(X < 0.3, 0.0, X)
    options = {**PENALTIES[penalty], "random_state": 0, "max_iter": 4, "tol": None, "average": True}
    expected = th.SGDClassifier(**options, learning_rate="constant").fit(rows, CLASSES)
    for other in (sp.csr_array(rows), sp.csc_array(rows), np.asfortranarray(rows)):
        assert_same(
            th.SGDClassifier(**options, learning_rate="constant").fit(other, CLASSES), expected
        )


def test_a_row_of_weight_zero_is_not_there():
    random = np.random.default_rng(5)
    weight = random.integers(0, 2, N).astype(float)
    kept = weight > 0
    options = {"random_state": 0, "max_iter": 3, "tol": None}
    weighted = th.SGDRegressor(**options).fit(X, Y, sample_weight=weight)
    without = th.SGDRegressor(**options).fit(X[kept], Y[kept])
    np.testing.assert_array_equal(parameters(weighted), parameters(without))
    assert weighted.t_ == without.t_ == 1 + 3 * kept.sum()


def test_one_against_the_rest_is_one_fit_per_class():
    options = {"random_state": 0, "max_iter": 4, "tol": None}
    together = th.SGDClassifier(**options).fit(X, CLASSES)
    for number, label in enumerate("abc"):
        alone = th.SGDClassifier(**options).fit(X, CLASSES == label)
        np.testing.assert_array_equal(together.coef_[number], alone.coef_[0])
        assert together.intercept_[number] == alone.intercept_[0]


def test_class_weights_are_sample_weights():
    weights = {"a": 2.0, "b": 0.5, "c": 1.0}
    options = {"random_state": 0, "max_iter": 4, "tol": None}
    by_class = th.SGDClassifier(class_weight=weights, **options).fit(X, CLASSES)
    by_row = th.SGDClassifier(**options).fit(
        X, CLASSES, sample_weight=[weights[label] for label in CLASSES]
    )
    assert_same(by_class, by_row)
    labels = CLASSES == "a"
    theirs = sk.SGDClassifier(class_weight="balanced", alpha=0.01, **IN_ORDER).fit(X, labels)
    ours = th.SGDClassifier(class_weight="balanced", alpha=0.01, **IN_ORDER).fit(X, labels)
    assert_same(ours, theirs, rtol=1e-7)


def test_softmax_of_two_classes_is_logistic_regression():
    """The difference of the two scores gets both their steps: twice the rate."""
    options = {"penalty": None, "learning_rate": "constant", "random_state": 0, "tol": None}
    both = th.SGDClassifier("softmax_cross_entropy", eta0=0.01, max_iter=2, **options)
    one = th.SGDClassifier("log_loss", eta0=0.02, max_iter=2, **options).fit(X, SIGNS)
    both.fit(X, SIGNS)
    assert both.coef_.shape == (2, D)
    np.testing.assert_allclose(both.coef_[1] - both.coef_[0], one.coef_[0], rtol=1e-9)
    np.testing.assert_allclose(both.predict_proba(X), one.predict_proba(X), atol=1e-9)
    jointly = th.SGDClassifier("softmax_cross_entropy", random_state=0, max_iter=5, tol=None)
    assert jointly.fit(X, CLASSES).score(X, CLASSES) > 0.8


def test_probabilities():
    model = th.SGDClassifier("log_loss", random_state=0).fit(X, SIGNS)
    z = model.decision_function(X)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], sigmoid(z))
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X))
    huber = th.SGDClassifier("modified_huber", random_state=0).fit(X, CLASSES)
    share = huber.predict_proba(X)
    raw = (np.clip(huber.decision_function(X), -1, 1) + 1) / 2
    some = raw.sum(axis=1) > 0
    np.testing.assert_allclose(share[some], raw[some] / raw[some].sum(axis=1, keepdims=True))
    np.testing.assert_allclose(share[~some], 1 / 3)
    with pytest.raises(AttributeError) as refusal:
        th.SGDClassifier().fit(X, SIGNS).predict_proba(X)
    assert "not available for loss='hinge'" in str(refusal.value.__cause__)
