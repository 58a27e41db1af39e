"""Tests and intervals: against SciPy, statsmodels and scikit-learn, by simulation, and worked."""

import numpy as np
import pytest
from scipy import stats

import thetahat as th
from thetahat.evaluation import statistics as ours

RANDOM = np.random.default_rng(0)
A, B = RANDOM.normal(0.8, 0.03, 12), RANDOM.normal(0.78, 0.03, 12)


def covers(found, expected, repetitions=2000):
    """Whether a rate found in repetitions is the expected one, within four standard errors."""
    return abs(found - expected) < 4 * np.sqrt(expected * (1 - expected) / repetitions)


# Worked numbers.


def test_sport_and_depression_depend():
    test = ours.chi_square_independence([[38, 9], [31, 22]])
    np.testing.assert_allclose(
        test.details["expected"], [[32.43, 14.57], [36.57, 16.43]], atol=5e-3
    )
    assert test.statistic == pytest.approx(5.822720, abs=5e-7)
    assert test.degrees_of_freedom == (1.0,)
    assert test.p == pytest.approx(0.01582, abs=5e-6)
    assert test.details["critical"] == pytest.approx(3.841, abs=5e-4)
    assert test.rejects
    assert ours.chi_square_independence([[38, 9], [31, 22]], yates=True).statistic == (
        pytest.approx(4.824, abs=5e-4)
    )


@pytest.mark.parametrize(
    ("degrees", "quantile"),
    [(5, 2.5706), (10, 2.2281), (30, 2.0423), (50, 2.0086), (100, 1.9840)],
)
def test_t_intervals_use_the_quantiles_of_the_table(degrees, quantile):
    random = np.random.default_rng(1)
    x = random.standard_normal(degrees + 1)
    interval = ours.mean_interval(x)
    half = (interval.high - interval.low) / 2
    assert half / (x.std(ddof=1) / np.sqrt(x.size)) == pytest.approx(quantile, abs=5e-5)


def test_z_intervals_are_1_96_standard_errors():
    interval = ours.mean_interval([1.0, 2.0, 3.0, 4.0], sigma=2.0)
    assert (interval.high - interval.low) / 2 == pytest.approx(1.95996, abs=5e-6)
    assert interval.method == "z"


def test_the_area_of_the_worked_ranking():
    area = ours.auc_interval([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2])
    assert area.estimate == pytest.approx(8 / 9)


# Peers.


def test_chi_square_is_scipys():
    random = np.random.default_rng(2)
    table = random.integers(5, 40, (3, 4))
    theirs = stats.chi2_contingency(table, correction=False)
    found = ours.chi_square_independence(table)
    assert found.statistic == pytest.approx(theirs.statistic)
    assert found.p == pytest.approx(theirs.pvalue)
    shares = np.array([1, 1, 2, 1, 1, 1]) / 7
    expected = stats.chisquare([8, 9, 19, 5, 8, 11], shares * 60)
    for given in (shares, shares * 60):
        fit = ours.chi_square_fit([8, 9, 19, 5, 8, 11], given)
        assert fit.p == pytest.approx(expected.pvalue)


def test_totals_that_disagree_are_refused():
    """As in SciPy: expected counts of another total are a mistake, not shares."""
    for expected in ([10, 10, 10], [33, 33, 33], [0.3, 0.3, 0.3], [1, 1, 1]):
        with pytest.raises(ValueError, match="observed"):
            stats.chisquare([30, 40, 30], expected)
        with pytest.raises(th.errors.DataError, match="but observed to 100"):
            ours.chi_square_fit([30, 40, 30], expected)


@pytest.mark.parametrize("method", ["wilson", "clopper_pearson"])
@pytest.mark.parametrize("successes", [0, 3, 17, 20])
def test_proportion_intervals_are_those_of_statsmodels(method, successes):
    from statsmodels.stats.proportion import proportion_confint

    theirs = {"wilson": "wilson", "clopper_pearson": "beta"}[method]
    found = ours.proportion_interval(successes, 20, method=method)
    expected = proportion_confint(successes, 20, method=theirs)
    np.testing.assert_allclose((found.low, found.high), expected, atol=1e-12)


def test_means_and_variances_are_scipys():
    assert ours.mean_test(A, 0.8).p == pytest.approx(stats.ttest_1samp(A, 0.8).pvalue)
    ratio = A.var(ddof=1) / B.var(ddof=1)
    test = ours.variance_ratio(A, B)
    assert test.statistic == pytest.approx(ratio)
    assert test.p == pytest.approx(2 * min(stats.f.sf(ratio, 11, 11), stats.f.cdf(ratio, 11, 11)))
    assert (1.0 in test.interval) == (not test.rejects)


