"""Bounds hold where they are simulated; worked numbers are what they are."""

import math
from itertools import combinations, product

import numpy as np
import pytest

import thetahat as th
from thetahat import theory

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
    random = np.random.default_rng(1)
    values = random.exponential(3.0, REPETITIONS)
    assert share(values >= multiple * 3.0) <= theory.markov(multiple)
    # The bound is attained by k·μ with probability 1/k, and 0 otherwise.
    assert theory.markov(multiple) == pytest.approx(min(1.0, 1 / multiple))


@pytest.mark.parametrize("deviations", [0.5, 1.5, 3.0])
def test_chebyshev_holds(deviations):
    random = np.random.default_rng(2)
    values = random.exponential(1.0, REPETITIONS)
    assert share(np.abs(values - 1.0) > deviations) <= theory.chebyshev(deviations)
    # The bound is attained by ±t with probability 1/(2t²) each, and 0 otherwise.
    assert theory.chebyshev(deviations) == pytest.approx(min(1.0, deviations**-2))


@pytest.mark.parametrize(("n", "deviation"), [(20, 0.2), (100, 0.1), (400, 0.03)])
def test_hoeffding_holds(n, deviation):
    random = np.random.default_rng(3)
    means = random.binomial(n, 0.4, REPETITIONS) / n
    assert share(np.abs(means - 0.4) > deviation) <= theory.hoeffding(n, deviation)
    assert share(means - 0.4 > deviation) <= theory.hoeffding(n, deviation, two_sided=False)


def test_union_bound_holds_and_is_tight_for_exclusive_events():
    random = np.random.default_rng(4)
    events = random.random((REPETITIONS, 5)) < 0.03
    assert share(events.any(axis=1)) <= theory.union_bound(0.03, events=5)
    assert theory.union_bound([0.2, 0.3]) == pytest.approx(0.5)
    assert theory.union_bound([0.7, 0.7]) == 1.0


def test_pac_bound_holds_for_thresholds_on_a_grid():
    """Consistent thresholds among 50, true error the distance to the right one."""
    random = np.random.default_rng(5)
    grid, truth, error, n = np.arange(50) / 50, 25, 0.1, 60
    x = random.random((3000, n))
    labels = x >= grid[truth]
    far = grid[abs(grid - grid[truth]) > error]
    bad = np.any([(labels == (x >= t)).all(axis=1) for t in far], axis=0)
    assert bad.mean() <= theory.pac_failure(50, error, n)


@pytest.mark.parametrize("errors", [0, 3, 17])
def test_true_error_bound_inverts_the_binomial_tail(errors):
    from scipy.stats import binom

    bound = theory.true_error_bound(errors, 50)
    assert binom.cdf(errors, 50, bound) == pytest.approx(0.05)
    assert theory.true_error_bound(50, 50) == 1.0


def test_true_error_bound_fails_as_rarely_as_it_says():
    random = np.random.default_rng(6)
    errors = random.binomial(80, 0.2, 5000)
    fails = {int(k): theory.true_error_bound(int(k), 80) < 0.2 for k in np.unique(errors)}
    failures = [fails[int(k)] for k in errors]
    assert np.mean(failures) <= 0.05 + 4 * math.sqrt(0.05 * 0.95 / 5000)


def test_growth_counts_the_labellings_of_intervals():
    """Intervals on a line have VC dimension 2: they label n points in 1 + n + n(n−1)/2 ways."""
    for n in range(1, 7):
        points = range(n)
        ways = {
            tuple(a <= p < b for p in points) for a, b in product(range(n + 1), repeat=2) if a <= b
        }
        assert len(ways) == round(math.exp(theory.log_growth(2, n)))


@pytest.mark.parametrize(("v", "n"), [(3, 10**15), (5, 10**9), (30, 200), (100, 101), (0, 7)])
def test_growth_is_as_exact_as_whole_numbers(v, n):
    exact = sum(math.comb(n, i) for i in range(v + 1))
    assert theory.log_growth(v, n) == pytest.approx(math.log(exact), rel=1e-13)


def test_classes_of_any_size_have_a_sample_size():
    """3ⁿ conjunctions of n variables, for n of which 3ⁿ is beyond all floats."""
    exact = math.ceil((1000 * math.log(3) - math.log(0.05)) / 0.1)
    assert theory.pac_sample_size(3**1000, 0.1, 0.05) == exact == 11017
    failure = theory.pac_failure(3**1000, 0.1, 11017)
    assert failure == pytest.approx(math.exp(1000 * math.log(3) + 11017 * math.log(0.9)))
    assert theory.pac_failure(3**1000, 0.1, 5) == 1.0
    assert theory.boosting_sample_size(3**1000, 0.1, 0.1, 0.1) > 10**6


@pytest.mark.parametrize("t", [1, 2, 29, 31, 59, 200])
@pytest.mark.parametrize("success", [0.5, 0.25, 0.1, 0.3])
def test_repetitions_are_the_smallest_number_that_suffices(success, t):
    assert theory.amplification_rounds(success, (1 - success) ** t) == t
    assert theory.amplification_rounds(success, 0.999 * (1 - success) ** t) == t + 1
    assert theory.amplification_rounds(success, min(0.999, 1.001 * (1 - success) ** t)) == t


