"""Autoencoders: principal subspaces, codes and reconstructions, levels, and refusals."""

import warnings

import numpy as np
import pytest
import scipy.sparse
from scipy.linalg import subspace_angles
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

import thetahat as th
from thetahat.data.validation import as_source

KINDS = [th.Autoencoder, th.StackedAutoencoder]
both = pytest.mark.parametrize("kind", KINDS)


def flat_rows(n=200, d=6, rank=3, noise=0.1, seed=0):
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, rank)) @ random.standard_normal((rank, d))
    return X + noise * random.standard_normal((n, d)) + 1.0


def curve(n=200):
    t = np.linspace(-1, 1, n)
    return np.column_stack([t, t**2, np.sin(3 * t)])


def quietly(model, *data, **params):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(*data, **params)


def linear(kind=th.Autoencoder, k=2, **options):
    settings = {"solver": "lbfgs", "alpha": 0.0, "max_iter": 2000, "tol": 1e-8, "random_state": 0}
    return kind(k, hidden_layer_sizes=(), **(settings | options))


def bent(kind=th.Autoencoder, k=1, **options):
    settings = {"solver": "lbfgs", "alpha": 0.0, "max_iter": 500, "random_state": 0}
    settings |= {"hidden_layer_sizes": (20,), "activation": "tanh"}
    return kind(k, **(settings | options))


@both
@pytest.mark.parametrize("k", [1, 2])
def test_a_linear_autoencoder_spans_the_principal_subspace(kind, k):
    """The minimum of Σ‖x − g(f(x))‖² over linear f and g is that of PCA (Eckart and Young)."""
    X = flat_rows()
    model, pca = quietly(linear(kind, k), X), th.PCA(k).fit(X)
    assert subspace_angles(model.coefs_[1].T, pca.components_.T).max() < 1e-3
    expected = pca.inverse_transform(pca.transform(X))
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), expected, atol=1e-3)
    assert model.score(X) == pytest.approx(pca.explained_variance_ratio_.sum(), abs=1e-6)


@both
def test_codes_errors_and_score_are_those_of_the_formulas(kind):
    X = curve()
    model = quietly(bent(kind, max_iter=30), X)
    (W0, W1, W2, W3), (b0, b1, b2, b3) = model.coefs_, model.intercepts_
    codes = np.tanh(X @ W0 + b0) @ W1 + b1
    rows = np.tanh(codes @ W2 + b2) @ W3 + b3
    np.testing.assert_allclose(model.transform(X), codes, atol=1e-12)
    np.testing.assert_allclose(model.transform(X, layer=0), np.tanh(X @ W0 + b0), atol=1e-12)
    np.testing.assert_allclose(model.inverse_transform(codes), rows, atol=1e-12)
    errors = ((X - rows) ** 2).sum(axis=1)
    np.testing.assert_allclose(model.reconstruction_error(X), errors, atol=1e-12)
    assert model.loss_ == pytest.approx(errors.mean() / 2)
    weight = np.linspace(0.0, 1.0, len(X))
    centre = np.average(X, axis=0, weights=weight)
    share = 1 - (weight @ errors) / (weight @ ((X - centre) ** 2).sum(axis=1))
    assert model.score(X, sample_weight=weight) == pytest.approx(share)
    assert model.get_feature_names_out().tolist() == [f"{kind.__name__.lower()}0"]


@both
def test_one_code_follows_a_curve_that_no_line_follows(kind):
    X = curve()
    assert quietly(bent(kind), X).score(X) > 0.995
    assert th.PCA(1).fit(X).explained_variance_ratio_.sum() < 0.9


@both
def test_rows_unlike_the_training_rows_have_large_errors(kind):
    model = quietly(bent(kind), curve())
    unlike = model.reconstruction_error([[0.0, 1.0, 0.0]])[0]
    assert unlike > 20 * model.reconstruction_error(curve()).max()


def test_the_log_loss_reconstructs_probabilities_of_bits():
    bits = np.array([[0, 0, 1, 1], [1, 1, 0, 0]] * 20, dtype=float)
    model = quietly(linear(k=1, loss="log_loss", tol=1e-4), bits)
    p = model.inverse_transform(model.transform(bits))
    assert np.abs(p - bits).max() < 0.05
    assert ((p > 0) & (p < 1)).all()
    with pytest.raises(th.errors.DataError, match=r"0 (or|and) 1"):
        linear(loss="log_loss").fit(2 * bits)


