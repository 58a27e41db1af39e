"""Bias and variance by experiment: the identity, the closed form, any learner."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsRegressor

import thetahat as th

DESIGN = np.random.default_rng(0).standard_normal((25, 5))
BETA = np.array([1.0, -2.0, 0.5, 0.0, 1.5])
SIGMA = 1.5
TAUS = (0.0, 1.0, 10.0, 100.0)


def simulate(random):
    return DESIGN, DESIGN @ BETA + SIGMA * random.standard_normal(len(DESIGN))


def coefficients(model):
    return model.coef_


def experiment(n_datasets=300, seed=0):
    learners = {"least squares": th.LinearRegression(fit_intercept=False)}
    learners |= {f"τ = {tau:g}": th.Ridge(alpha=tau, fit_intercept=False) for tau in TAUS}
    return th.bias_variance(
        learners, simulate, truth=BETA, statistic=coefficients, n_datasets=n_datasets,
        random_state=seed,
    )  # fmt: skip


def test_mean_squared_error_is_variance_plus_squared_bias():
    """E(β̂ − β*)² = Var + bias²: with a plus, learner by learner, to rounding."""
    found = experiment(n_datasets=50)
    np.testing.assert_allclose(found.mse, found.variance + found.bias2, rtol=1e-12)
    assert np.all(np.abs(found.mse - (found.variance - found.bias2))[2:] > 1e-3)
    np.testing.assert_allclose(found.variance, found.variances.sum(axis=1))
    np.testing.assert_allclose(found.bias2, ((found.mean - BETA) ** 2).sum(axis=1))


def test_ridge_against_its_closed_form():
    found = experiment()
    bias2, variance = th.ridge_bias_variance(DESIGN, BETA, SIGMA, TAUS)
    # M datasets leave variance·(1/M) of bias² and a relative error of about √(2/(M·d)) of variance.
    np.testing.assert_allclose(found.variance[1:], variance, rtol=0.15)
    np.testing.assert_allclose(found.bias2[1:], bias2, atol=0.03, rtol=0.08)
    exact = bias2 + variance
    assert np.all(np.abs(found.mse[1:] - exact) < 4 * found.mse_error[1:])


def test_least_squares_is_ridge_without_penalty():
    found = experiment(n_datasets=20)
    np.testing.assert_allclose(found.mean[0], found.mean[1], rtol=1e-8)
    covariance = SIGMA**2 * np.linalg.inv(DESIGN.T @ DESIGN)
    bias2, variance = th.ridge_bias_variance(DESIGN, BETA, SIGMA, 0.0)
    assert bias2 == pytest.approx(0.0, abs=1e-20)
    assert variance == pytest.approx(np.trace(covariance))


def test_closed_form_by_matrices():
    gram = DESIGN.T @ DESIGN
    bias2, variance = th.ridge_bias_variance(DESIGN, BETA, SIGMA, np.array(TAUS))
    for place, tau in enumerate(TAUS):
        inverse = np.linalg.inv(gram + tau * np.eye(5))
        np.testing.assert_allclose(bias2[place], np.sum((tau * inverse @ BETA) ** 2), rtol=1e-9)
        assert variance[place] == pytest.approx(SIGMA**2 * np.trace(inverse @ gram @ inverse))


def test_some_penalty_is_better_than_none_and_too_much_is_worse():
    """Along τ the bias grows and the variance falls; their sum has its least between the ends."""
    taus = np.logspace(-3, 4, 60)
    bias2, variance = th.ridge_bias_variance(DESIGN, BETA, SIGMA, taus)
    assert np.all(np.diff(bias2) > 0)
    assert np.all(np.diff(variance) < 0)
    assert 0 < np.argmin(bias2 + variance) < 59


def test_columns_that_the_rows_say_nothing_of_are_all_bias():
    X = np.c_[DESIGN[:, :2], np.zeros((25, 1))]
    bias2, variance = th.ridge_bias_variance(X, [1.0, 1.0, 3.0], 1.0, 0.0)
    assert bias2 == pytest.approx(9.0)
    expected = np.trace(np.linalg.inv(X[:, :2].T @ X[:, :2]))
    assert variance == pytest.approx(expected)


def test_any_learner_and_any_statistic():
    """The error of a function at some points: small neighbourhoods vary, large ones are biased."""
    grid = np.linspace(0.1, 0.9, 9)[:, None]

    def draw(random):
        x = random.uniform(size=(60, 1))
        return x, np.sin(6 * x[:, 0]) + 0.3 * random.standard_normal(60)

    found = th.bias_variance(
        [lambda: KNeighborsRegressor(1), KNeighborsRegressor(40)],
        draw,
        truth=np.sin(6 * grid[:, 0]),
        statistic=lambda model: model.predict(grid),
        n_datasets=100,
        random_state=0,
    )
    assert found.variance[0] > 5 * found.variance[1]
    assert found.bias2[1] > 5 * found.bias2[0]
    assert found.mean.shape == (2, 9)
    assert found.learners == ("0: <lambda>", "1: KNeighborsRegressor")


def test_same_result_for_any_number_of_threads():
    with th.config(threads=1):
        one = experiment(n_datasets=10, seed=3)
    with th.config(threads=3):
        many = experiment(n_datasets=10, seed=3)
    np.testing.assert_array_equal(one.mean, many.mean)


def test_a_column_of_targets_is_the_targets():
    def as_column(random):
        X, y = simulate(random)
        return X, y[:, None]

    flat, column = (
        th.bias_variance(
            th.LinearRegression(), draw, truth=np.r_[0.0, BETA], n_datasets=5, random_state=0
        )
        for draw in (simulate, as_column)
    )
    np.testing.assert_array_equal(flat.mean, column.mean)


def test_default_statistic_is_intercept_and_coefficients():
    found = th.bias_variance(
        th.LinearRegression(), simulate, truth=np.r_[0.0, BETA], n_datasets=20, random_state=0
    )
    assert found.mean.shape == (1, 6)
    assert found.learners == ("LinearRegression",)
    title, head, line = str(found).splitlines()
    assert "MSE = variance + bias²" in title
    assert line.startswith("LinearRegression")
    assert head.split()[:3] == ["bias²", "variance", "MSE"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_datasets": 1}, "n_datasets=1 must be"),
        ({"n_datasets": "a"}, "n_datasets='a' must be"),
        ({"truth": np.zeros(4)}, r"shape \(5,\), but truth has shape \(4,\)"),
        ({"learners": []}, "no learner"),
        ({"learners": {"one": 3}}, "'one' is 3"),
        ({"simulate": lambda random: (DESIGN, DESIGN[:3, 0])}, "training set 0 failed"),
    ],
)
def test_refusals(options, words):
    options = {
        "learners": th.LinearRegression(), "simulate": simulate, "truth": BETA,
        "statistic": coefficients, "n_datasets": 3, **options,
    }  # fmt: skip
    with pytest.raises(th.errors.ThetahatError, match=words):
        th.bias_variance(options.pop("learners"), options.pop("simulate"), **options)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((DESIGN, BETA[:2], 1.0, 0.0), "coef of shape"),
        ((DESIGN, BETA, -1.0, 0.0), "numbers ≥ 0"),
        ((DESIGN, BETA, 1.0, [-1.0]), "numbers ≥ 0"),
    ],
)
def test_closed_form_refusals(arguments, words):
    with pytest.raises(th.errors.ThetahatError, match=words):
        th.ridge_bias_variance(*arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[1.0], [np.nan]], [1.0], 1.0, 1.0), r"X\[1, 0\] = nan, but it must be finite"),
        ((DESIGN, "a", 1.0, 1.0), "coef='a' must be a real number"),
        ((DESIGN, BETA, "a", 1.0), "sigma='a' must be a real number"),
        ((DESIGN, BETA, 1.0, [np.nan]), r"alphas\[0\] = nan"),
    ],
)
def test_closed_forms_refuse_what_is_no_number(arguments, message):
    with pytest.raises(th.errors.ParameterError, match=f"ridge_bias_variance: .*{message}"):
        th.ridge_bias_variance(*arguments)
