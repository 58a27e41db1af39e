"""Multilayer perceptrons: heads, solvers, penalties, weights and precision."""

import warnings

import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

import thetahat as th
from tests.models.neural.mlp_data import X_IRIS, Y_IRIS, both, quietly, waves


@pytest.mark.parametrize(
    "options",
    [
        {"solver": "adam", "learning_rate_init": 0.01},
        {"solver": "adamw", "learning_rate_init": 0.01},
        {"solver": "sgd", "learning_rate_init": 0.1},
        {"solver": "sgd", "learning_rate_init": 0.1, "nesterovs_momentum": False},
        {"solver": "sgd", "learning_rate_init": 0.1, "momentum": 0.0},
        {"solver": "sgd", "learning_rate_init": 0.1, "learning_rate": "adaptive"},
        {"solver": "sgd", "learning_rate_init": 0.2, "learning_rate": "invscaling", "power_t": 0.1},
        {"solver": "lbfgs"},
        {"penalty": "l1", "learning_rate_init": 0.01, "alpha": 0.01},
        {"penalty": "elasticnet", "learning_rate_init": 0.01},
        {"penalty": None, "learning_rate_init": 0.01},
        {"hidden_layer_sizes": (20, 20), "activation": ("tanh", "relu"), "solver": "lbfgs"},
        {"initialisation": "he", "learning_rate_init": 0.01},
        {"dropout": 0.05, "learning_rate_init": 0.01},
        {"loss": "huber", "solver": "lbfgs"},
        {"loss": "absolute", "learning_rate_init": 0.01},
    ],
    ids=str,
)
def test_every_solver_and_penalty_learns(options):
    X, y = waves()
    settings = {"hidden_layer_sizes": (50,), "activation": "tanh", "max_iter": 400}
    model = quietly(th.MLPRegressor(**(settings | options), random_state=0), X, y)
    assert model.score(X, y) > 0.8
    assert model.solution_.steps == model.n_iter_ <= 400
    if model.solver != "lbfgs":
        assert len(model.loss_curve_) == model.n_iter_
        assert model.best_loss_ == min(model.loss_curve_)
        assert model.t_ == 300 * model.n_iter_


@pytest.mark.parametrize(
    ("loss", "outputs", "link"),
    [
        ("log_loss", 3, "softmax"),
        ("softmax", 3, "softmax"),
        ("hinge", 3, "identity"),
        ("squared_hinge", 3, "identity"),
        ("multiclass_hinge", 3, "identity"),
        ("crammer_singer", 3, "identity"),
    ],
)
def test_heads_of_classes(loss, outputs, link):
    """Bernoulli, softmax, and one class against the rest with a margin ("NN+SVM")."""
    settings = {"loss": loss, "learning_rate_init": 0.01, "random_state": 0}
    model = quietly(th.MLPClassifier((20,), **settings), X_IRIS, Y_IRIS)
    assert model.score(X_IRIS, Y_IRIS) > 0.95
    assert model.n_outputs_ == outputs
    assert model.out_activation_ == link
    assert hasattr(model, "predict_proba") == (link == "softmax")
    two = Y_IRIS > 0
    model = quietly(th.MLPClassifier((20,), **settings), X_IRIS, two)
    assert model.score(X_IRIS, two) > 0.98
    assert model.decision_function(X_IRIS).shape == (150,)
    np.testing.assert_array_equal(model.predict(X_IRIS), model.decision_function(X_IRIS) > 0)
    if loss == "log_loss":
        assert model.n_outputs_ == 1
        assert model.out_activation_ == "logistic"
        p = model.predict_proba(X_IRIS)
        np.testing.assert_allclose(p.sum(axis=1), 1)
        np.testing.assert_allclose(p[:, 1], th.losses.sigmoid(model.decision_function(X_IRIS)))


def test_a_network_without_hidden_layers_is_the_linear_model():
    """Then the objective is convex, and L-BFGS finds its minimum."""
    X, y = X_IRIS, X_IRIS[:, 0] + np.sin(np.arange(150))
    model = th.MLPRegressor(
        hidden_layer_sizes=(), solver="lbfgs", alpha=3.0, tol=1e-9, max_iter=1000, random_state=0
    ).fit(X, y)
    ridge = th.Ridge(alpha=3.0).fit(X, y)
    np.testing.assert_allclose(model.predict(X), ridge.predict(X), atol=1e-6)
    np.testing.assert_allclose(model.coefs_[0][:, 0], ridge.coef_, atol=1e-6)
    logistic = th.LogisticRegression(C=0.5).fit(X, Y_IRIS > 0)
    model = th.MLPClassifier(
        hidden_layer_sizes=(), solver="lbfgs", alpha=2.0, tol=1e-9, max_iter=1000, random_state=0
    ).fit(X, Y_IRIS > 0)
    np.testing.assert_allclose(model.predict_proba(X), logistic.predict_proba(X), atol=1e-5)


