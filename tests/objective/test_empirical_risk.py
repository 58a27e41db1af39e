"""The risk is the mean loss plus the penalty, with right derivatives, wherever rows live."""

import numpy as np
import pytest
import scipy.sparse

import thetahat as th
from tests.objective.risk_cases import Chunks, draw, every, risk_of, somewhere
from thetahat.data.source import Block
from thetahat.data.validation import as_source
from thetahat.mathematics.losses.base import (
    Curved,
    Loss,
    Reweightable,
    Smooth,
    Subdifferentiable,
)
from thetahat.objective.empirical_risk import EmpiricalRisk
from thetahat.objective.predictor import LinearPredictor
from thetahat.objective.sums import Sums, gradient_sums, hessian_sums

opt, losses, penalties = th.optimizers, th.losses, th.penalties


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