def test_paired_tests_are_scipys():
    random = np.random.default_rng(3)
    assert ours.paired_t(A, B).p == pytest.approx(stats.ttest_rel(A, B).pvalue)
    low, high = stats.ttest_rel(A, B).confidence_interval()
    interval = ours.paired_t(A, B).interval
    np.testing.assert_allclose((interval.low, interval.high), (low, high))
    assert ours.wilcoxon(A, B).p == pytest.approx(stats.wilcoxon(A, B).pvalue)
    scores = np.round(random.normal(0.8, 0.03, (9, 4)), 2)
    theirs = stats.friedmanchisquare(*scores.T)
    assert ours.friedman(scores).statistic == pytest.approx(theirs.statistic)
    assert ours.friedman(scores).p == pytest.approx(theirs.pvalue)


def test_the_correction_for_overlap_widens_by_its_formula():
    plain, corrected = ours.paired_t(A, B), ours.corrected_resampled_t(A, B, test_share=0.2)
    ratio = plain.statistic / corrected.statistic
    assert ratio == pytest.approx(np.sqrt((1 / 12 + 0.25) / (1 / 12)))


@pytest.mark.parametrize("exact", [True, False])
def test_mcnemar_is_that_of_statsmodels(exact):
    random = np.random.default_rng(4)
    from statsmodels.stats.contingency_tables import mcnemar

    a, b = random.random(200) < 0.8, random.random(200) < 0.7
    table = [[np.sum(a & b), np.sum(a & ~b)], [np.sum(~a & b), np.sum(~a & ~b)]]
    assert ours.mcnemar(a, b, exact=exact).p == pytest.approx(mcnemar(table, exact=exact).pvalue)


@pytest.mark.parametrize(
    ("models", "quantile"), [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (10, 3.164)]
)
def test_nemenyi_has_the_quantiles_of_demsars_table(models, quantile):
    """Mean ranks differ at 5% beyond q·√(k(k + 1)/(6n)) (Demšar 2006, table 5)."""
    found = ours.nemenyi(np.tile(np.arange(models), (12, 1)))
    np.testing.assert_array_equal(found.details["mean_ranks"], np.arange(models, 0, -1))
    unit = np.sqrt(models * (models + 1) / (6 * 12))
    assert found.details["critical_difference"] / unit == pytest.approx(quantile, abs=1e-3)
    gaps = np.abs(np.subtract.outer(np.arange(models), np.arange(models)))
    critical = found.details["critical_difference"]
    np.testing.assert_array_equal(found.details["p"] < 0.05, gaps > critical)


