"""The risk is the mean loss plus the penalty, with right derivatives, wherever the rows live."""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse

import thetahat as th
from thetahat.data.source import Block, Source
from thetahat.data.validation import as_source
from thetahat.mathematics.losses.base import (
    Curved,
    Loss,
    Reweightable,
    Smooth,
    Subdifferentiable,
    Targets,
)
from thetahat.mathematics.losses.custom import loss as loss_from
from thetahat.objective.choose import method_for
from thetahat.objective.empirical_risk import EmpiricalRisk
from thetahat.objective.predictor import LinearPredictor
from thetahat.objective.sums import Sums, gradient_sums, hessian_sums

opt, losses, penalties = th.optimizers, th.losses, th.penalties

N_CLASSES = 3
LOSSES = [
    part()
    for name, part in sorted(vars(losses).items())
    if isinstance(part, type) and issubclass(part, Loss) and hasattr(part, "name")
    if name in losses.__all__
]


def every(kind, where=lambda loss: True):
    found = [loss for loss in LOSSES if isinstance(loss, kind) and where(loss)]
    return pytest.mark.parametrize("loss", found, ids=lambda loss: type(loss).__name__)


def draw(loss, n=60, d=3, seed=0):
    """Rows with targets of the loss's kind, and weights that are whole numbers."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + [1.0, 0.0, -0.5][:d]
    score = X @ np.array([0.8, -0.5, 0.3])[:d] + rng.normal(size=n)
    y = {
        Targets.REAL: score,
        Targets.NONNEGATIVE: rng.poisson(np.exp(score / 2)).astype(float),
        Targets.POSITIVE: np.exp(score / 2),
        Targets.BINARY: (score > 0).astype(float),
        Targets.SIGNS: np.where(score > 0, 1.0, -1.0),
        Targets.CLASSES: np.digitize(score, [-0.5, 0.8]).astype(float),
    }[loss.targets]
    return X, y, rng.integers(0, 4, size=n).astype(float)


def risk_of(loss, penalty=None, data=None, *, fit_intercept=True, source=None):
    X, y, weight = draw(loss) if data is None else data
    outputs = N_CLASSES if loss.columns == "per class" else 0
    return EmpiricalRisk(
        LinearPredictor(X.shape[1], outputs, fit_intercept),
        loss,
        penalties.L2(0.1) if penalty is None else penalty,
        as_source(X, y, weight) if source is None else source,
    )


def somewhere(risk, seed=1):
    return np.random.default_rng(seed).normal(scale=0.5, size=risk.predictor.n_parameters)


@dataclass(frozen=True, kw_only=True)
class Chunks(Source):
    """Rows in blocks of any size, one after another, as a file gives them."""

    parts: tuple

    @property
    def n_rows(self) -> int:
        return sum(block.n_rows for block in self.parts)

    def blocks(self) -> Iterator[Block]:
        return iter(self.parts)

    @classmethod
    def of(cls, X, y, weight, sizes):
        cuts = np.cumsum([0, *sizes])
        parts = tuple(
            Block(X[a:b], y[a:b], weight[a:b], start=a) for a, b in itertools.pairwise(cuts)
        )
        return cls(parts=parts, n_features=X.shape[1], has_target=True, has_weight=True)


# --- values and derivatives --------------------------------------------------------------------


@every(Loss)
def test_the_value_is_the_mean_loss_plus_the_penalty_without_the_intercept(loss):
    X, y, weight = draw(loss)
    risk = risk_of(loss)
    theta = somewhere(risk)
    coef, intercept = risk.predictor.split(theta)
    values = loss.value(y, X @ coef + intercept)
    expected = np.average(values, weights=weight) + 0.05 * np.sum(coef**2)
    assert risk.value(theta) == pytest.approx(expected, rel=1e-12)


def differences(function, theta, size=1e-6):
    """Central differences of a function of θ, one column per parameter."""
    steps = size * np.eye(len(theta))
    return np.stack([(function(theta + h) - function(theta - h)) / (2 * size) for h in steps], -1)


@pytest.mark.parametrize("fit_intercept", [True, False])
@every(Smooth)
def test_gradient_by_finite_differences(loss, fit_intercept):
    risk = risk_of(loss, fit_intercept=fit_intercept)
    theta = somewhere(risk)
    value, gradient = risk.value_and_gradient(theta)
    assert value == pytest.approx(risk.value(theta), rel=1e-13)
    np.testing.assert_allclose(gradient, differences(risk.value, theta), atol=1e-7)


@pytest.mark.parametrize("fit_intercept", [True, False])
@every(Curved)
def test_hessian_by_finite_differences(loss, fit_intercept):
    risk = risk_of(loss, fit_intercept=fit_intercept)
    theta = somewhere(risk)
    hessian = risk.hessian(theta)
    numeric = differences(lambda theta: risk.value_and_gradient(theta)[1], theta)
    np.testing.assert_allclose(hessian, hessian.T, atol=1e-15)
    # A kink of the curvature between θ − h and θ + h shows at the size of one row.
    np.testing.assert_allclose(hessian, numeric, atol=1e-6)


@every(Curved)
def test_hessian_product_without_the_hessian(loss):
    risk = risk_of(loss)
    theta, direction = somewhere(risk), somewhere(risk, seed=2)
    product = risk.hessian_product(theta, direction)
    np.testing.assert_allclose(product, risk.hessian(theta) @ direction, atol=1e-12)


@every(Subdifferentiable, where=lambda loss: loss.convex)
def test_the_subgradient_supports_a_convex_risk(loss):
    risk = risk_of(loss)
    theta = somewhere(risk)
    value, subgradient = risk.value_and_subgradient(theta)
    for seed in range(2, 12):
        other = somewhere(risk, seed)
        assert risk.value(other) >= value + subgradient @ (other - theta) - 1e-12


@every(Reweightable)
def test_the_majoriser_touches_from_above(loss):
    risk = risk_of(loss)
    theta = somewhere(risk)
    gradient, hessian = risk.majoriser(theta)
    np.testing.assert_allclose(gradient, risk.value_and_subgradient(theta)[1], atol=1e-12)
    for seed in range(2, 12):
        move = somewhere(risk, seed)
        above = risk.value(theta) + gradient @ move + move @ hessian @ move / 2
        assert risk.value(theta + move) <= above + 1e-12


# --- relations ---------------------------------------------------------------------------------


def everything(risk, theta):
    """All numbers a risk gives at θ, in one vector."""
    parts = [risk.value(theta), risk.value_and_subgradient(theta)[1]]
    if hasattr(risk, "hessian"):
        parts += [risk.hessian(theta), risk.hessian_product(theta, theta[::-1])]
    if hasattr(risk, "majoriser"):
        parts += list(risk.majoriser(theta))
    return np.concatenate([np.ravel(part) for part in parts])


@every(Subdifferentiable)
def test_weights_are_repetitions(loss):
    X, y, weight = draw(loss)
    times = weight.astype(int)
    whole, repeated = (X, y, weight), (np.repeat(X, times, 0), np.repeat(y, times), None)
    one, other = risk_of(loss, data=whole), risk_of(loss, data=repeated)
    theta = somewhere(one)
    np.testing.assert_allclose(everything(one, theta), everything(other, theta), rtol=1e-10)


@every(Subdifferentiable)
def test_dense_is_sparse(loss):
    X, y, weight = draw(loss)
    X = np.where(np.abs(X) < 0.7, 0.0, X)
    dense = risk_of(loss, data=(X, y, weight))
    sparse = risk_of(loss, data=(scipy.sparse.csr_array(X), y, weight))
    theta = somewhere(dense)
    np.testing.assert_allclose(
        everything(dense, theta), everything(sparse, theta), rtol=1e-10, atol=1e-13
    )


@every(Subdifferentiable)
def test_chunked_is_whole(loss):
    data = draw(loss)
    whole = risk_of(loss, data=data)
    theta = somewhere(whole)
    for sizes in ([60], [1, 59], [7, 20, 3, 30], [20, 20, 20]):
        chunked = risk_of(loss, data=data, source=Chunks.of(*data, sizes))
        np.testing.assert_allclose(
            everything(chunked, theta), everything(whole, theta), rtol=1e-10, atol=1e-13
        )


@every(Subdifferentiable)
def test_permuted_rows_give_the_same_risk(loss):
    X, y, weight = draw(loss)
    order = np.random.default_rng(3).permutation(len(y))
    one, other = risk_of(loss), risk_of(loss, data=(X[order], y[order], weight[order]))
    theta = somewhere(one)
    np.testing.assert_allclose(everything(one, theta), everything(other, theta), rtol=1e-10)


def test_single_precision_rows_are_summed_in_double():
    loss = losses.Logistic()
    X, y, weight = draw(loss)
    X = X.astype(np.float32)
    single = risk_of(loss, data=(X, y, weight))
    double = risk_of(loss, data=(X.astype(float), y, weight))
    theta = somewhere(single)
    assert single.value_and_gradient(theta)[1].dtype == np.float64
    np.testing.assert_array_equal(everything(single, theta), everything(double, theta))


def test_several_outputs_are_so_many_models():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(50, 3)), rng.normal(size=(50, 2))
    both = EmpiricalRisk(
        LinearPredictor(3, n_outputs=2), losses.Huber(), penalties.L2(0.1), as_source(X, Y)
    )
    coef, intercept = both.predictor.split(th.minimise(both, opt.Newton()).theta)
    for k in range(2):
        alone = EmpiricalRisk(
            LinearPredictor(3), losses.Huber(), penalties.L2(0.1), as_source(X, Y[:, k])
        )
        one = th.minimise(alone, opt.Newton()).theta
        np.testing.assert_allclose(np.append(coef[:, k], intercept[k]), one, atol=1e-9)


@pytest.mark.parametrize("method", [opt.Newton(), opt.LBFGS(), opt.IRLS(), opt.GradientDescent()])
def test_threads_do_not_change_a_bit(method):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30_000, 5))
    y = X @ rng.normal(size=5) + rng.standard_t(3, size=30_000)
    risk = risk_of(losses.Huber(), data=(X, y, None))
    found = []
    for threads in (1, 2):
        with th.config(threads=threads):
            found.append(th.minimise(risk, method, max_steps=5).theta)
    np.testing.assert_array_equal(*found)


# --- summaries ---------------------------------------------------------------------------------


def some_sums(seed):
    loss = losses.Logistic()
    X, y, weight = draw(loss, n=20, seed=seed)
    block, predictor, theta = Block(X, y, weight), LinearPredictor(3), np.ones(4)
    first = gradient_sums(block, predictor, loss, theta)
    second = hessian_sums(block, predictor, loss, theta)
    return Sums(first.weight, first.parts + second.parts)


def assert_same(one, other):
    assert one.weight == pytest.approx(other.weight)
    for left, right in zip(one.parts, other.parts, strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-12)


def test_sums_obey_the_laws_of_merging():
    a, b, c = map(some_sums, range(3))
    assert_same(a.merge(b).merge(c), a.merge(b.merge(c)))
    assert_same(a.merge(b), b.merge(a))
    assert_same(a.merge(Sums()), a)
    assert_same(Sums().merge(a), a)


def test_no_weight_at_all_is_refused():
    X, y, weight = draw(losses.Squared())
    source = Chunks.of(X, y, 0 * weight, [60])
    with pytest.raises(th.errors.DataError, match="All sample weights are zero"):
        risk_of(losses.Squared(), source=source).value(np.zeros(4))


# --- capabilities ------------------------------------------------------------------------------


def refusal(risk, method):
    with pytest.raises(th.errors.CapabilityError) as refused:
        th.minimise(risk, method)
    return str(refused.value)


def test_a_refusal_names_the_part_at_fault_and_a_way_out():
    risk = risk_of(losses.Squared(), penalties.L1())
    assert refusal(risk, opt.LBFGS()) == (
        'LBFGS needs a smooth penalty; L1 is not. Use solver="coordinate_descent", '
        '"proximal_gradient", "proximal_newton" or "working_sets".'
    )
    risk = risk_of(losses.Absolute())
    assert refusal(risk, opt.Newton()) == (
        'Newton needs a smooth loss; Absolute is not. Use solver="augmented_lagrangian", '
        '"dual_coordinate_descent", "interior_point" or "irls".'
    )
    risk = risk_of(losses.Logistic(), penalties.L1())
    assert refusal(risk, opt.CoordinateDescent()) == (
        "CoordinateDescent needs the squared loss; Logistic is another. "
        'Use solver="proximal_gradient" or "proximal_newton".'
    )
    risk = risk_of(losses.Hinge())
    assert refusal(risk, opt.IRLS()) == (
        "IRLS needs a loss that reweights residuals; Hinge does not. "
        'Use solver="augmented_lagrangian", "dual_coordinate_descent" or "interior_point".'
    )
    data = draw(losses.Squared())
    risk = risk_of(losses.Squared(), source=Chunks.of(*data, [30, 30]))
    assert refusal(risk, opt.SketchedNewton()).startswith(
        "SketchedNewton needs rows in any order; Chunks gives them one after another. Use"
    )
    assert "LevenbergMarquardt needs residuals alone, without a penalty; L2 is one." in refusal(
        risk, opt.LevenbergMarquardt()
    )


def test_a_refusal_calls_a_custom_loss_by_its_name():
    custom = loss_from(lambda y, z: np.abs(z - y), name="my_distance")
    assert "a smooth loss; my_distance is not" in refusal(risk_of(custom), opt.LBFGS())


@every(Loss)
def test_what_is_offered_follows_the_types(loss):
    smooth, kinked = risk_of(loss, penalties.L2()), risk_of(loss, penalties.L1())
    assert hasattr(smooth, "value_and_gradient") is isinstance(loss, Smooth)
    assert hasattr(smooth, "hessian") is isinstance(loss, Curved)
    assert hasattr(smooth, "majoriser") is isinstance(loss, Reweightable)
    assert hasattr(smooth, "separable_quadratic") is isinstance(loss, losses.Squared)
    assert hasattr(smooth, "value_and_subgradient") is isinstance(loss, Subdifferentiable)
    assert hasattr(kinked, "smooth_value_and_gradient") is isinstance(loss, Smooth)
    assert not hasattr(kinked, "value_and_gradient")
    assert not hasattr(kinked, "hessian")
    assert not hasattr(smooth, "residuals")


def test_a_smooth_penalty_belongs_to_the_smooth_part():
    risk = risk_of(losses.Logistic(), penalties.L2(0.3))
    theta = somewhere(risk)
    assert risk.smooth_value_and_gradient(theta)[0] == risk.value(theta)
    assert risk.nonsmooth_value(theta) == 0.0
    np.testing.assert_array_equal(risk.prox(theta, 1.0), theta)


def test_the_prox_leaves_the_intercept():
    risk = risk_of(losses.Logistic(), penalties.L1(1.0))
    np.testing.assert_allclose(
        risk.prox(np.array([3.0, -0.5, 2.0, -7.0]), 1.0), [2.0, 0.0, 1.0, -7.0]
    )
    theta = np.zeros(4)
    assert risk.optimality_gap(theta, np.array([0.5, 0.0, -1.0, 0.25])) == 0.25


# --- stochastic gradients: opt.sgd, ols.gd -----------------------------------------------------


@every(Subdifferentiable)
def test_single_rows_are_unbiased(loss):
    risk = risk_of(loss)
    theta = somewhere(risk)
    _, full = risk.value_and_subgradient(theta)
    rows = range(risk.n_terms)
    singles = np.mean([risk.sample_gradient(theta, np.array([i])) for i in rows], axis=0)
    np.testing.assert_allclose(singles, full, atol=1e-12)
    order = np.random.default_rng(0).permutation(risk.n_terms).reshape(-1, 6)
    batches = np.mean([risk.sample_gradient(theta, rows) for rows in order], axis=0)
    np.testing.assert_allclose(batches, full, atol=1e-12)


def test_mean_squared_error_and_its_gradient():
    """MSE is twice the mean of the library's r²/2: ∇MSE = (2/m) Σ (wᵀx + b − y) x."""
    X, y, _ = draw(losses.Squared())
    risk = risk_of(losses.Squared(), penalties.NoPenalty(), (X, y, None))
    theta = somewhere(risk)
    error = X @ theta[:3] + theta[3] - y
    value, gradient = risk.value_and_gradient(theta)
    assert 2 * value == pytest.approx(np.mean(error**2))
    np.testing.assert_allclose(2 * gradient[:3], 2 / len(y) * X.T @ error)
    assert 2 * gradient[3] == pytest.approx(2 * error.mean())


