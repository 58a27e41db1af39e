"""Curves: scikit-learn's points, bands that cover, thresholds that cost least, refusals."""

import matplotlib as mpl
import numpy as np
import pytest
from scipy import stats
from sklearn import metrics
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.model_selection import KFold, cross_val_score

import thetahat as th
from thetahat.evaluation.curves.precision_recall import average_precision_interval
from thetahat.evaluation.curves.roc import height_at
from thetahat.evaluation.curves.scores import rank

mpl.use("agg")

RANDOM = np.random.default_rng(0)
Y = RANDOM.integers(0, 2, 150)
SCORES = np.round(Y + RANDOM.standard_normal(150), 1)  # with ties
X_SMALL = RANDOM.standard_normal((24, 1))


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


def test_the_average_precision_alone_is_that_of_the_curve():
    curve = th.precision_recall_curve(Y, SCORES)
    assert average_precision_interval(Y, SCORES) == curve.average_precision


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


def test_calibrated_and_overconfident_probabilities():
    random = np.random.default_rng(3)
    p = random.random(5000)
    y = random.random(5000) < p
    calibrated = th.calibration_curve(y, p)
    overconfident = th.calibration_curve(y, np.clip(1.5 * (p - 0.5) + 0.5, 0, 1))
    assert sum(a in b for a, b in zip(calibrated.predicted, calibrated.observed, strict=True)) >= 8
    assert overconfident.error > 3 * calibrated.error
    uniform = th.calibration_curve(y, p, strategy="uniform")
    assert uniform.counts.sum() == 5000
    assert "outside the interval in" in str(overconfident)


def test_the_best_threshold_costs_least():
    costs = {"false_positive": 1.0, "false_negative": 4.0}
    found = th.best_threshold(Y, SCORES, **costs)

    def cost(threshold):
        called = threshold <= SCORES
        return np.mean(1.0 * (called & (Y == 0)) + 4.0 * (~called & (Y == 1)))

    assert found.cost == pytest.approx(min(cost(t) for t in [*SCORES, np.inf]))
    assert found.cost == pytest.approx(cost(found.threshold))
    assert found.cost_of_none == pytest.approx(cost(np.inf))


def test_errors_without_cost_are_all_made():
    found = th.best_threshold(Y, SCORES, false_positive=0.0)
    assert (found.threshold, found.cost, found.tpr, found.fpr) == (-np.inf, 0.0, 1.0, 1.0)
    found = th.best_threshold(Y, SCORES, false_negative=0.0)
    assert (found.threshold, found.cost, found.tpr, found.fpr) == (np.inf, 0.0, 0.0, 0.0)


def test_learning_and_validation_curves_are_cross_validated_scores():
    data = th.datasets.make_linear(120, 6, noise=2.0, random_state=0)
    curve = th.learning_curve(th.Ridge(), data.X, data.y, sizes=[12, 0.5, 1.0])
    assert curve.values.tolist() == [12, 48, 96]
    assert curve.scores[-1].estimate > curve.scores[0].estimate
    assert curve.training_scores[0] > curve.scores[0].estimate
    folds = KFold(4)
    found = th.validation_curve(
        th.Ridge(), data.X, data.y, parameter="alpha", values=[0.1, 1e4], cv=folds
    )
    for alpha, score in zip([0.1, 1e4], found.scores, strict=True):
        expected = cross_val_score(th.Ridge(alpha=alpha), data.X, data.y, cv=folds).mean()
        assert score.estimate == pytest.approx(expected)
    assert found.best == 0.1


@pytest.mark.parametrize("values", [[1, 3, None], [(1,), (1, 2), (2,)], ["a", "b", 3], [True, 2]])
def test_values_of_a_parameter_may_be_anything(values):
    import matplotlib.pyplot as plt

    class Echo(DummyClassifier):
        def __init__(self, strategy="prior", whatever=None):
            super().__init__(strategy=strategy)
            self.whatever = whatever

    curve = th.validation_curve(Echo(), SCORES[:, None], Y, parameter="whatever", values=values)
    assert curve.values.tolist() == values
    axes = curve.plot()
    assert [tick.get_text() for tick in axes.get_xticklabels()] == [str(v) for v in values]
    assert curve.best == values[0]
    assert str(values[-1]) in str(curve)
    plt.close("all")


