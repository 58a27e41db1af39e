"""The derivatives that Newton's method uses are those of the log-likelihood."""

from functools import partial

import numpy as np
import pytest

from thetahat import distributions as d
from thetahat.data.validation import as_source
from thetahat.mathematics.distributions import beta, dirichlet, f, gamma, student, truncated_normal
from thetahat.mathematics.distributions.fitting.newton import NegativeMean

X = np.array([0.2, 0.35, 0.5, 0.9, 0.6, 0.15])
SOURCE = as_source(X[:, None])
SHARES = d.Dirichlet([2.0, 1.0, 3.0]).sample(5, random_state=0)
CENTRED = X - X.mean()


def mean_of(law):
    return law.log_likelihood(X) / X.size


CASES = {
    "beta": (
        partial(beta._derivatives, np.log(X).mean(), np.log1p(-X).mean()),
        [1.7, 2.4],
        lambda a, b: mean_of(d.Beta(a, b)),
    ),
    "gamma": (
        partial(gamma._derivatives, X.mean(), np.log(X).mean()),
        [1.7, 2.4],
        lambda k, r: mean_of(d.Gamma(k, r)),
    ),
    "chi-squared": (
        partial(gamma._of_chi_squared, X.mean(), np.log(X).mean()),
        [1.7],
        lambda k: mean_of(d.ChiSquared(k)),
    ),
    "student": (
        partial(student._mean_derivatives, SOURCE, None, 0.0, 1.0),
        [0.3, 0.7, 2.5],
        lambda m, s, df: mean_of(d.StudentT(df, m, s)),
    ),
    "student of known df": (
        partial(student._mean_derivatives, SOURCE, 3.0, 0.1, 1.0),
        [0.3, 0.7],
        lambda m, s: mean_of(d.StudentT(3.0, 0.1 + m, s)),
    ),
    "normal limit of student": (
        partial(student._mean_derivatives, SOURCE, np.inf, 0.0, 1.0),
        [0.3, 0.7],
        lambda m, s: mean_of(d.Normal(m, s)),
    ),
    "f": (partial(f._mean_derivatives, SOURCE), [3.2, 4.5], lambda a, b: mean_of(d.F(a, b))),
    "truncated normal": (
        partial(truncated_normal._derivatives, X.var(), -X.mean(), 1 - X.mean()),
        [0.1, 0.4],
        lambda m, s: mean_of(d.TruncatedNormal(X.mean() + m, s, 0, 1)),
    ),
    "dirichlet": (
        partial(dirichlet._derivatives, np.log(SHARES).mean(axis=0)),
        [1.5, 0.7, 2.2],
        lambda *alpha: float(d.Dirichlet(alpha).log_density(SHARES).mean()),
    ),
}


def numeric(function, theta, step):
    """Central differences in every coordinate."""
    moves = np.eye(len(theta)) * step
    return np.array([(function(theta + m) - function(theta - m)) / (2 * step) for m in moves])


@pytest.mark.parametrize(("derivatives", "theta", "mean"), CASES.values(), ids=CASES)
def test_values_gradients_and_hessians(derivatives, theta, mean):
    theta = np.array(theta)
    value, gradient, hessian = derivatives(theta)
    assert value == pytest.approx(mean(*theta), rel=1e-10)
    np.testing.assert_allclose(gradient, numeric(lambda t: mean(*t), theta, 1e-5), atol=1e-7)
    np.testing.assert_allclose(
        hessian, numeric(lambda t: derivatives(t)[1], theta, 1e-5), atol=1e-6
    )
    np.testing.assert_array_equal(hessian, hessian.T)


@pytest.mark.parametrize(("derivatives", "theta", "mean"), CASES.values(), ids=CASES)
def test_coordinates_without_limits(derivatives, theta, mean):
    positive = tuple(value > 0.3 for value in theta)
    problem = NegativeMean(derivatives, positive)
    u = problem.coordinates(np.array(theta))
    np.testing.assert_allclose(problem.theta(u), theta, rtol=1e-14)
    _, gradient = problem.value_and_gradient(u)
    np.testing.assert_allclose(gradient, numeric(problem.value, u, 1e-5), atol=1e-7)
    hessian = problem.hessian(u)
    slope = numeric(lambda at: problem.value_and_gradient(at)[1], u, 1e-5)
    np.testing.assert_allclose(hessian, slope, atol=1e-6)


def test_parameters_beyond_all_numbers_are_never_more_likely():
    problem = NegativeMean(CASES["gamma"][0], (True, True))
    assert problem.value(np.array([1000.0, 0.0])) == np.inf
