"""Bands and intervals of curves cover: at small shares, with few rows, and without spread."""

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics

import thetahat as th
from thetahat.evaluation.curves.bands import _places, pointwise_bounds
from thetahat.evaluation.curves.precision_recall import _average, _average_interval
from thetahat.evaluation.curves.scores import rank

SHARES = np.array([0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 0.8, 0.95])


def ranked_normals(random, negatives, positives, gap):
    y = np.repeat([False, True], [negatives, positives])
    return rank(y, gap * y + random.standard_normal(y.size))


@pytest.mark.parametrize(
    ("negatives", "positives", "gap"),
    [(40, 40, 1.0), (15, 15, 1.0), pytest.param(200, 50, 2.0, marks=pytest.mark.slow)],
)
def test_the_pointwise_band_of_an_roc_curve_covers_at_every_false_positive_rate(
    negatives, positives, gap
):
    """150 repetitions: 92% is about two standard errors below 95%."""
    random, inside = np.random.default_rng(0), []
    truth = stats.norm.sf(stats.norm.isf(SHARES) - gap)
    for _ in range(150):
        counts = ranked_normals(random, negatives, positives, gap)
        low, high = pointwise_bounds(SHARES, counts.false_positives, counts.true_positives, 0.95)
        inside.append((low <= truth) & (truth <= high))
    assert np.mean(inside, axis=0).min() >= 0.92


def test_the_band_of_precision_covers_at_every_recall():
    random, inside = np.random.default_rng(1), []
    recall = np.array([0.05, 0.2, 0.5, 0.8, 0.95])
    truth = recall / (recall + stats.norm.sf(stats.norm.isf(recall) + 1))
    y = np.repeat([0, 1], 30)
    for _ in range(30):
        curve = th.precision_recall_curve(y, y + random.standard_normal(60))
        low, high = (np.interp(recall, curve.grid, ends) for ends in (curve.low, curve.high))
        inside.append((low <= truth) & (truth <= high))
    assert np.mean(inside) >= 0.92


def true_average_precision(gap, share):
    threshold = np.linspace(-8.0, 10.0, 20001)[::-1]
    recall, false = stats.norm.sf(threshold - gap), stats.norm.sf(threshold)
    return float(np.trapezoid(share * recall / (share * recall + (1 - share) * false), recall))


@pytest.mark.parametrize(
    ("negatives", "positives", "gap"), [(15, 15, 1.0), (40, 40, 2.5), (200, 10, 2.0), (5, 200, 1.0)]
)
def test_the_interval_of_the_average_precision_covers(negatives, positives, gap):
    random = np.random.default_rng(2)
    truth = true_average_precision(gap, positives / (negatives + positives))
    hits = [
        truth in _average_interval(ranked_normals(random, negatives, positives, gap), 0.95)
        for _ in range(400)
    ]
    assert np.mean(hits) >= 0.93


def test_the_variance_of_the_average_precision_is_that_of_resampled_rows():
    random = np.random.default_rng(3)
    y = np.repeat([False, True], [80, 40])
    scores = np.round(y + random.standard_normal(120), 1)
    up, down = np.flatnonzero(y), np.flatnonzero(~y)
    found = []
    for _ in range(600):
        rows = np.r_[random.choice(up, up.size), random.choice(down, down.size)]
        found.append(_average(rank(y[rows], scores[rows]))[0])
    assert found[-1] == pytest.approx(metrics.average_precision_score(y[rows], scores[rows]))
    assert _average(rank(y, scores))[1] == pytest.approx(np.var(found), rel=0.2)


def test_perfect_scores_of_few_rows_are_no_certainty():
    y = [0] * 5 + [1] * 5
    band = th.roc_curve(y, range(10))
    assert (band.high == 1).all()
    assert band.low[:40].max() == 0  # the threshold may lie above all five negatives
    assert band.low.max() < 0.7
    average = th.precision_recall_curve(y, range(10)).average_precision
    assert average.estimate == 1
    assert average.low == pytest.approx(th.statistics.proportion_interval(5, 5).low)


def test_scores_that_say_nothing_have_the_diagonal_in_their_band():
    curve = th.roc_curve([0, 1] * 20, [1.0] * 40)
    assert (curve.low <= curve.grid + 1e-9).all()
    assert (curve.grid <= curve.high + 1e-9).all()
    assert curve.low[50] > 0.2


@pytest.mark.parametrize("n", [1, 5, 40, 300, 100_000])
def test_places_of_a_threshold_are_binomial(n):
    shares = np.array([0.0, 0.01, 0.3, 0.97, 1.0])
    weights, places = _places(shares, n, 5e-4)
    assert weights.min() >= 0
    mean = (weights * places).sum(axis=1)
    spread = np.sqrt((weights * places**2).sum(axis=1) - mean**2)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    np.testing.assert_allclose(mean, n * shares, rtol=0.002)
    np.testing.assert_allclose(spread, np.sqrt(n * shares * (1 - shares)), rtol=0.01, atol=1e-3)
