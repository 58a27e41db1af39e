"""Fits of many models on many folds: order, threads, settings and errors."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, RegressorMixin

import thetahat as th
from thetahat.evaluation.cross_fitting import _longest_first
from thetahat.foundation.errors import DataError, ParameterError


class Mean(RegressorMixin, BaseEstimator):
    """Predicts the mean; notes a setting of scikit-learn in `fit`."""

    def fit(self, X, y):
        self.assumed_ = sklearn.get_config()["assume_finite"]
        self.mean_ = float(np.mean(y))
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


class Refusing(Mean):
    """Refuses training rows without the value 20."""

    def fit(self, X, y):
        if 20.0 not in X:
            raise ValueError(f"{int(X[0, 0])} is the first row")
        return super().fit(X, y)


def test_the_longest_fits_go_first():
    seconds = {}
    tasks = _longest_first(["a", "b", "c"], 3, seconds)
    assert [next(tasks) for _ in range(3)] == [("a", 0), ("b", 0), ("c", 0)]
    seconds.update(a=1.0, b=2.0)
    assert next(tasks) == ("c", 1)  # not done yet, so it counts as the longest
    seconds["c"] = 0.5
    assert list(tasks) == [("b", 1), ("b", 2), ("a", 1), ("a", 2), ("c", 2)]


@pytest.mark.parametrize("threads", [2, 4])
def test_scores_are_the_same_for_any_number_of_threads(threads):
    random = np.random.default_rng(0)
    X = random.standard_normal((200, 5))
    y = X[:, 0] + random.standard_normal(200)
    models = {"ridge": th.Ridge(), "forest": th.RandomForestRegressor(5, random_state=0)}
    with th.config(threads=1):
        expected = th.compare(models, X, y)
    with th.config(threads=threads):
        found = th.compare(models, X, y)
    for name in models:
        for metric, scores in expected.evaluations[name].scores.items():
            np.testing.assert_array_equal(found.evaluations[name].scores[metric], scores)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("assumed", [True, False])
def test_settings_of_scikit_learn_reach_every_fit(threads, assumed):
    X = np.arange(20.0)[:, None]
    with th.config(threads=threads), sklearn.config_context(assume_finite=assumed):
        found = th.evaluate(Mean(), X, X[:, 0], keep_models=True)
    assert [fit.estimator.assumed_ for fit in found.fits] == [assumed] * 5


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_names_the_first_fold_that_failed(threads):
    X = np.arange(1.0, 21.0)[:, None]
    with th.config(threads=threads), pytest.raises(ValueError, match="first row") as caught:
        th.evaluate(Refusing(), X, X[:, 0], cv=[(np.arange(k, 10), [19]) for k in range(3)])
    assert "on fold 0" in "".join(caught.value.__notes__)


def test_matrices_between_rows_lose_the_columns_of_held_out_rows():
    random = np.random.default_rng(0)
    X = random.standard_normal((40, 3))
    y = X[:, 0] + 0.1 * random.standard_normal(40)
    distances = np.linalg.norm(X[:, None] - X, axis=2)
    given = th.evaluate(th.KNeighborsRegressor(metric="precomputed"), distances, y)
    expected = th.evaluate(th.KNeighborsRegressor(), X, y)
    for metric, scores in expected.scores.items():
        np.testing.assert_allclose(given.scores[metric], scores, rtol=1e-9)


@pytest.mark.parametrize("kind", ["boolean", "string"])
def test_missing_labels_are_refused_with_their_row(kind):
    pandas = pytest.importorskip("pandas")
    values = [True, False, None] if kind == "boolean" else ["a", "b", None]
    y = pandas.Series(pandas.array(values * 10, dtype=kind))
    with pytest.raises(th.errors.DataError, match=r"row 2 is missing"):
        th.evaluate(th.LogisticRegression(), np.eye(30), y)


def test_settings_of_scikit_learn_reach_the_members_of_ensembles():
    X = np.arange(20.0)[:, None]
    with th.config(threads=2), sklearn.config_context(assume_finite=True):
        voting = th.VotingRegressor([("a", Mean()), ("b", Mean())]).fit(X, X[:, 0])
    assert [each.assumed_ for each in voting.estimators_] == [True, True]


class TestErrorsOfCompare:
    @pytest.mark.parametrize("time_limit", [None, 100])
    @pytest.mark.parametrize(
        ("model", "message"),
        [
            (None, "model 'a' is None, which is not an estimator"),
            (th.Ridge, "model 'a' is the class Ridge"),
            (3, "model 'a' is an object of type int"),
        ],
    )
    def test_what_is_no_model_is_named(self, model, message, time_limit):
        models = {"a": model, "b": th.Ridge()}
        with pytest.raises(ParameterError, match=message):
            th.compare(models, np.zeros((9, 1)), np.arange(9.0), time_limit=time_limit)

    @pytest.mark.parametrize("time_limit", [None, 100])
    def test_a_missing_target_is_found_before_the_folds(self, time_limit):
        random = np.random.default_rng(0)
        X, y = random.standard_normal((30, 2)), random.standard_normal(30)
        y[17] = np.nan
        models = {"a": th.LinearRegression(), "b": th.Ridge()}
        with pytest.raises(DataError, match="the target of row 17 is missing"):
            th.compare(models, X, y, time_limit=time_limit)
        with pytest.raises(DataError, match="the target of row 17 is missing"):
            th.evaluate(th.Ridge(), X, np.column_stack([np.zeros(30), y]))

    def test_a_model_that_cannot_predict_is_named(self):
        class Mute(th.Ridge):
            def predict(self, X):
                raise ValueError("no prediction")

        random = np.random.default_rng(0)
        X, y = random.standard_normal((30, 2)), random.standard_normal(30)
        with pytest.raises(ValueError, match="no prediction") as failure:
            th.compare({"fine": th.Ridge(), "mute": Mute()}, X, y)
        assert failure.value.__notes__ == ["(while scoring 'mute' on fold 0)"]
