"""Kernels: formulas, algebra, symmetry and positive semi-definiteness, on arrays of any library."""

import re

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import pairwise

import thetahat as th
from thetahat.errors import DataError, MemoryBudgetError, ParameterError
from thetahat.mathematics.kernels.base import Kernel

k = th.kernels
RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((40, 3))
Z = RANDOM.standard_normal((7, 3))

OF_ROWS = [
    k.Linear(),
    k.Polynomial(degree=3, coef0=0.5, gamma=0.3),
    k.Polynomial(coef0=0),
    k.Cosine(),
    k.Constant(2.0),
    k.DotProduct(0.5),
    k.Bounded(k.RBF(sigma=2.0)),
    k.RBF(sigma=0.7),
    k.RBF(length_scale=(0.7, 2.0, 1.0)),
    k.Matern((0.7, 2.0, 1.0), nu=0.5),
    k.Matern(nu=0.8),
    k.Wendland(2.0, smoothness=0),
    k.Wendland(2.0),
    k.Wendland(3.0, smoothness=2) * k.RBF(),
    k.RationalQuadratic((0.7, 2.0, 1.0), alpha=2.0),
    k.Laplacian(2.0),
    k.Laplacian(2.0, norm="l1"),
    k.Matern(1.5, nu=0.5),
    k.Matern(nu=1.5),
    k.Matern(nu=2.5),
    k.Matern(nu=np.inf),
    k.RationalQuadratic(alpha=0.5),
    k.FeatureMap(lambda rows: rows**2, weights=(1.0, 0.5, 0.0)),
    k.FromFunction(pairwise.rbf_kernel),
    k.FromFunction(lambda x, z: float(x @ z), of_pairs=True),
    k.Centred(k.RBF(), X[:11]),
    k.RBF() + 2 * k.Linear(),
    k.RBF() * k.Polynomial() + 1,
]


def name(kernel):
    """An identifier that is the same in every process."""
    return re.sub(r"<function (.*?) at 0x[0-9a-f]+>", r"\1", repr(kernel))


def test_all_kernels_are_tested():
    public = {
        value
        for value in (getattr(k, name) for name in k.__all__)
        if isinstance(value, type) and issubclass(value, Kernel)
    }
    elsewhere = {k.Precomputed, k.Scaled, k.White}
    elsewhere |= {k.AdditiveChi2, k.Chi2, k.Periodic, k.Sigmoid}  # not for all rows
    assert public - {type(kernel) for kernel in OF_ROWS} == elsewhere


