"""Tensors and devices that hold no dense numbers are refused with the kind and the remedy."""

import numpy as np
import pytest

import thetahat as th

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor")

X = np.random.default_rng(0).standard_normal((30, 3))
Y = (X[:, 0] > 0).astype(float)
KINDS = {
    "meta": (lambda values: values.to("meta"), "meta tensor.*Pass a tensor with values"),
    "sparse": (lambda values: values.to_sparse(), r"torch\.sparse_coo.*{}\.to_dense\(\)"),
    "quantised": (
        lambda values: torch.quantize_per_tensor(values.float(), 0.1, 0, torch.qint8),
        r"quantised.*{}\.dequantize\(\)",
    ),
    "negated": (torch._neg_view, r"negated.*{}\.resolve_neg\(\)"),
}
MODELS = {
    "PCA": (th.PCA(2), "transform"),
    "KMeans": (th.KMeans(2, random_state=0), "predict"),
    "LogisticRegression": (th.LogisticRegression(), "predict"),
    "KernelRidge": (th.KernelRidge(), "predict"),
    "NearestNeighbors": (th.NearestNeighbors(), "kneighbors"),
    "GaussianMixture": (th.GaussianMixture(2, random_state=0), "predict"),
}
kinds = pytest.mark.parametrize("kind", KINDS)


def refused(kind, role):
    return pytest.raises(th.errors.DataError, match=KINDS[kind][1].format(role))


@kinds
@pytest.mark.parametrize("name", MODELS)
def test_rows_that_are_no_dense_tensor_are_refused(name, kind):
    model, method = MODELS[name]
    rows, y, make = torch.tensor(X), torch.tensor(Y), KINDS[kind][0]
    with refused(kind, "X"):
        model.fit(make(rows), y)
    model.fit(rows, y)
    if kind == "negated":
        getattr(model, method)(make(rows))
        return
    with refused(kind, "X"):
        getattr(model, method)(make(rows))
    model.fit(X, Y)
    with refused(kind, "X"):
        getattr(model, method)(make(rows))


@kinds
def test_targets_weights_and_centres_that_are_no_dense_tensor_are_refused(kind):
    rows, y, make = torch.tensor(X), torch.tensor(Y), KINDS[kind][0]
    for model in (th.LogisticRegression(), th.KernelRidge()):
        with refused(kind, "y"):
            model.fit(rows, make(y))
        with refused(kind, "sample_weight"):
            model.fit(rows, y, sample_weight=make(torch.ones(30)))
    with refused(kind, "init"):
        th.KMeans(2, init=make(rows[:2])).fit(rows)


@pytest.mark.parametrize("weights", [None, "balanced", {"a": 2.0, "b": 1.0}])
def test_labels_of_text_beside_a_tensor_give_the_fit_of_numpy(weights):
    labels = np.array(["a", "b"])[Y.astype(int)]
    model = th.LogisticRegression(class_weight=weights, tol=1e-8)
    expected = model.fit(X, labels).coef_
    found = model.fit(torch.tensor(X), labels)
    np.testing.assert_allclose(found.coef_.numpy(), expected, rtol=1e-4)
    assert found.score(torch.tensor(X), labels) > 0.8


def test_a_score_of_text_for_labels_that_are_numbers_is_refused():
    model = th.LogisticRegression().fit(torch.tensor(X), torch.tensor(Y))
    with pytest.raises(th.errors.DataError, match="labels of the fit are numbers"):
        model.score(torch.tensor(X), np.array(["a", "b"])[Y.astype(int)])


@pytest.mark.parametrize("device", ["nope", None, 3, "", "numpy", True, torch.float64])
def test_what_names_no_device_is_refused(device):
    model = th.PCA(2).fit(X)
    with pytest.raises(th.errors.ParameterError, match=r"device must be 'cpu'.*Use 'cpu'"):
        th.to_device(model, device)


def test_devices_without_values_and_absent_devices_are_refused():
    model = th.PCA(2).fit(X)
    for device in ("meta", torch.device("meta")):
        with pytest.raises(th.errors.CapabilityError, match=r"no values.*Use 'cpu'"):
            th.to_device(model, device)
    with pytest.raises(th.errors.CapabilityError, match=r"'cuda:99' is not available.*Use 'cpu'"):
        th.to_device(model, "cuda:99")


@pytest.mark.parametrize("model", [5, None, th.PCA, "PCA"])
def test_what_is_no_model_does_not_move(model):
    with pytest.raises(th.errors.ParameterError, match="moves a fitted estimator"):
        th.to_device(model, "cpu")


def test_a_model_of_tensors_is_not_saved_before_it_is_moved(tmp_path):
    model = th.PCA(2).fit(torch.tensor(X))
    with pytest.raises(th.errors.CapabilityError, match=r"^Move it first: th\.to_device\(model, "):
        th.save(model, tmp_path / "model")
    th.save(th.to_device(model, "cpu"), tmp_path / "model")
