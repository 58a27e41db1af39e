"""Corners of multilayer perceptrons that users of scikit-learn rely on."""

from __future__ import annotations

import pickle
import tracemalloc

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import thetahat as th
from thetahat.objective.network import descent


@pytest.mark.parametrize("kind", [th.MLPClassifier, th.MLPRegressor])
def test_partial_fit_is_there_for_steps_only(kind):
    assert hasattr(kind(solver="sgd"), "partial_fit")
    assert not hasattr(kind(solver="lbfgs"), "partial_fit")


def test_one_held_out_row_is_refused():
    X, y = np.arange(6.0)[:, None], np.arange(6.0)
    with pytest.raises(th.errors.DataError, match="validation set is too small: 1 of 6 rows"):
        th.MLPRegressor(early_stopping=True, validation_fraction=0.1).fit(X, y)


def test_a_column_of_targets_is_one_target(tmp_path):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    X = np.random.default_rng(0).normal(size=(40, 2))
    y, options = X[:, :1], {"hidden_layer_sizes": (4,), "tol": 1.0, "random_state": 0}
    expected = th.MLPRegressor(**options).fit(X, y[:, 0]).predict(X)
    for column in (y, y.tolist(), pandas.DataFrame(y), polars.DataFrame(y)):
        found = th.MLPRegressor(**options).fit(X, column).predict(X)
        np.testing.assert_array_equal(found, expected)
    np.save(tmp_path / "rows.npy", np.column_stack([X, y]))
    rows = th.scan(tmp_path / "rows.npy", features=[0, 1], target=[2])
    for solver in ("adam", "lbfgs"):
        model = th.MLPRegressor(**options, solver=solver).fit(rows)
        assert model.predict(X).shape == (40,)
        assert model.score(rows) == pytest.approx(model.score(X, y))


def test_many_rare_classes_with_early_stopping():
    X = np.random.default_rng(0).normal(size=(300, 8))
    model = th.MLPClassifier((5,), early_stopping=True, n_iter_no_change=2, tol=1.0)
    assert len(model.fit(X, np.repeat(np.arange(50), 6)).validation_scores_) >= 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"hidden_layer_sizes": 1.5}, r"=1\.5 must be a whole number ≥ 1, or a sequence"),
        ({"hidden_layer_sizes": "10"}, r"='10' must be a whole number ≥ 1, or a sequence"),
        (
            {"hidden_layer_sizes": (1.5,)},
            r"must hold whole numbers or layers, but an entry is 1\.5",
        ),
        ({"hidden_layer_sizes": (0,)}, "must be > 0, but an entry is 0"),
        ({"activation": 3}, "activation=3 is neither an activation nor the name of one"),
        ({"activation": ("relu", "tanh")}, "which is 1, but it has 2"),
    ],
)
def test_messages_about_layers_and_activations(options, message):
    with pytest.raises(th.errors.ParameterError, match=message):
        th.MLPRegressor(**options).fit(np.eye(5), np.arange(5.0))


@pytest.mark.parametrize(
    "layer",
    [
        th.neural.Dense(2, "step"),
        th.neural.Activation("step"),
        th.neural.Residual([th.neural.Activation("step")]),
    ],
)
def test_layers_without_a_slope_are_refused(layer):
    with pytest.raises(th.errors.ParameterError, match="has a derivative of 0 everywhere"):
        th.MLPRegressor(hidden_layer_sizes=(layer,)).fit(np.eye(5), np.arange(5.0))


def test_layers_of_dropout_are_not_counted():
    X = np.random.default_rng(0).normal(size=(40, 3))
    model = th.MLPRegressor(
        hidden_layer_sizes=(4, 2), dropout=0.5, max_iter=1, tol=None, random_state=0
    ).fit(X, X[:, 0])
    assert [model.transform(X, layer=k).shape[1] for k in (0, 1, -1, -2)] == [4, 2, 2, 4]
    with pytest.raises(th.errors.ParameterError, match="from -2 to 1, because the network has 2"):
        model.transform(X, layer=2)
    flat = th.MLPRegressor(hidden_layer_sizes=(), max_iter=1, tol=None).fit(X, X[:, 0])
    with pytest.raises(th.errors.ParameterError, match="the network has no hidden layer"):
        flat.transform(X)