def test_the_stochastic_step_for_squared_error():
    """w ← w − 2η(wᵀx + b − y)x: with r²/2 in place of r², a step of 2η."""
    X, y, _ = draw(losses.Squared())
    eta, theta = 0.01, np.array([0.5, 1.0, -1.0, 2.0])
    risk = risk_of(losses.Squared(), penalties.NoPenalty(), (X[:1], y[:1], None))
    method = opt.StochasticGradient(step=2 * eta, random_state=0)
    state = method.advance(risk, method.start(risk, theta))
    error = X[0] @ theta[:3] + theta[3] - y[0]
    np.testing.assert_allclose(state.theta[:3], theta[:3] - 2 * eta * error * X[0])


@pytest.mark.parametrize(
    "method",
    [
        opt.GradientDescent(),
        opt.GradientDescent(step=0.3),
        opt.StochasticGradient(1, step=opt.InverseTime(1.0), random_state=0),
        opt.StochasticGradient(10, "replacement", 0.1, averaging=True, random_state=0),
    ],
    ids=str,
)
def test_descent_solves_least_squares(method):
    X, y, weight = draw(losses.Squared())
    risk = risk_of(losses.Squared(), penalties.NoPenalty())
    design = np.column_stack([X, np.ones(len(y))]) * np.sqrt(weight)[:, None]
    exact = np.linalg.lstsq(design, y * np.sqrt(weight), rcond=None)[0]
    solution = th.minimise(risk, method, max_steps=None if method.reaches_optimum else 50)
    atol = 1e-6 if method.reaches_optimum else 0.05
    np.testing.assert_allclose(solution.theta, exact, atol=atol)


