"""Gradient boosting refuses what it cannot use: weights, classes, constraints."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

import thetahat as th


def rows():
    random = np.random.default_rng(0)
    X = random.normal(size=(40, 3))
    return X, X[:, 0] + random.normal(size=40)


def test_weights_that_the_initial_estimator_ignores_are_refused():
    X, y = rows()
    model = th.GradientBoostingRegressor(init=make_pipeline(LinearRegression()))
    model.fit(X, y)
    with pytest.raises(th.errors.ParameterError, match="Pipeline does not support sample weights"):
        model.fit(X, y, sample_weight=np.ones(40))


def test_a_class_is_no_initial_estimator():
    with pytest.raises(th.errors.ParameterError, match="init"):
        th.GradientBoostingRegressor(init=LinearRegression).fit(*rows())


def test_out_of_bag_score_is_the_last_one():
    X, y = rows()
    model = th.GradientBoostingRegressor(n_estimators=5, subsample=0.5, random_state=0).fit(X, y)
    assert model.oob_score_ == model.oob_scores_[-1]
    assert not hasattr(th.GradientBoostingRegressor(n_estimators=5).fit(X, y), "oob_score_")


@pytest.mark.parametrize("wrong", [[0, 1], [{0.5}], [{"a"}], [{7}]])
def test_wrong_interaction_constraints_are_explained(wrong):
    with pytest.raises(th.errors.ParameterError, match="interaction_cst"):
        th.HistGradientBoostingRegressor(interaction_cst=wrong).fit(*rows())


@pytest.mark.parametrize("kind", [th.GradientBoostingClassifier, th.HistGradientBoostingClassifier])
def test_one_class_of_positive_weight_is_refused(kind):
    X, y = rows()
    with pytest.raises(th.errors.DataError, match="1 class after the rows of weight zero"):
        kind().fit(X, y > 0, sample_weight=(y > 0).astype(float))
