"""Kernels beside their formulas, their algebra, and scikit-learn's values."""

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import pairwise

import thetahat as th
from tests.mathematics.kernels.kernel_rows import X, Z
from thetahat.errors import ParameterError

k = th.kernels


@pytest.mark.parametrize(
    ("kernel", "peer"),
    [
        (k.Linear(), pairwise.linear_kernel),
        (k.Polynomial(3, 1.0, 0.5), lambda a, b: pairwise.polynomial_kernel(a, b, 3, 0.5, 1.0)),
        (k.RBF(gamma=0.3), lambda a, b: pairwise.rbf_kernel(a, b, 0.3)),
        (k.Laplacian(2.0, norm="l1"), lambda a, b: pairwise.laplacian_kernel(a, b, 0.5)),
        (k.Cosine(), pairwise.cosine_similarity),
        (k.Sigmoid(0.3, -1.0), lambda a, b: pairwise.sigmoid_kernel(a, b, 0.3, -1.0)),
    ],
    ids=["linear", "polynomial", "rbf", "laplacian", "cosine", "sigmoid"],
)
def test_values_are_scikit_learns(kernel, peer):
    np.testing.assert_allclose(kernel(X, Z), peer(X, Z), rtol=1e-12, atol=1e-14)


def test_values_of_histogram_kernels_are_scikit_learns():
    rows, others = np.abs(X), np.abs(Z)
    rows[:3, 0] = others[:2, 0] = 0.0
    wanted = pairwise.additive_chi2_kernel(rows, others)
    np.testing.assert_allclose(k.AdditiveChi2()(rows, others), wanted, rtol=1e-12)
    wanted = pairwise.chi2_kernel(rows, others, gamma=0.3)
    np.testing.assert_allclose(k.Chi2(0.3)(rows, others), wanted, rtol=1e-12)


@pytest.mark.parametrize("nu", [0.5, 0.8, 1.5, 2.5, 3.3, np.inf])
def test_matern_is_scikit_learns(nu):
    from sklearn.gaussian_process.kernels import Matern

    np.testing.assert_allclose(k.Matern(1.7, nu)(X, Z), Matern(1.7, nu=nu)(X, Z), rtol=1e-10)


