"""Networks as values: worked numbers, backpropagation, symmetry, initial weights, steps."""

import numpy as np
import pytest

import thetahat as th

Dense, Network = th.neural.Dense, th.neural.Network
CORNERS = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])


def xor_network():
    step = th.activations.Step(at_zero=1)
    network = Network(2, [Dense(2, step), Dense(1, step)])
    return network.with_weights(
        [([[1.0, 1.0], [1.0, 1.0]], [-1.5, -0.5]), ([[-1.0], [1.0]], [-0.5])]
    )


def test_exclusive_or_by_steps():
    xor = xor_network()
    np.testing.assert_array_equal(xor(CORNERS).ravel(), [0, 1, 1, 0])
    (W, b), (w, c) = xor.weights
    x = np.array([1.0, 1.0])
    np.testing.assert_array_equal(x @ W + b, [0.5, 1.5])
    hidden = xor.activations(x[None])[0]
    np.testing.assert_array_equal(hidden, [[1, 1]])
    np.testing.assert_array_equal(hidden @ w + c, [[-0.5]])  # the inner product plus c


def test_the_convention_at_zero_matters():
    """With 1[t > 0] and a bias of −1 the unit is "and"; with 1[t ≥ 0] it is "or"."""
    for at_zero, expected in ((0, [0, 0, 0, 1]), (1, [0, 1, 1, 1])):
        unit = Network(2, [Dense(1, th.activations.Step(at_zero=at_zero))])
        found = unit.with_weights([([[1.0], [1.0]], [-1.0])])(CORNERS)
        np.testing.assert_array_equal(found.ravel(), expected)


def test_depths_from_a_linear_function_to_many_layers():
    X = np.random.default_rng(0).standard_normal((6, 3))
    linear = Network(3, [Dense(1, "identity")])
    ((W, b),) = linear.weights
    np.testing.assert_allclose(linear(X), X @ W + b)
    deep = Network(3, [Dense(4, "tanh") for _ in range(50)] + [Dense(2, "identity")])
    x = X
    for W, b in deep.weights[:-1]:
        x = np.tanh(x @ W + b)
    W, b = deep.weights[-1]
    np.testing.assert_allclose(deep(X), x @ W + b)
    assert len(deep.activations(X)) == 51


def test_backpropagation_of_the_course():
    """δ of the output is f − y (the squared loss here has the factor ½); sigmoid: x(1 − x)."""
    random = np.random.default_rng(1)
    network = Network(3, [Dense(4, "sigmoid"), Dense(2, "identity")])
    X, y = random.standard_normal((5, 3)), random.standard_normal((5, 2))
    value, slopes = network.gradient(X, y)
    (_, _), (W1, _) = network.weights
    x1, f = network.activations(X)
    delta2 = (f - y) / 5
    delta1 = (delta2 @ W1.T) * x1 * (1 - x1)
    assert value == pytest.approx(((f - y) ** 2).sum() / 10)
    (dW0, db0), (dW1, db1) = slopes.weights
    np.testing.assert_allclose(dW1, x1.T @ delta2)
    np.testing.assert_allclose(db1, delta2.sum(axis=0))
    np.testing.assert_allclose(dW0, X.T @ delta1)
    np.testing.assert_allclose(db0, delta1.sum(axis=0))


@pytest.mark.parametrize("loss", ["squared", "softmax", "huber"])
@pytest.mark.parametrize("activation", ["sigmoid", "tanh", "relu", "identity"])
def test_backpropagation_matches_central_differences(activation, loss):
    random = np.random.default_rng(2)
    network = Network(3, [Dense(4, activation), Dense(3, activation), Dense(3, "identity")])
    X = random.standard_normal((6, 3))
    y = np.arange(6) % 3 if loss == "softmax" else random.standard_normal((6, 3))
    _, slopes = network.gradient(X, y, loss)
    theta, h = network.parameters, 1e-6
    for place in range(theta.size):
        move = np.zeros_like(theta)
        move[place] = h
        ends = [
            Network(3, network.layers, parameters=theta + sign * move).gradient(X, y, loss)[0]
            for sign in (1, -1)
        ]
        assert slopes.parameters[place] == pytest.approx((ends[0] - ends[1]) / (2 * h), abs=1e-6)