def test_five_by_two_by_hand():
    random = np.random.default_rng(5)
    d = random.normal(0.01, 0.02, (5, 2))
    s2 = ((d - d.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    assert ours.five_by_two_cv(d, kind="t").statistic == pytest.approx(d[0, 0] / np.sqrt(s2.mean()))
    assert ours.five_by_two_cv(d).statistic == pytest.approx((d**2).sum() / (2 * s2.sum()))
    assert ours.five_by_two_cv(d[:, ::-1]).p == pytest.approx(ours.five_by_two_cv(d).p)


def test_areas_are_scikit_learns_and_the_mean_over_pairs():
    random = np.random.default_rng(6)
    from sklearn.metrics import roc_auc_score

    y = random.integers(0, 2, 80)
    s = np.round(random.standard_normal(80) + y, 1)
    area = ours.auc_interval(y, s).estimate
    assert area == pytest.approx(roc_auc_score(y, s))
    pairs = np.sign(s[y == 1][:, None] - s[y == 0][None, :])
    assert area == pytest.approx((0.5 + pairs / 2).mean())
    test = ours.auc_difference(y, s, -s)
    assert test.interval.estimate == pytest.approx(2 * area - 1)
    assert ours.auc_difference(y, s, s).p == 1.0


# How often they are right.


def test_coverage_of_intervals():
    hits = dict.fromkeys(("mean", "wilson", "exact", "area"), 0)
    random = np.random.default_rng(1)
    true_area = stats.norm.cdf(1.0 / np.sqrt(2))
    for _ in range(1000):
        hits["mean"] += 3.0 in ours.mean_interval(random.normal(3.0, 2.0, 12))
        successes = random.binomial(150, 0.85)
        hits["wilson"] += 0.85 in ours.proportion_interval(successes, 150)
        hits["exact"] += 0.85 in ours.proportion_interval(successes, 150, method="clopper_pearson")
        y = np.repeat([0, 1], 60)
        hits["area"] += true_area in ours.auc_interval(y, random.standard_normal(120) + y)
    rates = {name: count / 1000 for name, count in hits.items()}
    assert covers(rates["mean"], 0.95)
    assert all(0.93 <= rates[name] <= 0.97 for name in ("mean", "wilson", "area")), rates
    assert rates["exact"] >= 0.945


@pytest.mark.parametrize(
    ("positives", "negatives", "least", "most"),
    [(1, 50, 0.95, 1.0), (2, 50, 0.95, 1.0), (3, 50, 0.95, 1.0), (5, 95, 0.93, 0.99),
     (10, 10, 0.93, 0.99), (30, 30, 0.93, 0.97)],
)  # fmt: skip
def test_areas_of_few_rows_are_covered(positives, negatives, least, most):
    """0.47, 0.80 and 0.85 with one, two and three positives by DeLong's variance alone."""
    random, true_area = np.random.default_rng(4), stats.norm.cdf(1.0 / np.sqrt(2))
    y = np.repeat([1, 0], [positives, negatives])
    found = [ours.auc_interval(y, random.standard_normal(y.size) + y) for _ in range(500)]
    assert least <= np.mean([true_area in interval for interval in found]) <= most
    assert all(0 <= interval.low <= interval.high <= 1 for interval in found)


def test_mcnemars_interval_covers_and_is_never_a_point():
    random, hits = np.random.default_rng(6), 0
    for _ in range(1000):
        a, b = random.random(80) < 0.85, random.random(80) < 0.8
        hits += 0.05 in ours.mcnemar(a, b).interval
    assert 0.93 <= hits / 1000 <= 0.97
    same, apart = ours.mcnemar([1] * 20, [1] * 20), ours.mcnemar([1] * 20, [0] * 20)
    assert same.interval.low < 0 < same.interval.high
    assert apart.interval.low < 1 == apart.interval.high


@pytest.mark.parametrize(("n_positive", "most"), [(1, 0), (3, 16)])
def test_few_rows_of_a_class_do_not_distinguish_two_areas(n_positive, most):
    """The normal quantile rejected 60% of true hypotheses with one row, and 11% with three."""
    random, y = np.random.default_rng(31), np.arange(43) < n_positive
    drawn = random.standard_normal((200, 2, y.size)) + y
    tests = [ours.auc_difference(y, *scores) for scores in drawn]
    assert sum(test.rejects for test in tests) <= most
    assert all(test.rejects == (0.0 not in test.interval) for test in tests)


@pytest.mark.slow
def test_type_one_errors_of_tests():
    random = np.random.default_rng(2)
    rejected = dict.fromkeys(("t", "wilcoxon", "friedman", "delong", "chi2", "F"), 0)
    for _ in range(2000):
        a, b = random.standard_normal((2, 20))
        rejected["t"] += ours.paired_t(a, b).rejects
        rejected["wilcoxon"] += ours.wilcoxon(a, b).rejects
        rejected["F"] += ours.variance_ratio(a, b).rejects
        rejected["friedman"] += ours.friedman(random.standard_normal((15, 4))).rejects
        y = np.repeat([0, 1], 50)
        common = random.standard_normal(100) + y
        s1, s2 = (common + 0.5 * random.standard_normal(100) for _ in range(2))
        rejected["delong"] += ours.auc_difference(y, s1, s2).rejects
        table = random.multinomial(200, np.outer([0.4, 0.6], [0.3, 0.7]).ravel()).reshape(2, 2)
        rejected["chi2"] += ours.chi_square_independence(table).rejects
    rates = {name: count / 2000 for name, count in rejected.items()}
    assert all(0.03 <= rate <= 0.07 for rate in rates.values()), rates


# What they refuse.


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ours.paired_t([1.0, 2.0, 3.0], [1.0, 2.0]), "a has 3 values, but b has 2"),
        (lambda: ours.paired_t([1.0, np.nan], [1.0, 2.0]), "nan at position 1"),
        (lambda: ours.mean_interval([1.0]), "at least 2"),
        (lambda: ours.mean_interval([1.0, 2.0], level=1.0), "strictly between 0 and 1"),
        (lambda: ours.mean_interval([1.0], sigma=0.0), "sigma=0.0 must be None, or a number > 0"),
        (lambda: ours.variance_ratio([1.0, 2.0], [3.0, 3.0]), "variance is 0"),
        (lambda: ours.chi_square_fit([1, 2], [0, 1]), "must be positive"),
        (lambda: ours.chi_square_fit([5.0]), "0 degrees of freedom"),
        (lambda: ours.chi_square_independence([[1, 0], [2, 0]]), "row or column of zeros"),
        (lambda: ours.chi_square_independence([[1, 2, 3]]), "two rows and two columns"),
        (lambda: ours.chi_square_fit([-1, 2]), "counts must be ≥ 0"),
        (lambda: ours.proportion_interval(5, 4), "5 successes in 4 trials"),
        (lambda: ours.proportion_interval(1, 4, method="wald"), "must be one of 'wilson'"),
        (lambda: ours.auc_interval([1, 1], [0.1, 0.2]), "positive and negative rows"),
        (
            lambda: ours.mcnemar([0.5, 1.0], [1.0, 1.0]),
            "True for rows that are predicted correctly",
        ),
        (lambda: ours.five_by_two_cv(np.zeros((2, 5))), r"shape \(2, 5\)"),
        (lambda: ours.five_by_two_cv(np.zeros((5, 2)), kind="z"), "must be one of 'F', 't'"),
        (lambda: ours.friedman([[1.0, 2.0]]), "at least 3"),
        (lambda: ours.nemenyi([[1.0, np.inf], [1.0, 2.0]]), "must be finite"),
        (lambda: ours.corrected_resampled_t(A, B, test_share=0.0), "test_share=0.0"),
    ],
)
def test_refusals_say_what_is_wrong(call, message):
    with pytest.raises(th.errors.ThetahatError, match=message):
        call()


