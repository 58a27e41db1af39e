"""Every kernel: symmetry and positive semi-definiteness, arrays of any library, refusals."""

import re

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import pairwise

import thetahat as th
from tests.mathematics.kernels.kernel_rows import X, Z
from thetahat.errors import DataError, MemoryBudgetError, ParameterError
from thetahat.mathematics.kernels.base import Kernel
from thetahat.mathematics.kernels.stationary import Stationary

k = th.kernels
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
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_order_of_the_rows_in_memory_changes_no_bit(kernel, dtype):
    rows = np.random.default_rng(0).standard_normal((300, 3)).astype(dtype)
    strided = np.zeros((600, 6), dtype)
    strided[::2, ::2] = rows
    orders = [np.asfortranarray(rows), strided[::2, ::2], np.ascontiguousarray(rows[::-1])[::-1]]
    alone, beside = kernel(rows), kernel(rows, rows[:9].copy())
    for other in orders:
        np.testing.assert_array_equal(kernel(other), alone)
        np.testing.assert_array_equal(kernel(other, other[:9]), beside)


@pytest.mark.parametrize("kernel", OF_ROWS, ids=name)
def test_the_matrix_of_rows_and_the_same_rows_is_exactly_symmetric(kernel):
    K = kernel(X, X)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_allclose(K, kernel(X), rtol=1e-12, atol=1e-12)
    if isinstance(kernel, Stationary):
        np.testing.assert_array_equal(np.diag(K), 1.0)


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
        (lambda: k.RBF()([[np.nan]]), "contains NaN: column 0.*Kernels do not accept"),
        (lambda: k.Laplacian()(X, [[0.0, 1.0, np.inf]]), "contains infinity"),
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


def test_a_function_cannot_change_the_rows():
    def spoil(x, z):
        x[:] = 0.0
        return 1.0

    with pytest.raises(ValueError, match="read-only"):
        k.FromFunction(spoil, of_pairs=True)(X, Z)