def test_the_closed_form_of_the_output_layer():
    """W* = (ΦᵀΦ + λI)⁻¹Φᵀy on the last hidden activations: ridge regression is at least as good."""
    X, y = waves()
    model = quietly(th.MLPRegressor(hidden_layer_sizes=(30,), random_state=0, max_iter=100), X, y)
    phi = model.transform(X)
    (V, W1), (a, b) = model.coefs_, model.intercepts_
    np.testing.assert_allclose(phi, np.maximum(X @ V + a, 0.0), atol=1e-12)
    np.testing.assert_allclose(phi @ W1[:, 0] + b, model.predict(X), atol=1e-12)
    alpha = 1e-3
    ridge = th.Ridge(alpha=alpha, fit_intercept=False).fit(np.column_stack([phi, np.ones(300)]), y)
    design = np.column_stack([phi, np.ones(300)])
    W = np.linalg.solve(design.T @ design + alpha * np.eye(31), design.T @ y)
    np.testing.assert_allclose(ridge.coef_, W, rtol=1e-6, atol=1e-8)
    best = np.mean((design @ W - y) ** 2)
    assert best < np.mean((model.predict(X) - y) ** 2)


def test_hidden_activations_are_features_for_any_model():
    X, y = waves()
    labels = y > np.median(y)
    model = quietly(th.MLPClassifier((16, 8), learning_rate_init=0.01, random_state=0), X, labels)
    phi = model.transform(X)
    assert phi.shape == (300, 8)
    assert model.transform(X, layer=0).shape == (300, 16)
    np.testing.assert_array_equal(model.transform(X, layer=1), phi)
    np.testing.assert_allclose(
        phi @ model.coefs_[-1][:, 0] + model.intercepts_[-1], model.decision_function(X)
    )
    linear = th.LogisticRegression().fit(X, labels).score(X, labels)
    assert th.LogisticRegression().fit(phi, labels).score(phi, labels) > max(0.9, linear)
    assert len(model.get_feature_names_out()) == 8
    with pytest.raises(th.errors.ParameterError, match=r"layer=2 must be a whole number from -2"):
        model.transform(X, layer=2)


@pytest.mark.parametrize("solver", ["adam", "lbfgs"])
def test_the_objective_is_as_scikit_learn_defines_it(solver):
    """One batch of all rows: mean loss + α/(2n)·‖W‖²; both reach the same objective."""
    from sklearn.neural_network import MLPRegressor

    X, y = waves(100)
    settings = {
        "hidden_layer_sizes": (10,),
        "activation": "tanh",
        "alpha": 1.0,
        "solver": solver,
        "batch_size": 100,
        "learning_rate_init": 0.02,
        "max_iter": 600,
        "tol": 1e-6,
        "n_iter_no_change": 100,
        "random_state": 0,
    }
    ours = quietly(th.MLPRegressor(**settings), X, y)
    theirs = quietly(MLPRegressor(**settings), X, y)
    error = np.mean((ours.predict(X) - y) ** 2) / 2
    squares = sum((W**2).sum() for W in ours.coefs_)
    assert ours.loss_ == pytest.approx(error + squares / 200, rel=1e-3)
    assert ours.loss_ < 1.2 * theirs.loss_


def test_one_step_by_hand():
    """θ ← θ − η(∇ of the loss + αW/n); L1 adds α·sign(W)/n instead."""
    X, y = waves(20)
    settings = {"hidden_layer_sizes": (3,), "activation": "tanh", "solver": "sgd", "momentum": 0.0}
    for penalty, slope in (("l2", lambda W: W), ("l1", np.sign)):
        model = th.MLPRegressor(
            **settings, penalty=penalty, alpha=5.0, learning_rate_init=0.1, random_state=0
        )
        before = model.partial_fit(X, y)
        network = th.neural.Network(2, before.layers_).with_weights(
            zip(before.coefs_, before.intercepts_, strict=True)
        )
        value, slopes = network.gradient(X, y)
        after = model.partial_fit(X, y)
        for W, b, (V, c), (dV, dc) in zip(
            after.coefs_, after.intercepts_, network.weights, slopes.weights, strict=True
        ):
            np.testing.assert_allclose(W, V - 0.1 * (dV + 5.0 / 20 * slope(V)))
            np.testing.assert_allclose(b, c - 0.1 * dc)
        assert after.loss_curve_[-1] > value


@both
@pytest.mark.parametrize("solver", ["adam", "sgd", "lbfgs"])
def test_larger_penalties_give_smaller_weights(kind, solver):
    size = [
        sum(
            (W**2).sum()
            for W in quietly(
                kind(hidden_layer_sizes=(10,), solver=solver, alpha=alpha, random_state=0),
                X_IRIS,
                Y_IRIS,
            ).coefs_
        )
        for alpha in (0.0, 10.0, 300.0)
    ]
    assert size[0] > size[1] > size[2]


def test_l1_decay_gives_smaller_weights_in_sum_and_dropout_changes_the_training_only():
    X, y = waves()
    plain, sparse = (
        quietly(th.MLPRegressor(penalty=penalty, alpha=20.0, random_state=0, max_iter=100), X, y)
        for penalty in (None, "l1")
    )
    assert np.abs(sparse.coefs_[0]).sum() < np.abs(plain.coefs_[0]).sum() / 2
    model = quietly(th.MLPRegressor(dropout=0.5, random_state=0, max_iter=50), X, y)
    np.testing.assert_array_equal(model.predict(X), model.predict(X))


