"""Estimators give on devices what they give on the CPU, and name what they cannot do there.

Tolerances: float64 rows agree to 1e-8, float32 rows to 1e-3 of the largest prediction.
"""

import numpy as np
import pytest
from sklearn.base import clone

import thetahat as th
from thetahat.mathematics.devices import memory

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
PRECISIONS = [(torch.float64, 1e-8), (torch.float32, 1e-3)]


def rows(n=600, d=4, seed=0):
    random = np.random.default_rng(seed)
    return random.standard_normal((n, d)) + 5.0 * random.standard_normal((3, d))[np.arange(n) % 3]


def targets(X, kind):
    score = np.sin(X[:, 0]) + 0.3 * X[:, 1] - 0.2 * X[:, 2]
    if kind == "number":
        return score
    noisy = score + np.random.default_rng(1).logistic(size=len(X))
    return np.digitize(noisy, [0.0] if kind == "two classes" else [-1.0, 1.0])


MODELS = {
    "kernel ridge": (th.KernelRidge(alpha=0.1, kernel="rbf"), "number", ["predict"]),
    "k-means": (th.KMeans(5, random_state=0), None, ["predict", "transform"]),
    "logistic": (
        th.LogisticRegression(tol=1e-8),
        "two classes",
        ["predict_proba", "predict_log_proba", "decision_function", "predict"],
    ),
    "softmax": (
        th.LogisticRegression(tol=1e-8),
        "three classes",
        ["predict_proba", "predict_log_proba", "decision_function", "predict"],
    ),
    "pca": (th.PCA(n_components=2), None, ["transform"]),
    "whitened pca": (th.PCA(n_components=2, whiten=True, scale=True), None, ["transform"]),
    "mixture": (
        th.GaussianMixture(3, random_state=0),
        None,
        ["predict_proba", "log_density", "score_samples", "predict"],
    ),
    "diagonal mixture": (
        th.GaussianMixture(3, covariance_type="diag", random_state=0),
        None,
        ["predict_proba", "predict"],
    ),
    "neighbours": (th.NearestNeighbors(n_neighbors=4), None, ["kneighbors"]),
}
EACH = pytest.mark.parametrize("name", MODELS)
ON = pytest.mark.parametrize("device", DEVICES)


def on(values, device, dtype=None):
    return torch.tensor(values, dtype=dtype, device=device)


def fitted(name, device=None, dtype=None, weight=None):
    """The model on NumPy arrays, or on a device."""
    model, kind, _ = MODELS[name]
    model, X = clone(model), rows()
    data = [] if kind is None else [targets(X, kind)]
    if device is not None:
        X, data = on(X, device, dtype), [on(each, device) for each in data]
    options = {} if weight is None else {"sample_weight": weight}
    return model.fit(X, *data, **options)


def host(found):
    if isinstance(found, tuple):
        return np.column_stack([host(each) for each in found])
    return found.cpu().numpy() if isinstance(found, torch.Tensor) else np.asarray(found)


def require_close(found, expected, tolerance):
    expected = np.asarray(expected, dtype=float)
    np.testing.assert_allclose(found, expected, atol=tolerance * np.abs(expected).max(), rtol=0)


@EACH
@ON
@pytest.mark.parametrize(("dtype", "tolerance"), PRECISIONS, ids=["float64", "float32"])
def test_a_device_gives_what_the_cpu_gives(name, device, dtype, tolerance):
    plain, model, X = fitted(name), fitted(name, device, dtype), rows(80, seed=0)
    for method in MODELS[name][2]:
        expected = host(getattr(plain, method)(X))
        found = getattr(model, method)(on(X, device, dtype))
        first = found[0] if isinstance(found, tuple) else found
        assert first.device.type == device, method
        require_close(host(found), expected, tolerance)


def takes_weights_without_draws(name):
    """Whether it takes weights, and repeated rows start it as weighted ones do."""
    return name not in ("neighbours", "k-means") and "mixture" not in name


@ON
@pytest.mark.parametrize("name", [name for name in MODELS if takes_weights_without_draws(name)])
def test_a_weight_of_two_counts_as_two_rows_on_a_device(name, device):
    model, kind, (method, *_) = MODELS[name]
    X = rows(90)
    weight = np.random.default_rng(3).integers(0, 3, 90)
    y = [] if kind is None else [targets(X, kind)]
    twice = np.repeat(np.arange(90), weight)
    once = clone(model).fit(
        on(X, device), *(on(each, device) for each in y), sample_weight=on(weight, device)
    )
    often = clone(model).fit(on(X[twice], device), *(on(each[twice], device) for each in y))
    found, expected = (host(getattr(each, method)(on(X, device))) for each in (once, often))
    require_close(found, expected, 1e-8)


@ON
@pytest.mark.parametrize("name", ["k-means", "mixture"])
def test_weights_on_a_device_are_those_of_the_cpu(name, device):
    weight = np.random.default_rng(3).uniform(0, 2, 600) * (np.arange(600) % 7 > 0)
    plain = fitted(name, weight=weight)
    model = fitted(name, device, torch.float64, weight=on(weight, device))
    found = host(model.predict(on(rows(), device)))
    np.testing.assert_array_equal(found, plain.predict(rows()))