@pytest.mark.parametrize("nu", [50.0, 200.0, 1e4, 1e8])
def test_matern_of_large_order_tends_to_the_gaussian_kernel(nu):
    """log k = −ρ²/2 + (ρ⁴/4 − ρ²)/(2ν) + O(1/ν²), also where Gamma functions overflow."""
    rho = np.array([[0.0], [1e-300], [1e-8], [0.1], [1.0], [3.0], [10.0], [1e4], [1e200]])
    kernel = th.kernels.Matern(length_scale=2.0, nu=nu)
    found = kernel(2 * rho, np.zeros((1, 1)))[:, 0]
    near = rho[:6, 0]
    expected = -(near**2) / 2 + (near**4 / 4 - near**2) / (2 * nu)
    np.testing.assert_allclose(np.log(found[:6]), expected, rtol=1e-9, atol=200 / nu**2)
    assert (np.diff(found) <= 0).all()
    assert found[-2:].tolist() == [0.0, 0.0]
    _, pull = kernel.linearised(2 * rho[:7], np.zeros((1, 1)), False)
    step = 1e-5
    longer, shorter = (th.kernels.Matern(2.0 * np.exp(sign * step), nu) for sign in (1, -1))
    change = longer(2 * rho[:7], [[0.0]]) - shorter(2 * rho[:7], [[0.0]])
    slopes = [pull(W[:, None])[0] for W in np.eye(7)]
    np.testing.assert_allclose(slopes, change[:, 0] / (2 * step), rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("nu", [3.5, 7.5, 48.5, 60.5])
def test_matern_of_half_integer_order_is_a_polynomial_times_an_exponential(nu):
    """p!/(2p)!·Σᵢ (p + i)!/(i!(p − i)!)·(2r)^{p−i}·e^{−r} for ν = p + 1/2, in exact fractions."""
    p = int(nu)
    for distance in (1e-9, 1e-4, 0.1, 1.0, 4.0):
        r = math.sqrt(2 * nu) * distance
        terms = (
            Fraction(math.factorial(p + i), math.factorial(i) * math.factorial(p - i))
            * (2 * Fraction(r)) ** (p - i)
            for i in range(p + 1)
        )
        share = float(sum(terms) * Fraction(math.factorial(p), math.factorial(2 * p)))
        found = float(th.kernels.Matern(nu=nu)([[0.0]], [[distance]])[0, 0])
        assert found == pytest.approx(share * math.exp(-r), rel=1e-11)


@pytest.mark.parametrize("alpha", [0.5, 1.0, 4.0])
def test_rational_quadratic_is_scikit_learns(alpha):
    from sklearn.gaussian_process.kernels import RationalQuadratic

    peer = RationalQuadratic(length_scale=1.7, alpha=alpha)
    np.testing.assert_allclose(k.RationalQuadratic(1.7, alpha)(X, Z), peer(X, Z), rtol=1e-12)


def test_functions_and_matrices_of_ones_own_give_their_values():
    whole = k.FromFunction(lambda a, b: pairwise.rbf_kernel(a, b, 0.3))
    np.testing.assert_array_equal(whole(X, Z), pairwise.rbf_kernel(X, Z, 0.3))
    pairs = k.FromFunction(lambda x, z: float(x @ z) + 1.0, of_pairs=True)
    np.testing.assert_allclose(pairs(X, Z), X @ Z.T + 1.0)
    K = X @ X.T
    np.testing.assert_array_equal(k.Precomputed().gram(K), K)
    np.testing.assert_array_equal(k.Precomputed().gram(K, np.array([2, 0])), K[:, [2, 0]])
    np.testing.assert_array_equal(k.Precomputed().diagonal(K), np.diag(K))


def test_four_parametrisations_of_the_gaussian_kernel():
    squares = ((X[:, None] - Z) ** 2).sum(axis=2)
    expected = np.exp(-squares / (2 * 1.5**2))
    for kernel in (
        k.RBF(sigma=1.5),
        k.RBF(length_scale=1.5),
        k.RBF(gamma=1 / (2 * 1.5**2)),
        k.RBF(c=2 * 1.5**2),
    ):
        np.testing.assert_allclose(kernel(X, Z), expected, rtol=1e-12)
    assert k.RBF(sigma=1.5).set_params(gamma=2.0) == k.RBF(gamma=2.0)


def test_the_courses_kernels_of_inner_products():
    x, z = np.array([[1.0, 2.0]]), np.array([[3.0, -1.0]])
    dot = 1.0
    assert k.Polynomial(degree=2, coef0=0)(x, z).item() == dot**2
    assert k.Polynomial(degree=2, coef0=3)(x, z).item() == (dot + 3) ** 2
    assert k.Polynomial(degree=5)(x, z).item() == (dot + 1) ** 5
    distance = np.sqrt(4 + 9)
    assert k.Laplacian(2.0)(x, z).item() == pytest.approx(np.exp(-distance / 2))


def test_algebra_of_kernels_is_that_of_their_matrices():
    a, b = k.RBF(), k.Linear()
    np.testing.assert_allclose((a + b)(X), a(X) + b(X))
    np.testing.assert_allclose((a * b)(X), a(X) * b(X))
    np.testing.assert_allclose((3 * a)(X), 3 * a(X))
    np.testing.assert_allclose((1 + a)(X), 1 + a(X))
    np.testing.assert_allclose((a + b * 0.5)(X), a(X) + 0.5 * b(X))
    deep = (a + 2 * b).get_params()
    assert deep["first__gamma"] is None
    assert deep["second__factor"] == 2.0
    assert (a + b).set_params(first__sigma=3.0) == k.RBF(sigma=3.0) + b


def test_double_centring():
    n = len(X)
    H = np.eye(n) - np.ones((n, n)) / n
    K = k.RBF()(X)
    np.testing.assert_allclose(k.centre(K), H @ K @ H, atol=1e-13)
    np.testing.assert_allclose(k.Centred(k.RBF(), X)(X), H @ K @ H, atol=1e-13)
    # With the linear kernel it is the kernel of the centred rows, for new rows too.
    centred = k.Centred(k.Linear(), X)(Z, X)
    np.testing.assert_allclose(centred, (Z - X.mean(0)) @ (X - X.mean(0)).T, atol=1e-12)


def test_gram_matrix_is_of_rows_not_of_columns():
    np.testing.assert_allclose(k.Linear()(X), X @ X.T)


def test_mercer_check_finds_a_function_that_is_no_kernel():
    found = k.mercer_check(lambda a, b: np.tanh(a @ b.T - 1.0), X)
    assert not found.is_psd
    assert found.smallest < -1e-3
    assert "not positive semi-definite" in found.message
    sure = k.mercer_check(k.Linear(), X)
    assert sure.is_psd
    assert sure.rank == 3
    # K + τI is invertible for every τ > 0.
    assert np.linalg.cond(k.Linear()(X) + 1e-3 * np.eye(len(X))) < 1e6


def test_polynomial_features_written_out():
    x, z = np.random.default_rng(3).standard_normal((2, 5, 2))

    def features(rows):
        a, b = rows.T
        r = np.sqrt(2)
        return np.column_stack([a * a, b * b, r * a * b, r * a, r * b, np.ones(len(rows))])

    np.testing.assert_allclose(k.FeatureMap(features)(x, z), k.Polynomial(2)(x, z))

    def ordered(rows):
        return (rows[:, :, None] * rows[:, None, :]).reshape(len(rows), -1)

    np.testing.assert_allclose(k.FeatureMap(ordered)(x, z), k.Polynomial(2, coef0=0)(x, z))


def test_series_of_the_gaussian_kernel():
    x = np.linspace(-1, 1, 201)[:, None]
    error = np.abs(k.rbf_series(gamma=0.5, terms=12)(x) - k.RBF(gamma=0.5)(x)).max()
    assert error == pytest.approx(8.3e-10, rel=0.01)
    assert k.rbf_series(0.5, 3).weights == (1.0, 1.0, 0.5)


def test_long_series_of_the_gaussian_kernel_do_not_overflow():
    """x^l is infinite where e^{−γx²} is 0, and l! is beyond all floating-point numbers."""
    x = np.array([[-7.0], [-1.0], [0.0], [0.5], [7.0]])
    np.testing.assert_allclose(k.rbf_series(0.5, 170)(x), k.RBF(gamma=0.5)(x), atol=1e-9)
    assert k.rbf_series(0.5, 170)([[1e3], [1e150]]).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    with pytest.raises(ParameterError, match=r"terms=200 is too large.*Use at most 178 terms"):
        k.rbf_series(0.5, 200)
    with pytest.raises(ParameterError, match=r"terms=100 is too large.*gamma=1e\+06"):
        k.rbf_series(1e6, 100)


def test_bandwidth_has_the_units_of_the_columns():
    for rule in ("median", "std"):
        assert k.bandwidth(5 * X, rule) == pytest.approx(5 * k.bandwidth(X, rule))
    pairs = [np.linalg.norm(a - b) for i, a in enumerate(X) for b in X[:i]]
    assert k.bandwidth(X) == pytest.approx(np.median(pairs))
    assert k.bandwidth(X, "std") == pytest.approx(np.sqrt(X.var(axis=0).sum()))
    assert k.bandwidth(np.repeat(X, 100, axis=0)) == pytest.approx(k.bandwidth(X), rel=0.1)


def test_names():
    assert k.named("gaussian") == k.RBF()
    assert k.named(k.Linear()) == k.Linear()
    with pytest.raises(ParameterError, match="Did you mean 'rbf'"):
        k.named("rbff")


def test_median_bandwidth_of_an_even_number_of_pairs():
    assert k.bandwidth([[0.0], [1.0], [3.0], [7.0]]) == pytest.approx(3.5)  # 1, 2, 3, 4, 6, 7


@pytest.mark.parametrize("rule", ["median", "std"])
@pytest.mark.parametrize("unit", [1e-300, 1e-170, 1e160, 1e300])
def test_bandwidth_in_units_whose_squares_are_no_numbers(rule, unit):
    X = np.random.default_rng(0).normal(size=(50, 3))
    expected = unit * k.bandwidth(X, rule)
    with np.errstate(all="raise"):
        assert k.bandwidth(X * unit, rule) == pytest.approx(expected, rel=1e-12)
        assert k.bandwidth(sp.csr_array(X * unit), rule) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("unit", [1e-30, 1e25])
def test_bandwidth_of_narrow_numbers(unit):
    X = np.random.default_rng(0).normal(size=(50, 3))
    narrow = (X * unit).astype(np.float32)
    assert k.bandwidth(narrow) == pytest.approx(unit * k.bandwidth(X), rel=1e-6)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_bandwidth_does_not_call_missing_values_equal_rows(value):
    with pytest.raises(th.errors.DataError, match=r"contains (NaN|infinity)"):
        k.bandwidth([[0.0], [value], [2.0]])