@pytest.mark.parametrize(
    ("model", "targets", "scoring", "least", "most"),
    [
        (th.ConstantClassifier(), np.arange(24) % 8 == 5, None, 0.0, 1.0),
        (th.Ridge(), X_SMALL[:, 0] + 0.01 * SCORES[:24], None, -np.inf, 1.0),
        (th.Ridge(), SCORES[:24] ** 5, "neg_mean_squared_error", -np.inf, 0.0),
        (th.Ridge(), SCORES[:24] ** 5, "neg_mean_absolute_error", -np.inf, 0.0),
    ],
)
def test_bands_hold_only_what_the_metric_can_be(model, targets, scoring, least, most):
    (score,) = th.learning_curve(
        model, X_SMALL, targets, sizes=[1.0], cv=KFold(5), scoring=scoring, level=0.9999
    ).scores
    assert least <= score.low <= score.estimate <= score.high <= most
    assert score.high == most


def test_a_column_of_targets_gives_the_same_curves():
    for flat in (Y, SCORES):
        model = th.LogisticRegression() if flat is Y else th.Ridge()
        a, b = (
            th.learning_curve(model, SCORES[:, None], y, sizes=[1.0]) for y in (flat, flat[:, None])
        )
        assert a.scores == b.scores
        assert a.training_scores == b.training_scores


def test_stages_have_a_band_and_are_still_an_array():
    data = th.datasets.make_linear(160, 2, noise=1.0, random_state=0)
    X, y, X_new, y_new = data.X[:80], data.y[:80], data.X[80:], data.y[80:]
    model = GradientBoostingRegressor(n_estimators=20, random_state=0).fit(X, y)
    stages = th.staged_curve(model, X_new, y_new, score=metrics.mean_squared_error)
    last = metrics.mean_squared_error(y_new, model.predict(X_new))
    assert stages[-1] == pytest.approx(last)
    assert np.asarray(stages).shape == (len(stages),) == (20,)
    assert stages.tolist()[-1] == stages.scores[-1].estimate
    # The jackknife of a mean is about its t interval.
    interval = th.regression_errors(y_new, model.predict(X_new)).mse
    assert stages.scores[-1].high == pytest.approx(interval.high, rel=0.1)
    assert "mean_squared_error over 20 stages" in str(stages)
    column = th.staged_curve(model, X_new, y_new[:, None], score=metrics.mean_squared_error)
    assert column.scores == stages.scores


@pytest.mark.parametrize("score", [metrics.accuracy_score, lambda y, z: np.mean(y != z)])
def test_shares_of_rows_over_stages_are_proportions(score):
    random = np.random.default_rng(1)
    X = random.standard_normal((100, 2))
    y = X[:, 0] > 0
    model = th.AdaBoostClassifier(n_estimators=4).fit(X, y)
    curve = th.staged_curve(model, X, y, score=score)
    for stage, interval in zip(model.staged_predict(X), curve.scores, strict=True):
        count = round(100 * score(y, stage))
        assert interval == th.statistics.proportion_interval(count, 100)
    assert curve.scores[-1].low < curve.scores[-1].high


def test_staged_bands_cover_and_do_not_take_no_spread_for_certainty():
    random = np.random.default_rng(5)

    class Stages:
        def staged_predict(self, X):
            yield np.zeros(len(X))

    hits = []
    for _ in range(100):
        y = random.standard_normal(100)
        curve = th.staged_curve(Stages(), y[:, None], y, score=metrics.mean_squared_error)
        hits.append(1.0 in curve.scores[0])
    assert 0.9 <= np.mean(hits) <= 0.99
    same = th.staged_curve(
        Stages(), Y[:, None], np.full(150, 3.0), score=metrics.mean_squared_error
    )
    assert (same.scores[0].low, same.scores[0].high) == (0.0, np.inf)


def test_an_elbow_is_a_number_with_a_curve():
    found = th.elbow([1, 2, 3, 4, 5], [100.0, 40.0, 12.0, 10.0, 9.0])
    assert found == 3.0
    assert (float(found), int(found)) == (3.0, 3)
    assert found.low is None
    assert "elbow is at 3" in str(found)


@pytest.mark.parametrize(
    ("losses", "k", "scale"),
    [
        ([10.0, 5.0, 1.0, 0.9, 0.8, 1e-30], 3, "linear"),
        ([10.0, 5.0, 1.0, 0.9, 0.8, 0.0], 3, "linear"),
        ([10.0, 5.0, 1.0, 1e-30, 1e-30, 1e-31], 4, "log"),
        ([3.0, 0.0, -1.0, -1.1, -1.2, -1.3], 3, "linear"),
    ],
)
def test_the_elbow_of_losses_near_zero_or_below(losses, k, scale):
    found = th.elbow(range(1, 7), losses)
    assert (found, found.scale) == (k, scale)


