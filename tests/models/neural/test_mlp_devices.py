"""Torch tensors train where they are, give torch back, and equal the fit on NumPy arrays."""

import numpy as np
import pytest

import thetahat as th

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
SETTINGS = [
    {},
    {"solver": "sgd", "activation": "tanh", "penalty": "elasticnet", "alpha": 0.1},
    {"solver": "adamw", "activation": "logistic", "dropout": 0.3},
    {"shuffle": False, "hidden_layer_sizes": (6, th.neural.Activation("leaky_relu"))},
]
OPTIONS = {"hidden_layer_sizes": (8,), "max_iter": 4, "batch_size": 40, "random_state": 0}


def rows(seed=0):
    random = np.random.default_rng(seed)
    return random.standard_normal((150, 5)), random.uniform(0.5, 2, 150)


def on(values, device, dtype=torch.float64):
    return torch.tensor(values, dtype=dtype, device=device)


def host(tensor, device):
    assert isinstance(tensor, torch.Tensor)
    assert tensor.device.type == device
    return tensor.cpu().numpy()


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("targets", [1, 2])
def test_a_regressor_equals_that_on_numpy(device, settings, targets):
    X, weight = rows()
    y = X[:, 0] if targets == 1 else X[:, :2] ** 2
    options = OPTIONS | settings
    plain = th.MLPRegressor(**options).fit(X, y, weight)
    model = th.MLPRegressor(**options).fit(on(X, device), on(y, device), on(weight, device))
    found = host(model.predict(on(X, device)), device)
    np.testing.assert_allclose(found, plain.predict(X), rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(model.loss_curve_, plain.loss_curve_, rtol=1e-9)
    hidden = host(model.transform(on(X, device)), device)
    np.testing.assert_allclose(hidden, plain.transform(X), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("loss", ["log_loss", "hinge", "multiclass_hinge"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_classifier_equals_that_on_numpy(device, loss, n_classes):
    X, _ = rows()
    y = np.digitize(X[:, 0] + X[:, 1], [0.0, 1.0][: n_classes - 1]) * 3
    plain = th.MLPClassifier(**OPTIONS, loss=loss).fit(X, y)
    model = th.MLPClassifier(**OPTIONS, loss=loss).fit(on(X, device), on(y, device, torch.int64))
    found = host(model.decision_function(on(X, device)), device)
    np.testing.assert_allclose(found, plain.decision_function(X), rtol=1e-8, atol=1e-10)
    np.testing.assert_array_equal(host(model.predict(on(X, device)), device), plain.predict(X))
    if loss == "log_loss":
        found = host(model.predict_log_proba(on(X, device)), device)
        np.testing.assert_allclose(found, plain.predict_log_proba(X), rtol=1e-8)
    words = th.MLPClassifier(**OPTIONS, loss=loss).fit(on(X, device), y.astype(str))
    np.testing.assert_array_equal(words.predict(on(X, device)), plain.predict(X).astype(str))


@pytest.mark.parametrize("device", DEVICES)
def test_float32_stays_and_training_goes_on(device):
    X, _ = rows()
    x, y = on(X, device, torch.float32), on(X[:, 0], device, torch.float32)
    model, plain = (th.MLPRegressor(**OPTIONS) for _ in range(2))
    for _ in range(3):
        model.partial_fit(x, y)
        plain.partial_fit(X, X[:, 0])
    assert model.coefs_[0].dtype == model.predict(x).dtype == torch.float32
    np.testing.assert_allclose(host(model.predict(x), device), plain.predict(X), atol=1e-4)
    module = model.to_torch()
    np.testing.assert_allclose(
        module(x.cpu()).detach().numpy()[:, 0], host(model.predict(x), device), atol=1e-5
    )


def test_places_and_precisions_that_differ_are_refused():
    X, _ = rows()
    x, y = on(X, "cpu"), on(X[:, 0], "cpu")
    model = th.MLPRegressor(**OPTIONS).fit(x, y)
    with pytest.raises(th.errors.DataError, match=r"fitted on torch tensors, but X is a ndarray"):
        model.predict(X)
    with pytest.raises(th.errors.DataError, match=r"weights are torch\.float64 .* torch\.float32"):
        model.predict(x.float())
    with pytest.raises(th.errors.DataError, match="fitted on NumPy arrays, but X is a Tensor"):
        th.MLPRegressor(**OPTIONS).fit(X, X[:, 0]).predict(x)
    with pytest.raises(th.errors.DataError, match="y is a Tensor on cpu, but X is not"):
        model.fit(X, y)
    with pytest.raises(th.errors.DataError, match="must be float32 or float64"):
        model.fit(x.half(), y)
    with pytest.raises(th.errors.DataError, match="X is on cpu, but y is on meta"):
        model.fit(x, y.to("meta"))
    x[3, 1] = float("nan")
    with pytest.raises(th.errors.DataError, match=r"column 1.*row 3"):
        model.fit(x, y)


def test_what_needs_numpy_says_so():
    X, _ = rows()
    x, y = on(X, "cpu"), on(X[:, 0], "cpu")
    for options in (
        {"solver": "lbfgs"},
        {"early_stopping": True},
        {"checkpoint": "fit.npz"},
        {"hidden_layer_sizes": (5, th.neural.BatchNorm())},
    ):
        with pytest.raises(th.errors.CapabilityError, match="X is a torch tensor"):
            th.MLPRegressor(**options).fit(x, y)