@both
def test_sparse_rows_weights_and_blocks(kind):
    X = flat_rows(60).round(1)
    X[X < 0.5] = 0.0
    weight = np.random.default_rng(1).integers(1, 4, 60).astype(float)
    dense = quietly(linear(kind), X, sample_weight=weight)
    sparse = quietly(linear(kind), scipy.sparse.csr_array(X), sample_weight=weight)
    repeated = quietly(linear(kind), np.repeat(X, weight.astype(int), axis=0))
    for other in (sparse, repeated):
        np.testing.assert_allclose(
            other.inverse_transform(other.transform(X)),
            dense.inverse_transform(dense.transform(X)),
            atol=2e-3,
        )
    np.testing.assert_allclose(
        sparse.reconstruction_error(scipy.sparse.csr_array(X)), sparse.reconstruction_error(X)
    )
    source = as_source(X, None, weight)
    assert dense.score(source) == pytest.approx(dense.score(X, sample_weight=weight))


@both
@pytest.mark.parametrize("solver", ["adam", "sgd", "adamw"])
def test_stochastic_solvers_float32_and_early_stopping(kind, solver):
    X = flat_rows(400).astype(np.float32) / 3
    settings = {"solver": solver, "learning_rate_init": 0.01, "max_iter": 150, "activation": "tanh"}
    model = quietly(kind(3, early_stopping=True, random_state=0, **settings), X)
    assert model.score(X) > 0.9
    assert model.transform(X).dtype == model.coefs_[0].dtype == np.float32
    assert model.best_validation_score_ == max(model.validation_scores_) > 0.9
    again = quietly(clone(model), X)
    np.testing.assert_array_equal(again.transform(X), model.transform(X))


def test_levels_of_a_stack_reproduce_the_codes_below():
    """With fine-tuning of one tiny step, the layers are those of the levels."""
    X = curve()
    options = {"hidden_layer_sizes": (20, 8), "activation": "tanh", "alpha": 0.0, "tol": None}
    options |= {"learning_rate_init": 1e-12, "random_state": 0, "max_iter": 1}
    settings = {"solver": "adam", "pretraining_iter": 200}
    stack = quietly(th.StackedAutoencoder(2, **(options | settings)), X)
    start = quietly(th.Autoencoder(2, **options), X)
    assert stack.pretraining_losses_.shape == (3,)
    assert [W.shape for W in stack.coefs_] == [(3, 20), (20, 8), (8, 2), (2, 8), (8, 20), (20, 3)]
    settings["learning_rate_init"] = 0.01
    stack = quietly(th.StackedAutoencoder(2, **(options | settings)), X)
    assert stack.loss_ < start.loss_ / 5
    hidden = stack.transform(X, layer=1)
    levels = np.tanh(stack.transform(X, layer=0) @ stack.coefs_[1] + stack.intercepts_[1])
    np.testing.assert_allclose(hidden, levels)


def test_greedy_levels_and_fine_tuning_train_a_deep_network():
    """The same number of epochs from small random weights leaves a deep network at the mean."""
    X = curve()
    options = {"hidden_layer_sizes": (20,) * 5, "activation": "tanh", "learning_rate_init": 0.01}
    options |= {"initialisation": "small", "max_iter": 60, "tol": None, "random_state": 0}
    plain = quietly(th.Autoencoder(1, **options), X)
    stack = quietly(th.StackedAutoencoder(1, pretraining_iter=100, **options), X)
    assert plain.score(X) < 0.1
    assert stack.score(X) > 0.8
    assert stack.loss_curve_[-1] < stack.loss_curve_[0]