def test_equal_scores_are_not_significantly_different():
    for test in (
        ours.paired_t(A, A),
        ours.wilcoxon(A, A),
        ours.mcnemar([1, 0, 1], [1, 0, 1]),
        ours.five_by_two_cv(np.zeros((5, 2))),
        ours.friedman(np.ones((4, 3))),
    ):
        assert test.p == 1.0
        assert not test.rejects


@pytest.mark.parametrize("a", [[0.5, 0.5, 0.5], [0.8, 0.9, 0.7]])
def test_equal_differences_tell_no_spread(a):
    """Equal up to rounding: 0.8 − 0.7 and 0.9 − 0.8 are not the same number."""
    b = np.array(a) - 0.1
    for test in (ours.paired_t(a, b), ours.corrected_resampled_t(a, b, test_share=0.2)):
        assert test.p == 1.0
        assert test.effect_size is None
        assert (test.interval.low, test.interval.high) == (-np.inf, np.inf)
        assert any(each.startswith("broken") for each in test.assumptions)
    known = ours.paired_t(a, b, least_spread=0.02)
    assert known.statistic == pytest.approx(0.1 / (0.02 / np.sqrt(3)))
    assert known.effect_size == pytest.approx(5.0)
    assert ours.five_by_two_cv(np.full((5, 2), 0.1)).p == 1.0
    turned = ours.auc_difference(np.repeat([0, 1], 5), np.arange(10), -np.arange(10))
    assert turned.p == 1.0
    assert (turned.interval.low, turned.interval.high) == (-1.0, 1.0)


def test_effect_sizes():
    random = np.random.default_rng(7)
    a, b = np.repeat([1, 1, 0], [80, 15, 5]), np.repeat([1, 0, 1], [80, 15, 5])
    assert ours.mcnemar(a, b).effect_size == pytest.approx(0.5)
    assert ours.mcnemar(a, b).details["odds_ratio"] == pytest.approx(3.0)
    d = random.normal(0.01, 0.02, (5, 2))
    spread = np.sqrt(((d - d.mean(axis=1, keepdims=True)) ** 2).sum() / 5)
    assert ours.five_by_two_cv(d).effect_size == pytest.approx(d.mean() / spread)


def test_a_test_prints_as_sentences():
    text = str(ours.paired_t([0.80, 0.82, 0.79, 0.85], [0.75, 0.78, 0.76, 0.79]))
    assert "paired t test: statistic 6.971, degrees of freedom 3" in text
    assert "both are equally good: rejected at 5%." in text
    assert "Assumes: differences" in text
