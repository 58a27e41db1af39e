"""Methods for devices use the array API alone: they run on array-api-strict as on NumPy."""

import array_api_strict as strict
import numpy as np
import pytest

import thetahat as th
from thetahat.foundation.watch import Watch
from thetahat.mathematics.devices import memory
from thetahat.mathematics.devices.centres import CentredRows, far_rows, nearest, sums_by_label
from thetahat.mathematics.devices.cholesky import (
    NotPositiveDefinite,
    factor_in_place,
    solve_factored,
)
from thetahat.mathematics.devices.kernel_system import kernel_coefficients
from thetahat.mathematics.devices.logistic import LogisticPass, newton
from thetahat.mathematics.devices.mixture import mixture_sums
from thetahat.mathematics.devices.nearest_rows import nearest_rows
from thetahat.mathematics.devices.principal import principal_spectrum


def rows(n=200, d=5, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d)) + 3.0


def as_numpy(array):
    return np.asarray(array)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Several blocks, also of few rows."""
    monkeypatch.setattr(memory, "LARGEST_BLOCK", 1 << 14)


@pytest.mark.parametrize("block", [7, 64, 1000])
def test_factor_in_place_solves_the_system(block):
    A = rows(90, 90)
    K, B = A @ A.T + np.eye(90), rows(90, 3, seed=1)
    L = factor_in_place(strict.asarray(K.copy()), block)
    np.testing.assert_allclose(np.tril(as_numpy(L)), np.linalg.cholesky(K), atol=1e-8)
    found = as_numpy(solve_factored(L, strict.asarray(B), block))
    np.testing.assert_allclose(K @ found, B, atol=1e-8)


def test_a_matrix_without_a_factor_is_refused():
    with pytest.raises(NotPositiveDefinite):
        factor_in_place(strict.asarray(np.diag([1.0, -1.0, 1.0])), 2)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_kernel_coefficients_solve_the_weighted_system(dtype):
    X, weight = rows().astype(dtype), np.random.default_rng(1).uniform(0.5, 2, 200)
    kernel, y = th.kernels.RBF(sigma=2.0), rows(200, 2, seed=2)
    found = kernel_coefficients(
        kernel, strict.asarray(X), strict.asarray(y), [0.1, 0.1], strict.asarray(weight)
    )
    K = kernel(X.astype(float)) + 0.1 * np.diag(1 / weight)
    # float32 rows are factored in float32, and refined in float64.
    assert np.abs(K @ as_numpy(found) - y).max() < (1e-5 if dtype == "float32" else 1e-10)


def test_nearest_rows_are_those_of_a_full_sort():
    X, queries = rows(5000, 4), rows(30, 4, seed=1)
    every = np.linalg.norm(queries[:, None] - X, axis=2)
    distance, number = nearest_rows(strict.asarray(X), strict.asarray(queries), 6)
    np.testing.assert_array_equal(as_numpy(number), np.argsort(every, axis=1)[:, :6])
    np.testing.assert_allclose(as_numpy(distance), np.sort(every, axis=1)[:, :6], rtol=1e-12)


def test_equal_rows_come_in_order_and_no_row_is_its_own_neighbour():
    X = np.repeat(rows(20, 3), 3, axis=0)
    distance, number = nearest_rows(strict.asarray(X), None, 2)
    own = np.arange(60)
    others = own[:, None] // 3 * 3 + np.arange(3)
    expected = [[each for each in group if each != i] for i, group in zip(own, others, strict=True)]
    np.testing.assert_array_equal(as_numpy(number), expected)
    assert np.all(as_numpy(distance) == 0)


@pytest.mark.parametrize("weighted", [False, True])
def test_labels_and_sums_of_centres(weighted):
    X, centres = rows(), rows(7, 5, seed=1)
    weight = np.random.default_rng(2).integers(0, 3, 200) * 1.0 if weighted else None
    given = None if weight is None else strict.asarray(weight)
    centred = CentredRows.of(strict.asarray(X), given, X.mean(axis=0))
    sums = strict.zeros((7, centred.mass.shape[1]), dtype=strict.float64)
    label, square = (as_numpy(each) for each in nearest(centred, centres, sums))
    every = ((X[:, None] - centres) ** 2).sum(axis=2)
    np.testing.assert_array_equal(label, every.argmin(axis=1))
    np.testing.assert_allclose(square, every.min(axis=1), atol=1e-12)
    weight = np.ones(200) if weight is None else weight
    total = np.bincount(label, weight, minlength=7)
    np.testing.assert_allclose(as_numpy(sums)[:, 5], total)
    first = np.stack(
        [((X - X.mean(axis=0)) * weight[:, None])[label == k].sum(0) for k in range(7)]
    )
    np.testing.assert_allclose(as_numpy(sums)[:, :5], first, atol=1e-10)


def test_sums_by_label_of_empty_labels_are_zero():
    found = sums_by_label(strict.asarray(rows(3, 2)), strict.asarray([0, 2, 2]), 4)
    np.testing.assert_allclose(as_numpy(found)[[1, 3]], 0.0)
    np.testing.assert_allclose(as_numpy(found)[2], rows(3, 2)[1:].sum(axis=0))


def test_far_rows_take_one_row_of_each_distant_group():
    X = np.repeat(100.0 * np.arange(6), 20)[:, None] + rows(120, 1)
    uniform = strict.asarray(np.random.default_rng(0).random((5, 3)))
    found = as_numpy(far_rows(strict.asarray(X), 6, None, 0, uniform))
    assert sorted(found // 20) == list(range(6))


@pytest.mark.parametrize("n_scores", [1, 3])
@pytest.mark.parametrize("intercept", [False, True])
def test_slope_and_bend_are_those_of_finite_differences(n_scores, intercept):
    X, codes = rows(60, 2), np.random.default_rng(3).integers(0, max(2, n_scores), 60)
    weight = np.random.default_rng(4).uniform(0.5, 2, 60)
    problem = LogisticPass(
        *(strict.asarray(each) for each in (X, codes, weight)), n_scores, 0.3, intercept
    )
    theta = np.random.default_rng(5).standard_normal((n_scores, 3)) * 0.3
    theta[:, -1] *= intercept
    _, slope, bend = problem(theta)
    free = [i for i in range(theta.size) if intercept or i % 3 < 2]
    for place in free:
        step = np.zeros(theta.size)
        step[place] = 1e-5
        step = step.reshape(theta.shape)
        up, down = problem(theta + step), problem(theta - step)
        assert slope.ravel()[place] == pytest.approx((up[0] - down[0]) / 2e-5, abs=1e-7)
        bent = (up[1] - down[1]).ravel() / 2e-5
        np.testing.assert_allclose(bend[place][free], bent[free], atol=1e-6)


def test_newton_reaches_the_tolerance():
    X, codes = rows(300, 3), np.random.default_rng(3).integers(0, 3, 300)
    problem = LogisticPass(strict.asarray(X), strict.asarray(codes), None, 3, 0.01, True)
    found = newton(problem, np.zeros((3, 4)), tolerance=1e-10, max_steps=20, watch=Watch())
    assert found.outcome.success
    assert found.gap <= 1e-10


@pytest.mark.parametrize("shape", [(60, 5), (8, 30)])
def test_a_spectrum_is_that_of_the_centred_rows(shape):
    X = rows(*shape)
    found = principal_spectrum(strict.asarray(X), None, centre=True, scaled=False)
    _, values, directions = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    np.testing.assert_allclose(np.sqrt(found.squares[:4]), values[:4], rtol=1e-10)
    ours = as_numpy(found.directions(4))
    np.testing.assert_allclose(np.abs((ours * directions[:4]).sum(axis=1)), 1.0, rtol=1e-10)
    assert np.all(ours[np.arange(4), np.abs(ours).argmax(axis=1)] > 0)


@pytest.mark.parametrize("kind", ["full", "diag"])
def test_sums_of_a_mixture_are_those_of_compiled_code(kind):
    X, weight = rows(1300, 3), np.random.default_rng(2).uniform(0, 2, 1300)
    model = th.GaussianMixture(4, covariance_type=kind, max_iter=3, tol=1e3, random_state=0).fit(X)
    terms = model._terms()
    value, total, count, first, second = mixture_sums(
        strict.asarray(X), strict.asarray(weight), terms
    )
    logs, shares = model._rows(X, model._terms, posterior=True)
    heavy = shares * weight[:, None]
    assert value == pytest.approx(weight @ logs)
    assert total == pytest.approx(weight.sum())
    np.testing.assert_allclose(count, heavy.sum(axis=0))
    away = X[:, None, :] - model.means_
    np.testing.assert_allclose(first, np.einsum("nk,nkd->kd", heavy, away), atol=1e-8)
    form = "nk,nkd,nke->kde" if kind == "full" else "nk,nkd,nkd->kd"
    np.testing.assert_allclose(second, np.einsum(form, heavy, away, away), atol=1e-8)