def test_kernels_of_some_rows():
    """Periodic kernels are positive semi-definite for one column, the others not in general."""
    for kernel, rows in ((k.Periodic(0.8, 1.3), X[:, :1]), (k.Chi2(0.7), np.abs(X))):
        assert k.mercer_check(kernel, rows).is_psd
    for kernel in (k.Periodic(0.8, 1.3), k.Chi2(0.7), k.AdditiveChi2(), k.Sigmoid(0.5)):
        rows, others = np.abs(X), np.abs(Z)
        K = kernel(rows, others)
        np.testing.assert_allclose(kernel(others, rows), K.T, rtol=1e-12)
        np.testing.assert_allclose(np.diag(kernel(rows)), kernel.diagonal(rows), atol=1e-12)
        np.testing.assert_allclose(kernel(sp.csr_array(rows), sp.csr_array(others)), K, rtol=1e-12)
        single = kernel(rows.astype(np.float32), others.astype(np.float32))
        assert single.dtype == np.float32
        np.testing.assert_allclose(single, K, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kernel", OF_ROWS, ids=name)
def test_single_pairs_are_entries_of_the_matrix(kernel):
    np.testing.assert_allclose(
        kernel.paired(X[:7], Z), np.diag(kernel(X[:7], Z)), rtol=1e-10, atol=1e-13
    )


@pytest.mark.parametrize("smoothness", [0, 1, 2])
@pytest.mark.parametrize("columns", [1, 2, 5, 8])
def test_kernels_of_bounded_reach_are_positive_semi_definite_in_any_dimension(smoothness, columns):
    rows = np.random.default_rng(columns).standard_normal((150, columns))
    kernel = k.Wendland(1.5 * columns**0.5, smoothness)
    assert k.mercer_check(kernel, rows).is_psd
    distance = np.linalg.norm(rows[:, None] - rows, axis=2)
    assert ((kernel(rows) > 0) == (distance < kernel.reach)).all()
    assert (kernel * k.RBF()).reach == (2 * kernel + kernel * k.White()).reach == kernel.reach
    assert (kernel + k.RBF()).reach == np.inf


def test_noise_is_on_the_diagonal_of_gram_matrices_only():
    np.testing.assert_array_equal(k.White(0.3)(X), 0.3 * np.eye(40))
    np.testing.assert_array_equal(k.White(0.3)(X, X), np.zeros((40, 40)))
    both = (k.RBF() + k.White(0.3)) * k.Constant(2.0)
    np.testing.assert_allclose(both(X), 2 * k.RBF()(X) + 0.6 * np.eye(40), rtol=1e-14)
    xp = pytest.importorskip("array_api_strict")
    np.testing.assert_array_equal(np.asarray(k.White(0.3)(xp.asarray(X))), 0.3 * np.eye(40))


def test_names_of_histogram_kernels_refuse_negative_values():
    with pytest.raises(DataError, match="Chi2: X contains negative values"):
        k.Chi2()(X)


@pytest.mark.parametrize("kernel", OF_ROWS, ids=name)
def test_gram_matrices_are_symmetric_and_positive_semi_definite(kernel):
    K = kernel(X)
    np.testing.assert_array_equal(K, K.T)
    assert k.mercer_check(kernel, X).is_psd
    np.testing.assert_allclose(np.diag(K), kernel.diagonal(X), atol=1e-12)
    np.testing.assert_allclose(kernel(X, X), K, atol=1e-12)


@pytest.mark.parametrize("kernel", OF_ROWS, ids=name)
def test_entries_depend_on_their_two_rows_only(kernel):
    K = kernel(X, Z)
    assert K.shape == (40, 7)
    np.testing.assert_allclose(kernel(X[5:6], Z[2:3])[0, 0], K[5, 2], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(kernel(Z, X), K.T, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("kernel", OF_ROWS, ids=name)
def test_float32_stays_float32(kernel):
    single = kernel(X.astype(np.float32), Z.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, kernel(X, Z), rtol=1e-4, atol=1e-5)


OF_DENSE_ROWS = (k.FeatureMap, k.FromFunction, k.Centred)


@pytest.mark.parametrize(
    "kernel", [each for each in OF_ROWS if not isinstance(each, OF_DENSE_ROWS)], ids=name
)
def test_sparse_rows_give_the_same_matrix(kernel):
    rows = np.where(X > 0.5, X, 0.0)
    np.testing.assert_allclose(kernel(sp.csr_array(rows)), kernel(rows), atol=1e-12)
    others = sp.csr_array(rows[:5])
    np.testing.assert_allclose(
        kernel(sp.csr_array(rows), others), kernel(rows, rows[:5]), atol=1e-12
    )


@pytest.mark.parametrize("library", ["array_api_strict", "torch"])
@pytest.mark.parametrize(
    "kernel",
    [
        k.Linear(),
        k.Polynomial(),
        k.Cosine(),
        k.RBF(),
        k.Matern(),
        k.RationalQuadratic(),
        k.RBF() + 1,
    ],
    ids=name,
)
def test_arrays_of_other_libraries(kernel, library):
    xp = pytest.importorskip(library)
    found = kernel(xp.asarray(X), xp.asarray(Z))
    assert type(found) is type(xp.asarray(X))
    np.testing.assert_allclose(np.asarray(found), kernel(X, Z), rtol=1e-10, atol=1e-12)


def test_large_matrices_are_computed_in_tiles_with_the_same_bits():
    rows = np.random.default_rng(2).standard_normal((1200, 4))
    whole = []
    for threads in (1, 3):
        with th.config(threads=threads):
            whole.append(k.RBF()(rows))
    np.testing.assert_array_equal(whole[0], whole[1])
    np.testing.assert_array_equal(whole[0], whole[0].T)
    np.testing.assert_allclose(whole[0], pairwise.rbf_kernel(rows, gamma=0.5), atol=1e-14)


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


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: k.RBF(sigma=0.0), "sigma must be a finite number > 0"),
        (lambda: k.RBF(gamma=-1), "gamma must be"),
        (lambda: k.RBF(sigma=1, gamma=1), "sigma and gamma are given"),
        (lambda: k.Laplacian(0), "length_scale must be"),
        (lambda: k.Laplacian(norm="max"), "norm must be 'l2' or 'l1'"),
        (lambda: k.Matern(nu=-2), "nu must be a finite number > 0"),
        (lambda: k.Polynomial(degree=0), "whole number ≥ 1"),
        (lambda: k.Polynomial(coef0=-1), "coef0 must be"),
        (lambda: -1 * k.RBF(), "factor must be"),
        (lambda: k.RBF() + "x", "neither a kernel nor a positive number"),
        (lambda: 2 * k.Precomputed(), "cannot be combined"),
        (lambda: k.FeatureMap(np.sin, weights=(-1.0,)), "finite and ≥ 0"),
        (lambda: k.FeatureMap(3), "must be a function"),
        (lambda: k.bandwidth(X, "mode"), "'median' or 'std'"),
        (lambda: k.rbf_series(0.0), "gamma=0.0 must be"),
    ],
)
def test_wrong_parameters_are_refused(make, words):
    with pytest.raises(ParameterError, match=words):
        make()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: k.RBF()(X, Z[:, :2]), "X has 3 columns and Z has 2"),
        (lambda: k.RBF()(X[0]), "Expected 2D array"),
        (lambda: k.Precomputed()(X), "must be square"),
        (lambda: k.Precomputed()(np.triu(np.ones((3, 3)))), r"entry \(0, 1\) is 1"),
        (lambda: k.centre(X), "must be square"),
        (lambda: k.bandwidth(np.ones((5, 2))), "all 5 rows are equal"),
        (lambda: k.FeatureMap(lambda rows: rows[:1])(X), "must return"),
        (lambda: k.FeatureMap(lambda rows: rows, (1.0,))(X), "1 weights for 3 features"),
        (lambda: k.FromFunction(lambda a, b: a)(X), "must return"),
    ],
)
def test_wrong_rows_are_refused(make, words):
    with pytest.raises(DataError, match=words):
        make()


def test_a_matrix_that_does_not_fit_is_refused_before_it_is_allocated():
    rows = np.zeros((3_000_000, 1))
    with pytest.raises(MemoryBudgetError, match=r"3000000 × 3000000 entries needs 65.* TiB"):
        k.RBF()(rows)
    with th.config(memory=1000), pytest.raises(MemoryBudgetError, match="Nystroem"):
        k.RBF()(X)


def test_median_bandwidth_of_an_even_number_of_pairs():
    assert k.bandwidth([[0.0], [1.0], [3.0], [7.0]]) == pytest.approx(3.5)  # 1, 2, 3, 4, 6, 7


def test_a_function_cannot_change_the_rows():
    def spoil(x, z):
        x[:] = 0.0
        return 1.0

    with pytest.raises(ValueError, match="read-only"):
        k.FromFunction(spoil, of_pairs=True)(X, Z)
