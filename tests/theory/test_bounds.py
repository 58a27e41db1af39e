"""Bounds hold where they are simulated; worked numbers are what they are."""

import math
from itertools import product

import numpy as np
import pytest

import thetahat as th
from thetahat import theory

RANDOM = np.random.default_rng(0)
REPETITIONS = 20_000


def share(hits):
    """A simulated probability, less four of its standard errors: what a bound must not be under."""
    rate = float(np.mean(hits))
    return rate - 4 * math.sqrt(rate * (1 - rate) / len(hits))


def test_worked_numbers():
    assert theory.hoeffding(100, 0.1) == pytest.approx(0.270671, abs=5e-7)
    assert theory.pac_sample_size(1024, 0.1, 0.05) == 100
    assert math.log(1024 / 0.05) / 0.1 == pytest.approx(99.27, abs=5e-3)
    assert theory.pac_sample_size(10**6, 0.01, 0.01) == 1843
    assert theory.rectangle_sample_size(0.1, 0.05) == 176
    assert theory.holdout_size(0.1, 0.05) == 185
    assert theory.amplification_rounds(0.05, 0.05) == 59
    assert 0.95**59 == pytest.approx(0.0485, abs=5e-5)
    assert theory.amplification_rounds(0.05, 0.01) == 90
    assert theory.cover_hart(0.25) == pytest.approx(3 / 8)


def test_marbles_all_blue_from_the_red_jar():
    """100 draws, all blue, from the jar that is 90% red."""
    assert theory.pac_failure(1, 0.9, 100) == pytest.approx(1e-100)


def test_each_of_many_models_gets_its_share_of_the_hold_out_failure():
    assert theory.holdout_size(0.1, 0.05, models=20) == theory.holdout_size(0.1, 0.05 / 20)


@pytest.mark.parametrize("multiple", [1.0, 2.0, 5.0])
def test_markov_holds(multiple):
    values = RANDOM.exponential(3.0, REPETITIONS)
    assert share(values >= multiple * 3.0) <= theory.markov(multiple)


@pytest.mark.parametrize("deviations", [0.5, 1.5, 3.0])
def test_chebyshev_holds(deviations):
    values = RANDOM.exponential(1.0, REPETITIONS)
    assert share(np.abs(values - 1.0) > deviations) <= theory.chebyshev(deviations)


@pytest.mark.parametrize(("n", "deviation"), [(20, 0.2), (100, 0.1), (400, 0.03)])
def test_hoeffding_holds(n, deviation):
    means = RANDOM.binomial(n, 0.4, REPETITIONS) / n
    assert share(np.abs(means - 0.4) > deviation) <= theory.hoeffding(n, deviation)
    assert share(means - 0.4 > deviation) <= theory.hoeffding(n, deviation, two_sided=False)


def test_union_bound_holds_and_is_tight_for_exclusive_events():
    events = RANDOM.random((REPETITIONS, 5)) < 0.03
    assert share(events.any(axis=1)) <= theory.union_bound(0.03, events=5)
    assert theory.union_bound([0.2, 0.3]) == pytest.approx(0.5)
    assert theory.union_bound([0.7, 0.7]) == 1.0


def test_pac_bound_holds_for_thresholds_on_a_grid():
    """Consistent thresholds among 50, true error the distance to the right one."""
    grid, truth, error, n = np.arange(50) / 50, 25, 0.1, 60
    bad = 0
    for _ in range(3000):
        x = RANDOM.random(n)
        labels = x >= grid[truth]
        consistent = [(labels == (x >= t)).all() for t in grid]
        bad += any(
            c and abs(t - grid[truth]) > error for c, t in zip(consistent, grid, strict=True)
        )
    assert bad / 3000 <= theory.pac_failure(50, error, n)


