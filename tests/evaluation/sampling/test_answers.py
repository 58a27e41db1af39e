"""Outputs of a fitted model, each computed once."""

import numpy as np
import pytest
from sklearn.metrics import get_scorer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import thetahat as th
from thetahat.evaluation.sampling.answers import answers_of


class CountedScaler(StandardScaler):
    calls = 0

    def transform(self, X):
        type(self).calls += 1
        return super().transform(X)


@pytest.fixture
def table():
    random = np.random.default_rng(0)
    X = random.integers(0, 3, size=(200, 3)).astype(float)  # many ties among the neighbours
    return X, np.array(["a", "b", "c"])[random.integers(0, 3, size=200)]


@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.parametrize("k", [1, 2, 4])
def test_labels_of_neighbours_are_those_of_predict(table, k, weights):
    X, y = table
    model = th.KNeighborsClassifier(k, weights=weights).fit(X[:100], y[:100])
    answers, rows = answers_of(model, X), np.arange(200)
    assert answers.predict(rows).tolist() == model.predict(X).tolist()
    np.testing.assert_array_equal(answers.predict_proba(rows), model.predict_proba(X))


def test_several_columns_of_labels(table):
    X, y = table
    model = th.KNeighborsClassifier(3).fit(X, np.column_stack([y, y[::-1]]))
    assert answers_of(model, X).predict(np.arange(5)).tolist() == model.predict(X[:5]).tolist()


def test_the_columns_of_a_pipeline_are_prepared_once(table):
    X, y = table
    model = make_pipeline(CountedScaler(), th.LogisticRegression()).fit(X, y)
    CountedScaler.calls = 0
    answers, rows = answers_of(model, X), np.arange(200)
    assert answers.predict(rows).tolist() == model[1].predict(model[0].transform(X)).tolist()
    scored = get_scorer("neg_log_loss")(answers, rows, y)
    assert CountedScaler.calls == 2
    assert scored == pytest.approx(get_scorer("neg_log_loss")(model, X, y))