def test_the_graph_has_variables_as_nodes_and_weights_as_edges():
    graph = xor_network().graph()
    assert graph.nodes == ((0, 0), (0, 1), (1, 0), (1, 1), (2, 0))
    assert len(graph.edges) == 6
    assert graph.edges[-2:] == (((1, 0), (2, 0), -1.0), ((1, 1), (2, 0), 1.0))
    with_bias = xor_network().graph(bias=True)
    assert with_bias.nodes == ((0, 0), (0, 1), (0, "bias"), (1, 0), (1, 1), (1, "bias"), (2, 0))
    assert ((1, "bias"), (2, 0), -0.5) in with_bias.edges
    assert '"1.bias" -> "2.0" [label="-0.5"]' in with_bias.to_dot()
    with pytest.raises(th.errors.CapabilityError, match="needs dense layers only"):
        Network(2, [th.neural.Dropout()]).graph()


def test_exchanging_units_changes_nothing_but_their_midpoint_is_worse():
    """L(v) = E(y − σ(x − v₁) − σ(x − v₂))²: symmetric, so that it cannot be convex."""
    x = np.linspace(-6, 6, 200)[:, None]
    network = Network(1, [Dense(2, "sigmoid"), Dense(1, "identity")])

    def at(v):
        return network.with_weights([(np.ones((1, 2)), -np.asarray(v)), (np.ones((2, 1)), [0.0])])

    y = at([-2.0, 3.0])(x)
    here, there = (at(v).gradient(x, y)[0] for v in ([-2.0, 3.0], [3.0, -2.0]))
    middle = at([0.5, 0.5]).gradient(x, y)[0]
    assert here == there == 0
    assert middle > 0.01


def test_equal_units_stay_equal_and_large_weights_saturate():
    random = np.random.default_rng(3)
    X, y = random.standard_normal((100, 3)), random.standard_normal((100, 1))
    equal = Network(3, [Dense(5, "sigmoid", "equal"), Dense(1, "identity", "equal")])
    _, slopes = equal.gradient(X, y)
    (dW, _), (dV, _) = slopes.weights
    assert np.abs(dW).max() > 0
    np.testing.assert_allclose(dW, dW[:, :1] * np.ones(5), atol=1e-15)
    np.testing.assert_allclose(dV, dV[0] * np.ones((5, 1)), atol=1e-15)

    def first_slope(rule):
        network = Network(3, [Dense(50, "sigmoid", rule), Dense(1, "identity")])
        hidden = network.activations(X)[0]
        return np.mean(hidden * (1 - hidden))

    assert first_slope("large") < 0.05 < 0.2 < first_slope("glorot") < 0.25
    assert first_slope("small") == pytest.approx(0.25, abs=1e-3)


@pytest.mark.parametrize("rule", ["glorot", "he", "small"])
def test_initial_weights_differ_between_units_and_have_the_size_of_their_rule(rule):
    ((W, b),) = Network(300, [Dense(100, "relu", rule)], random_state=1).weights
    deviation = {"glorot": np.sqrt(2 / 400), "he": np.sqrt(2 / 300), "small": 0.01}[rule]
    assert W.std() == pytest.approx(deviation, rel=0.03)
    assert len(np.unique(W)) == W.size
    again = Network(300, [Dense(100, "relu", rule)], random_state=1)
    np.testing.assert_array_equal(again.weights[0][0], W)
    if rule == "glorot":
        assert np.abs(W).max() <= np.sqrt(6 / 400)
        ((W, _),) = Network(300, [Dense(100, "logistic", rule)]).weights
        assert np.sqrt(1.9 / 400) < np.abs(W).max() <= np.sqrt(2 / 400)
    else:
        np.testing.assert_array_equal(b, 0)


