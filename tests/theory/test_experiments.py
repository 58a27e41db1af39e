"""Experiments: what they measure is what the formulas say."""

import numpy as np
import pytest
from scipy import stats
from sklearn.tree import DecisionTreeClassifier

import thetahat as th
from thetahat import theory


def box_problem(n, random):
    """Uniform rows of the square, positive in the box [0.2, 0.8]²: known area, known truth."""
    X = random.random((n, 2))
    return X, ((X > 0.2) & (X < 0.8)).all(axis=1).astype(int)


def coin_problem(n, random):
    """Labels that no row tells of: the Bayes error is 1/4 on either half."""
    X = random.random((n, 1))
    return X, np.where(random.random(n) < 0.25, X[:, 0] < 0.5, X[:, 0] >= 0.5).astype(int)


def test_rectangles_of_the_promised_size_fail_as_rarely_as_promised():
    error, failure = 0.1, 0.05
    m = theory.rectangle_sample_size(error, failure)
    random, bad = np.random.default_rng(0), 0
    for _ in range(400):
        box = th.AxisParallelRectangle().fit(*box_problem(m, random))
        inside = np.prod(box.high_ - box.low_)
        bad += 0.36 - inside > error  # the tightest box errs by what it leaves out
    assert bad / 400 <= failure


def test_true_error_of_a_memoriser():
    """A tree remembers its rows, labels and all; on fresh rows it errs as the coins do."""
    random = np.random.default_rng(2)
    X, y = coin_problem(2000, random)
    tree = DecisionTreeClassifier(random_state=0).fit(X, y)
    assert (tree.predict(X) == y).all()
    found = theory.true_error(tree, coin_problem, random_state=3)
    assert found.estimate > 0.3
    assert 0.375 == pytest.approx(found.estimate, abs=0.03)  # 2p(1 − p) with p = ¼


def test_neighbours_that_grow_reach_the_bayes_error_and_one_does_not():
    growing = theory.consistency(
        lambda n: th.KNeighborsClassifier(max(1, int(n**0.7))),
        coin_problem,
        [30, 300, 1500],
        bayes_error=0.25,
        random_state=0,
    )
    single = theory.consistency(
        lambda n: th.KNeighborsClassifier(1), coin_problem, [30, 300, 1500], random_state=0
    )
    assert growing.errors[-1].estimate < 0.27
    assert 0.33 < single.errors[-1].estimate <= theory.cover_hart(0.25) + 0.02
    assert single.training_errors[-1] == 0.0
    assert growing.errors[0].estimate > growing.errors[-1].estimate


def noisy_halves(n, random):
    """Labels that tell the half, one in ten of them wrong: the Bayes error is 1/10."""
    X = random.random((n, 1))
    return X, ((X[:, 0] >= 0.5) ^ (random.random(n) < 0.1)).astype(int)


def test_log_n_neighbours_near_the_bayes_error():
    """k(N) = log N neighbours come as near to p* as rows allow; one neighbour stays at 2p*(1 − p*).

    Far from the border k neighbours err by (1 − 2p*)·P(Binomial(k, p*) > k/2) beyond p*: 0.022 for
    log 30, and below 0.003 for log 3000.
    """
    sizes, options = [30, 300, 3000], {"repetitions": 10, "bayes_error": 0.1, "random_state": 0}
    growing = theory.consistency(
        lambda n: th.KNeighborsClassifier(round(np.log(n))), noisy_halves, sizes, **options
    )
    single = theory.consistency(
        lambda n: th.KNeighborsClassifier(1), noisy_halves, sizes, **options
    )
    errors = [each.estimate for each in growing.errors]
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] == pytest.approx(0.1, abs=0.01)
    assert single.errors[2].estimate == pytest.approx(0.18, abs=0.01)
    assert single.errors[2].estimate <= theory.cover_hart(0.1) + 0.01 < 0.2


