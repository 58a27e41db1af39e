"""ROC curves of real tables: scikit-learn's points and areas, least costs, intervals that cover.

scikit-learn comes with one table. Others are read from the folder that the environment variable
``THETAHAT_DATA`` names, and are skipped where it is not set.
"""

import os
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from sklearn import metrics
from sklearn.datasets import load_breast_cancer

import thetahat as th

MODELS = {
    "linear": th.LogisticRegression(max_iter=1000),
    "tree": th.DecisionTreeClassifier(max_depth=3, random_state=0),  # few leaves, so many ties
}


def table(name):
    """Numbers and 0/1 labels; categories become columns of zeros and ones."""
    if name == "cancer":
        return load_breast_cancer(return_X_y=True)
    import pandas as pd

    path = Path(os.environ.get("THETAHAT_DATA", ""), f"{name}.csv")
    if not path.is_file():
        pytest.skip(f"THETAHAT_DATA names no folder with {path.name}")
    frame = pd.read_csv(path)
    labels = frame.pop(frame.columns[-1])
    return pd.get_dummies(frame).to_numpy(float), (labels == labels.max()).to_numpy(int)


@cache
def scored(name):
    """Labels of every second row, and their scores by models of the other rows."""
    X, y = table(name)
    spread = X[::2].std(axis=0)
    X = (X - X[::2].mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    scores = {key: model.fit(X[::2], y[::2]).predict_proba(X[1::2])[:, 1]
              for key, model in MODELS.items()}  # fmt: skip
    return y[1::2], scores


every_table = pytest.mark.parametrize("name", ["cancer", "spambase", "credit-g"])
every_model = pytest.mark.parametrize("model", MODELS)


@every_table
@every_model
@pytest.mark.parametrize("weighted", [False, True])
def test_points_and_areas_are_scikit_learns(name, model, weighted):
    """A row of weight k is the row k times."""
    y, scores = scored(name)
    score = scores[model]
    assert model != "tree" or np.unique(score).size <= 8 < y.size / 10
    weight = np.random.default_rng(0).integers(0, 4, y.size) if weighted else np.ones(y.size, int)
    ours = th.roc_curve(np.repeat(y, weight), np.repeat(score, weight))
    rows = weight > 0  # scikit-learn keeps the thresholds of rows of weight 0
    given = {"sample_weight": weight[rows]}
    fpr, tpr, thresholds = metrics.roc_curve(y[rows], score[rows], drop_intermediate=False, **given)
    np.testing.assert_allclose(ours.fpr, fpr, atol=1e-12)
    np.testing.assert_allclose(ours.tpr, tpr, atol=1e-12)
    np.testing.assert_array_equal(ours.thresholds, thresholds)
    area = metrics.roc_auc_score(y[rows], score[rows], **given)
    assert ours.area.estimate == pytest.approx(area, abs=1e-12)
    assert ours.area.low < area < ours.area.high


@every_table
def test_two_models_are_compared_by_their_areas(name):
    y, scores = scored(name)
    areas = [metrics.roc_auc_score(y, scores[model]) for model in MODELS]
    test = th.statistics.auc_difference(y, *scores.values())
    assert test.interval.estimate == pytest.approx(areas[0] - areas[1])
    assert test.rejects == (0.0 not in test.interval)


@every_table
@every_model
@pytest.mark.parametrize("costs", [(1.0, 1.0), (5.0, 1.0), (1.0, 20.0)])
def test_costs_choose_the_threshold(name, model, costs):
    y, scores = scored(name)
    score = scores[model]
    best = th.best_threshold(y, score, false_positive=costs[0], false_negative=costs[1])
    every = np.append(np.unique(score), np.inf)
    paid = [
        np.mean(np.where(y == 1, costs[1] * (score < t), costs[0] * (score >= t))) for t in every
    ]
    assert best.cost == pytest.approx(min(paid))
    assert best.cost == pytest.approx(paid[np.searchsorted(every, best.threshold)])


@every_model
def test_intervals_of_the_area_cover(model):
    """The rows of the table are the population; 400 samples of 100 rows are drawn from it."""
    y, scores = scored("cancer")
    truth = metrics.roc_auc_score(y, scores[model])
    random = np.random.default_rng(1)
    covered = []
    for _ in range(400):
        rows = random.integers(0, y.size, 100)
        covered.append(truth in th.statistics.auc_interval(y[rows], scores[model][rows]))
    assert 0.92 <= np.mean(covered) <= 0.99
