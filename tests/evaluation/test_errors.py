"""Confusion and regression errors: scikit-learn's numbers, with intervals; the worked table."""

import numpy as np
import pytest
from sklearn import metrics

import thetahat as th

RANDOM = np.random.default_rng(0)
TRUTH = RANDOM.choice(["a", "b", "c"], 200)
CALLED = np.where(RANDOM.random(200) < 0.7, TRUTH, RANDOM.choice(["a", "b", "c"], 200))


def test_counts_and_shares_are_scikit_learns():
    table = th.confusion(TRUTH, CALLED)
    np.testing.assert_array_equal(table.counts, metrics.confusion_matrix(TRUTH, CALLED))
    assert table.accuracy.estimate == pytest.approx(metrics.accuracy_score(TRUTH, CALLED))
    for place, label in enumerate("abc"):
        precision = metrics.precision_score(TRUTH, CALLED, average=None)[place]
        recall = metrics.recall_score(TRUTH, CALLED, average=None)[place]
        assert table.precision(label).estimate == pytest.approx(precision)
        assert table.recall(label).estimate == pytest.approx(recall)
        assert table.recall(label).estimate in table.recall(label)


def test_two_class_formulas():
    table = th.confusion([1, 1, 1, 0, 0, 0, 0], [1, 1, 0, 1, 0, 0, 0])
    assert table.accuracy.estimate == pytest.approx(5 / 7)
    assert table.precision().estimate == pytest.approx(2 / 3)
    assert table.recall().estimate == pytest.approx(2 / 3)
    assert table.false_positive_rate().estimate == pytest.approx(1 / 4)
    assert table.error.estimate == pytest.approx(2 / 7)


def test_the_spam_table_has_an_error_of_9_3_percent():
    """57.3, 4.0, 5.3 and 33.4 percent add up to 100, and err in 9.3 of them, not in 8.7."""
    cells = np.array([[573, 40], [53, 334]])
    truth = np.repeat([0, 0, 1, 1], cells.ravel())
    called = np.repeat([0, 1, 0, 1], cells.ravel())
    assert th.confusion(truth, called).error.estimate == pytest.approx(0.093)


def test_weights_count_rows():
    random = np.random.default_rng(1)
    weight = random.integers(0, 3, 200)
    weighted = th.confusion(TRUTH, CALLED, sample_weight=weight)
    repeated = th.confusion(np.repeat(TRUTH, weight), np.repeat(CALLED, weight))
    np.testing.assert_allclose(weighted.counts, repeated.counts)


def test_regression_errors_are_scikit_learns():
    random = np.random.default_rng(2)
    y = random.standard_normal(50)
    predicted = y + 0.3 * random.standard_normal(50)
    errors = th.regression_errors(y, predicted)
    assert errors.mse.estimate == pytest.approx(metrics.mean_squared_error(y, predicted))
    assert errors.rmse.estimate == pytest.approx(metrics.root_mean_squared_error(y, predicted))
    assert errors.mae.estimate == pytest.approx(metrics.mean_absolute_error(y, predicted))
    assert errors.r2 == pytest.approx(metrics.r2_score(y, predicted))
    assert errors.rss == pytest.approx(50 * errors.mse.estimate)
    assert "RMSE" in str(errors)


def test_mean_squares_are_not_negative():
    errors = th.regression_errors([1.0, 2.0, 3.0], [1.0, 2.0, 4.0])
    assert errors.mse.low == errors.mae.low == 0.0


def test_intervals_of_the_mean_square_cover():
    random = np.random.default_rng(1)
    hits = [
        1.0 in th.regression_errors(np.zeros(200), random.standard_normal(200)).mse
        for _ in range(1000)
    ]
    assert 0.92 <= np.mean(hits) <= 0.97


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: th.confusion([1, 0], [1]), "one true and one predicted label"),
        (
            lambda: th.confusion([0, 1], [0, 1], sample_weight=[1]),
            r"sample_weight has shape \(1,\)",
        ),
        (lambda: th.confusion([0, 1], [0, 1], sample_weight=[1, -1]), "first at row 1: -1"),
        (
            lambda: th.confusion([0, 1], [0, 1], sample_weight=[np.nan, 1]),
            "sample_weight contains NaN",
        ),
        (
            lambda: th.confusion([0, 1], [0, 1], sample_weight=[0, 0]),
            "Give at least one row a positive weight",
        ),
        (lambda: th.confusion(TRUTH, CALLED).precision(), "There are 3 classes"),
        (lambda: th.confusion(TRUTH, CALLED).recall("z"), "belong to no class"),
        (lambda: th.confusion([0, 0], [0, 1]).recall(), "0 of 0 rows"),
        (lambda: th.regression_errors([1.0, 2.0], [1.0, np.inf]), "inf at position 1"),
        (lambda: th.regression_errors([1.0, 2.0, 3.0], [1.0, 2.0]), "a has 3 values"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(th.errors.ThetahatError, match=message):
        call()
