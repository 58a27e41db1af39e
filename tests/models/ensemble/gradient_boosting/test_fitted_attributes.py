"""Fitted attributes of GradientBoosting models, as scikit-learn has them."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier

import thetahat as th

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((120, 3))
Y = X[:, 0] + 0.3 * RANDOM.standard_normal(120)
LABELS = np.digitize(Y, [-0.5, 0.5])


def summed(model):
    """Σ weight · member."""
    pairs = zip(model.estimators_.T, model.estimator_weights_.T, strict=True)
    return np.column_stack(
        [sum(w * each.predict(X) for each, w in zip(*pair, strict=True)) for pair in pairs]
    )


@pytest.mark.parametrize("options", [{}, {"reoptimise": "all"}, {"estimator": th.Ridge()}], ids=str)
def test_predictions_are_the_start_plus_weighted_members(options):
    model = th.GradientBoostingRegressor(n_estimators=9, learning_rate=0.2, **options).fit(X, Y)
    total = model.init_.predict(X) + summed(model)[:, 0]
    np.testing.assert_allclose(model.predict(X), total, rtol=1e-10)


def test_trees_do_not_include_the_learning_rate():
    model = th.GradientBoostingRegressor(n_estimators=9, learning_rate=0.2).fit(X, Y)
    total = sum(tree.predict(X) for tree in model.estimators_[:, 0])
    np.testing.assert_allclose(model.predict(X), Y.mean() + 0.2 * total, rtol=1e-10)
    np.testing.assert_array_equal(model.estimator_weights_, 0.2)
    model.learning_rate = 0  # is refused by fit only
    assert np.isfinite(model.estimators_[0, 0].predict(X)).all()


def test_scores_of_classes_are_the_start_plus_weighted_members():
    model = th.GradientBoostingClassifier(n_estimators=5).fit(X, LABELS)
    start = np.log(model.init_.predict_proba(X))
    found = model.decision_function(X) - start - summed(model)
    np.testing.assert_allclose(found, np.full_like(found, found[0, 0]), atol=1e-10)


@pytest.mark.parametrize("loss", ["log_loss", "exponential", "hinge"])
def test_the_initial_model_of_a_classifier_predicts(loss):
    y = LABELS > 0
    first = th.GradientBoostingClassifier(loss=loss, n_estimators=2).fit(X, y).init_
    assert (first.predict(X) == (y.mean() > 0.5)).all()
    if loss != "hinge":
        np.testing.assert_allclose(first.predict_proba(X)[:, 1], y.mean())


def test_the_initial_model_follows_the_loss_and_the_files(tmp_path):
    model = th.GradientBoostingRegressor(loss="absolute_error", n_estimators=2).fit(X, Y)
    th.save(model, tmp_path / "model.theta")
    first = th.load(tmp_path / "model.theta").init_
    np.testing.assert_allclose(first.predict(X), np.median(Y))


def test_zero_and_models_are_initial_models():
    zero = th.GradientBoostingRegressor(init="zero", n_estimators=2).fit(X, Y)
    assert zero.init_ == "zero"
    given = th.GradientBoostingClassifier(init=DummyClassifier(), n_estimators=2).fit(X, LABELS)
    assert isinstance(given.init_, DummyClassifier)
    assert not hasattr(th.GradientBoostingRegressor(), "init_")


def test_an_initial_classifier_needs_probabilities():
    model = th.GradientBoostingClassifier(init=th.RidgeClassifier())
    with pytest.raises(th.errors.ParameterError, match=r"init=RidgeClassifier.*predict_proba"):
        model.fit(X, LABELS)


@pytest.mark.parametrize("name", ["oob_improvement_", "oob_scores_", "oob_score_"])
def test_all_rows_leave_no_out_of_bag_losses(name):
    whole = th.GradientBoostingRegressor(n_estimators=2)
    assert not hasattr(whole, name)
    assert not hasattr(whole.fit(X, Y), name)
    with pytest.raises(AttributeError, match="subsample < 1"):
        getattr(whole, name)
    assert hasattr(th.GradientBoostingRegressor(n_estimators=2, subsample=0.5).fit(X, Y), name)
