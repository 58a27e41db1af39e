"""Embedding penalties inside a network: gradients, pairs, unlabelled rows, depth, and refusals."""

import pickle

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.datasets import load_digits

import thetahat as th
from thetahat.objective.network.embedding import EmbeddingTerm, MarginPenalty, ScalingPenalty
from thetahat.objective.network.predictor import NetworkPredictor

Dense = th.neural.Dense


def rows(n=12, d=3, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def term_of(penalty, strengths, X=None, outputs=2, n_pairs=5):
    layers = (Dense(4, "tanh"), Dense(3, "sigmoid"), Dense(max(1, outputs), "identity"))
    predictor = NetworkPredictor(layers, 3, outputs)
    X = rows() if X is None else X
    near = (np.arange(11), np.arange(1, 12))
    return EmbeddingTerm(predictor, penalty, strengths, X, near, n_pairs, unit=2.0)


def differences(function, theta, h=1e-6):
    found = np.empty_like(theta)
    for place in range(theta.size):
        move = np.zeros_like(theta)
        move[place] = h
        found[place] = (function(theta + move) - function(theta - move)) / (2 * h)
    return found


@pytest.mark.parametrize("penalty", [ScalingPenalty(), MarginPenalty(0.5), MarginPenalty(9.0)])
@pytest.mark.parametrize("strengths", [{2: 0.7}, {0: 0.3, 1: 2.0, 2: 0.7}, {1: 1.0}], ids=str)
@pytest.mark.parametrize("outputs", [0, 2])
def test_the_gradient_of_pairs_matches_finite_differences(penalty, strengths, outputs):
    """At the output layer, at every layer with its own strength, and inside only."""
    term = term_of(penalty, strengths, outputs=outputs)
    theta = term.predictor.draw(np.random.default_rng(1))
    first, second = np.arange(8), np.arange(8) + np.array([1, 1, 1, 1, 4, 3, 2, 4])
    near = np.arange(8) < 4
    value, slope = term.of_pairs(theta, first, second, near)
    slope = slope.copy()
    expected = differences(lambda at: term.of_pairs(at, first, second, near)[0], theta)
    np.testing.assert_allclose(slope, expected, atol=2e-7)
    assert value > 0
    assert np.abs(expected).max() > 1e-3


def test_pairs_are_a_batch_of_the_training_for_batch_normalisation():
    """The slope of the running means is 0, and dropout, also inside, leaves the pairs whole."""
    norm, drop = th.neural.BatchNorm(), th.neural.Dropout(0.5)
    inner = th.neural.Residual([Dense(4, "tanh"), drop, norm])
    layers = (Dense(4, "tanh"), drop, norm, inner, Dense(2, "identity"))
    predictor, near = NetworkPredictor(layers, 3, 2), (np.arange(11), np.arange(1, 12))
    strengths = {2: 0.5, 3: 0.3, 4: 1.0}
    term = EmbeddingTerm(predictor, MarginPenalty(9.0), strengths, rows(), near, 5, unit=2.0)
    theta = predictor.draw(np.random.default_rng(1))

    def of_pairs(at, seed=0):
        random = np.random.default_rng(seed)
        return term.of_pairs(at.copy(), near[0], near[1], np.arange(11) < 6, random)

    value, slope = of_pairs(theta)
    slope = slope.copy()
    assert value == of_pairs(theta, seed=1)[0]
    expected = differences(lambda at: of_pairs(at)[0], theta)
    np.testing.assert_allclose(slope, expected, atol=2e-7)
    assert np.abs(expected[predictor.chain.n_weights :]).max() > 1e-3
    for place, (layer, _, free) in enumerate(predictor.parts(slope)):
        if layer is norm:
            np.testing.assert_array_equal(free.reshape(4, -1)[2:], 0)
            assert place == 2


def test_the_penalties_of_pairs_are_those_of_the_formulas():
    """(‖Δ‖² − d)² of the course; ‖Δ‖² for neighbours and (m − ‖Δ‖)₊² for others (DrLIM)."""
    difference = np.array([[3.0, 4.0], [0.6, 0.8], [0.6, 0.8], [0.0, 0.0], [3.0, 4.0]])
    near = np.array([True, True, False, False, False])
    distance = np.array([20.0, 1.0, 3.0, 1.0, 25.0])
    value, slope = ScalingPenalty().value_and_slope(difference, distance, near)
    np.testing.assert_allclose(value, [25.0, 0.0, 4.0, 1.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(slope[0], [60.0, 80.0])
    value, slope = MarginPenalty(2.0).value_and_slope(difference, distance, near)
    np.testing.assert_allclose(value, [25.0, 1.0, 1.0, 4.0, 0.0])
    np.testing.assert_allclose(slope, [[6, 8], [1.2, 1.6], [-1.2, -1.6], [0, 0], [0, 0]])


def test_the_term_is_the_weighted_sum_over_layers_and_its_slope_is_added():
    term = term_of(MarginPenalty(1.0), {0: 0.5, 2: 2.0})
    theta = term.predictor.draw(np.random.default_rng(1))
    first, second, near = np.array([0, 5]), np.array([1, 9]), np.array([True, False])
    total = 0.0
    for layer, strength in {0: 0.5, 2: 2.0}.items():
        z = term.predictor.outputs(term.X, theta, layer + 1)
        close = ((z[0] - z[1]) ** 2).sum()
        far = max(0.0, 1 - np.linalg.norm(z[5] - z[9])) ** 2
        total += strength * (close + far) / 2
    assert term.of_pairs(theta, first, second, near)[0] == pytest.approx(total)
    into = np.ones_like(theta)
    value = term.add_slope(theta, into, np.random.default_rng(2))
    again = np.zeros_like(theta)
    assert term.add_slope(theta, again, np.random.default_rng(2)) == value
    np.testing.assert_allclose(into, 1 + again)
    sparse = term_of(MarginPenalty(1.0), {0: 0.5, 2: 2.0}, scipy.sparse.csr_array(rows()))
    found = sparse.of_pairs(theta, first, second, near)[0]
    assert found == pytest.approx(total)


def bands(n=200, seed=0):
    """Two groups, with one label at opposite ends, so that a line between the labels is wrong."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, 2, n)
    X = random.normal(0.0, [1.0, 0.3], (n, 2)) + np.column_stack([np.zeros(n), 3.0 * truth])
    y = np.full(n, -1)
    for label, side in ((0, -1), (1, 1)):
        own = np.flatnonzero(truth == label)
        y[own[np.argmax(side * X[own, 0])]] = label
    return X, truth, y


def network(**options):
    settings = {"activation": "tanh", "learning_rate_init": 0.01, "n_neighbors": 10}
    settings |= {"random_state": 0, "max_iter": 200, "embedding_alpha": 1.0, "margin": 3.0}
    return th.EmbeddingNetwork((20, 20), **(settings | options))


@pytest.mark.parametrize("embedding", ["all", "output"])
def test_unlabelled_rows_move_the_boundary_between_bands(embedding):
    X, truth, y = bands()
    known = y >= 0
    plain = th.MLPClassifier((20, 20), "tanh", learning_rate_init=0.01, random_state=0, tol=None)
    plain.fit(X[known], y[known])
    model = network(embedding=embedding, max_iter=300).fit(X, y)
    assert plain.score(X, truth) < 0.9
    assert model.score(X, truth) > 0.95
    np.testing.assert_array_equal(model.transduction_[known], y[known])
    np.testing.assert_array_equal(model.transduction_[~known], model.predict(X[~known]))
    assert model.n_edges_ > 5 * len(X) / 2


def test_without_strength_it_is_the_classifier_of_the_labelled_rows():
    X, truth, y = bands()
    y[:40] = truth[:40]
    known = y >= 0
    settings = {"activation": "tanh", "random_state": 0, "max_iter": 30, "tol": None}
    plain = th.MLPClassifier((20,), **settings).fit(X[known], y[known])
    model = th.EmbeddingNetwork((20,), embedding_alpha=0.0, **settings).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))


@pytest.mark.slow
def test_the_plain_network_degrades_with_depth_and_the_penalty_of_all_layers_does_not():
    """The study of the course in small: layers of 50 units on ten labels of each digit."""
    X, truth = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    X, truth = X[order] / 16, truth[order]
    y = np.full(1200, -1)
    for digit in range(10):
        y[np.flatnonzero(truth[:1200] == digit)[:10]] = digit
    known, shared = y >= 0, {"activation": "tanh", "learning_rate_init": 0.003, "max_iter": 150}
    shared |= {"tol": None, "random_state": 0}
    plain, every = [], []
    for depth in (2, 15):
        one = th.MLPClassifier((50,) * depth, **shared).fit(X[:1200][known], y[known])
        two = th.EmbeddingNetwork((50,) * depth, **shared).fit(X[:1200], y)
        plain.append(1 - one.score(X[1200:], truth[1200:]))
        every.append(1 - two.score(X[1200:], truth[1200:]))
    assert plain[1] > plain[0] + 0.04
    assert every[1] < every[0] + 0.02
    assert every[0] < plain[0]
    assert every[1] < plain[1] - 0.06


def test_scaling_keeps_the_distances_of_the_inputs_in_every_layer():
    X = rows(100, 3)
    y = np.full(100, -1)
    y[:4] = [0, 1, 0, 1]
    model = network(pair_loss="scaling", embedding_alpha=[5.0, 5.0, 0.0], max_iter=400).fit(X, y)
    pairs = np.triu_indices(100, 1)

    def squares(z):
        return ((z[pairs[0]] - z[pairs[1]]) ** 2).sum(axis=1)

    expected = squares(X) / squares(X).mean()
    for layer in (0, 1):
        found = squares(model.transform(X, layer=layer))
        assert np.corrcoef(found, expected)[0, 1] > 0.95
        assert np.abs(found - expected).mean() < 0.3


def test_sparse_text_labels_weights_clone_pickle_and_files(tmp_path):
    X, truth, y = bands(80)
    y[:30] = truth[:30]
    text = np.array(["no", "yes", -1], dtype=object)[y]
    model = network(max_iter=40).fit(X, text)
    assert model.classes_.tolist() == ["no", "yes"]
    sparse = network(max_iter=40).fit(scipy.sparse.csr_array(X), text)
    np.testing.assert_allclose(sparse.predict_proba(X), model.predict_proba(X), atol=1e-6)
    again = clone(model).fit(X, text)
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    loaded = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    th.save(model, tmp_path / "model.theta")
    np.testing.assert_array_equal(th.load(tmp_path / "model.theta").predict(X), model.predict(X))
    weight = np.where(np.arange(80) < 70, 1.0, 0.0)
    less = network(max_iter=40).fit(X, y, sample_weight=weight)
    cut = network(max_iter=40).fit(X[:70], y[:70])
    np.testing.assert_allclose(less.predict_proba(X), cut.predict_proba(X), atol=1e-9)


def test_the_number_of_threads_changes_no_bit():
    X, _, y = bands(200)
    found = []
    for threads in (1, 2):
        with th.config(threads=threads):
            found.append(network(max_iter=10, n_pairs=400).fit(X, y).decision_function(X))
    np.testing.assert_array_equal(*found)


def test_refusals():
    X, _, y = bands(50)
    with pytest.raises(th.errors.CapabilityError, match="pairs are drawn in each step"):
        network(solver="lbfgs").fit(X, y)
    with pytest.raises(th.errors.ParameterError, match="has 2 entries, but embedding='all' has 3"):
        network(embedding_alpha=[1.0, 2.0]).fit(X, y)
    for name, value in (("margin", 0.0), ("embedding", "some"), ("n_pairs", 0)):
        with pytest.raises(th.errors.ParameterError, match=name):
            network(**{name: value}).fit(X, y)
    with pytest.raises(th.errors.ParameterError, match="embedding_alpha"):
        network(embedding_alpha=[1.0, -1.0, 0.0]).fit(X, y)
    with pytest.raises(th.errors.DataError, match="no row has a label"):
        network().fit(X, np.full(50, -1))
    with pytest.raises(th.errors.DataError, match="one class only"):
        network().fit(X, np.where(y == 1, -1, y))
    assert not hasattr(network(), "partial_fit")
