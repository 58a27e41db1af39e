"""Features behind one interface: powers, one's own, kernels, learned; and exclusive-or by hand."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import FunctionTransformer

import thetahat as th

X = np.linspace(-2.0, 2.0, 60)[:, np.newaxis]
CORNERS = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
XOR = np.array([0.0, 1.0, 1.0, 0.0])
SIGNED_PRODUCT = th.FeatureMap(
    {
        "x̃1": (lambda a: 2 * a - 1, [0]),
        "x̃2": (lambda a: 2 * a - 1, [1]),
        "x̃1·x̃2": (lambda a, b: (2 * a - 1) * (2 * b - 1), [0, 1]),
    }
)


def bumps(X, theta):
    """Two Gaussian features whose centres and widths are learned."""
    return np.stack(
        [np.exp(-((X[:, 0] - theta[k]) ** 2) / theta[k + 2] ** 2) for k in (0, 1)], axis=1
    )


MIDDLES = np.array([[-1.0], [0.0], [1.0]])
BASES = {
    "columns": (None, None, X),
    "powers": (th.MonomialExpansion(degree=3), None, X ** np.arange(4)),
    "own": (
        th.FeatureMap({"sin": (np.sin, [0]), "cos": (np.cos, [0])}),
        None,
        np.hstack([np.sin(X), np.cos(X)]),
    ),
    "kernel": (
        th.SimilarityFeatures(rbf_kernel, landmarks=MIDDLES),
        None,
        np.exp(-((X - MIDDLES.T) ** 2)),
    ),
    "learned": (bumps, [-0.8, 0.9, 1.0, 1.0], bumps(X, np.array([-1.0, 1.0, 0.7, 0.5]))),
}
"""The basis, where the search starts, and the features by hand."""


@pytest.mark.parametrize("name", BASES)
def test_a_function_of_the_basis_is_found_again(name):
    """Whatever the basis: rows made by β, b and φ are fitted exactly, with β, b and θ recovered."""
    random = np.random.default_rng(401)
    basis, start, features = BASES[name]
    coef = np.arange(1.0, features.shape[1] + 1)
    y = features @ coef - 2.0
    model = th.BasisRegression(basis, start).fit(X, y)
    np.testing.assert_allclose(model.predict(X), y, atol=1e-8)
    varies = np.ptp(features, axis=0) > 0  # a column of ones shares its part with b
    np.testing.assert_allclose(model.coef_[varies], coef[varies], rtol=1e-6)
    total = model.intercept_ + model.coef_[~varies].sum()
    assert total == pytest.approx(coef[~varies].sum() - 2.0, rel=1e-6)
    np.testing.assert_allclose(model.features(X), features, atol=1e-7)
    noisy = model.fit(X, y + 0.1 * random.standard_normal(len(X)))
    low, high = noisy.predict_interval(X, level=0.95)
    assert np.mean((low < y) & (y < high)) > 0.9
    if name == "learned":
        np.testing.assert_allclose(noisy.theta_, [-1.0, 1.0, 0.7, 0.5], atol=0.2)
    else:
        assert noisy.theta_.size == 0


def test_polynomial_regression_is_numpys():
    random = np.random.default_rng(402)
    y = random.standard_normal(60)
    model = th.BasisRegression(th.MonomialExpansion(degree=4)).fit(X, y)
    np.testing.assert_allclose(model.predict(X), np.polyval(np.polyfit(X[:, 0], y, 4), X[:, 0]))


def test_learned_features_beat_as_many_fixed_ones():
    """A hidden layer of tanh units bends where the data do; powers of equal number cannot."""
    y = np.tanh(8 * (X[:, 0] - 0.5)) - np.tanh(6 * (X[:, 0] + 1.0))
    hidden = th.BasisRegression(
        lambda X, w: np.tanh(X @ w[None, :2] + w[2:]),
        [1.0, 2.0, -1.0, 1.0],
        restarts=2,
        random_state=0,
    ).fit(X, y)
    powers = th.BasisRegression(th.MonomialExpansion(degree=6)).fit(X, y)
    assert hidden.score(X, y) > 0.999999
    assert powers.score(X, y) < 0.99


def test_intercept_and_regressor_are_choices():
    y = 3 * np.sin(0.5 * X[:, 0])
    bare = th.BasisRegression(lambda X, b: np.sin(b[0] * X), [0.4], fit_intercept=False).fit(X, y)
    assert bare.intercept_ == 0.0
    assert len(bare.regressor_.theta_) == 2
    ridge = th.BasisRegression(
        th.SimilarityFeatures(rbf_kernel), regressor=th.Ridge(alpha=0.1)
    ).fit(X, y)
    assert ridge.score(X, y) > 0.99
    with pytest.raises(th.errors.CapabilityError, match="learned basis is fitted together"):
        th.BasisRegression(bumps, [0.0, 1.0, 1.0, 1.0], regressor=th.Ridge()).fit(X, y)


def test_weights_count_rows():
    random = np.random.default_rng(403)
    weight = random.integers(0, 3, len(X))
    y = np.sin(X[:, 0]) + 0.1 * random.standard_normal(len(X))
    model = th.BasisRegression(bumps, [-1.0, 1.0, 1.0, 1.0])
    weighted = model.fit(X, y, weight).predict(X)
    rows = np.repeat(np.arange(len(X)), weight)
    np.testing.assert_allclose(weighted, model.fit(X[rows], y[rows]).predict(X), rtol=1e-5)


@pytest.mark.parametrize(
    ("basis", "start", "message"),
    [
        (bumps, None, "needs initial values of its parameters"),
        (
            lambda X, b: b[0] * X[:, 0],
            [1.0],
            r"shape \(60,\) for 60 rows, but must return \(60, m\)",
        ),
        (3.0, None, "basis=3.0 must be a transformer"),
    ],
)
def test_refusals_say_what_is_wrong(basis, start, message):
    with pytest.raises(th.errors.ParameterError, match=message):
        th.BasisRegression(basis, start).fit(X, X[:, 0])


def test_no_linear_function_is_exclusive_or():
    """The best one is the constant ½, wrong by ½ everywhere."""
    line = th.LinearRegression().fit(CORNERS, XOR)
    np.testing.assert_allclose(line.coef_, 0, atol=1e-12)
    assert line.intercept_ == pytest.approx(0.5)
    np.testing.assert_allclose(np.abs(line.predict(CORNERS) - XOR), 0.5)
    # for no β, b are all four right: f(0,0) + f(1,1) = f(0,1) + f(1,0) for linear f
    assert XOR[0] + XOR[3] != XOR[1] + XOR[2]


def test_the_product_feature_is_exclusive_or():
    """XOR = (1 − x̃₁x̃₂)/2 with x̃ = 2x − 1; (1 + x̃₁x̃₂)/2 is its negation."""
    model = th.BasisRegression(SIGNED_PRODUCT).fit(CORNERS, XOR)
    np.testing.assert_allclose(model.coef_, [0.0, 0.0, -0.5], atol=1e-12)
    assert model.intercept_ == pytest.approx(0.5)
    np.testing.assert_allclose(model.predict(CORNERS), XOR, atol=1e-12)
    features = SIGNED_PRODUCT.fit_transform(CORNERS)
    np.testing.assert_array_equal((1 - features[:, 2]) / 2, XOR)
    np.testing.assert_array_equal((1 + features[:, 2]) / 2, 1 - XOR)


def test_a_basis_that_is_undefined_is_named():
    """X is finite: it is not for imputing."""
    with pytest.raises(
        th.errors.DataError, match=r"basis\(X, theta\) is nan at the start theta = \[9"
    ):
        th.BasisRegression(lambda X, b: np.log(X - b[0]), [9.0]).fit(X, X[:, 0])
    halves = FunctionTransformer(lambda X: np.where(X > 0, X, np.nan))
    with pytest.raises(
        th.errors.DataError, match=r"FunctionTransformer.transform\(X\) is nan .* row 0"
    ):
        th.BasisRegression(halves).fit(X, X[:, 0])