@EACH
@ON
def test_a_model_moves_to_the_cpu_and_back(name, device):
    model, X = fitted(name, device, torch.float64), rows(50)
    method = MODELS[name][2][0]
    expected = host(getattr(model, method)(on(X, device)))
    moved = th.to_device(model, "cpu")
    assert not any(isinstance(value, torch.Tensor) for value in vars(moved).values())
    require_close(host(getattr(moved, method)(X)), expected, 1e-8)
    if device != "cpu":
        back = th.to_device(moved, device)
        found = getattr(back, method)(on(X, device))
        require_close(host(found), expected, 1e-8)
    require_close(host(getattr(model, method)(on(X, device))), expected, 1e-8)


@EACH
@ON
def test_blocks_do_not_change_the_result(name, device, monkeypatch):
    whole, X = fitted(name, device, torch.float64), rows(70)
    monkeypatch.setattr(memory, "LARGEST_BLOCK", 1 << 12)
    parts = fitted(name, device, torch.float64)
    method = MODELS[name][2][0]
    found, expected = (host(getattr(each, method)(on(X, device))) for each in (parts, whole))
    require_close(found, expected, 1e-8)


@EACH
@ON
def test_bad_rows_are_named(name, device):
    model, kind, (method, *_) = MODELS[name]
    X = rows()
    y = [] if kind is None else [on(targets(X, kind), device)]
    X[17, 2] = np.nan
    with pytest.raises(th.errors.DataError, match=r"column 2.*row 17"):
        clone(model).fit(on(X, device), *y)
    good = fitted(name, device, torch.float64)
    with pytest.raises(th.errors.DataError, match="holds tensors on"):
        getattr(good, method)(rows())
    with pytest.raises(th.errors.DataError, match="features"):
        getattr(good, method)(on(rows()[:, :2], device))
    with pytest.raises(th.errors.DataError, match="Expected 2D"):
        clone(model).fit(on(X[0], device), *y)


@ON
@pytest.mark.parametrize(
    ("name", "method"),
    [("pca", "get_covariance"), ("mixture", "sample"), ("logistic", "summary")],
)
def test_other_methods_name_the_way_to_the_cpu(name, method, device):
    with pytest.raises(th.errors.CapabilityError, match=r"th\.to_device\(model, 'cpu'\)"):
        getattr(fitted(name, device, torch.float64), method)()


@ON
@pytest.mark.parametrize(
    "model",
    [
        th.KernelRidge(alpha=0.0, kernel="rbf"),
        th.KernelRidge(kernel=lambda x, z: float(x @ z)),
        th.LogisticRegression(l1_ratio=0.5),
        th.PCA(svd_solver="randomized", n_components=1),
        th.KMeans(init="random_centroids"),
        th.GaussianMixture(2, method="gradient"),
        th.NearestNeighbors(metric="cosine"),
    ],
    ids=lambda model: type(model).__name__,
)
def test_settings_of_the_cpu_are_refused_with_a_remedy(model, device):
    X = rows(60)
    with pytest.raises(th.errors.CapabilityError, match=r"X\.cpu\(\)\.numpy\(\)"):
        model.fit(on(X, device), on(targets(X, "two classes"), device))


@ON
def test_models_without_a_form_for_devices_do_not_move(device):
    model = th.Lasso().fit(rows(), targets(rows(), "number"))
    with pytest.raises(th.errors.CapabilityError, match="Lasso"):
        th.to_device(model, device)


@ON
def test_scores_are_those_of_the_cpu(device):
    X, weight = rows(), np.random.default_rng(0).uniform(0, 2, 600)
    for name in ("kernel ridge", "logistic", "softmax", "k-means", "mixture"):
        kind = MODELS[name][1]
        y = None if kind is None else targets(X, kind)
        expected = fitted(name).score(X, y, weight)
        model = fitted(name, device, torch.float64)
        there = None if y is None else on(y, device)
        assert model.score(on(X, device), there, on(weight, device)) == pytest.approx(expected)


@ON
def test_memory_is_estimated_before_it_is_taken(device):
    X = rows(2000)
    with (
        th.config(memory=1 << 20),
        pytest.raises(th.errors.MemoryBudgetError, match="2000 × 2000"),
    ):
        th.KernelRidge().fit(on(X, device), on(X[:, 0], device))


def test_a_failed_fit_leaves_the_model_as_it_was():
    model = fitted("k-means", "cpu", torch.float64)
    before = model.cluster_centers_
    with pytest.raises(th.errors.DataError):
        model.fit(torch.full((9, 4), float("inf")))
    assert model.cluster_centers_ is before


def test_a_fit_on_numpy_arrays_leaves_no_tensors():
    for name, (_, kind, _) in MODELS.items():
        model = fitted(name, "cpu", torch.float64)
        model.fit(rows(), *([] if kind is None else [targets(rows(), kind)]))
        assert not any(isinstance(value, torch.Tensor) for value in vars(model).values()), name


def test_labels_of_text_come_back_as_text():
    X = rows()
    y = np.array(["no", "yes"])[targets(X, "two classes")]
    model = th.LogisticRegression().fit(torch.tensor(X), y)
    np.testing.assert_array_equal(
        model.predict(torch.tensor(X)), th.LogisticRegression().fit(X, y).predict(X)
    )
