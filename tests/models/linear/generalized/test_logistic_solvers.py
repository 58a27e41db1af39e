"""Every solver of logistic regression reaches the same optimum."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import thetahat as th
from tests.models.linear.generalized.logistic_data import (
    DESIGN,
    LABELS,
    THREE,
    TWO,
    X,
    assert_same_bits_for_any_number_of_threads,
    fit,
)
from thetahat.data.validation import as_source
from thetahat.objective.empirical_risk import EmpiricalRisk
from thetahat.objective.predictor import LinearPredictor


def test_newton_is_iteratively_reweighted_least_squares():
    """w ← (XᵀBX)⁻¹XᵀB(Xw + B⁻¹(y − μ)), step by step."""
    w = np.zeros(5)
    for steps in range(1, 5):
        z = DESIGN @ w
        mu = 1 / (1 + np.exp(-z))
        b = mu * (1 - mu)
        working = z + (TWO - mu) / b
        w = np.linalg.solve((DESIGN * b[:, None]).T @ DESIGN, (DESIGN * b[:, None]).T @ working)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = fit(C=np.inf, solver="irls", max_iter=steps, tol=0.0)
        np.testing.assert_allclose(np.r_[model.coef_[0], model.intercept_], w, rtol=1e-8)
    assert model.solution_.solver == "newton"


SOLVERS = [
    "lbfgs",
    "newton-cg",
    "newton-cholesky",
    "liblinear",
    "sag",
    "saga",
    "auto",
    "newton",
    "irls",
    "gradient_descent",
    th.optimizers.LBFGS(),
    th.optimizers.SketchedNewton(rows_per_parameter=5),
    th.optimizers.ProximalNewton(),
]


@pytest.mark.parametrize("solver", SOLVERS, ids=str)
@pytest.mark.parametrize("labels", LABELS)
def test_every_solver_reaches_the_optimum(solver, labels):
    x = (X - X.mean(axis=0)) / X.std(axis=0)
    model = fit(LABELS[labels], x=x, solver=solver, tol=1e-7)
    assert model.solution_.outcome.success
    np.testing.assert_allclose(model.coef_, fit(LABELS[labels], x=x).coef_, atol=1e-5)


@pytest.mark.parametrize("labels", LABELS)
def test_stochastic_gradients_with_a_falling_rate(labels):
    """w⁰ = 0, a new order of the rows each epoch, τ_t = τ₀/t."""
    x, y = ((X - X.mean(axis=0)) / X.std(axis=0))[:120], LABELS[labels][:120]
    solver = th.optimizers.StochasticGradient(step=th.optimizers.InverseTime(2.0))

    def stochastic():
        with pytest.warns(ConvergenceWarning, match="stochastic_gradient, 15 iterations"):
            return fit(y, x=x, solver=solver, random_state=0, max_iter=15)

    model, best = stochastic(), fit(y, x=x).solution_.value
    start = np.log(len(model.classes_))
    assert best < model.solution_.value < best + 0.1 * (start - best)
    np.testing.assert_array_equal(model.coef_, stochastic().coef_)


def test_one_stochastic_step_of_one_row():
    """w ← w + τ₀(y − σ(wᵀx))x from w = 0."""
    solver = th.optimizers.StochasticGradient(step=th.optimizers.InverseTime(0.5))
    risk = EmpiricalRisk(
        LinearPredictor(2, fit_intercept=False),
        th.losses.Logistic(),
        th.penalties.NoPenalty(),
        as_source([[2.0, -1.0]], [1.0]),
    )
    found = th.minimise(risk, solver, max_steps=1).theta
    np.testing.assert_allclose(found, 0.5 * (1 - 0.5) * np.array([2.0, -1.0]))


def test_a_solver_that_cannot_is_refused_with_a_way_out():
    with pytest.raises(
        th.errors.CapabilityError, match=r"Newton needs a smooth penalty.*proximal_newton"
    ):
        fit(l1_ratio=1.0, solver="newton")
    with pytest.raises(th.errors.ParameterError, match="Did you mean 'newton'"):
        fit(solver="newtn")


def test_many_rows_take_the_curvature_of_some_and_reach_the_same_optimum():
    random = np.random.default_rng(13)
    n, d = 30_000, 100
    x = random.standard_normal((n, d)) * random.uniform(0.5, 2.0, d) + 0.5
    y = random.random(n) < 1 / (1 + np.exp(-x @ random.standard_normal(d) / 5))
    model = fit(y, x=x)
    assert model.solution_.solver == "sketched_newton"
    assert "Hessian of a sample of rows" in model.solution_.reason
    exact = fit(y, x=x, solver="newton")
    np.testing.assert_allclose(model.coef_, exact.coef_, rtol=1e-6, atol=1e-9)
    assert_same_bits_for_any_number_of_threads(x, y)
    assert_same_bits_for_any_number_of_threads(x, y, C=0.01, l1_ratio=1.0)


def test_warm_start_goes_on_where_it_was():
    model = th.LogisticRegression(warm_start=True, tol=1e-6, solver="gradient_descent")
    model.set_params(max_iter=10_000).fit(X / X.std(axis=0), TWO)
    assert model.n_iter_[0] > 5
    assert model.fit(X / X.std(axis=0), TWO).n_iter_[0] == 1
    three = th.LogisticRegression(warm_start=True, C=np.inf, reference="b").fit(X, THREE)
    assert three.fit(X, THREE).n_iter_[0] == 1
    three.fit(X[:, :2], THREE)  # another shape starts from the beginning
    assert three.coef_.shape == (3, 2)