def test_problems_that_cannot_be_learned_from_are_refused():
    def one_class(n, random):
        return random.random((n, 1)), np.zeros(n, dtype=int)

    def learner(n):
        return th.KNeighborsClassifier(1)

    with pytest.raises(th.errors.ParameterError, match="sizes=1 must be a whole number ≥ 2"):
        theory.consistency(learner, coin_problem, [10, 1])
    with pytest.raises(th.errors.ParameterError, match="at least one size"):
        theory.consistency(learner, coin_problem, [])
    with pytest.raises(th.errors.DataError, match="draws of 5 rows had one class only"):
        theory.consistency(learner, one_class, [5])


def test_a_draw_of_other_rows_than_asked_for_is_refused():
    box = th.AxisParallelRectangle().fit([[0.4], [0.6], [1.0]], [0, 1, 1])

    def few(n, random):
        return np.full((10, 1), 0.8), np.zeros(10, dtype=int)

    def column(n, random):
        return (X := random.random((n, 1))), (X > 0.5).astype(int)

    with pytest.raises(th.errors.DataError, match="gave 10 rows and labels of shape \\(10,\\)"):
        theory.true_error(box, few, n=1000)
    with pytest.raises(th.errors.DataError, match="labels of shape \\(1000, 1\\)"):
        theory.true_error(box, column, n=1000)
    with pytest.raises(th.errors.DataError, match="consistency: draw\\(20, random\\) gave 10 rows"):
        theory.consistency(lambda n: box, few, [20])


@pytest.mark.parametrize("sizes", [(), (10,), (1000, 10), (10, 10), (2.5, 10), (0, 10)])
def test_sizes_that_do_not_grow_are_refused(sizes):
    with pytest.raises(th.errors.ParameterError, match="estimator_properties: sizes="):
        theory.estimator_properties(
            np.mean, lambda n, random: random.standard_normal(n), 0.0, sizes=sizes
        )


@pytest.mark.parametrize(("name", "value"), [("truth", [1.0, 2.0]), ("level", 1.5)])
def test_arguments_of_an_experiment_are_checked(name, value):
    options = {"truth": 0.0, name: value}
    with pytest.raises(th.errors.ParameterError, match=f"estimator_properties: {name}="):
        theory.estimator_properties(np.mean, lambda n, random: random.random(n), **options)


def test_error_by_size_draws_itself():
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    found = theory.consistency(
        lambda n: th.AxisParallelRectangle(),
        box_problem,
        [20, 200],
        bayes_error=0.0,
        random_state=0,
    )
    assert found.plot().get_xlabel() == "training rows"
    plt.close("all")


def sometimes(X, y, random):
    """A learner that is right in one run out of five, and else guesses."""
    if random.random() < 0.2:
        return th.AxisParallelRectangle().fit(X, y)
    return th.AxisParallelRectangle().fit(X[:4] * 0.0 + random.random((4, 2)), [0, 1, 0, 1])


def test_repetition_raises_confidence():
    found = []
    for seed in range(60):
        X, y = box_problem(400, np.random.default_rng(seed))
        fresh, truth = box_problem(400, np.random.default_rng(seed + 1000))
        runs = []

        def learn(X, y, random, runs=runs):
            runs.append(sometimes(X, y, random))
            return runs[-1]

        chosen = theory.amplify(learn, X, y, success=0.2, failure=0.1, random_state=seed)
        assert chosen.model is runs[int(np.argmin(chosen.holdout_errors))]
        assert chosen.error.estimate == chosen.holdout_errors.min()
        errors = np.array([np.mean(run.predict(fresh) != truth) for run in runs])
        assert np.abs(errors - chosen.holdout_errors).max() < chosen.accuracy_of_holdout + 0.1
        found.append(np.mean(chosen.model.predict(fresh) != truth) < 0.15)
    assert chosen.rounds == theory.amplification_rounds(0.2, 0.05)
    assert np.mean(found) >= 0.9
    assert 0 < chosen.accuracy_of_holdout < 1