# --- other forms -------------------------------------------------------------------------------


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_risk_as_a_separable_quadratic(fit_intercept):
    penalty = penalties.ElasticNet(0.2, 0.5) & penalties.NonNegative()
    risk = risk_of(losses.Squared(), penalty, fit_intercept=fit_intercept)
    quadratic = risk.separable_quadratic()
    for seed in range(3):
        theta = np.abs(somewhere(risk, seed))
        state = opt.CoordinateDescent().start(risk, theta)
        assert state.value == pytest.approx(risk.value(theta), rel=1e-12)
        np.testing.assert_allclose(state.theta, theta, atol=1e-15)
        np.testing.assert_allclose(quadratic.outside(quadratic.inside(theta)), theta, atol=1e-15)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_risk_as_residuals(fit_intercept):
    risk = risk_of(losses.Squared(), penalties.NoPenalty(), fit_intercept=fit_intercept)
    theta = somewhere(risk)
    residuals, jacobian = risk.residuals(theta), risk.jacobian(theta)
    value, gradient = risk.value_and_gradient(theta)
    assert np.sum(residuals**2) / 2 == pytest.approx(value)
    np.testing.assert_allclose(jacobian.T @ residuals, gradient, atol=1e-12)
    one = th.minimise(risk, opt.GaussNewton())
    other = th.minimise(risk, opt.Newton())
    assert one.steps == other.steps == 1
    np.testing.assert_allclose(one.theta, other.theta, atol=1e-10)