@pytest.mark.parametrize("errors", [0, 3, 17])
def test_true_error_bound_inverts_the_binomial_tail(errors):
    from scipy.stats import binom

    bound = theory.true_error_bound(errors, 50)
    assert binom.cdf(errors, 50, bound) == pytest.approx(0.05)
    assert theory.true_error_bound(50, 50) == 1.0


def test_true_error_bound_fails_as_rarely_as_it_says():
    errors = RANDOM.binomial(80, 0.2, 5000)
    failures = [theory.true_error_bound(int(k), 80) < 0.2 for k in errors]
    assert np.mean(failures) <= 0.05 + 4 * math.sqrt(0.05 * 0.95 / 5000)


def test_growth_counts_the_labellings_of_intervals():
    """Intervals on a line have VC dimension 2: they label n points in 1 + n + n(n−1)/2 ways."""
    for n in range(1, 7):
        points = range(n)
        ways = {
            tuple(a <= p < b for p in points) for a, b in product(range(n + 1), repeat=2) if a <= b
        }
        assert len(ways) == round(math.exp(theory.log_growth(2, n)))


def shatters(fit, points):
    """Whether every labelling of the points with both labels is one that the learner fits."""
    n = len(points)
    for labels in product([0, 1], repeat=n):
        if len(set(labels)) == 2 and (fit(points, labels).predict(points) != labels).any():
            return False
    return True


def test_vc_dimension_points_are_shattered_and_no_more():
    box = th.AxisParallelRectangle()
    diamond = np.array([[0.0, 1.0], [0.0, -1.0], [1.0, 0.0], [-1.0, 0.0]])
    assert theory.vc_dimension(box.fit(diamond, [0, 1, 1, 1])) == 4
    assert shatters(box.fit, diamond)
    assert not shatters(box.fit, np.vstack([diamond, [[0.0, 0.0]]]))
    corner = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    plane = th.LinearSVC(C=1e6)
    assert theory.vc_dimension(plane.fit(corner, [0, 1, 1])) == 3
    assert shatters(plane.fit, corner)
    assert theory.vc_dimension(th.online.Disjunction().fit(np.eye(3), [0, 1, 1])) == 3
    perceptron = th.online.OnlinePerceptron(degree=2).fit(corner, [0, 1, 1])
    assert theory.vc_dimension(perceptron) == 6
    with pytest.raises(th.CapabilityError, match="rademacher"):
        theory.vc_dimension(th.RidgeClassifier().fit(np.eye(3), [0, 1, 2]))


def test_vc_bound_shrinks_with_rows_and_says_nothing_for_few():
    assert theory.vc_bound(10, 20) == 1.0
    assert theory.vc_bound(10, 10**6) < theory.vc_bound(10, 10**5) < 1.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theory.pac_sample_size(10, 0.0, 0.05), r"error=0.0 must lie strictly between"),
        (lambda: theory.pac_sample_size(10, 0.1, -0.05), r"failure=-0.05"),
        (lambda: theory.holdout_size(0.1, 1.0), r"failure=1.0"),
        (lambda: theory.hoeffding(0, 0.1), r"n=0 must be a whole number ≥ 1"),
        (lambda: theory.hoeffding(10, 0.0), r"deviation=0.0 must be a number > 0"),
        (lambda: theory.markov(-1.0), r"multiple=-1.0"),
        (lambda: theory.chebyshev(float("nan")), r"deviations=nan"),
        (lambda: theory.union_bound([0.5, 1.5]), r"probabilities=1.5"),
        (lambda: theory.true_error_bound(5, 4), r"errors=5 must be at most n=4"),
        (lambda: theory.amplification_rounds(0.0, 0.1), r"success=0.0"),
        (lambda: theory.cover_hart(1.5), r"bayes_error=1.5"),
        (lambda: theory.vc_bound(0, 5), r"vc_dimension=0"),
    ],
)
def test_refusals_name_function_value_and_rule(call, message):
    with pytest.raises(th.ParameterError, match=message):
        call()
