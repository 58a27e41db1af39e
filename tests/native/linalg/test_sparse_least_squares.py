"""LSQR on compressed sparse rows against its plain twin, and Xᵀs without a transpose."""

import numpy as np
import pytest
import scipy.sparse as sp

import thetahat as th
from thetahat import _native


def problem(dtype=np.float64, index=np.int32, shape=(60, 25)):
    random = np.random.default_rng(0)
    x = sp.random_array(shape, density=0.3, format="csr", rng=random).astype(dtype)
    return x, x.indices.astype(index), x.indptr.astype(index), random


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_pullback_is_the_product_with_the_transpose(dtype, index):
    x, indices, indptr, random = problem(dtype, index)
    slope, found = random.standard_normal(60), np.full(25, np.nan)
    _native.sparse_pullback(x.data, indices, indptr, slope, found)
    np.testing.assert_allclose(found, x.toarray().T.astype(float) @ slope, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("damp", [0.0, 0.7])
@pytest.mark.parametrize("scaled", [False, True])
def test_each_target_takes_the_steps_of_the_plain_lsqr(dtype, index, weighted, damp, scaled):
    x, indices, indptr, random = problem(dtype, index)
    root = random.random(60) + 0.5 if weighted else np.empty(0)
    mean, y = random.standard_normal(25) / 5, random.standard_normal((3, 60))
    theta, report = np.zeros((3, 25)), np.zeros((3, 3))
    scale = random.random(25) + 0.5 if scaled else np.empty(0)
    limits = (damp, 1e-11, 200)
    _native.sparse_least_squares(
        x.data, indices, indptr, root, mean, scale, y.copy(), *limits, 2, theta, report
    )
    rows = x.toarray().astype(float) - mean
    rows = rows * root[:, None] if weighted else rows
    if scaled:  # the plain solver on the rows [A; damp·I] diag(s)
        rows = np.vstack([rows, damp * np.eye(25)]) * scale
        y = np.hstack([y, np.zeros((3, 25))])
        theta, damp = theta / scale, 0.0
    for target, row, (steps, gap, value) in zip(y, theta, report, strict=True):
        plain = th.linalg.lsqr(
            lambda u: rows @ u, lambda v: rows.T @ v, target, 25, damp=damp, tolerance=1e-11
        )
        np.testing.assert_allclose(row, plain.theta, rtol=1e-8, atol=1e-9)
        assert abs(steps - plain.steps) <= 1
        assert gap <= 1e-11
        assert value == pytest.approx(plain.value)


@pytest.mark.parametrize("scale", [np.empty(0), np.linspace(0.5, 1.5, 300)])
def test_threads_do_not_change_a_bit(scale):
    x, indices, indptr, random = problem(shape=(6000, 300))
    assert x.nnz > 4 * 100_000  # enough for several pieces
    y, mean = random.standard_normal((1, 6000)), np.zeros(300)
    found = []
    for threads in (1, 2, 3):
        theta, report = np.zeros((1, 300)), np.zeros((1, 3))
        _native.sparse_least_squares(
            x.data, indices, indptr, np.empty(0), mean, scale, y.copy(), 1.0, 1e-8, 50, threads,
            theta, report,
        )  # fmt: skip
        found.append(theta)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weighted", [False, True])
def test_squares_of_the_columns(dtype, weighted):
    x, indices, indptr, random = problem(dtype)
    weight = random.random(60) if weighted else np.empty(0)
    found = np.full(25, np.nan)
    _native.sparse_squares(x.data, indices, indptr, weight, found)
    share = weight if weighted else np.ones(60)
    np.testing.assert_allclose(found, share @ x.toarray().astype(float) ** 2, rtol=1e-12)


def test_a_target_of_zeros_needs_no_step():
    x, indices, indptr, _ = problem()
    theta, report = np.ones((1, 25)), np.ones((1, 3))
    _native.sparse_least_squares(
        x.data, indices, indptr, np.empty(0), np.zeros(25), np.empty(0), np.zeros((1, 60)), 0.0,
        1e-8, 50, 1, theta, report,
    )  # fmt: skip
    assert not theta.any()
    assert report.tolist() == [[0.0, 0.0, 0.0]]


def test_damaged_rows_are_refused():
    x, indices, indptr, random = problem()
    outside = indices.copy()
    outside[5] = 25
    slope, found = random.standard_normal(60), np.zeros(25)
    with pytest.raises(ValueError, match="out of range"):
        _native.sparse_pullback(x.data, outside, indptr, slope, found)
    with pytest.raises(ValueError, match="one entry per row"):
        _native.sparse_pullback(x.data, indices, indptr, slope[1:], found)
