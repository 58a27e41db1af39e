"""Proximal Newton steps in one compiled call: the optimum of the method for any problem."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.svm import LinearSVC

import thetahat as th
from thetahat import _native
from thetahat.data.validation import as_source
from thetahat.foundation.watch import Watch
from thetahat.mathematics.optimizers.problem import MissingCapability
from thetahat.objective.bias_column import BiasColumn
from thetahat.objective.empirical_risk import EmpiricalRisk
from thetahat.objective.predictor import LinearPredictor


def rows(sparse=False, n=200, d=30, dtype=np.float64):
    random = np.random.default_rng(0)
    X = random.standard_normal((n, d)) + 0.5
    if sparse:
        X *= random.random((n, d)) < 0.1
    line = X[:, :5].sum(axis=1) + random.standard_normal(n)
    X = X.astype(dtype)
    return (scipy.sparse.csr_array(X) if sparse else X), (line > np.median(line)).astype(float)


def risk(X, y, loss, penalty, predictor=None, weight=None):
    predictor = LinearPredictor(X.shape[1]) if predictor is None else predictor
    return EmpiricalRisk(predictor, loss, penalty, as_source(X, y, weight))


def step_by_step(problem, **options):
    watch = Watch(on_step=lambda step, theta, value: False)
    return th.minimise(problem, th.optimizers.ProximalNewton(), watch=watch, **options)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("loss", [th.losses.Logistic(), th.losses.SquaredHinge()], ids=str)
@pytest.mark.parametrize("penalty", [th.penalties.L1(0.01), th.penalties.ElasticNet(0.02, 0.5)])
@pytest.mark.parametrize("kind", ["free", "penalised", "none"])
def test_the_optimum_of_the_general_method(sparse, dtype, loss, penalty, kind):
    X, y = rows(sparse, dtype=dtype)
    y = y if isinstance(loss, th.losses.Logistic) else 2 * y - 1
    d = X.shape[1]
    predictor = {
        "free": LinearPredictor(d),
        "penalised": BiasColumn(d + 1, scaling=2.0),
        "none": LinearPredictor(d, fit_intercept=False),
    }[kind]
    weight = np.random.default_rng(1).integers(0, 3, X.shape[0]).astype(float)
    problem = risk(X, y, loss, penalty, predictor, weight)
    assert hasattr(problem, "compiled_l1_newton")
    found = th.minimise(problem, th.optimizers.ProximalNewton(), tolerance=1e-9)
    expected = step_by_step(problem, tolerance=1e-9)
    assert found.outcome.success
    np.testing.assert_allclose(found.theta, expected.theta, atol=1e-6)
    np.testing.assert_array_equal(found.theta == 0, expected.theta == 0)
    assert found.value == pytest.approx(problem.value(found.theta), rel=1e-13)
    slope = problem.smooth_value_and_gradient(found.theta)[1]
    assert found.gap == pytest.approx(problem.optimality_gap(found.theta, slope), abs=1e-12)


def test_the_number_of_threads_changes_no_bit():
    random = np.random.default_rng(0)
    X = scipy.sparse.random_array((3000, 1500), density=0.05, rng=random).tocsr()
    y = (X @ random.standard_normal(1500) > 0).astype(float)
    found = []
    for threads in (1, 2, 3):
        with th.config(threads=threads):
            found.append(th.LogisticRegression(l1_ratio=1.0, C=1.0).fit(X, y).coef_)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_no_matrix_of_curvatures_is_formed(monkeypatch):
    X, y = rows(sparse=True)

    def refuse(*arguments):
        raise AssertionError("a Hessian was formed")

    monkeypatch.setattr(EmpiricalRisk, "hessian_block", refuse)
    model = th.LogisticRegression(l1_ratio=1.0).fit(X, y)
    assert model.solution_.outcome.success
    assert model.solution_.solver == "proximal_newton"


@pytest.mark.parametrize("max_steps", [0, 1, 2])
def test_too_few_steps(max_steps):
    X, y = rows()
    problem = risk(X, y, th.losses.Logistic(), th.penalties.L1(0.001))
    found = th.minimise(problem, th.optimizers.ProximalNewton(), max_steps=max_steps)
    assert found.steps == max_steps
    assert not found.outcome.success


@pytest.mark.parametrize("watched", [False, True])
def test_columns_of_very_different_scale(watched):
    random = np.random.default_rng(2)
    Z = random.normal(size=(150, 8))
    y = np.where(Z.sum(axis=1) + random.normal(size=150) > 0, 1.0, -1.0)
    X = Z * np.logspace(-6, 6, 8)
    predictor = BiasColumn(9, scaling=1.0)
    problem = risk(X, y, th.losses.SquaredHinge(), th.penalties.L1(1 / 150), predictor)
    run = (
        step_by_step
        if watched
        else lambda *a, **k: th.minimise(*a, th.optimizers.ProximalNewton(), **k)
    )
    found = run(problem, tolerance=1e-6, max_steps=200)
    assert found.outcome.success
    model = LinearSVC(penalty="l1", dual=False, random_state=0).fit(X, y)
    theirs = np.append(model.coef_, model.intercept_)
    assert found.value <= problem.value(theirs) * (1 + 1e-7)


def test_where_there_is_none():
    X, y = rows()
    with pytest.raises(MissingCapability, match="L1 or elastic net"):
        risk(X, y, th.losses.Logistic(), th.penalties.L2(0.1)).compiled_l1_newton  # noqa: B018


@pytest.mark.parametrize(("n", "d", "chosen"), [(9000, 20, False), (9000, 150, True)])
def test_many_dense_rows_per_column_use_the_curvatures_of_pairs(n, d, chosen):
    X, y = rows(n=n, d=d)
    dense = risk(X, y, th.losses.Logistic(), th.penalties.L1(0.01))
    assert hasattr(dense, "compiled_l1_newton") is chosen
    sparse = risk(scipy.sparse.csr_array(X), y, th.losses.Logistic(), th.penalties.L1(0.01))
    assert hasattr(sparse, "compiled_l1_newton")


@pytest.mark.parametrize("loss", [th.losses.Huber(), th.losses.ClassHuber()], ids=str)
def test_losses_that_are_linear_in_parts_use_the_general_method(loss):
    X, y = rows()
    assert not hasattr(risk(X, 2 * y - 1, loss, th.penalties.L1(0.1)), "compiled_l1_newton")


def test_sizes_are_checked():
    two = np.zeros(2)
    with pytest.raises(ValueError, match="one entry per row of X"):
        _native.l1_newton(np.ones((1, 3)), 1.0, two, two, 9, 0.0, two, two, two, 0.1, 5, 1)
    with pytest.raises(ValueError, match="one entry per column"):
        _native.l1_newton(np.ones((2, 2)), 1.0, two, two, 9, 0.0, two, two, two, 0.1, 5, 1)
