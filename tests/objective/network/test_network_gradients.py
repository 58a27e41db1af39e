"""Gradients of every layer, loss and penalty against finite differences, by discovery."""

import inspect

import numpy as np
import pytest

import thetahat as th
from thetahat.data.validation import as_source
from thetahat.mathematics.losses.base import Subdifferentiable, Targets
from thetahat.mathematics.losses.per_output import per_output
from thetahat.objective.empirical_risk import EmpiricalRisk
from thetahat.objective.network.predictor import NetworkPredictor, Pass

Dense = th.neural.Dense
CASES = {
    "Activation": th.neural.Activation("tanh"),
    "BatchNorm": th.neural.BatchNorm(),
    "Dense": Dense(4, "sigmoid"),
    "Dropout": th.neural.Dropout(0.3),
    "Residual": th.neural.Residual([Dense(5, "tanh"), th.neural.BatchNorm(), Dense(3, "relu")]),
}
LAYERS = [
    name
    for name in th.neural.__all__
    if inspect.isclass(getattr(th.neural, name))
    and issubclass(getattr(th.neural, name), th.neural.Layer)
    and name != "Layer"
]
LOSSES = [
    th.losses.named(getattr(th.losses, name).name)
    for name in th.losses.__all__
    if isinstance(getattr(th.losses, name), type)
    and issubclass(getattr(th.losses, name), Subdifferentiable)
]
PENALTIES = [th.penalties.NoPenalty(), th.penalties.L2(0.3)]
N, D = 7, 3


def rows(seed=0):
    return np.random.default_rng(seed).standard_normal((N, D))


def differences(function, theta, h=1e-6):
    found = np.empty_like(theta)
    for place in range(theta.size):
        move = np.zeros_like(theta)
        move[place] = h
        found[place] = (function(theta + move) - function(theta - move)) / (2 * h)
    return found


def predictor_of(*layers, outputs=0):
    return NetworkPredictor((*layers, Dense(max(1, outputs), "identity")), D, outputs)


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize(
    ("trains", "weight"),
    [(False, None), (True, None), (True, np.arange(N) / 2)],
    ids=["prediction", "training", "weights"],
)
def test_gradient_of_every_layer(name, trains, weight):
    """In training, random numbers are drawn again, and batch means are functions of the rows."""
    predictor = predictor_of(Dense(3, "tanh"), CASES[name], outputs=2)
    theta = predictor.draw(np.random.default_rng(1))
    X, slope = rows(), np.random.default_rng(2).standard_normal((N, 2))
    run = Pass(predictor, N, np.float64)

    def value(theta):
        random = np.random.default_rng(3) if trains else None
        return float((run.forward(X, theta.copy(), random, weight) * slope).sum())

    into = np.full_like(theta, np.nan)
    value(theta)
    run.backward(slope.copy(), theta, into)
    expected = differences(value, theta)
    np.testing.assert_allclose(into, expected, atol=1e-6)
    assert np.abs(expected).max() > 0.1


@pytest.mark.parametrize("name", LAYERS)
def test_slopes_of_inputs_and_inside_the_network(name):
    """∂F/∂x, which layers below need, and slopes that are added at a hidden layer."""
    predictor = predictor_of(Dense(3, "tanh"), CASES[name])
    theta = predictor.draw(np.random.default_rng(1))
    weights, free = predictor.split(theta)
    inner = np.random.default_rng(4).standard_normal((N, 3))
    run = predictor.chain.run(N, np.float64)

    def value(flat):
        z = run.forward(flat.reshape(N, D), weights, free)
        return float(z.sum() + (run.outputs[0] * inner).sum())

    X = rows().reshape(-1)
    value(X)
    into = np.empty_like(theta)
    found = run.backward(
        np.ones((N, 1)), weights, free, *predictor.split(into), wants_input=True, inside={0: inner}
    )
    np.testing.assert_allclose(found.reshape(-1), differences(value, X), atol=1e-6)