# --- fits, against peers -----------------------------------------------------------------------


@every(Subdifferentiable)
def test_auto_fits_every_loss_no_worse_than_any_other_start(loss):
    risk = risk_of(loss)
    method, reason = method_for(risk)
    solution = th.minimise(risk, method, reason=reason)
    assert solution.reason == reason or solution.outcome is th.results.Outcome.EXACT
    if method.reaches_optimum:
        assert solution.outcome.success
    slack = 1e-7 if method.reaches_optimum else 5e-3
    rng = np.random.default_rng(0)
    for size in (1e-3, 0.03, 0.3):
        for _ in range(20):
            other = solution.theta + size * rng.normal(size=solution.theta.shape)
            assert risk.value(other) > solution.value - slack


@every(Smooth)
def test_smooth_methods_agree(loss):
    risk = risk_of(loss)
    start = risk.start()
    found = [
        th.minimise(risk, method, start)
        for method in (opt.Newton(), opt.LBFGS(), opt.ProximalGradient())
        if isinstance(loss, Curved) or not isinstance(method, opt.Newton)
    ]
    for solution in found:
        local = th.results.Outcome.LOCAL
        assert solution.outcome is (th.results.Outcome.CONVERGED if loss.convex else local)
        assert solution.value == pytest.approx(found[0].value, abs=1e-12)