@pytest.mark.parametrize("kind", [th.MLPRegressor, th.Autoencoder])
def test_hidden_features_as_data_frames(kind):
    pytest.importorskip("pandas")
    X = np.random.default_rng(0).normal(size=(40, 3))
    model = kind(hidden_layer_sizes=(4, 2), max_iter=1, tol=None, random_state=0).fit(X, X[:, 0])
    model.set_output(transform="pandas")
    name = kind.__name__.lower()
    assert model.transform(X).columns.tolist() == [f"{name}0", f"{name}1"]
    with pytest.raises(th.errors.CapabilityError, match="but this layer has 4"):
        model.transform(X, layer=0)


def test_several_labels_in_a_data_frame_of_polars():
    polars = pytest.importorskip("polars")
    X = np.random.default_rng(0).normal(size=(40, 3))
    labels = (X[:, :2] > 0).astype(int)
    settings = {"hidden_layer_sizes": (4,), "max_iter": 1, "tol": None, "random_state": 0}
    model = th.MLPClassifier(**settings).fit(X, polars.DataFrame(labels))
    other = th.MLPClassifier(**settings).fit(X, labels)
    np.testing.assert_array_equal(model.predict_proba(X), other.predict_proba(X))


def test_predictions_of_one_row_do_not_copy_the_weights():
    X = np.random.default_rng(0).normal(size=(4, 3000))
    model = th.MLPRegressor(hidden_layer_sizes=(200,), max_iter=1, tol=None).fit(X, X[:, 0])
    model.predict(X[:1])
    tracemalloc.start()
    try:
        model.predict(X[:1])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < model.coefs_[0].nbytes / 4


def test_weights_may_be_replaced():
    X = np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32)
    model = th.MLPRegressor(hidden_layer_sizes=(2,), max_iter=1, tol=None).fit(X, X[:, 0])
    model.coefs_[0] = np.zeros((3, 2))
    model.intercepts_[0] = np.ones(2)
    expected = model.coefs_[1].sum() + model.intercepts_[1][0]
    np.testing.assert_allclose(model.predict(X), np.full(40, expected), rtol=1e-6)


