"""AdaBoost.R2: its steps one by one, its median, quality beside scikit-learn's, bad input."""

import numpy as np
import pytest
from sklearn.datasets import make_friedman1
from sklearn.ensemble import AdaBoostRegressor as Peer
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import KNeighborsRegressor

import thetahat as th
from tests.reference.core.weighted_median import weighted_median

X, Y = make_friedman1(400, noise=1.0, random_state=0)
LOSSES = {
    "linear": lambda e: e,
    "square": lambda e: e**2,
    "exponential": lambda e: 1 - np.exp(-e),
}


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("learning_rate", [1.0, 0.5])
def test_step_by_step(loss, learning_rate):
    model = th.AdaBoostRegressor(
        n_estimators=8, loss=loss, learning_rate=learning_rate, resample=False
    ).fit(X, Y)
    weight, answers = np.ones(len(Y)), []
    for vote, error in zip(model.estimator_weights_, model.estimator_errors_, strict=True):
        tree = th.DecisionTreeRegressor(max_depth=3).fit(X, Y, sample_weight=weight)
        answers.append(tree.predict(X))
        apart = np.abs(answers[-1] - Y)
        losses = LOSSES[loss](apart / apart.max())
        mean = np.average(losses, weights=weight)
        beta = mean / (1 - mean)
        assert error == pytest.approx(mean)
        assert vote == pytest.approx(learning_rate * np.log(1 / beta))
        weight = weight * beta ** (learning_rate * (1 - losses))
        weight *= len(Y) / weight.sum()
    expected = np.empty(len(Y))
    weighted_median(np.column_stack(answers), model.estimator_weights_, expected)
    np.testing.assert_allclose(model.predict(X), expected)


@pytest.mark.parametrize("loss", LOSSES)
def test_as_good_as_scikit_learn(loss):
    """On the same draws of rows neither is ahead by more than the seeds make a difference."""
    x, y = make_friedman1(500, random_state=1)
    ours, theirs = (
        [
            kind(loss=loss, n_estimators=20, random_state=seed).fit(X, Y).score(x, y)
            for seed in range(5)
        ]
        for kind in (th.AdaBoostRegressor, Peer)
    )
    assert np.mean(ours) > np.mean(theirs) - 3 * np.std(theirs) / np.sqrt(5)


@pytest.mark.parametrize("depth", [2, None])
def test_the_median_is_that_of_the_answers(depth):
    """Of small trees by the ranks of their leaves, of large ones by their values."""
    model = th.AdaBoostRegressor(
        th.DecisionTreeRegressor(max_depth=depth), n_estimators=12, random_state=0
    ).fit(X, Y)
    assert (model._ranked is None) == (depth is None)
    answers = np.column_stack([each.predict(X) for each in model.estimators_])
    expected = np.empty(len(X))
    weighted_median(answers, model.estimator_weights_[: answers.shape[1]], expected)
    np.testing.assert_array_equal(model.predict(X), expected)


def test_stages_end_in_the_prediction():
    model = th.AdaBoostRegressor(n_estimators=10, random_state=0).fit(X, Y)
    stages = list(model.staged_predict(X))
    assert len(stages) == len(model.estimators_) == 10
    np.testing.assert_array_equal(stages[0], model.estimators_[0].predict(X))
    np.testing.assert_array_equal(stages[-1], model.predict(X))
    assert list(model.staged_score(X, Y))[-1] == pytest.approx(model.score(X, Y))
    importances = [tree.feature_importances_ for tree in model.estimators_]
    np.testing.assert_allclose(
        model.feature_importances_,
        np.average(importances, axis=0, weights=model.estimator_weights_),
    )


def test_same_seed_same_model_and_no_seed_another():
    first, again, other = (
        th.AdaBoostRegressor(n_estimators=5, random_state=seed).fit(X, Y).predict(X)
        for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


@pytest.mark.parametrize("resample", [True, "auto"])
def test_learners_without_weights(resample):
    model = th.AdaBoostRegressor(
        KNeighborsRegressor(3), n_estimators=5, random_state=0, resample=resample
    ).fit(X, Y)
    assert model.score(X, Y) > 0.5
    with pytest.raises(th.errors.ParameterError, match="doesn't support sample_weight"):
        th.AdaBoostRegressor(KNeighborsRegressor(3), resample=False).fit(X, Y)


def test_learners_that_are_no_trees():
    model = th.AdaBoostRegressor(th.Ridge(), n_estimators=5, resample=False).fit(X, Y)
    assert model.score(X, Y) > 0.5
    np.testing.assert_array_equal(list(model.staged_predict(X))[-1], model.predict(X))


def test_weights_count_rows_where_none_are_drawn():
    random = np.random.default_rng(1)
    weight = random.integers(0, 3, len(Y))
    rows = np.repeat(np.arange(len(Y)), weight)
    weighted, repeated = (th.AdaBoostRegressor(n_estimators=10, resample=False) for _ in range(2))
    weighted.fit(X, Y, sample_weight=weight)
    repeated.fit(X[rows], Y[rows])
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-9)


def test_how_rounds_end():
    steps = np.repeat([1.0, 5.0], 20)
    exact = th.AdaBoostRegressor().fit(np.arange(40.0)[:, None], steps)
    assert exact.stopped_.startswith("iteration 1: the learner makes no error")
    np.testing.assert_array_equal(exact.predict(np.arange(40.0)[:, None]), steps)
    constant = np.tile([-1.0, 1.0], 20)
    with pytest.warns(ConvergenceWarning, match="no better than guessing"):
        model = th.AdaBoostRegressor(resample=False).fit(np.ones((40, 1)), constant)
    assert model.predict(np.ones((1, 1))) == pytest.approx([0.0])
    single = th.AdaBoostRegressor().fit([[1.0]], [3.0])
    assert single.predict([[7.0]]) == [3.0]


def test_missing_values_and_far_ones():
    random = np.random.default_rng(2)
    holes = X.copy()
    holes[random.random(X.shape) < 0.1] = np.nan
    holes[0, 0], holes[1, 0] = np.inf, -np.inf
    assert th.AdaBoostRegressor(random_state=0).fit(holes, Y).score(holes, Y) > 0.5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loss": "absolute"}, r"loss='absolute' must be one of 'linear', 'square'"),
        ({"n_estimators": 2.5}, r"n_estimators=2.5 must be a whole number from 1 to"),
        ({"learning_rate": -1}, r"learning_rate=-1 must be a number > 0"),
        ({"estimator": object()}, r"must have fit and predict"),
    ],
)
def test_refusals_name_the_rule_and_the_value(options, message):
    with pytest.raises(th.errors.ParameterError, match=message):
        th.AdaBoostRegressor(**options).fit(X, Y)


def test_refuses_targets_and_weights_that_are_none():
    with pytest.raises(th.errors.DataError, match="NaN"):
        th.AdaBoostRegressor().fit(X[:2], [0.0, np.nan])
    with pytest.raises(th.errors.DataError, match="all sample weights are zero"):
        th.AdaBoostRegressor().fit(X, Y, sample_weight=np.zeros(len(Y)))
    with pytest.raises(th.errors.ParameterError, match="max_depth=0"):
        th.AdaBoostRegressor(th.DecisionTreeRegressor(max_depth=0)).fit(X, Y)