@every(Reweightable)
def test_reweighting_is_weighted_least_squares(loss):
    """One step is the fit with the weights wᵢ·ψ(rᵢ)/rᵢ at the start."""
    X, y, weight = draw(loss)
    risk = risk_of(loss, penalties.NoPenalty())
    theta = somewhere(risk)
    design = np.column_stack([X, np.ones(len(y))])
    root = np.sqrt(weight * loss.irls_weight(y, design @ theta))
    expected = np.linalg.lstsq(design * root[:, None], y * root, rcond=None)[0]
    state = opt.IRLS().advance(risk, opt.IRLS().start(risk, theta))
    np.testing.assert_allclose(state.theta, expected, rtol=1e-9)


@every(Reweightable)
def test_reweighting_never_raises_the_risk(loss):
    risk = risk_of(loss)
    trace = th.minimise(risk, opt.IRLS(), np.ones(4), keep_trace=True).trace
    assert max(np.diff(trace), default=-1.0) <= 1e-9


def test_logistic_regression_agrees_with_scikit_learn():
    from sklearn.linear_model import LogisticRegression

    X, y, weight = draw(losses.Logistic())
    peer = LogisticRegression(C=2.0, tol=1e-10, max_iter=1000).fit(X, y, weight)
    risk = risk_of(losses.Logistic(), penalties.L2(1 / (2.0 * weight.sum())))
    coef, intercept = risk.predictor.split(th.minimise(risk, opt.Newton()).theta)
    np.testing.assert_allclose(coef, peer.coef_[0], atol=1e-6)
    np.testing.assert_allclose(intercept, peer.intercept_[0], atol=1e-6)


