"""A risk takes any predictor: one that is not linear trains from memory and from a file."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

import thetahat as th
from tests.objective.test_choose import LOSSES, PENALTIES, assert_served
from thetahat.data.validation import as_source
from thetahat.mathematics.losses.base import Curved
from thetahat.objective.bias_column import BiasColumn
from thetahat.objective.choose import method_for
from thetahat.objective.empirical_risk import EmpiricalRisk
from thetahat.objective.likelihood.separation import Separation, separation
from thetahat.objective.predictor import LinearInParameters, LinearPredictor, Predictor
from thetahat.objective.stopping import tolerance_for

opt, losses, penalties = th.optimizers, th.losses, th.penalties


@dataclass(frozen=True)
class Bilinear(Predictor):
    """z = (xᵀu)(xᵀv) + c with θ = (u, v, c); the penalty sees u and v."""

    n_features: int

    @property
    def n_parameters(self):
        return 2 * self.n_features + 1

    def start(self):
        return np.linspace(-0.5, 1.0, self.n_parameters)

    def split(self, theta):
        return theta[:-1].reshape(2, -1), theta[-1:]

    def pack(self, coef, free):
        return np.append(coef, free)

    def raw(self, X, theta):
        (u, v), c = self.split(theta)
        return (X @ u) * (X @ v) + c

    def pullback(self, X, slope, theta):
        (u, v), _ = self.split(theta)
        return np.concatenate([X.T @ (slope * (X @ v)), X.T @ (slope * (X @ u)), [slope.sum()]])


@dataclass(frozen=True)
class Cubic(LinearInParameters):
    """z = θ₀ + θ₁x + θ₂x² + θ₃x³, one column of θ for each output: nothing but a design."""

    n_outputs: int = 0

    @property
    def n_parameters(self):
        return 4 * max(1, self.n_outputs)

    def design(self, X):
        return np.hstack([np.ones_like(X), X, X**2, X**3])


N, D = 3000, 3
U, V, C = np.array([1.0, -0.5, 0.8]), np.array([0.6, 1.2, 0.0]), -0.3


def drawn(loss, n=N, seed=0):
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, D))
    z = (X @ U) * (X @ V) + C
    if isinstance(loss, losses.Logistic):
        return X, (random.random(n) < th.losses.sigmoid(z)).astype(float)
    y = z + 0.1 * random.standard_normal(n)
    if isinstance(loss, losses.Huber):
        y[::20] += 30.0
        y[10::20] -= 30.0
    return X, y


def product_of(theta):
    """The symmetric matrix M of z = xᵀMx + c, which u and v are only factors of, and c."""
    (u, v), c = Bilinear(D).split(theta)
    return (np.outer(u, v) + np.outer(v, u)) / 2, c[0]


def scanned(folder, X, y, weight=None):
    columns = [X, y] if weight is None else [X, y, weight]
    np.save(folder / "rows.npy", np.column_stack(columns))
    return th.scan(folder / "rows.npy", target=D, weight=None if weight is None else D + 1)


every_pair = pytest.mark.parametrize(
    ("loss", "penalty"),
    [
        (loss, penalty)
        for loss in (losses.Squared(), losses.Huber(0.3), losses.Logistic())
        for penalty in (penalties.NoPenalty(), penalties.L2(1e-4))
    ],
    ids=repr,
)


def assert_recovered(theta, loss):
    """M and c within a few standard errors of the draw (labels say less than numbers)."""
    M, c = product_of(theta)
    truth, level = product_of(np.concatenate([U, V, [C]]))
    within = 0.2 if isinstance(loss, losses.Logistic) else 0.02
    np.testing.assert_allclose(M, truth, atol=within)
    assert c == pytest.approx(level, abs=within)


@every_pair
def test_gradients_are_those_of_differences(loss, penalty):
    risk = EmpiricalRisk(Bilinear(D), loss, penalty, as_source(*drawn(loss, 50)))
    theta = np.random.default_rng(1).standard_normal(2 * D + 1)
    value, gradient = risk.value_and_gradient(theta)
    assert value == risk.value(theta)
    h = 1e-6
    for unit in np.eye(theta.size):
        rise = (risk.value(theta + h * unit) - risk.value(theta - h * unit)) / (2 * h)
        assert unit @ gradient == pytest.approx(rise, abs=1e-7)
    batches = np.arange(50).reshape(5, 10)
    mean = np.mean([risk.sample_gradient(theta, rows) for rows in batches], axis=0)
    np.testing.assert_allclose(mean, gradient, rtol=1e-10, atol=1e-12)


@every_pair
def test_lbfgs_from_memory_and_from_a_file(loss, penalty, tmp_path):
    X, y = drawn(loss)
    risk = EmpiricalRisk(Bilinear(D), loss, penalty, as_source(X, y))
    method, reason = method_for(risk)
    assert method == opt.LBFGS()
    found = th.minimise(risk, method, reason=reason)
    assert found.outcome.success
    assert_recovered(found.theta, loss)
    file = th.minimise(replace(risk, source=scanned(tmp_path, X, y)), method)
    np.testing.assert_allclose(file.theta, found.theta, rtol=1e-12)


@every_pair
def test_stochastic_gradients_from_memory_and_from_a_file(loss, penalty, tmp_path):
    X, y = drawn(loss)
    risk = EmpiricalRisk(Bilinear(D), loss, penalty, as_source(X, y))
    method = opt.StochasticGradient(20, step=opt.AdaGrad(0.3), averaging=True, random_state=0)
    found = th.minimise(risk, method, max_steps=15)
    best = th.minimise(risk, opt.LBFGS())
    assert found.value < best.value + 0.01
    assert_recovered(found.theta, losses.Logistic())
    file = th.minimise(replace(risk, source=scanned(tmp_path, X, y)), method, max_steps=15)
    np.testing.assert_allclose(file.theta, found.theta, rtol=1e-12)


def test_a_file_of_several_blocks(tmp_path):
    """L-BFGS sums the same blocks; a stochastic epoch visits the rows of one after the other."""
    X, y = drawn(losses.Squared(), 20_000)
    weight = np.where(np.arange(len(y)) < 18_000, 1.0, 3.0)
    memory = EmpiricalRisk(
        Bilinear(D), losses.Squared(), penalties.L2(1e-4), as_source(X, y, weight)
    )
    file = replace(memory, source=scanned(tmp_path, X, y, weight))
    assert len(list(file.term_blocks())) == 2
    best = th.minimise(memory, opt.LBFGS())
    np.testing.assert_allclose(th.minimise(file, opt.LBFGS()).theta, best.theta, rtol=1e-12)
    method = opt.StochasticGradient(50, step=opt.AdaGrad(0.3), averaging=True, random_state=0)
    assert th.minimise(file, method, max_steps=5).value < best.value + 1e-3
    rows = np.array([19_000, 3, 17_000])
    np.testing.assert_allclose(
        file.sample_gradient(best.theta, rows), memory.sample_gradient(best.theta, rows)
    )
    theta = memory.start()
    parts = [
        part.n_terms * part.sample_gradient(theta, np.arange(part.n_terms))
        for part in file.term_blocks()
    ]
    np.testing.assert_allclose(sum(parts) / 20_000, memory.value_and_gradient(theta)[1])


@pytest.mark.parametrize("penalty", [penalties.L1(0.05), penalties.GroupLasso(alpha=0.05)])
def test_a_penalty_with_a_proximal_step(penalty, tmp_path):
    """u and v are a (2, d) matrix for the penalty, and c is free of it."""
    X, y = drawn(losses.Squared())
    y = y - (X @ U) * (X @ V) + (X @ U) * X[:, 0]  # v = (1, 0, 0)
    risk = EmpiricalRisk(Bilinear(D), losses.Squared(), penalty, as_source(X, y))
    method, _ = method_for(risk)
    assert isinstance(method, opt.ProximalGradient)
    found = th.minimise(risk, method, tolerance=1e-7)
    assert found.outcome.success
    (u, v), c = risk.predictor.split(found.theta)
    assert c[0] == pytest.approx(C, abs=0.2)
    if isinstance(penalty, penalties.L1):
        sparse = v if abs(v[1]) < abs(u[1]) else u
        np.testing.assert_array_equal(sparse[1:], 0.0)
    file = th.minimise(replace(risk, source=scanned(tmp_path, X, y)), method, tolerance=1e-7)
    np.testing.assert_allclose(file.theta, found.theta, rtol=1e-12, atol=1e-14)


def test_a_row_twice_is_a_row_of_weight_two():
    X, y = drawn(losses.Huber(0.3), 300)
    weight = np.random.default_rng(2).integers(0, 3, 300)
    parts = Bilinear(D), losses.Huber(0.3), penalties.L2(1e-3)
    weighted = EmpiricalRisk(*parts, as_source(X, y, weight))
    repeated = EmpiricalRisk(*parts, as_source(X.repeat(weight, axis=0), y.repeat(weight)))
    theta = weighted.start()
    assert weighted.value(theta) == pytest.approx(repeated.value(theta))
    both = [risk.value_and_gradient(theta)[1] for risk in (weighted, repeated)]
    np.testing.assert_allclose(*both)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_the_choice_serves_every_loss_and_penalty(loss):
    per_class = loss.columns == "per class"
    source = as_source(np.ones((4, 1)), np.ones(4))
    for penalty in PENALTIES:
        assert_served(EmpiricalRisk(Cubic(3 if per_class else 0), loss, penalty, source))
        if not per_class:
            assert_served(EmpiricalRisk(Bilinear(1), loss, penalty, source))


def test_a_refusal_names_the_predictor():
    X, y = drawn(losses.Squared(), 30)
    risk = EmpiricalRisk(Bilinear(D), losses.Squared(), penalties.L2(), as_source(X, y))
    with pytest.raises(
        th.errors.CapabilityError,
        match=r"Newton needs a predictor that is linear in its parameters; Bilinear is not\. Use .*"
        "lbfgs",
    ):
        th.minimise(risk, opt.Newton())
    with pytest.raises(
        th.errors.CapabilityError, match="CoordinateDescent needs a linear predictor; Bilinear is"
    ):
        th.minimise(replace(risk, penalty=penalties.L1()), opt.CoordinateDescent())
    with pytest.raises(
        th.errors.CapabilityError, match="ProximalNewton needs a predictor that can be restricted"
    ):
        th.minimise(
            replace(risk, loss=losses.Logistic(), penalty=penalties.L1()), opt.ProximalNewton()
        )
    assert tolerance_for(risk, opt.LBFGS(), 1e-6) == 1e-6


def test_a_loss_that_is_not_convex_starts_at_the_fit_of_least_squares():
    X, y = drawn(losses.Squared(), 500)
    risk = EmpiricalRisk(Bilinear(D), losses.Tukey(3.0), penalties.NoPenalty(), as_source(X, y))
    nearest = replace(risk, loss=losses.Squared())
    np.testing.assert_allclose(risk.start(), th.minimise(nearest, opt.LBFGS()).theta)


CUBIC_LOSSES = [losses.Squared(), losses.Huber(0.5), losses.Poisson(), losses.SoftmaxCrossEntropy()]


@pytest.mark.parametrize("loss", CUBIC_LOSSES, ids=lambda loss: loss.name)
def test_a_design_is_enough_for_newton(loss):
    """The predictor of a design is the linear one of its columns."""
    random = np.random.default_rng(0)
    x = random.uniform(-1, 1, (200, 1))
    outputs = 3 if loss.columns == "per class" else 0
    y = random.integers(0, 3, 200).astype(float)
    source, penalty = as_source(x, y, random.integers(0, 3, 200)), penalties.L2(0.1)
    risk = EmpiricalRisk(Cubic(outputs), loss, penalty, source)
    columns = replace(source, X=Cubic().design(x), n_features=4)
    linear = EmpiricalRisk(LinearPredictor(4, outputs, False), loss, penalty, columns)
    theta = random.standard_normal(risk.predictor.n_parameters)
    np.testing.assert_allclose(risk.hessian(theta), linear.hessian(theta), atol=1e-12)
    np.testing.assert_allclose(
        risk.hessian_product(theta, theta), linear.hessian_product(theta, theta), atol=1e-12
    )
    method, _ = method_for(risk)
    assert method == opt.Newton()
    found, same = th.minimise(risk, method), th.minimise(linear, opt.Newton())
    np.testing.assert_allclose(found.theta, same.theta, rtol=1e-6, atol=1e-9)
    assert isinstance(loss, Curved)


def test_separation_is_judged_where_z_grows_with_theta():
    x = np.linspace(-1, 1, 40)[:, None]
    y = (abs(x[:, 0]) > 0.5).astype(float)
    risk = EmpiricalRisk(Cubic(), losses.Logistic(), penalties.NoPenalty(), as_source(x, y))
    found = th.minimise(risk, opt.Newton(), max_steps=20)
    assert separation(risk, found.theta, found.gap) is Separation.PERFECT
    other = replace(risk, predictor=Bilinear(1))
    found = th.minimise(other, opt.LBFGS(), max_steps=20)
    assert separation(other, found.theta, found.gap) is None


def test_a_column_of_its_own_is_stepped_without_the_compiled_epochs():
    """The compiled steps read the columns of X alone."""
    X, y = drawn(losses.Logistic(), 200)
    parts = losses.Logistic(), penalties.L2(0.1)
    risk = EmpiricalRisk(BiasColumn(D + 1, scaling=2.0), *parts, as_source(X, y))
    written_out = as_source(np.column_stack([X, np.full(200, 2.0)]), y)
    plain = EmpiricalRisk(LinearPredictor(D + 1, fit_intercept=False), *parts, written_out)
    method = opt.StochasticGradient(random_state=0)
    assert not hasattr(risk, "compiled_epoch")
    np.testing.assert_allclose(
        th.minimise(risk, method, max_steps=3).theta, th.minimise(plain, method, max_steps=3).theta
    )
