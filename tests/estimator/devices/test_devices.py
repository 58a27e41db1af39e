"""Rows of torch are fitted where they are, and give torch back; what cannot says so."""

import numpy as np
import pytest

import thetahat as th

torch = pytest.importorskip("torch")

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((500, 4)) + 3.0
Y = X @ [1.0, 2.0, 3.0, 4.0] + RANDOM.standard_normal(500)
WEIGHT = RANDOM.random(500)
DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]


def on(values, device, dtype=torch.float64):
    return torch.tensor(values, dtype=dtype, device=device)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("solver", ["auto", "cholesky", "pseudo_inverse", "qr", "svd"])
@pytest.mark.parametrize("model", [th.LinearRegression(), th.Ridge(2.0)], ids=["ols", "ridge"])
@pytest.mark.parametrize("targets", [1, 2])
def test_same_fit_as_numpy(device, solver, model, targets):
    y = Y if targets == 1 else np.column_stack([Y, -Y])
    model = model.set_params(solver=solver)
    expected = model.fit(X, y, WEIGHT).predict(X)
    model.fit(on(X, device), on(y, device), on(WEIGHT, device))
    assert model.coef_.device.type == device
    predicted = model.predict(on(X, device))
    assert predicted.device.type == device
    np.testing.assert_allclose(predicted.cpu().numpy(), expected, rtol=1e-10)


@pytest.mark.parametrize("device", DEVICES)
def test_float32_stays(device):
    x, y = on(X, device, torch.float32), on(Y, device, torch.float32)
    model = th.LinearRegression().fit(x, y)
    assert model.coef_.dtype == torch.float32
    assert model.predict(x).dtype == torch.float32


@pytest.mark.parametrize("device", DEVICES)
def test_ill_conditioned_rows_are_refined(device):
    data = th.datasets.wampler(5)
    model = th.LinearRegression().fit(on(data.X, device), on(data.y, device))
    np.testing.assert_allclose(model.coef_.cpu().numpy(), data.coef, rtol=1e-9)


@pytest.mark.parametrize("device", DEVICES)
def test_bad_rows_and_solvers_are_named(device):
    bad = on(X, device)
    bad[7, 2] = float("nan")
    with pytest.raises(th.errors.DataError, match=r"column 2.*row 7"):
        th.LinearRegression().fit(bad, on(Y, device))
    with pytest.raises(th.errors.CapabilityError, match="runs on the CPU"):
        th.LinearRegression(solver="lsqr").fit(on(X, device), on(Y, device))
    with pytest.raises(th.errors.DataError, match="Expected 2D"):
        th.LinearRegression().fit(on(Y, device), on(Y, device))


@pytest.mark.skipif("cuda" not in DEVICES, reason="no CUDA device")
def test_models_of_the_cpu_say_so():
    with pytest.raises(th.errors.DataError, match="runs on the CPU, but X is on cuda"):
        th.RidgeCV().fit(on(X, "cuda"), Y)