@both
def test_the_number_of_threads_changes_no_bit(kind):
    random = np.random.default_rng(0)
    X = random.standard_normal((600, 80))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    found = []
    for threads in (1, 3):
        with th.config(threads=threads):
            model = quietly(
                kind(hidden_layer_sizes=(256, 64), max_iter=3, batch_size=300, random_state=0), X, y
            )
            found.append([*model.coefs_, *model.intercepts_, model.transform(X)])
    for one, three in zip(*found, strict=True):
        np.testing.assert_array_equal(one, three)


@both
def test_float32_sparse_rows_and_files_agree(kind, tmp_path):
    X = np.where(np.abs(X_IRIS) < 0.5, 0.0, X_IRIS)
    settings = {"hidden_layer_sizes": (8,), "random_state": 0, "max_iter": 5, "shuffle": False}
    dense = quietly(kind(**settings), X, Y_IRIS)
    sparse = quietly(kind(**settings), scipy.sparse.csr_array(X), Y_IRIS)
    single = quietly(kind(**settings), X.astype(np.float32), Y_IRIS)
    np.save(tmp_path / "rows.npy", np.column_stack([X, Y_IRIS]))
    file = quietly(kind(**settings), th.scan(tmp_path / "rows.npy", target=4))
    for W, V, U, F in zip(dense.coefs_, sparse.coefs_, single.coefs_, file.coefs_, strict=True):
        np.testing.assert_allclose(W, V, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(W, F, rtol=1e-12)
        np.testing.assert_allclose(W, U, atol=1e-5)
        assert U.dtype == np.float32
    np.testing.assert_allclose(
        sparse.predict(scipy.sparse.csr_array(X)), sparse.predict(X), rtol=1e-9
    )


def test_a_row_of_weight_two_is_a_row_twice():
    X, y = waves(40)
    weight = np.random.default_rng(1).integers(0, 3, 40)
    settings = {"hidden_layer_sizes": (5,), "activation": "tanh", "solver": "lbfgs", "alpha": 0.1}
    models = [
        quietly(th.MLPRegressor(**settings, random_state=0, max_iter=30), *data)
        for data in ((X, y, weight), (X.repeat(weight, axis=0), y.repeat(weight)))
    ]
    np.testing.assert_allclose(models[0].predict(X), models[1].predict(X), atol=1e-5)
    scaled = quietly(
        th.MLPRegressor(**settings | {"solver": "adam", "alpha": 0}, random_state=0, max_iter=5),
        X,
        y,
        1000.0 * np.ones(40),
    )
    plain = quietly(
        th.MLPRegressor(**settings | {"solver": "adam", "alpha": 0}, random_state=0, max_iter=5),
        X,
        y,
    )
    np.testing.assert_allclose(scaled.predict(X), plain.predict(X))


def test_several_targets_and_several_labels():
    X, y = waves()
    Y = np.column_stack([y, -2 * y])
    model = quietly(th.MLPRegressor(hidden_layer_sizes=(30,), solver="lbfgs", random_state=0), X, Y)
    assert model.predict(X).shape == (300, 2)
    assert model.score(X, Y) > 0.95
    labels = (Y > 0).astype(int)
    model = quietly(th.MLPClassifier((30,), solver="lbfgs", random_state=0), X, labels)
    assert model.score(X, labels) > 0.9
    assert model.out_activation_ == "logistic"
    assert set(np.unique(model.predict(X))) == {0, 1}


def test_digits():
    X, y = load_digits(return_X_y=True)
    train = np.arange(len(y)) % 4 != 0
    model = quietly(th.MLPClassifier((100,), max_iter=80, random_state=0), X[train] / 16, y[train])
    assert model.score(X[~train] / 16, y[~train]) >= 0.97


def test_layers_of_the_library_inside_a_model():
    neural = th.neural
    layers = (32, neural.BatchNorm(), neural.Residual([neural.Dense(32)]), neural.Dropout(0.1))
    model = quietly(
        th.MLPClassifier(layers, learning_rate_init=0.01, random_state=0, max_iter=60),
        X_IRIS,
        Y_IRIS,
    )
    assert model.score(X_IRIS, Y_IRIS) > 0.95
    assert len(model.coefs_) == 3
    np.testing.assert_array_equal(model.predict(X_IRIS[:1]), model.predict(X_IRIS)[:1])


def test_cross_validation_over_decay_depth_and_width():
    from sklearn.model_selection import GridSearchCV

    X, y = waves(120)
    grid = {"alpha": [1e-3, 100.0], "hidden_layer_sizes": [(20,), (20, 20), (1,)]}
    model = th.MLPRegressor(solver="lbfgs", random_state=0, max_iter=60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        search = GridSearchCV(model, grid, cv=3).fit(X, y)
    assert search.best_params_["alpha"] == 1e-3
    assert search.best_params_["hidden_layer_sizes"] != (1,)
