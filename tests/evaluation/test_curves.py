"""Curves: scikit-learn's points, bands that cover, thresholds that cost least, refusals."""

import matplotlib as mpl
import numpy as np
import pytest
from scipy import stats
from sklearn import metrics
from sklearn.model_selection import cross_val_score

import thetahat as th
from thetahat.evaluation.curves.roc import height_at
from thetahat.evaluation.curves.scores import rank

mpl.use("agg")

RANDOM = np.random.default_rng(0)
Y = RANDOM.integers(0, 2, 150)
SCORES = np.round(Y + RANDOM.standard_normal(150), 1)  # with ties


def test_every_threshold_and_ties_as_scikit_learn():
    ours = th.roc_curve(Y, SCORES)
    fpr, tpr, thresholds = metrics.roc_curve(Y, SCORES, drop_intermediate=False)
    np.testing.assert_allclose(ours.fpr, fpr)
    np.testing.assert_allclose(ours.tpr, tpr)
    np.testing.assert_allclose(ours.thresholds, thresholds)
    assert ours.area.estimate == pytest.approx(metrics.roc_auc_score(Y, SCORES))


def test_lowering_the_threshold_drives_both_shares_to_one():
    curve = th.roc_curve(Y, SCORES)
    assert (curve.fpr[0], curve.tpr[0]) == (0.0, 0.0)
    assert (curve.fpr[-1], curve.tpr[-1]) == (1.0, 1.0)
    assert (np.diff(curve.fpr) >= 0).all()
    assert (np.diff(curve.tpr) >= 0).all()


def test_average_precision_is_scikit_learns():
    curve = th.precision_recall_curve(Y, SCORES)
    expected = metrics.average_precision_score(Y, SCORES)
    assert curve.average_precision.estimate == pytest.approx(expected)
    assert expected in curve.average_precision
    precision, recall, _ = metrics.precision_recall_curve(Y, SCORES)
    np.testing.assert_allclose(curve.precision, precision[-2::-1])
    np.testing.assert_allclose(curve.recall, recall[-2::-1])


def true_height(fpr):
    """The ROC curve of N(1, 1) against N(0, 1)."""
    return stats.norm.sf(stats.norm.isf(fpr) - 1)


def test_the_simultaneous_band_holds_the_whole_curve():
    random, inside = np.random.default_rng(1), 0
    for _ in range(300):
        y = np.repeat([0, 1], 60)
        curve = th.roc_curve(y, y + random.standard_normal(120), band="simultaneous")
        truth = true_height(curve.grid)
        inside += bool(((curve.low <= truth) & (truth <= curve.high)).all())
    assert inside / 300 >= 0.93


def test_columns_of_labels_and_scores_are_labels_and_scores():
    assert th.roc_curve(Y[:, None], SCORES[:, None]).area == th.roc_curve(Y, SCORES).area


def test_height_is_the_top_of_a_vertical_step():
    ranked = rank(np.array([True, True, False]), np.array([3.0, 2.0, 1.0]))
    np.testing.assert_allclose(height_at(np.array([0.0, 1.0]), ranked), [1.0, 1.0])


def test_calibration_of_honest_and_of_bold_probabilities():
    random = np.random.default_rng(3)
    p = random.random(5000)
    y = random.random(5000) < p
    honest = th.calibration_curve(y, p)
    bold = th.calibration_curve(y, np.clip(1.5 * (p - 0.5) + 0.5, 0, 1))
    assert sum(a in b for a, b in zip(honest.predicted, honest.observed, strict=True)) >= 8
    assert bold.error > 3 * honest.error
    uniform = th.calibration_curve(y, p, strategy="uniform")
    assert uniform.counts.sum() == 5000
    assert "bins whose interval" in str(bold)