def test_softmax_agrees_with_scikit_learn_and_with_two_classes_is_logistic():
    from sklearn.linear_model import LogisticRegression

    loss = losses.SoftmaxCrossEntropy()
    X, y, weight = draw(loss)
    peer = LogisticRegression(C=2.0, tol=1e-10, max_iter=1000).fit(X, y, weight)
    alpha = 1 / (2.0 * weight.sum())
    risk = risk_of(loss, penalties.L2(alpha))
    coef, _ = risk.predictor.split(th.minimise(risk, opt.Newton()).theta)
    np.testing.assert_allclose(coef.T, peer.coef_, atol=1e-5)

    binary = (y > 0).astype(float)
    source = as_source(X, binary, weight)
    two = EmpiricalRisk(LinearPredictor(3, 2), loss, penalties.L2(2 * alpha), source)
    one = EmpiricalRisk(LinearPredictor(3), losses.Logistic(), penalties.L2(alpha), source)
    both, _ = two.predictor.split(th.minimise(two, opt.Newton()).theta)
    single, _ = one.predictor.split(th.minimise(one, opt.Newton()).theta)
    np.testing.assert_allclose(both[:, 1] - both[:, 0], single, atol=1e-7)


def test_poisson_regression_agrees_with_scikit_learn():
    from sklearn.linear_model import PoissonRegressor

    X, y, weight = draw(losses.Poisson())
    peer = PoissonRegressor(alpha=0.3, tol=1e-10, max_iter=1000).fit(X, y, weight)
    risk = risk_of(losses.Poisson(), penalties.L2(0.3))
    coef, _ = risk.predictor.split(th.minimise(risk, opt.LBFGS()).theta)
    np.testing.assert_allclose(coef, peer.coef_, atol=1e-6)


@pytest.mark.parametrize("method", [opt.CoordinateDescent(), opt.ProximalGradient()])
def test_elastic_net_agrees_with_scikit_learn(method):
    from sklearn.linear_model import ElasticNet

    X, y, weight = draw(losses.Squared())
    peer = ElasticNet(alpha=0.2, l1_ratio=0.7, tol=1e-12, max_iter=100_000).fit(X, y, weight)
    risk = risk_of(losses.Squared(), penalties.ElasticNet(0.2, 0.7))
    solution = th.minimise(risk, method, tolerance=1e-10)
    coef, intercept = risk.predictor.split(solution.theta)
    np.testing.assert_allclose(coef, peer.coef_, atol=1e-8)
    assert intercept == pytest.approx(peer.intercept_, abs=1e-8)
    assert solution.value == pytest.approx(risk.value(solution.theta), rel=1e-12)


def test_lasso_meets_its_optimality_conditions():
    """|∂S/∂β_j| ≤ α where β_j = 0, and ∂S/∂β_j = −α·sign(β_j) elsewhere; ∂S/∂b = 0."""
    alpha = 0.3
    risk = risk_of(losses.Squared(), penalties.L1(alpha))
    for method in (opt.CoordinateDescent(), opt.ProximalGradient()):
        theta = th.minimise(risk, method, tolerance=1e-11).theta
        _, slope = risk.smooth_value_and_gradient(theta)
        coef, active = theta[:3], theta[:3] != 0
        assert active.any()
        assert not active.all()
        np.testing.assert_allclose(slope[:3][active], -alpha * np.sign(coef[active]), atol=1e-9)
        assert (np.abs(slope[:3][~active]) <= alpha + 1e-9).all()
        assert slope[3] == pytest.approx(0, abs=1e-9)