@pytest.mark.parametrize("inside", [False, True])
def test_batch_normalisation_counts_rows_by_their_weights(inside):
    """In one batch of all rows, weight 2 is the row twice and weight 0 is no row."""
    random = np.random.default_rng(0)
    X, weight = random.normal(size=(40, 3)), random.integers(0, 4, 40)
    norm = th.neural.BatchNorm()
    layers = (8, th.neural.Residual([th.neural.Dense(8), norm]) if inside else norm)
    options = {"hidden_layer_sizes": layers, "shuffle": False, "max_iter": 20, "tol": None}
    options |= {"solver": "sgd", "learning_rate_init": 0.1, "random_state": 0}
    twice = np.repeat(X, weight, axis=0)
    model = th.MLPRegressor(**options, batch_size=(weight > 0).sum()).fit(X, X[:, 0] ** 2, weight)
    other = th.MLPRegressor(**options, batch_size=len(twice)).fit(twice, twice[:, 0] ** 2)
    np.testing.assert_allclose(model.predict(X), other.predict(X), rtol=1e-9)
    for ours, theirs in zip(model.intercepts_, other.intercepts_, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


def state_of(model):
    """Weights, records and the memory of the steps, as bytes."""
    names = sorted(name for name in vars(model) if name not in {"solution_", "layers_"})
    return {name: pickle.dumps(vars(model)[name]) for name in names}


@pytest.mark.parametrize("solver", ["adam", "sgd"])
@pytest.mark.parametrize("kind", [th.MLPClassifier, th.MLPRegressor])
def test_a_failed_partial_fit_changes_nothing(kind, solver, monkeypatch):
    random = np.random.default_rng(0)
    X, y = random.normal(size=(60, 3)), np.arange(60) % 3
    model = kind(hidden_layer_sizes=(5,), solver=solver, batch_size=10, random_state=0)
    labels = {"classes": [0, 1, 2]} if kind is th.MLPClassifier else {}
    model.partial_fit(X, y, **labels)
    before, gradient, calls = state_of(model), descent._Step._gradient, []

    def fails(self, *arguments):
        calls.append(1)
        if len(calls) == 4:
            raise ValueError("in a step")
        return gradient(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(descent._Step, "_gradient", fails)
        with pytest.raises(ValueError, match="in a step"):
            model.partial_fit(X, y)
    assert state_of(model) == before
    bad = [(X, np.column_stack([y, y]) % 2), (X[:, :2], y), (X, y, -(X[:, 0] ** 2))]
    for batch in [*bad, (X, y + 5)] if labels else bad:
        with pytest.raises(th.errors.DataError):
            model.partial_fit(*batch)
        assert state_of(model) == before


def test_a_failed_first_partial_fit_leaves_no_model():
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = th.MLPRegressor(hidden_layer_sizes=(5,), random_state=0)
    with pytest.raises(th.errors.DataError, match="the loss must be a finite number"):
        model.partial_fit(np.where(np.arange(3) == 1, 1e300, X), X[:, 0])
    with pytest.raises(NotFittedError):
        model.predict(X)
    model.partial_fit(X[:, :2], X[:, 0])


def test_several_labels_from_a_source(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 3))
    Y = (X[:, :2] > 0).astype(int)
    np.save(tmp_path / "rows.npy", np.column_stack([X, Y, 2 * Y[:, 0]]))
    rows = th.scan(tmp_path / "rows.npy", features=[0, 1, 2], target=[3, 4])
    options = {"hidden_layer_sizes": (5,), "shuffle": False, "tol": 0.1, "random_state": 0}
    model, other = th.MLPClassifier(**options).fit(rows), th.MLPClassifier(**options).fit(X, Y)
    np.testing.assert_array_equal(model.predict_proba(X), other.predict_proba(X))
    assert model.predict(rows).shape == (60, 2)
    assert model.score(rows) == other.score(X, Y)
    model.partial_fit(rows)
    np.testing.assert_array_equal(model.predict_proba(X), other.partial_fit(X, Y).predict_proba(X))
    with pytest.raises(th.errors.DataError, match=r"y has shape \(60,\), but the predictions have"):
        model.score(th.scan(tmp_path / "rows.npy", features=[0, 1, 2], target=3))
    bad = th.scan(tmp_path / "rows.npy", features=[0, 1, 2], target=[3, 5])
    with pytest.raises(th.errors.DataError, match="column 1 holds 2 at row"):
        model.fit(bad)


def test_probabilities_of_one_class_against_the_rest_sum_to_1():
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = th.MLPClassifier((5,), loss="sign_logistic", tol=0.1, random_state=0)
    p = model.fit(X, np.arange(60) % 3).predict_proba(X)
    each = 1 / (1 + np.exp(-model.decision_function(X)))
    np.testing.assert_allclose(p, each / each.sum(axis=1, keepdims=True))


@pytest.mark.parametrize(
    ("kind", "loss"),
    [
        ("two", "log_loss"),
        ("two", "sign_logistic"),
        ("three", "log_loss"),
        ("three", "sign_logistic"),
        ("several", "log_loss"),
    ],
)
def test_logarithms_of_small_probabilities_are_finite(kind, loss):
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = {"two": X[:, 0] > 0, "three": np.arange(60) % 3, "several": (X > 0).astype(int)}[kind]
    model = th.MLPClassifier((5,), loss=loss, tol=0.1, random_state=0).fit(X, y)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X))
    far = model.predict_log_proba(1e6 * X)
    assert np.isfinite(far).all()
    assert far.min() < -1e3
    assert (far <= 0).all()
    if kind == "several":  # equal where the probabilities are
        np.testing.assert_array_equal(far == 0.0, model.predict_proba(1e6 * X) == 1.0)
