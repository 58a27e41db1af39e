"""The general form with a loss of classes is a classifier."""

from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.base import is_classifier, is_regressor
from sklearn.metrics import r2_score
from sklearn.utils.estimator_checks import check_estimator

import thetahat as th
from tests.models.linear.linear_targets import SCORE, TARGETS, N, X
from thetahat.catalog import losses
from thetahat.mathematics.losses.base import Smooth, Targets
from thetahat.mathematics.losses.links import Link

OF_CLASSES = {
    name: kind()
    for name, kind in losses().items()
    if issubclass(kind, Smooth) and kind.targets in (Targets.BINARY, Targets.SIGNS, Targets.CLASSES)
}


@pytest.mark.parametrize("name", OF_CLASSES)
def test_a_loss_of_classes_takes_any_labels(name):
    loss, words = OF_CLASSES[name], np.array(["no", "perhaps", "yes"])
    codes = TARGETS[loss.targets]
    codes = ((codes + 1) / 2 if loss.targets is Targets.SIGNS else codes).astype(int)
    words = words if loss.targets is Targets.CLASSES else words[[0, 2]]
    penalty = th.penalties.L2(0.1)
    model = th.LinearModel(loss, penalty).fit(X, words[codes])
    assert is_classifier(model)
    assert not is_regressor(model)
    assert model.classes_.tolist() == words.tolist()
    predicted = model.predict(X)
    assert model.score(X, words[codes]) == np.mean(predicted == words[codes])
    scores = model.decision_function(X)
    assert scores.shape == (N,) if len(words) == 2 else (N, 3)
    best = scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0).astype(int)
    np.testing.assert_array_equal(predicted, words[best])
    assert hasattr(model, "predict_proba") == (loss.link in (Link.LOGIT, Link.SOFTMAX))
    if hasattr(model, "predict_proba"):
        shares = model.predict_proba(X)
        assert shares.shape == (N, len(words))
        np.testing.assert_allclose(shares.sum(axis=1), 1.0)
        np.testing.assert_array_equal(words[shares.argmax(axis=1)], predicted)


@pytest.mark.parametrize("loss", ["squared", "poisson", "huber"])
def test_other_losses_give_a_regressor(loss):
    model = th.LinearModel(loss)
    assert is_regressor(model)
    assert not is_classifier(model)
    assert not hasattr(model, "decision_function")
    assert not hasattr(model, "predict_proba")
    y = TARGETS[th.losses.named(loss).targets]
    assert not hasattr(model.fit(X, y), "classes_")
    assert model.score(X, y) == pytest.approx(r2_score(y, model.predict(X)))


@pytest.mark.parametrize("loss", ["logistic", "hinge", "softmax_cross_entropy"])
def test_evaluate_stratifies_and_scores_by_accuracy(loss):
    y = np.where(SCORE > 1.5, "rare", "common")
    found = th.evaluate(th.LinearModel(loss, th.penalties.L2(0.1)), X, y, cv=5)
    assert found.scores["accuracy"].mean() > 0.8
    shares = [np.mean(y[fold.rows] == "rare") for fold in found.fits]
    np.testing.assert_allclose(shares, np.mean(y == "rare"), atol=0.02)


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge", "softmax_cross_entropy"])
def test_classifiers_pass_scikit_learns_checks(loss):
    check_estimator(th.LinearModel(loss), on_skip=None)


def test_labels_in_a_file_are_found_before_the_fit(tmp_path):
    lines = [
        ",".join(map(repr, map(float, (*row, label))))
        for row, label in zip(X, SCORE > 0, strict=True)
    ]
    path = tmp_path / "rows.csv"
    path.write_text("a,b,c,d,label\n" + "\n".join(lines) + "\n")
    for loss in ("logistic", "sign_logistic", "softmax_cross_entropy"):
        whole = th.LinearModel(loss, th.penalties.L2(0.1)).fit(X, (SCORE > 0).astype(float))
        streamed = th.LinearModel(loss, th.penalties.L2(0.1)).fit(th.scan(path, target="label"))
        np.testing.assert_array_equal(streamed.classes_, [0.0, 1.0])
        np.testing.assert_allclose(streamed.coef_, whole.coef_, rtol=1e-7)


def test_a_model_saved_before_it_had_labels_predicts_the_numbers_of_its_loss():
    for kind, loss in ((Targets.BINARY, "logistic"), (Targets.SIGNS, "sign_logistic")):
        model = th.LinearModel(loss).fit(X, TARGETS[kind])
        expected = model.predict(X)
        del model.classes_
        np.testing.assert_array_equal(model.predict(X), expected)


def test_intervals_of_a_likelihood_of_signs():
    """The two ways to write the logistic loss have one likelihood, and one table of errors."""
    labels = np.where(SCORE + np.random.default_rng(5).logistic(size=N) > 0, "yes", "no")
    one, other = (
        th.LinearModel(loss, "none").fit(X, labels) for loss in ("logistic", "sign_logistic")
    )
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-6)
    robust = one.summary(X, labels, covariance="HC1")
    assert len(robust.coefficients) == 5


def test_a_fitted_model_follows_the_loss_of_its_fit():
    """Parameters that are set after a fit count from the next fit on."""
    labels = np.where(SCORE > 0, "yes", "no")
    model = th.LinearModel("hinge").fit(X, labels).set_params(loss="logistic")
    assert not hasattr(model, "predict_proba")
    assert model.set_params(loss="squared").score(X, labels) > 0.8
    model.fit(X, SCORE)
    assert not hasattr(model, "classes_")
    assert model.score(X, SCORE) == pytest.approx(r2_score(SCORE, model.predict(X)))


@pytest.mark.parametrize("penalty", ["none", "l2"])
def test_scores_of_the_softmax_sum_to_zero(penalty):
    y = TARGETS[Targets.CLASSES]
    model = th.LinearModel("softmax_cross_entropy", penalty).fit(X, y)
    alpha = 0.0 if penalty == "none" else 1.0
    peer = th.LogisticRegression(C=np.inf if not alpha else 1 / N, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(model.coef_.sum(axis=0), 0.0, atol=1e-7)
    np.testing.assert_allclose(model.intercept_.sum(), 0.0, atol=1e-12)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-6)
    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), atol=1e-6)


def test_labels_agree_with_the_probabilities_of_a_loss_of_ones_own():
    @dataclass(frozen=True)
    class ComplementaryLogLog(th.losses.Logistic):
        def mean(self, z):
            return -np.expm1(-np.exp(z))

    labels = np.where(SCORE > 0, "yes", "no")
    model = th.LinearModel(ComplementaryLogLog(), th.penalties.L2(0.1)).fit(X, labels)
    likely = model.predict_proba(X).argmax(axis=1)
    np.testing.assert_array_equal(model.predict(X), model.classes_[likely])