def test_an_elbow_of_repeated_losses_has_a_band():
    random = np.random.default_rng(6)
    losses = np.array([[100.0], [40.0], [12.0], [10.0], [9.0]]) + random.normal(0, 1, (5, 30))
    found = th.elbow([1, 2, 3, 4, 5], losses)
    assert found == 3.0
    for low, high, own in zip(found.low, found.high, losses, strict=True):
        expected = th.statistics.mean_interval(own)
        assert (low, high) == pytest.approx((expected.low, expected.high))
    assert found.agreement > 0.9
    assert "of repetitions agree" in str(found)


def test_curves_draw_themselves():
    import matplotlib.pyplot as plt

    data = th.datasets.make_linear(60, 2, random_state=0)
    for curve in (
        th.roc_curve(Y, SCORES),
        th.precision_recall_curve(Y, SCORES),
        th.calibration_curve(Y, 1 / (1 + np.exp(-SCORES))),
        th.learning_curve(th.Ridge(), data.X, data.y),
        th.elbow([1, 2, 3], [[9.0, 8.0], [2.0, 3.0], [1.0, 1.5]]),
        th.staged_curve(
            GradientBoostingRegressor(n_estimators=3).fit(data.X, data.y),
            data.X,
            data.y,
            score=metrics.mean_squared_error,
        ),
    ):
        axes = curve.plot()
        assert axes.get_xlabel()
        assert str(curve)
    plt.close("all")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: th.roc_curve([1, 1], [0.1, 0.2]), "1 class"),
        (lambda: th.roc_curve([0, 1, 2], [0.1, 0.2, 0.3]), r"3 classes"),
        (lambda: th.roc_curve([0, 1], [0.1, np.nan]), "score of row 1 is nan"),
        (lambda: th.roc_curve([0, 1], [0.1]), "one label and one score"),
        (lambda: th.roc_curve(Y, SCORES, band="wide"), "band='wide'"),
        (lambda: th.roc_curve(Y, SCORES, positive=7), "rows are negative"),
        (lambda: th.calibration_curve([0, 1], [0.2, 1.2]), "lie in"),
        (lambda: th.calibration_curve([0, 1], [0.2, 0.8], bins=0), "bins=0"),
        (lambda: th.best_threshold(Y, SCORES, false_positive=-1.0), "false_positive=-1.0"),
        (lambda: th.best_threshold(Y, SCORES, false_positive=0, false_negative=0), "are both 0"),
        (lambda: th.best_threshold(Y, SCORES, false_negative=np.inf), "inf must be a finite"),
        (lambda: th.best_threshold(Y, SCORES, false_negative="a"), "false_negative='a'"),
        (
            lambda: th.best_threshold(Y, SCORES, false_negative=5.0, criterion="f1"),
            "false_negative=5 have no effect on the F1 score",
        ),
        (lambda: th.learning_curve(th.Ridge(), SCORES[:, None], Y, sizes=[999]), "has 120"),
        (lambda: th.elbow([1, 2, 3], [1.0, 2.0, 3.0]), "do not fall"),
        (lambda: th.elbow([1, 2, 3], [3.0, 2.0]), r"losses of shape \(2,\)"),
        (lambda: th.elbow([1, 2, 3], [3.0, np.nan, 1.0]), "losses holds nan"),
        (lambda: th.learning_curve(th.Ridge(), SCORES[:, None], Y, sizes=["a"]), "size 'a'"),
        (lambda: th.learning_curve(th.Ridge(), SCORES[:, None], Y, sizes=[np.nan]), "size nan"),
        (lambda: th.learning_curve(th.Ridge(), SCORES[:, None], Y, sizes=[]), "sizes is empty"),
        (lambda: th.learning_curve(th.Ridge(), SCORES[:, None], Y[:9]), "150 rows, but y has"),
        (
            lambda: th.staged_curve(th.Ridge(), [[1.0]], [1.0], score=max),
            "no method staged_predict",
        ),
    ],
)
def test_refusals(call, message):
    with pytest.raises(th.errors.ThetahatError, match=message):
        call()