def targets_of(loss, random):
    match loss.targets:
        case Targets.CLASSES:
            return random.integers(0, 3, N).astype(float)
        case Targets.BINARY:
            return random.integers(0, 2, N).astype(float)
        case Targets.SIGNS:
            return 2.0 * random.integers(0, 2, N) - 1
        case Targets.NONNEGATIVE:
            return random.poisson(2.0, N).astype(float)
        case Targets.POSITIVE:
            return random.gamma(2.0, size=N)
    return random.standard_normal(N)


@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@pytest.mark.parametrize("several", [False, True], ids=["one output", "several outputs"])
def test_gradient_of_every_loss_and_penalty(loss, penalty, several):
    random = np.random.default_rng(5)
    y = targets_of(loss, random)
    outputs = 3 if loss.columns == "per class" else 0
    if several:
        if outputs:
            pytest.skip("this loss has several outputs itself")
        loss, outputs = per_output(loss), 2
        y = np.column_stack([y, targets_of(loss, random)])
    predictor = predictor_of(Dense(4, "tanh"), outputs=outputs)
    weight = random.uniform(0.5, 2.0, N)
    source = as_source(rows(), y, weight, multi_output=True)
    risk = EmpiricalRisk(predictor, loss, penalty, source)
    theta = predictor.draw(np.random.default_rng(6))
    value, gradient = risk._value_and_slope(theta)
    assert value == pytest.approx(risk.value(theta))
    np.testing.assert_allclose(gradient, differences(risk.value, theta), atol=1e-6)
    assert not risk.convex


def test_a_network_is_the_composition_of_its_formulas():
    """z = W₁ᵀσ(W₀ᵀx + b₀) + b₁, dense rows as sparse ones, and in blocks."""
    import scipy.sparse

    predictor = predictor_of(Dense(4, "sigmoid"), outputs=2)
    theta = predictor.draw(np.random.default_rng(0))
    (_, w0, b0), (_, w1, b1) = predictor.parts(theta)
    X = np.random.default_rng(1).standard_normal((3000, D))
    hidden = 1 / (1 + np.exp(-(X @ w0.reshape(D, 4) + b0)))
    expected = hidden @ w1.reshape(4, 2) + b1
    np.testing.assert_allclose(predictor.raw(X, theta), expected, atol=1e-12)
    np.testing.assert_allclose(predictor.outputs(X, theta, 1), hidden, atol=1e-12)
    z, pullback = predictor.raw_and_pullback(X, theta)
    np.testing.assert_allclose(z, expected, atol=1e-12)
    slope = np.random.default_rng(2).standard_normal(z.shape)
    kept = slope.copy()
    sparse = scipy.sparse.csr_array(X)
    np.testing.assert_allclose(
        predictor.pullback(sparse, slope, theta), pullback(slope), rtol=1e-9, atol=1e-9
    )
    np.testing.assert_array_equal(slope, kept)
    np.testing.assert_allclose(pullback(slope)[-2:], slope.sum(axis=0))


def test_layers_that_do_not_chain_are_refused():
    residual = th.neural.Residual([Dense(2)])
    with pytest.raises(th.errors.ParameterError, match="2 outputs for 3 inputs"):
        _ = NetworkPredictor((residual,), 3).n_parameters
    with pytest.raises(th.errors.ParameterError, match="units must be a whole number ≥ 1"):
        Dense(0)
    with pytest.raises(th.errors.ParameterError, match="initialisation='big' must be one of"):
        Dense(2, initialisation="big")
    with pytest.raises(th.errors.ParameterError, match="must be a sequence of layers"):
        th.neural.Residual([3])


def test_one_row_takes_the_running_means_of_a_batch_norm():
    """Its own variance is 0, and would make the running variance 0 too."""
    rows = np.random.default_rng(0).normal(3.0, 2.0, size=(200, 2))
    model = th.MLPRegressor(
        hidden_layer_sizes=(th.neural.BatchNorm(),), batch_size=1, learning_rate_init=0.01,
        max_iter=5, tol=None, random_state=0,
    )  # fmt: skip
    assert model.fit(rows, rows.sum(axis=1)).score(rows, rows.sum(axis=1)) > 0.9
    np.testing.assert_array_equal(model.intercepts_[0].reshape(4, -1)[2:], [[0, 0], [1, 1]])