def test_pretrained_layers_start_a_classifier():
    X, y = load_digits(return_X_y=True)
    X = X / 16
    options = {"hidden_layer_sizes": (40,), "learning_rate_init": 0.01, "random_state": 0}
    stack = quietly(th.StackedAutoencoder(20, max_iter=5, pretraining_iter=5, **options), X)
    layers = stack.pretrained_layers()
    assert [layer.units for layer in layers] == [40, 20]
    network = th.neural.Network(64, layers)
    np.testing.assert_allclose(network(X), stack.transform(X), atol=1e-12)
    model = th.MLPClassifier(layers, learning_rate_init=1e-12, max_iter=1, random_state=0)
    model = quietly(clone(model), X[:100], y[:100])
    np.testing.assert_allclose(model.transform(X), stack.transform(X), atol=1e-8)
    trained = quietly(th.MLPClassifier(layers, alpha=1, solver="lbfgs"), X[:200], y[:200])
    assert trained.score(X[200:], y[200:]) > 0.8
    assert layers == stack.pretrained_layers()
    assert hash(layers) == hash(stack.pretrained_layers())


def test_models_with_given_weights_are_saved_and_loaded(tmp_path):
    X = curve()
    stack = quietly(bent(th.StackedAutoencoder, max_iter=5, pretraining_iter=5), X)
    model = quietly(th.MLPRegressor(hidden_layer_sizes=stack.pretrained_layers()), X, X[:, 0])
    for each in (stack, model):
        th.save(each, tmp_path / "model.theta")
        loaded = th.load(tmp_path / "model.theta")
        np.testing.assert_array_equal(loaded.transform(X), each.transform(X))


@both
def test_warm_start_goes_on_from_the_last_weights(kind):
    X = curve()
    model = quietly(bent(kind, max_iter=20, warm_start=True), X)
    before = model.loss_
    assert quietly(model, X).loss_ < before


@both
def test_refusals(kind):
    X = flat_rows(20)
    cases = [
        ({"n_components": 0}, "n_components"),
        ({"code_activation": "step"}, "derivative of 0"),
        ({"hidden_layer_sizes": [th.neural.Residual([th.neural.Dense(6)])]}, "numbers of units"),
        ({"loss": "multiclass_hinge"}, "loss for classes"),
        ({"loss": "hinge"}, "loss for classes"),
        ({"solver": "lbfgs", "penalty": "l1"}, "penalty"),
    ]
    for options, message in cases:
        with pytest.raises(th.errors.ParameterError, match=message):
            kind(**options).fit(X)
    with pytest.raises(th.errors.DataError, match="NaN"):
        kind().fit(np.where(X > 2, np.nan, X))
    model = quietly(kind(max_iter=1), X)
    with pytest.raises(th.errors.DataError, match="transform returns 2"):
        model.inverse_transform(X)
    with pytest.raises(th.errors.ParameterError, match="layer=9"):
        model.transform(X, layer=9)
    with pytest.raises(th.errors.ParameterError, match="pretraining_iter"):
        th.StackedAutoencoder(pretraining_iter=0).fit(X)


def test_given_weights_are_checked():
    Dense = th.neural.Dense
    with pytest.raises(th.errors.ParameterError, match=r"weights of shape \(inputs, 3\)"):
        Dense(3, "tanh", (np.ones((2, 2)), np.zeros(3)))
    with pytest.raises(th.errors.ParameterError, match="finite"):
        Dense(1, "tanh", ([[np.nan]], [0.0]))
    with pytest.raises(th.errors.ParameterError, match="4 inputs"):
        th.neural.Network(4, [Dense(3, "tanh", (np.ones((2, 3)), np.zeros(3)))])
    one = Dense(1, "tanh", ([[1.0]], [0.0]))
    assert one == Dense(1, "tanh", ([[1.0]], [0.0])) != Dense(1, "tanh", ([[2.0]], [0.0]))


def test_constant_rows_have_no_variance_to_explain():
    """Their distances from the mean are its rounding error, not a variance."""
    X = np.full((300, 3), 0.1)
    model = th.Autoencoder(1, hidden_layer_sizes=(), max_iter=1, tol=None, random_state=0).fit(X)
    assert model.score(X) == 0.0


def test_pretraining_that_diverges_names_the_model():
    X = np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32)
    model = th.StackedAutoencoder(2, solver="sgd", learning_rate_init=1e99, batch_size=4)
    with pytest.raises(th.errors.DataError, match=r"^StackedAutoencoder: the loss must be"):
        model.fit(X)