def test_a_majority_of_one_hypothesis_is_that_hypothesis():
    """Runs that cannot differ gain nothing, by vote or by choice; runs that do, gain."""
    X, y = box_problem(300, np.random.default_rng(0))

    def always(X, y, random):
        return th.AxisParallelRectangle().fit(X[:10], y[:10])

    def by_chance(X, y, random):
        rows = random.choice(len(y), 10)
        return th.AxisParallelRectangle().fit(X[rows], y[rows])

    alike, differing = (
        theory.amplify(learn, X, y, success=0.2, random_state=0) for learn in (always, by_chance)
    )
    assert np.ptp(alike.holdout_errors) == 0
    assert differing.holdout_errors.min() < alike.error.estimate
    box = th.AxisParallelRectangle()
    vote = th.VotingClassifier([(str(k), box) for k in range(5)]).fit(X[:10], y[:10])
    box.fit(X[:10], y[:10])
    np.testing.assert_array_equal(vote.predict(X), box.predict(X))
    assert (box.predict(X) != y).any()


def test_the_error_of_the_best_run_is_bounded_exactly():
    """Of 90 rows, Wilson's interval at 1 − δ/2t misses up to 3% where 0.18% are allowed."""
    X, y = box_problem(300, np.random.default_rng(1))
    found = theory.amplify(sometimes, X, y, success=0.2, random_state=1)
    allowed, n = 0.05 / (2 * found.rounds), 90
    assert found.error.level == pytest.approx(1 - allowed)
    k = np.arange(n + 1)
    exact = [
        th.statistics.proportion_interval(int(i), n, method="clopper_pearson", level=1 - allowed)
        for i in k
    ]
    assert found.error == exact[round(found.holdout_errors.min() * n)]
    for p in np.linspace(0.002, 0.3, 60):
        assert stats.binom.pmf(k[[p not in interval for interval in exact]], n, p).sum() <= allowed


def test_a_column_of_labels_is_the_labels():
    X, y = box_problem(200, np.random.default_rng(2))
    flat, column = (
        theory.amplify(sometimes, X, labels, success=0.2, random_state=0)
        for labels in (y, y[:, None])
    )
    np.testing.assert_array_equal(flat.holdout_errors, column.holdout_errors)


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        (100, {}, r"X has 200 rows, but y has shape \(100,\)"),
        (200, {"failure": 1.5}, "failure=1.5 must be a number strictly"),
        (200, {"failure": 0.0}, "failure=0.0"),
        (200, {"holdout_share": 1.0}, "holdout_share=1.0"),
    ],
)
def test_refusals_of_amplify(rows, options, message):
    X, y = box_problem(200, np.random.default_rng(0))
    with pytest.raises(th.errors.ThetahatError, match=message):
        theory.amplify(sometimes, X, y[:rows], success=0.5, **options)


def test_gaussian_moments_worked():
    assert theory.gaussian_mean(10).mse == pytest.approx(0.1)
    variance = theory.gaussian_variance(10)
    assert (variance.bias, variance.variance) == pytest.approx((-0.1, 0.18))
    assert theory.gaussian_variance(5).bias == pytest.approx(0.8 - 1)
    assert theory.gaussian_variance(5, unbiased=True).bias == 0.0


def flags_of(found):
    return found.unbiased, found.asymptotically_unbiased, found.consistent


def test_flags_of_the_exact_results_are_those_of_the_experiments():
    for estimate, truth, exact in (
        (np.mean, 0.0, theory.gaussian_mean(10)),
        (np.var, 1.0, theory.gaussian_variance(10)),
        (lambda x: np.var(x, ddof=1), 1.0, theory.gaussian_variance(10, unbiased=True)),
    ):
        found = theory.estimator_properties(
            estimate, lambda n, random: random.standard_normal(n), truth, random_state=3
        )
        assert flags_of(exact) == flags_of(found)
    assert flags_of(theory.gaussian_variance(10)) == (False, True, True)


@pytest.mark.parametrize(
    "seed", [0, 1, 2, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 12))]
)
def test_the_mean_of_cauchy_values_is_not_consistent(seed):
    """It has no expectation, and is distributed as a single value for every n."""
    found = theory.estimator_properties(
        np.mean, lambda n, random: random.standard_cauchy(n), 0.0, random_state=seed
    )
    assert not found.has_mean
    assert flags_of(found) == (False, False, False)


