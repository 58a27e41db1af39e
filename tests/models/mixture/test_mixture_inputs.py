"""Gaussian mixtures of awkward rows, and errors for what cannot be fitted."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import thetahat as th
from thetahat.models.mixture.components import KINDS

EXACT = th.results.Outcome.EXACT


def rows(n=40, d=2, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def heaps():
    return rows(200) + np.repeat([[0.0, 0.0], [2.0, 2.0]], 100, axis=0)


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
    shares = model.predict_proba([[1e100, 0.0], [1e8, 1e8]])
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)


def test_rows_whose_distances_overflow_have_no_component():
    model = th.GaussianMixture(2, random_state=0).fit(rows())
    assert model.log_density([[1e200, 0.0]])[0] == -np.inf
    for ask in (model.predict, model.predict_proba):
        with pytest.raises(th.errors.DataError, match="row 1 is so far"):
            ask([[0.0, 0.0], [1e200, 0.0]])


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


@pytest.mark.parametrize("method", ["em", "gradient", "sampled"])
@pytest.mark.parametrize("n_init", [1, 3])
def test_an_interrupt_keeps_the_best_components_so_far(monkeypatch, method, n_init):
    from thetahat.models.mixture import components

    X, passes = heaps(), []
    of_block = components.sums_of_block

    def interrupted(*arguments):
        passes.append(None)
        if len(passes) > 7:
            raise KeyboardInterrupt
        return of_block(*arguments)

    for module in ("components", "sampled_labels"):
        name = f"thetahat.models.mixture.{module}.sums_of_block"
        monkeypatch.setattr(name, interrupted)
    model = th.GaussianMixture(2, method=method, n_init=n_init, tol=1e-9, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.set_params(max_iter=100 if n_init == 1 else 4).fit(X)
    assert model.solution_.outcome is th.results.Outcome.INTERRUPTED
    monkeypatch.undo()
    assert model.score(X) > th.GaussianMixture(2, max_iter=0, random_state=0).fit(X).score(X)


def test_the_solution_reports_the_iterations():
    X = heaps()
    for method in ("em", "gradient", "sampled"):
        model = th.GaussianMixture(2, method=method, random_state=0).fit(X)
        solution = model.solution_
        assert solution.steps == model.n_iter_
        np.testing.assert_allclose(solution.value, -model.lower_bound_)
        np.testing.assert_allclose(solution.trace, -model.lower_bounds_)
        np.testing.assert_array_equal(solution.theta[:2], model.weights_)
    assert th.GaussianMixture(2).fit(X, labels=X[:, 0] > 0).solution_.outcome is EXACT
    with pytest.warns(ConvergenceWarning):
        short = th.GaussianMixture(2, tol=0.0, max_iter=2, random_state=0).fit(X)
    assert short.solution_.outcome is th.results.Outcome.STEPS_EXHAUSTED


def test_callbacks_see_every_iteration_and_can_stop_the_fit():
    class Third:
        def __init__(self):
            self.steps = []

        def setup(self, estimator, context):
            pass

        teardown = setup

        def on_fit_task_begin(self, estimator, context, **more):
            pass

        def on_fit_task_end(self, estimator, context, **more):
            if context.task_name == "step":
                self.steps.append(context.task_id)
                return len(self.steps) == 3
            return False

    X = heaps()
    for method in ("em", "gradient", "sampled"):
        callback = Third()
        model = th.GaussianMixture(2, tol=0.0, method=method, random_state=0)
        with pytest.warns(ConvergenceWarning):
            model.set_callbacks(callback).fit(X)
        assert len(callback.steps) == model.n_iter_ == 3
        assert model.solution_.outcome is th.results.Outcome.INTERRUPTED


def test_rows_of_weight_0_do_not_count_as_rows():
    weight = np.zeros(40)
    weight[:2] = 1.0
    with pytest.raises(th.errors.DataError, match="n_samples = 2 of positive weight"):
        th.GaussianMixture(3).fit(rows(), sample_weight=weight)


def test_a_warm_start_of_other_shapes_is_an_error():
    for change in ({"n_components": 3}, {"covariance_type": "diag"}):
        model = th.GaussianMixture(2, warm_start=True, random_state=0).fit(rows())
        with pytest.raises(th.errors.ParameterError, match="warm_start=False"):
            model.set_params(**change).fit(rows())
    model = th.GaussianMixture(2, warm_start=True, random_state=0).fit(rows())
    with pytest.raises(th.errors.ParameterError, match="warm_start=False"):
        model.fit(rows(d=3))


def test_a_start_that_collapses_does_not_spoil_the_others():
    X = rows(60)
    model = th.GaussianMixture(
        3, reg_covar=0.0, init_params="random_from_data", n_init=20, random_state=0
    ).fit(X)
    assert np.isneginf(model.restart_bounds_).any()
    assert np.isfinite(model.lower_bound_)
    with pytest.raises(th.errors.DataError, match="increase reg_covar"):
        th.GaussianMixture(2, reg_covar=0.0, n_init=3).fit(np.repeat(rows(2), 5, axis=0))


def test_attributes_beyond_single_precision_are_an_error():
    with pytest.raises(th.errors.DataError, match="covariances_ exceeds the range of float32"):
        th.GaussianMixture(2, random_state=0).fit((1e20 * rows()).astype(np.float32))


def test_criteria_of_weighted_rows_equal_those_of_repeated_rows():
    X = rows()
    weight = np.arange(40) % 3
    model = th.GaussianMixture(2, random_state=0).fit(X)
    for criterion in (model.bic, model.aic):
        both = criterion(X, sample_weight=weight), criterion(np.repeat(X, weight, axis=0))
        np.testing.assert_allclose(*both)


def test_a_wrong_label_is_named():
    labels = np.zeros(40)
    labels[7] = 5.0
    with pytest.raises(th.errors.DataError, match=r"row 7 has 5\.0"):
        th.GaussianMixture(2).fit(rows(), labels=labels)


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
