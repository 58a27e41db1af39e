"""The compiled sums of kernels against their plain twin, within their tolerance."""

from math import inf

import numpy as np
import pytest

import thetahat as th
from tests.reference.neighbors import neighbors as twin
from thetahat import _native
from thetahat.mathematics.distances.base import reduced_distances

NAMES = [
    "uniform", "triangular", "epanechnikov", "quartic", "triweight", "tricube", "cosine",
    "gaussian", "logistic", "sigmoid", "exponential",
]  # fmt: skip


def draw(n, d, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def compiled(rows, weights, queries, kernel, width, *, p=2.0, leaf_size=8, atol=0.0, rtol=0.0,
             threads=2):  # fmt: skip
    search = _native.NearestRows(rows, leaf_size, p, False, False, False, 7, threads)
    found = np.full(len(queries), np.nan)
    power = 1 / p if p < inf else 1.0
    search.density_sums(weights).logs(
        queries, kernel.code, power, 1.0, width, atol, rtol, found, threads
    )
    return found


def plain(rows, weights, queries, kernel, width, p=2.0):
    distances = reduced_distances(queries, rows, p)
    return twin.log_density_sums(
        distances if p == inf else distances ** (1 / p), kernel, width, weights
    )


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("p", [1.0, 2.0, 3.0, inf])
@pytest.mark.parametrize("d", [1, 2, 3, 6])
def test_exact_sums(name, p, d):
    kernel = th.smoothing.named(name)
    rows, queries, weights = draw(203, d), draw(20, d, 1), np.abs(draw(203, 1, 2)[:, 0]) + 0.1
    found = compiled(rows, weights, queries, kernel, 1.3, p=p)
    wanted = plain(rows, weights, queries, kernel, 1.3, p)
    np.testing.assert_array_equal(np.isfinite(found), np.isfinite(wanted))
    known = np.isfinite(wanted)
    np.testing.assert_allclose(found[known], wanted[known], rtol=0, atol=2e-13)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("tolerance", [1e-1, 1e-4])
@pytest.mark.parametrize("leaf_size", [1, 40, 10_000])
def test_relative_tolerance_holds(name, tolerance, leaf_size):
    kernel, rows, queries = th.smoothing.named(name), draw(2000, 2), 1.5 * draw(100, 2, 1)
    weights = np.ones(2000)
    found = np.exp(
        compiled(rows, weights, queries, kernel, 0.3, rtol=tolerance, leaf_size=leaf_size)
    )
    wanted = np.exp(plain(rows, weights, queries, kernel, 0.3))
    assert (np.abs(found - wanted) <= tolerance * wanted * (1 + 1e-9)).all()
    if leaf_size == 1 and tolerance == 1e-1 and name == "gaussian":
        assert np.abs(found - wanted).max() > 1e-6 * wanted.max()  # something was approximated


@pytest.mark.parametrize("name", ["gaussian", "exponential", "epanechnikov"])
def test_absolute_tolerance_holds(name):
    kernel, rows, queries = th.smoothing.named(name), draw(5000, 2), 3 * draw(100, 2, 1)
    weights = np.ones(5000)
    found = np.exp(compiled(rows, weights, queries, kernel, 0.3, atol=5.0))
    wanted = np.exp(plain(rows, weights, queries, kernel, 0.3))
    assert np.abs(found - wanted).max() <= 5.0
    assert np.abs(found - wanted).max() > 1e-3


def test_far_queries_do_not_underflow():
    rows, queries = draw(500, 2), np.array([[200.0, -300.0], [1e6, 0.0]])
    for name, exponent in (("gaussian", lambda s: s**2 / 2), ("exponential", lambda s: s)):
        kernel = th.smoothing.named(name)
        scaled = np.linalg.norm(queries[:, None] - rows, axis=2) / 0.5
        logs = np.log(float(kernel.value(0.0))) - exponent(scaled)
        top = logs.max(axis=1)
        wanted = top + np.log(np.exp(logs - top[:, None]).sum(axis=1))
        found = compiled(rows, np.ones(500), queries, kernel, 0.5)
        np.testing.assert_allclose(found, wanted, rtol=1e-13)


def test_queries_beyond_all_numbers_have_density_zero():
    found = compiled(draw(50, 2), np.ones(50), np.full((1, 2), 1e200),
                     th.smoothing.Gaussian(), 1.0)  # fmt: skip
    assert found[0] == -inf


def test_same_bits_for_any_number_of_threads():
    rows, queries = draw(5000, 2), draw(3000, 2, 1)
    answers = [
        compiled(rows, np.ones(5000), queries, th.smoothing.Gaussian(), 0.2, rtol=1e-3, threads=k)
        for k in (1, 2, 5)
    ]
    assert all(np.array_equal(answers[0], each) for each in answers)


def test_a_query_does_not_depend_on_the_others():
    rows, queries = draw(3000, 2), draw(2000, 2, 1)
    some = {"kernel": th.smoothing.Gaussian(), "width": 0.2, "rtol": 1e-3}
    together = compiled(rows, np.ones(3000), queries, **some)
    alone = np.concatenate([compiled(rows, np.ones(3000), queries[[i]], **some) for i in (0, 7)])
    np.testing.assert_array_equal(together[[0, 7]], alone)


@pytest.mark.parametrize("wrong", [
    {"kernel": 10}, {"kernel": 99}, {"width": 0.0}, {"width": np.nan}, {"atol": -1.0},
    {"rtol": np.nan},
])  # fmt: skip
def test_wrong_arguments_are_refused(wrong):
    rows = draw(10, 2)
    sums = _native.NearestRows(rows, 4, 2.0, False, False, False, 0, 1).density_sums(np.ones(10))
    given = dict(kernel=6, power=0.5, factor=1.0, width=1.0, atol=0.0, rtol=0.0) | wrong
    with pytest.raises(ValueError, match=r"must|known"):
        sums.logs(rows, result=np.empty(10), threads=1, **given)


def test_wrong_shapes_are_refused():
    search = _native.NearestRows(draw(10, 2), 4, 2.0, False, False, False, 0, 1)
    with pytest.raises(ValueError, match="one weight per row"):
        search.density_sums(np.ones(9))
    with pytest.raises(ValueError, match="columns"):
        search.density_sums(np.ones(10)).logs(
            draw(3, 3), 6, 0.5, 1.0, 1.0, 0.0, 0.0, np.empty(3), 1
        )