def test_the_best_threshold_costs_least():
    costs = {"false_positive": 1.0, "false_negative": 4.0}
    found = th.best_threshold(Y, SCORES, **costs)

    def cost(threshold):
        called = threshold <= SCORES
        return np.mean(1.0 * (called & (Y == 0)) + 4.0 * (~called & (Y == 1)))

    assert found.cost == pytest.approx(min(cost(t) for t in [*SCORES, np.inf]))
    assert found.cost == pytest.approx(cost(found.threshold))
    assert found.cost_of_none == pytest.approx(cost(np.inf))


def test_learning_and_validation_curves_are_cross_validated_scores():
    data = th.datasets.make_linear(120, 6, noise=2.0, random_state=0)
    curve = th.learning_curve(th.Ridge(), data.X, data.y, sizes=[12, 0.5, 1.0])
    assert curve.values.tolist() == [12, 48, 96]
    assert curve.scores[-1].estimate > curve.scores[0].estimate
    assert curve.training_scores[0] > curve.scores[0].estimate
    from sklearn.model_selection import KFold

    folds = KFold(4)
    found = th.validation_curve(
        th.Ridge(), data.X, data.y, parameter="alpha", values=[0.1, 1e4], cv=folds
    )
    for alpha, score in zip([0.1, 1e4], found.scores, strict=True):
        expected = cross_val_score(th.Ridge(alpha=alpha), data.X, data.y, cv=folds).mean()
        assert score.estimate == pytest.approx(expected)
    assert found.best == 0.1


def test_stages_and_elbows():
    from sklearn.ensemble import GradientBoostingRegressor

    data = th.datasets.make_linear(80, 2, random_state=0)
    model = GradientBoostingRegressor(n_estimators=20, random_state=0).fit(data.X, data.y)
    stages = th.staged_curve(model, data.X, data.y, score=metrics.mean_squared_error)
    assert stages[-1] == pytest.approx(metrics.mean_squared_error(data.y, model.predict(data.X)))
    assert th.elbow([1, 2, 3, 4, 5], [100.0, 40.0, 12.0, 10.0, 9.0]) == 3.0


def test_curves_draw_themselves():
    import matplotlib.pyplot as plt

    data = th.datasets.make_linear(60, 2, random_state=0)
    for curve in (
        th.roc_curve(Y, SCORES),
        th.precision_recall_curve(Y, SCORES),
        th.calibration_curve(Y, 1 / (1 + np.exp(-SCORES))),
        th.learning_curve(th.Ridge(), data.X, data.y),
    ):
        axes = curve.plot()
        assert axes.get_xlabel()
        assert str(curve)
    plt.close("all")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: th.roc_curve([1, 1], [0.1, 0.2]), "1 class"),
        (lambda: th.roc_curve([0, 1, 2], [0.1, 0.2, 0.3]), r"3 class\(es\)"),
        (lambda: th.roc_curve([0, 1], [0.1, np.nan]), "score of row 1 is nan"),
        (lambda: th.roc_curve([0, 1], [0.1]), "one label and one score"),
        (lambda: th.roc_curve(Y, SCORES, band="wide"), "band='wide'"),
        (lambda: th.roc_curve(Y, SCORES, positive=7), "rows are negative"),
        (lambda: th.calibration_curve([0, 1], [0.2, 1.2]), "lie in"),
        (lambda: th.calibration_curve([0, 1], [0.2, 0.8], bins=0), "bins=0"),
        (lambda: th.best_threshold(Y, SCORES, false_positive=-1.0), "false_positive=-1.0"),
        (lambda: th.best_threshold(Y, SCORES, false_positive=0, false_negative=0), "cost 0"),
        (lambda: th.best_threshold(Y, SCORES, false_negative=np.inf), "inf must be a finite"),
        (lambda: th.best_threshold(Y, SCORES, false_negative="a"), "false_negative='a'"),
        (lambda: th.learning_curve(th.Ridge(), SCORES[:, None], Y, sizes=[999]), "has 120"),
        (lambda: th.elbow([1, 2, 3], [1.0, 2.0, 3.0]), "do not fall"),
        (lambda: th.staged_curve(th.Ridge(), [[1.0]], [1.0], score=max), "no stages"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(th.ThetahatError, match=message):
        call()