def test_numbers_beyond_all_floats_are_answered():
    assert theory.chebyshev(1e200) == 0.0
    assert theory.chebyshev(1e-200) == 1.0
    assert theory.hoeffding(10, 1e200) == 0.0
    assert math.log10(theory.holdout_size(1e-200, 0.1)) == pytest.approx(
        400 + math.log10(math.log(20) / 2)
    )
    assert math.log10(theory.boosting_rounds(1e-200, 0.1)) == pytest.approx(
        400 + math.log10(math.log(10) / 2)
    )
    assert math.log10(theory.rectangle_sample_size(1e-320, 0.1)) > 320
    assert math.log10(theory.amplification_rounds(1e-320, 0.1)) > 320
    assert theory.pac_sample_size(10, 0.1, 1e-320) == 7392
    assert theory.gaussian_variance(10, sigma=1e200).mse == math.inf


def test_the_bayes_error_of_guessing_is_kept_by_the_neighbour():
    for classes in range(2, 30):
        chance = (classes - 1) / classes
        assert theory.cover_hart(chance, classes=classes) == pytest.approx(chance)


@pytest.mark.parametrize("p", [np.float32(0.25), np.array(0.25), 0.25])
def test_union_of_events_alike_takes_any_number(p):
    assert theory.union_bound(p, events=3) == 0.75


def shatters(fit, points):
    """Whether every labelling of the points with both labels is one that the learner fits."""
    n = len(points)
    for labels in product([0, 1], repeat=n):
        if len(set(labels)) == 2 and (fit(points, labels).predict(points) != labels).any():
            return False
    return True


def largest_shattered(width):
    """The VC dimension of disjunctions with negations, by trying all of them on all points."""
    points = np.array(list(product([False, True], repeat=width)))
    literals = np.hstack([points, ~points])
    every = np.array(list(product([False, True], repeat=2 * width)))
    labellings = np.unique((literals @ every.T).T, axis=0)
    return max(
        size
        for size in range(1, len(points) + 1)
        for chosen in combinations(range(len(points)), size)
        if len(np.unique(labellings[:, chosen], axis=0)) == 2**size
    )


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
    one = th.online.Disjunction().fit([[0.0], [1.0]], [0, 1])
    assert theory.vc_dimension(one) == largest_shattered(1) == 2
    for width in (2, 3):
        fitted = th.online.Disjunction().fit(np.eye(width), np.arange(width) > 0)
        assert theory.vc_dimension(fitted) == largest_shattered(width)
    with pytest.raises(th.errors.CapabilityError, match="Ridge with no classes"):
        theory.vc_dimension(th.Ridge().fit([[1.0], [2.0]], [1.0, 2.0]))
    perceptron = th.online.OnlinePerceptron(degree=2).fit(corner, [0, 1, 1])
    assert theory.vc_dimension(perceptron) == 6
    with pytest.raises(th.errors.CapabilityError, match="rademacher"):
        theory.vc_dimension(th.RidgeClassifier().fit(np.eye(3), [0, 1, 2]))


def test_vc_bound_shrinks_with_rows_and_says_nothing_for_few():
    assert theory.vc_bound(10, 20) == 1.0
    assert theory.vc_bound(10, 10**6) < theory.vc_bound(10, 10**5) < 1.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theory.pac_sample_size(10, 0.0, 0.05), r"error=0.0 must be a number strictly"),
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
        (lambda: theory.cover_hart(0.9), r"bayes_error=0.9 must be at most 1 − 1/C = 0.5"),
        (lambda: theory.cover_hart(0.7, classes=3), r"bayes_error=0.7 must be at most"),
        (lambda: theory.union_bound(1.5), r"probabilities=1.5 must be a number from 0 to 1"),
        (lambda: theory.union_bound([0.1], events=2), r"events=2"),
        (lambda: theory.pac_sample_size(0.5, 0.1, 0.1), r"class_size=0.5 must be a number ≥ 1"),
        (lambda: theory.pac_failure(math.inf, 0.1, 5), r"class_size=inf must be finite"),
        (lambda: theory.log_growth(3, 10**400), r"n is too large; the limit is 1.8e\+308"),
        (lambda: theory.vc_bound(0, 5), r"vc_dimension=0"),
    ],
)
def test_refusals_name_function_value_and_rule(call, message):
    with pytest.raises(th.errors.ParameterError, match=message):
        call()


def test_growth_is_known_for_classes_of_any_dimension(monkeypatch):
    from thetahat.theory import error_bounds

    pairs = [(10**6, 10**7), (10**6, 2 * 10**6), (10**6, 2 * 10**6 + 14_000), (10**6, 1_100_000)]
    exact = [theory.log_growth(*pair) for pair in pairs]
    monkeypatch.setattr(error_bounds, "MOST_TERMS", 0)
    np.testing.assert_allclose([theory.log_growth(*pair) for pair in pairs], exact, rtol=1e-8)
    # log (n choose v) is between v·log(n/v) and v·(log(n/v) + 1).
    found = theory.log_growth(10**9, 10**12)
    assert 10**9 * math.log(1000) < found < 10**9 * (math.log(1000) + 1)