def test_the_median_of_cauchy_values_is_consistent():
    found = theory.estimator_properties(
        np.median, lambda n, random: random.standard_cauchy(n), 0.0, random_state=0
    )
    assert found.has_mean
    assert flags_of(found) == (True, True, True)


@pytest.mark.parametrize("power", [0.2, 0.3, 0.5, 1.0])
def test_a_bias_that_vanishes_slowly_does_not_contradict_consistency(power):
    """x̄ + n^{−power}: MSE → 0, so it is consistent and asymptotically unbiased."""
    for seed in range(3):
        found = theory.estimator_properties(
            lambda x: x.mean() + len(x) ** -power,
            lambda n, random: random.standard_normal(n),
            0.0,
            random_state=seed,
        )
        assert flags_of(found) == (False, True, True)


def test_consistent_does_not_imply_asymptotically_unbiased():
    """x̄ + √n·1[rare] with P(rare) = n^{−1/2}: it converges in probability, and E θ̂ = 1 + θ."""

    def estimate(x):
        rare = abs(x[0]) < 1.2533 * len(x) ** -0.5  # P = n^{-1/2} for small intervals about 0
        return x.mean() + len(x) ** 0.5 * rare

    found = theory.estimator_properties(
        estimate,
        lambda n, random: random.standard_normal(n),
        0.0,
        sizes=(16, 10_000),
        random_state=0,
    )
    assert flags_of(found) == (False, False, True)


@pytest.mark.parametrize("n", [2, 10])
def test_experiments_agree_with_the_formulas(n):
    for estimate, exact in (
        (np.mean, theory.gaussian_mean(n, sigma=2.0)),
        (np.var, theory.gaussian_variance(n, sigma=2.0)),
        (lambda x: np.var(x, ddof=1), theory.gaussian_variance(n, sigma=2.0, unbiased=True)),
    ):
        truth = 0.0 if estimate is np.mean else 4.0
        found = theory.estimator_properties(
            estimate,
            lambda size, random: random.normal(0.0, 2.0, size),
            truth,
            sizes=(n, 20 * n),
            repetitions=4000,
            random_state=1,
        )
        assert exact.bias in found.bias[0]
        assert found.variance[0] == pytest.approx(exact.variance, rel=0.1)
        assert found.mse[0] == pytest.approx(exact.mse, rel=0.1)
        assert found.mse[0] == pytest.approx(found.bias[0].estimate ** 2 + found.variance[0])


def test_flags_and_what_they_imply():
    def normal(n, random):
        return random.standard_normal(n)

    first = theory.estimator_properties(lambda x: x[0], normal, 0.0, random_state=0)
    assert (first.unbiased, first.asymptotically_unbiased, first.consistent) == (True, True, False)
    shifted = theory.estimator_properties(lambda x: x.mean() + 1, normal, 0.0, random_state=0)
    flags = shifted.unbiased, shifted.asymptotically_unbiased, shifted.consistent
    assert flags == (False, False, False)
    vanishing = theory.estimator_properties(
        lambda x: x.mean() + 1 / len(x), normal, 0.0, random_state=0
    )
    assert (vanishing.unbiased, vanishing.asymptotically_unbiased) == (False, True)
    assert vanishing.consistent
    assert "asymptotically unbiased: yes" in str(vanishing)


def test_rademacher_grows_with_the_class_and_bounds_the_error():
    random = np.random.default_rng(0)
    X, y = box_problem(150, random)
    box = theory.rademacher(th.AxisParallelRectangle(), X, repetitions=30, random_state=0)
    tree = theory.rademacher(DecisionTreeClassifier(), X, repetitions=5, random_state=0)
    assert tree.complexity.estimate == 1.0  # it follows any labels
    assert box.complexity.high < 0.6
    fitted = th.AxisParallelRectangle().fit(X, y)
    true = theory.true_error(fitted, box_problem, random_state=1).estimate
    assert true <= box.true_error_bound(0.0)
    assert tree.true_error_bound(0.0) == 1.0
