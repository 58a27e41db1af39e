"""Newton's method with conjugate gradients, compiled for sparse rows and for any problem."""

import numpy as np
import pytest
import scipy.sparse

import thetahat as th
from thetahat import _native
from thetahat.data.validation import as_source
from thetahat.foundation.watch import Watch
from thetahat.mathematics.optimizers.problem import MissingCapability
from thetahat.objective.bias_column import BiasColumn
from thetahat.objective.empirical_risk import EmpiricalRisk
from thetahat.objective.predictor import LinearPredictor

LOSSES = [
    th.losses.Logistic(),
    th.losses.SquaredHinge(),
    th.losses.SquaredEpsilonInsensitive(0.1),
    th.losses.Poisson(),
]


def problem_of(loss, kind="free", weight=None, sparse=True, dtype=np.float64):
    random = np.random.default_rng(0)
    X = scipy.sparse.random_array((150, 60), density=0.1, rng=random).astype(dtype).tocsr()
    line = X @ random.standard_normal(60) + 0.1 * random.standard_normal(150)
    y = {
        th.losses.Logistic: line > 0,
        th.losses.SquaredHinge: 2.0 * (line > 0) - 1,
        th.losses.Poisson: np.floor(np.exp(line)),
    }.get(type(loss), line)
    predictor = {
        "free": LinearPredictor(60),
        "penalised": BiasColumn(61, scaling=2.0),
        "none": LinearPredictor(60, fit_intercept=False),
    }[kind]
    source = as_source(X if sparse else X.toarray(), np.asarray(y, dtype=float), weight)
    return EmpiricalRisk(predictor, loss, th.penalties.L2(0.01), source)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
@pytest.mark.parametrize("kind", ["free", "penalised", "none"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_optimum_of_newtons_method(loss, kind, dtype):
    weight = np.random.default_rng(1).integers(0, 3, 150).astype(float)
    problem = problem_of(loss, kind, weight, dtype=dtype)
    assert hasattr(problem, "compiled_newton_cg")
    found = th.minimise(problem, th.optimizers.NewtonCG(), tolerance=1e-10)
    expected = th.minimise(problem, th.optimizers.Newton(), tolerance=1e-10)
    assert found.outcome.success
    np.testing.assert_allclose(found.theta, expected.theta, atol=1e-6)
    value, slope = problem.value_and_gradient(found.theta)
    assert found.value == pytest.approx(value, rel=1e-13)
    assert found.gap == pytest.approx(np.abs(slope).max(), abs=1e-13)


@pytest.mark.parametrize("sparse", [False, True])
def test_the_general_method_reaches_the_same_optimum(sparse):
    problem = problem_of(th.losses.Logistic(), sparse=sparse)
    watch = Watch(on_step=lambda step, theta, value: False)
    found = th.minimise(problem, th.optimizers.NewtonCG(), tolerance=1e-9, watch=watch)
    expected = th.minimise(problem, th.optimizers.NewtonCG(), tolerance=1e-9)
    assert found.outcome.success
    np.testing.assert_allclose(found.theta, expected.theta, atol=1e-6)


def test_estimators_use_it_for_sparse_rows():
    random = np.random.default_rng(0)
    X = scipy.sparse.random_array((300, 900), density=0.02, rng=random).tocsr()
    y = X @ random.standard_normal(900) > 0
    for model in (th.LogisticRegression(), th.LinearSVC(dual=False)):
        assert model.fit(X, y).solution_.solver == "newton_cg"
    assert th.LinearSVC(dual=True).fit(X, y).solution_.solver == "dual_coordinate_descent"


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_dense_rows_of_many_columns(dtype):
    random = np.random.default_rng(0)
    X = random.standard_normal((80, 700)).astype(dtype)
    y = X[:, :5].sum(axis=1) + random.standard_normal(80) > 0
    model = th.LogisticRegression(tol=1e-6).fit(X, y)
    assert model.solution_.solver == "newton_cg"
    expected = th.LogisticRegression(tol=1e-6, solver=th.optimizers.LBFGS()).fit(X, y)
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-5)
    np.testing.assert_allclose(model.intercept_, expected.intercept_, atol=1e-5)
    few = th.LogisticRegression().fit(X[:, :300], y)
    assert few.solution_.solver == "newton"


def test_the_number_of_threads_changes_no_bit():
    random = np.random.default_rng(0)
    X = scipy.sparse.random_array((4000, 200), density=0.5, rng=random).tocsr()
    y = X @ random.standard_normal(200) > 0
    found = []
    for threads in (1, 2, 3):
        with th.config(threads=threads):
            found.append(th.LogisticRegression().fit(X, y).coef_)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


@pytest.mark.parametrize("max_steps", [0, 1, 2])
def test_too_few_steps(max_steps):
    problem = problem_of(th.losses.Logistic())
    found = th.minimise(problem, th.optimizers.NewtonCG(), max_steps=max_steps, tolerance=1e-12)
    assert found.steps == max_steps
    assert not found.outcome.success


def test_where_there_is_none():
    problem = problem_of(th.losses.Logistic(), sparse=False)
    with pytest.raises(MissingCapability, match="that are sparse"):
        problem.compiled_newton_cg  # noqa: B018


def test_sizes_are_checked():
    two, three = np.zeros(2), np.zeros(3)
    with pytest.raises(ValueError, match="one entry per row"):
        _native.newton_cg(np.ones((3, 1)), 1.0, two, two, 9, 0.0, two, two, 0.1, 5, 1)
    with pytest.raises(ValueError, match="one entry per column"):
        _native.newton_cg(np.ones((2, 1)), 1.0, two, two, 9, 0.0, three, two, 0.1, 5, 1)
