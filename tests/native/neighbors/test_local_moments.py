"""The compiled sums around queries against their plain twin."""

from math import inf

import numpy as np
import pytest

import thetahat as th
from tests.reference.neighbors import neighbors as twin
from thetahat import _native
from thetahat.models.neighbors.search.around import Terms

NAMES = [
    "uniform", "triangular", "epanechnikov", "quartic", "triweight", "tricube", "gaussian",
    "cosine", "logistic", "sigmoid", "silverman", "exponential",
]  # fmt: skip


def draw(n, d, seed=0):
    return np.random.default_rng(seed).random((n, d))


def compiled(rows, queries, widths, limits, terms, kernel, *, p=2.0, leaf_size=8, squared=False,
             threads=2):  # fmt: skip
    search = _native.NearestRows(rows, leaf_size, p, False, False, False, 7, threads)
    n, m, size = len(rows), len(queries), terms.n_terms
    weights, values = draw(n, 1, 3)[:, 0], draw(n, 2, 4)
    a, b = np.zeros((m, size * size)), np.zeros((m, size * 2))
    search.moments(
        queries, limits, widths, queries, rows, weights, values, *terms.recipe, kernel.code,
        1 / p if p < inf else 1.0, 1.0, squared, a, b, threads,
    )  # fmt: skip
    return a.reshape(m, size, size), b.reshape(m, size, 2)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("degree", [0, 1, 2])
@pytest.mark.parametrize("squared", [False, True])
def test_sums(name, degree, squared):
    kernel, terms = th.smoothing.named(name), Terms(3, degree)
    rows, queries = draw(213, 3), draw(20, 3, 1)
    rows[0] = queries[0]
    widths = np.linspace(0.0, 0.6, 20)
    reach = min(kernel.support, 2.0)
    distances = np.sqrt(((queries[:, None] - rows) ** 2).sum(axis=2))
    phi = np.stack([terms.of(rows - query) for query in queries])
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = twin.moments(
            distances, widths, reach, kernel, draw(213, 1, 3)[:, 0], draw(213, 2, 4), phi, squared
        )
    for leaf_size in (8, 1000):
        limits = (reach * widths) ** 2 * (1 + 1e-12)
        a, b = compiled(
            rows, queries, widths, limits, terms, kernel, leaf_size=leaf_size, squared=squared
        )
        np.testing.assert_allclose(a, np.triu(expected[0]), rtol=1e-10, atol=1e-13)
        np.testing.assert_allclose(b, expected[1], rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("p", [1.0, 2.0, 3.0, inf])
def test_powers_of_distances_and_threads(p):
    kernel, terms = th.smoothing.Gaussian(), Terms(2, 1)
    rows, queries = draw(3000, 2), draw(500, 2, 1)
    widths, limits = np.full(500, 0.1), np.full(500, inf)
    one = compiled(rows, queries, widths, limits, terms, kernel, p=p, threads=1)
    for threads in (2, 3):
        many = compiled(rows, queries, widths, limits, terms, kernel, p=p, threads=threads)
        np.testing.assert_array_equal(one[0], many[0])
        np.testing.assert_array_equal(one[1], many[1])
    distances = np.linalg.norm(queries[:5, None] - rows, ord=p, axis=2)
    phi = np.stack([terms.of(rows - query) for query in queries[:5]])
    expected = twin.moments(
        distances, widths[:5], inf, kernel, draw(3000, 1, 3)[:, 0], draw(3000, 2, 4), phi
    )
    np.testing.assert_allclose(one[0][:5], np.triu(expected[0]), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(one[1][:5], expected[1], rtol=1e-9, atol=1e-12)


def test_arguments_that_do_not_agree_are_refused():
    search = _native.NearestRows(draw(9, 2), 4, 2.0, False, False, False, 0, 1)
    good = [
        draw(3, 2), np.ones(3), np.ones(3), draw(3, 2), draw(9, 2), np.ones(9), np.ones((9, 1)),
        *Terms(2, 1).recipe, 0, 0.5, 1.0, False, np.zeros((3, 9)), np.zeros((3, 3)), 1,
    ]  # fmt: skip
    search.moments(*good)
    bad = {
        0: draw(3, 1), 1: np.ones(2), 4: draw(8, 2), 5: np.ones(4), 8: np.array([0, 5, 1]),
        7: np.array([0, 1, 2]), 9: 12, 13: np.zeros((3, 8)), 14: np.zeros((2, 3)),
    }  # fmt: skip
    for place, value in bad.items():
        with pytest.raises(ValueError, match=r"must|known"):
            search.moments(*good[:place], value, *good[place + 1 :])
