"""Multinomial fits in the metric of the columns: few gradients, whatever their scale."""

import numpy as np
import pytest

import thetahat as th
from thetahat.data.validation import as_source
from thetahat.mathematics.optimizers.minimisation import minimise
from thetahat.mathematics.optimizers.smooth.lbfgs import LBFGS
from thetahat.objective.empirical_risk import EmpiricalRisk
from thetahat.objective.predictor import LinearPredictor


def correlated(n=800, d=8, k=20):
    random = np.random.default_rng(0)
    y = random.integers(0, k, n)
    centres = random.standard_normal((k, d))
    X = (centres[y] + random.standard_normal((n, d))) @ random.standard_normal((d, d))
    return X + 5.0, y


def risk(X, y, alpha=1e-3, intercept=True):
    predictor = LinearPredictor(X.shape[1], int(y.max()) + 1, fit_intercept=intercept)
    loss = th.losses.SoftmaxCrossEntropy()
    return EmpiricalRisk(predictor, loss, th.penalties.L2(alpha), as_source(X, y))


@pytest.mark.parametrize("intercept", [True, False])
def test_the_metric_is_the_inverse_of_the_mean_product_of_columns(intercept):
    X, y = correlated()
    metric = risk(X, y, intercept=intercept).metric()
    design = np.column_stack([X, np.ones(len(X))]) if intercept else X
    gram = design.T @ design / len(X) / 20
    gram[range(8), range(8)] += 1e-3
    np.testing.assert_allclose(metric.T @ gram @ metric, np.eye(len(gram)), atol=1e-6)


def test_repeated_and_empty_columns_have_a_metric():
    X, y = correlated()
    X = np.column_stack([X, X[:, 0], np.zeros(len(X))])
    assert np.isfinite(risk(X, y).metric()).all()
    model = th.LogisticRegression().fit(X, y)
    assert model.solution_.outcome.success
    np.testing.assert_allclose(model.coef_[:, 0], model.coef_[:, 8], atol=1e-3)
    assert not model.coef_[:, 9].any()


def test_the_optimum_of_newtons_method():
    X, y = correlated()
    found = th.LogisticRegression(tol=1e-8, max_iter=500).fit(X, y)
    assert found.solution_.solver == "lbfgs"
    expected = th.LogisticRegression(solver="newton", tol=1e-8).fit(X, y)
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=1e-5)


def test_fewer_steps_than_without_it(monkeypatch):
    problem = risk(*correlated())
    with_metric = minimise(problem, LBFGS(), tolerance=1e-6, max_steps=5000).steps
    monkeypatch.delattr(EmpiricalRisk, "metric")
    without = minimise(problem, LBFGS(), tolerance=1e-6, max_steps=5000).steps
    assert 2 * with_metric < without


def test_the_number_of_threads_changes_no_bit():
    X, y = correlated(n=6000)
    found = []
    for threads in (1, 2):
        with th.config(threads=threads):
            found.append(th.LogisticRegression().fit(X, y).coef_)
    np.testing.assert_array_equal(*found)
