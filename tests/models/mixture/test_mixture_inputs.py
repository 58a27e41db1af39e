"""Gaussian mixtures of awkward rows, and errors for what cannot be fitted."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import thetahat as th
from thetahat.models.mixture.components import KINDS


def rows(n=40, d=2, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def test_more_components_than_rows_is_an_error():
    with pytest.raises(th.errors.DataError, match=r"n_components = 5, n_samples = 4"):
        th.GaussianMixture(5).fit(rows(4))


def test_one_row_is_an_error():
    with pytest.raises(th.errors.DataError, match="a minimum of 2 is required"):
        th.GaussianMixture().fit(rows(1))


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_missing_and_infinite_values_are_errors(value):
    X = rows()
    X[3, 1] = value
    with pytest.raises(th.errors.DataError, match=r"[Cc]olumn"):
        th.GaussianMixture(2).fit(X)


def test_values_whose_squares_overflow_are_errors():
    with pytest.raises(th.errors.DataError, match="overflow"):
        th.GaussianMixture(2).fit(1e200 * rows())


@pytest.mark.parametrize(
    ("params", "words"),
    [
        (dict(weights_init=[0.5, 0.4]), r"normalized, but got sum\(weights\) = 0.9"),
        (dict(weights_init=[1.5, -0.5]), r"range \[0, 1\]"),
        (dict(weights_init=[0.5, 0.3, 0.2]), r"'weights' should have the shape of \(2,\)"),
        (dict(means_init=np.zeros((3, 2))), r"'means' should have the shape of \(2, 2\)"),
        (dict(means_init=[[0.0, np.nan], [1.0, 1.0]]), "finite"),
        (dict(means_init=[["a", "b"], ["c", "d"]]), "numbers"),
        (dict(precisions_init=np.eye(2)), r"'full precision' should have the shape"),
        (dict(precisions_init=np.tile([[1.0, 2.0], [2.0, 1.0]], (2, 1, 1))), "positive-definite"),
        (dict(precisions_init=np.tile([[1.0, 0.5], [0.0, 1.0]], (2, 1, 1))), "symmetric"),
        (dict(covariance_type="diag", precisions_init=-np.ones((2, 2))), "should be positive"),
        (dict(covariance_type="round"), "covariance_type"),
        (dict(init_params="guess"), "init_params"),
        (dict(reg_covar=-1.0), "reg_covar"),
        (dict(tol=-1.0), "tol"),
        (dict(n_init=0), "n_init"),
        (dict(max_iter=-1), "max_iter"),
    ],
)
def test_bad_parameters_are_errors(params, words):
    with pytest.raises(th.errors.ParameterError, match=words):
        th.GaussianMixture(2, **params).fit(rows())


@pytest.mark.parametrize(
    "labels", [np.full(40, 2), np.full(40, -2), np.full(40, 0.5), np.zeros(39), ["a"] * 40]
)
def test_bad_labels_are_errors(labels):
    with pytest.raises(th.errors.DataError, match="labels"):
        th.GaussianMixture(2).fit(rows(), labels=labels)


def test_labels_that_are_all_unknown_change_nothing():
    X = rows()
    with_labels = th.GaussianMixture(2, random_state=0).fit(X, labels=np.full(40, -1))
    np.testing.assert_array_equal(
        with_labels.means_, th.GaussianMixture(2, random_state=0).fit(X).means_
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("rule", ["kmeans", "k-means++", "random", "random_from_data"])
def test_equal_rows_and_constant_columns_have_finite_results(kind, rule):
    equal = np.full((12, 3), 1e5)
    few = np.repeat(rows(2, 3), 6, axis=0)
    constant = np.column_stack([rows(30, 2), np.full(30, 7.0)])
    for X in (equal, few, constant):
        model = th.GaussianMixture(3, covariance_type=kind, init_params=rule, random_state=0)
        model.fit(X)
        assert np.isfinite(model.means_).all()
        assert np.isfinite(model.log_density(X)).all()
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


@pytest.mark.parametrize("kind", KINDS)
def test_equal_rows_without_added_variance_are_an_error(kind):
    with pytest.raises(th.errors.DataError, match="increase reg_covar"):
        th.GaussianMixture(2, covariance_type=kind, reg_covar=0.0).fit(np.ones((10, 2)))


def test_rows_far_from_all_components_have_probabilities():
    model = th.GaussianMixture(2, random_state=0).fit(rows())
    shares = model.predict_proba([[1e200, 0.0], [1e8, 1e8]])
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert model.log_density([[1e200, 0.0]])[0] == -np.inf


def test_bad_arguments_of_a_fitted_mixture_are_errors():
    model = th.GaussianMixture(2, random_state=0).fit(rows())
    with pytest.raises(th.errors.ParameterError, match="n_samples"):
        model.sample(0)
    for rho in (np.ones((40, 2)), np.full((40, 1), 1.0), np.full((40, 2), [1.5, -0.5])):
        with pytest.raises(th.errors.DataError, match="sum to 1"):
            model.lower_bound(rows(), rho)


def test_a_time_limit_stops_the_iterations():
    with th.config(max_time=1e-9), pytest.warns(ConvergenceWarning):
        model = th.GaussianMixture(3, tol=0.0, max_iter=10**6, random_state=0).fit(rows(400))
    assert model.n_iter_ < 100


def test_a_warm_start_goes_on():
    X = rows(300)
    once = th.GaussianMixture(3, max_iter=2, random_state=0, warm_start=True)
    with pytest.warns(ConvergenceWarning):
        once.fit(X)
    first = once.lower_bound_
    with pytest.warns(ConvergenceWarning):
        once.fit(X)
    assert once.lower_bound_ > first
    both = th.GaussianMixture(3, max_iter=4, random_state=0)
    with pytest.warns(ConvergenceWarning):
        both.fit(X)
    np.testing.assert_allclose(once.means_, both.means_, rtol=1e-12)


def test_progress_is_printed(capsys):
    th.GaussianMixture(2, verbose=2, verbose_interval=1, random_state=0).fit(rows())
    text = capsys.readouterr().out
    assert "Initialization 0" in text
    assert "Iteration 1\t time lapse" in text
    assert "Initialization converged." in text


def test_covariances_beyond_the_memory_are_an_error_before_they_are_made():
    X = rows(10, 400)
    with (
        th.config(memory=10_000_000),
        pytest.raises(th.errors.MemoryBudgetError, match="covariance_type='diag'"),
    ):
        th.GaussianMixture(3).fit(X)


def test_the_last_state_is_a_valid_mixture_after_an_interrupt(monkeypatch):
    from thetahat.models.mixture import expectation_maximisation

    def interrupted(*arguments, **params):
        raise KeyboardInterrupt

    model = th.GaussianMixture(2, random_state=0).fit(rows())
    before = model.means_.copy()
    monkeypatch.setattr(expectation_maximisation, "pass_over", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(rows(seed=5))
    np.testing.assert_array_equal(model.means_, before)
    assert np.isfinite(model.log_density(rows())).all()


def test_a_component_without_rows_keeps_its_mean_and_covariance():
    X = rows()
    model = th.GaussianMixture(
        2,
        weights_init=[1.0, 0.0],
        means_init=[[0.0, 0.0], [9.0, 9.0]],
        precisions_init=np.tile(4.0 * np.eye(2), (2, 1, 1)),
    )
    with pytest.warns(ConvergenceWarning, match="1 of 2 components .first: 1. collapsed"):
        model.fit(X)
    np.testing.assert_array_equal(model.weights_, [1.0, 0.0])
    np.testing.assert_allclose(model.means_, [X.mean(axis=0), [9.0, 9.0]])
    np.testing.assert_allclose(model.covariances_[1], 0.25 * np.eye(2))
    np.testing.assert_array_equal(model.predict(X), 0)