def test_least_absolute_deviations_agree_with_linear_programming():
    from scipy.optimize import linprog

    X, y, weight = draw(losses.Absolute())
    n = len(y)
    design = np.column_stack([X, np.ones(n)])
    cost = np.concatenate([np.zeros(4), weight, weight])
    peer = linprog(
        cost,
        A_eq=np.hstack([design, np.eye(n), -np.eye(n)]),
        b_eq=y,
        bounds=[(None, None)] * 4 + [(0, None)] * (2 * n),
    )
    risk = risk_of(losses.Absolute(), penalties.NoPenalty())
    solution = th.minimise(risk, opt.IRLS())
    assert solution.value == pytest.approx(peer.fun / weight.sum(), abs=1e-6)


def test_a_redescending_loss_starts_from_least_squares():
    """From θ = 0 Tukey's loss is flat: every residual is beyond its reach."""
    X, y, _ = draw(losses.Squared())
    y = 1000 + X @ [1.0, 2.0, 3.0] + 0.1 * (y - y.mean())
    y[:3] += 50
    risk = risk_of(losses.Tukey(), penalties.NoPenalty(), (X, y, None))
    assert th.minimise(risk, opt.IRLS(), np.zeros(4)).steps == 0
    theta = th.minimise(risk, opt.IRLS()).theta
    np.testing.assert_allclose(theta, [1, 2, 3, 1000], atol=0.15)


def test_separable_classes_end_without_noise():
    X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    y = np.array([0.0, 0.0, 1.0, 1.0])
    risk = risk_of(losses.Logistic(), penalties.NoPenalty(), (X, y, None))
    for method in (opt.Newton(), opt.LBFGS(), opt.GradientDescent()):
        solution = th.minimise(risk, method, max_steps=200)
        assert np.isfinite(solution.theta).all()
        assert solution.value < 0.02


@every(Subdifferentiable)
def test_huge_scores_make_no_noise(loss):
    """Overflow in a row is a value of the risk, not a warning on the side."""
    X, y, weight = draw(loss)
    risk = risk_of(loss, penalties.NoPenalty(), (1e200 * X, y, weight))
    theta = 1e150 * somewhere(risk)
    value, _ = risk.value_and_subgradient(theta)
    assert value > 0 or math.isnan(value)


# --- the predictor -----------------------------------------------------------------------------


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("n_outputs", [0, 1, 3])
def test_parameters_are_packed_and_split(n_outputs, fit_intercept):
    predictor = LinearPredictor(4, n_outputs, fit_intercept)
    theta = np.arange(float(predictor.n_parameters))
    coef, intercept = predictor.split(theta)
    assert coef.shape == ((4, n_outputs) if n_outputs else (4,))
    assert np.shape(intercept) == ((n_outputs,) if n_outputs else ())
    np.testing.assert_array_equal(predictor.pack(coef, intercept), theta)
    X = np.random.default_rng(0).normal(size=(5, 4))
    np.testing.assert_allclose(predictor.raw(X, theta), X @ coef + intercept)


@pytest.mark.parametrize("n_outputs", [0, 3])
def test_the_pullback_is_the_transpose_of_the_prediction(n_outputs):
    rng = np.random.default_rng(0)
    predictor = LinearPredictor(4, n_outputs)
    X, theta = rng.normal(size=(6, 4)), rng.normal(size=predictor.n_parameters)
    slope = rng.normal(size=(6, n_outputs) if n_outputs else 6)
    forward = np.sum(slope * predictor.raw(X, theta))
    assert forward == pytest.approx(predictor.pullback(X, slope) @ theta)


@pytest.mark.parametrize("signs", [1.0, -1.0])
@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, scipy.sparse.csr_array])
def test_the_gram_matrix_of_rows_with_a_one(form, signs):
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(7, 3)), rng.random(7)
    weight[0] *= signs
    design = np.column_stack([X, np.ones(7)])
    np.testing.assert_allclose(
        LinearPredictor(3).gram(form(X), weight), design.T @ (design * weight[:, None])
    )
    np.testing.assert_allclose(
        LinearPredictor(3, fit_intercept=False).gram(form(X), weight),
        X.T @ (X * weight[:, None]),
    )
    np.testing.assert_array_equal(LinearPredictor(3).design(form(X)), design)