@pytest.mark.parametrize("m", [1, 5, 50])
def test_steps_approximate_a_function_within_k_over_m(m):
    """K = 4 is the Lipschitz constant of sin(4x)."""
    x = np.linspace(0, 1, 5001)[:, None]
    network = th.neural.step_network(lambda x: np.sin(4 * x), n_steps=m)
    error = np.abs(network(x) - np.sin(4 * x)).max()
    assert error <= 4 / m
    assert len(network.layers) == 2
    assert network.layers[0].units == m


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: Network(2, []), "non-empty sequence of layers"),
        (lambda: Network(0, [Dense(1)]), "n_inputs must be a whole number ≥ 1"),
        (lambda: Network(2, [Dense(1)], parameters=np.zeros(2)), "these layers have 3 parameters"),
        (lambda: xor_network()(np.zeros((1, 3))), r"shape \(1, 3\), but the network needs rows"),
        (lambda: xor_network()([[np.nan, 0.0]]), "NaN or infinity"),
        (lambda: xor_network().with_weights([]), "has 2 dense layers, but 0 pairs"),
        (
            lambda: Network(2, [Dense(1)]).with_weights([(np.zeros((3, 1)), [0.0])]),
            r"needs weights of shape \(2, 1\)",
        ),
        (lambda: xor_network().gradient(CORNERS, [1.0]), "X has 4 rows, but y has 1"),
        (lambda: xor_network().gradient(CORNERS, np.ones((4, 2))), "1 output for each of 4"),
        (lambda: Network(2, Dense(1)), "must be a non-empty sequence of layers"),
        (lambda: th.neural.Residual(Dense(2)), "must be a sequence of layers"),
        (lambda: Network(2, [Dense(1)], parameters=["a", 0, 0]), "parameters holds the text 'a'"),
        (lambda: xor_network()([["a", "b"]]), "X holds the text 'a' at row 0"),
        (lambda: xor_network().with_weights([1, 2]), "needs a pair of weights and intercepts"),
        (lambda: xor_network().gradient(CORNERS, np.full(4, np.nan)), "NaN or infinite"),
        (lambda: xor_network().gradient(CORNERS, -np.ones(4), "poisson"), "targets are negative"),
        (lambda: xor_network().gradient(CORNERS, [0, 1, 1, 0], "hinge"), "neither −1 nor"),
        (
            lambda: Network(2, [Dense(2)]).gradient(CORNERS, [0, 1, 1, 2], "multiclass_hinge"),
            "one class from 0 to 1 for each row",
        ),
        (
            lambda: Network(2, [Dense(2)]).gradient(CORNERS, np.full(4, 0.5), "crammer_singer"),
            "not valid as a class index",
        ),
        (lambda: xor_network().gradient(CORNERS, np.ones(4), "zero_one"), "has no derivative"),
        (lambda: Dense(2, "sinus"), "activation='sinus' is not known"),
        (lambda: th.neural.step_network(np.sin, 1.0, 1.0), "must be less than high"),
        (lambda: th.neural.step_network("sin"), "must be a function of an array of points"),
        (lambda: th.neural.step_network(np.sin, "a", 1.0), "low='a' must be less than high"),
        (lambda: th.neural.step_network(np.sin, n_steps=0), "n_steps=0 must be a whole number"),
        (
            lambda: th.neural.step_network(lambda x: np.full_like(x, np.inf)),
            "one finite number for each",
        ),
    ],
)
def test_refusals(wrong, message):
    with pytest.raises(ValueError, match=message):
        wrong()


def test_rows_may_be_sparse():
    sparse = pytest.importorskip("scipy.sparse")
    np.testing.assert_array_equal(xor_network()(sparse.csr_array(CORNERS)), xor_network()(CORNERS))


def test_weights_that_are_no_numbers_are_refused():
    network = th.neural.Network(2, [th.neural.Dense(1)])
    with pytest.raises(th.errors.DataError, match="of dense layer 0 contain NaN or infinity"):
        network.with_weights([([[np.nan], [1.0]], [0.0])])
    with pytest.raises(th.errors.DataError, match=r"1 dense layer, but 2 pairs .* are given"):
        network.with_weights([([[1.0], [1.0]], [0.0])] * 2)
