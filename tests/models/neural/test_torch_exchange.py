"""Networks to torch and back: same outputs, and clear errors for what has no equivalent."""

import numpy as np
import pytest

import thetahat as th

torch = pytest.importorskip("torch")
nn, neural = torch.nn, th.neural


def rows(n=50, d=4, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def outputs(module, X):
    dtype = next(module.parameters()).dtype
    with torch.no_grad():
        return module(torch.tensor(X, dtype=dtype)).numpy()


LAYERS = [
    neural.Dense(8, "relu"),
    neural.BatchNorm(0.8, 1e-3),
    neural.Activation("tanh"),
    neural.Dropout(0.3),
    neural.Dense(5, th.activations.LeakyReLU(0.2)),
    neural.Dense(6, "sigmoid"),
    neural.Dense(3, "softmax"),
]


def test_there_and_back_gives_the_same_layers_and_outputs():
    theta = np.random.default_rng(1).uniform(0.1, 1, neural.Network(4, LAYERS).parameters.size)
    network = neural.Network(4, LAYERS, parameters=theta)
    module = network.to_torch()
    np.testing.assert_allclose(outputs(module, rows()), network(rows()), rtol=1e-6, atol=1e-12)
    again = neural.from_torch(module)
    assert again == network
    np.testing.assert_array_equal(again.parameters, network.parameters)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_fitted_classifier_goes_to_torch_and_back(n_classes, dtype):
    X, y = rows().astype(dtype), np.arange(50) % n_classes
    model = th.MLPClassifier((8, 8), max_iter=3, tol=None, random_state=0).fit(X, y)
    module = model.to_torch()
    assert not module.training
    assert str(next(module.parameters()).dtype) == f"torch.{np.dtype(dtype)}"
    z = model.decision_function(X)
    np.testing.assert_allclose(outputs(module, X).reshape(z.shape), z, rtol=1e-6, atol=1e-6)
    again = neural.from_torch(module, th.MLPClassifier(), classes=range(n_classes))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.coefs_[0].dtype == dtype


@pytest.mark.parametrize("n_targets", [1, 2])
def test_a_module_becomes_a_regressor_that_goes_on(n_targets):
    module = nn.Sequential(
        nn.Sequential(nn.Linear(4, 8, bias=False), nn.BatchNorm1d(8), nn.ReLU()),
        nn.Dropout(0.1),
        nn.Linear(8, n_targets),
    ).eval()
    y = np.squeeze(rows(50, n_targets, 1))
    model = neural.from_torch(module, th.MLPRegressor(batch_size=10, random_state=0))
    expected = outputs(module, rows()).reshape(y.shape)
    np.testing.assert_allclose(model.predict(rows()), expected, rtol=1e-5, atol=1e-6)
    before = model.score(rows(), y)
    for _ in range(20):
        model.partial_fit(rows(), y)
    assert model.score(rows(), y) > before
    assert model.t_ == 1000


def test_what_has_no_counterpart_is_refused():
    with pytest.raises(th.errors.CapabilityError, match=r"GELU.* has no equivalent"):
        neural.from_torch(nn.Sequential(nn.Linear(2, 2), nn.GELU()))
    with pytest.raises(th.errors.DataError, match=r"must be a torch.nn.Sequential"):
        neural.from_torch(nn.Linear(2, 2))
    with pytest.raises(th.errors.DataError, match="number of its inputs is not known"):
        neural.from_torch(nn.Sequential(nn.ReLU()))
    with pytest.raises(th.errors.DataError, match=r"dtype torch\.float16"):
        neural.from_torch(nn.Sequential(nn.Linear(2, 2).half()))
    with pytest.raises(th.errors.CapabilityError, match="no module for the activation Step"):
        neural.Network(2, [neural.Dense(1, "step")]).to_torch()
    with pytest.raises(th.errors.CapabilityError, match="no module for Residual"):
        neural.Network(2, [neural.Residual([neural.Dense(2)])]).to_torch()


def test_a_model_needs_a_linear_output_and_its_classes():
    two = nn.Sequential(nn.Linear(2, 2))
    with pytest.raises(th.errors.ParameterError, match=r"Pass classes=\[...\]"):
        neural.from_torch(two, th.MLPClassifier())
    with pytest.raises(th.errors.DataError, match=r"has 2 outputs, but 2 classes .* need 1"):
        neural.from_torch(two, th.MLPClassifier(), classes=[0, 1])
    model = neural.from_torch(two, th.MLPClassifier(loss="softmax_cross_entropy"), classes=[0, 1])
    assert model.predict_proba(rows(3, 2)).shape == (3, 2)
    with pytest.raises(th.errors.ParameterError, match="sorted and distinct"):
        neural.from_torch(two, th.MLPClassifier(), classes=[1, 0])
    with pytest.raises(th.errors.DataError, match="last module must be Linear"):
        neural.from_torch(nn.Sequential(nn.Linear(2, 2), nn.ReLU()), th.MLPRegressor())
    with pytest.raises(
        th.errors.ParameterError, match="must be an MLPClassifier or an MLPRegressor"
    ):
        neural.from_torch(two, th.Autoencoder())
