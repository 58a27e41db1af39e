"""The R of QR as a summary: its laws, its right-hand side, what it is the factor of."""

import numpy as np
import pytest
import scipy.sparse as sp

from thetahat.data.summaries.moments import moments
from thetahat.data.validation import as_source
from thetahat.mathematics.linalg.triangular_factor import TriangularFactor, triangular_factor

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((30_000, 3)) * [1, 10, 0.1] + [5, 0, 1]
Y = X @ [1.0, 2.0, 3.0] + RANDOM.standard_normal(30_000)
WEIGHT = RANDOM.random(30_000)


def gram(R):
    return R.T @ R


def test_factor_of_all_rows():
    """RᵀR = ZᵀZ with Z = [1, X − x̄, y − ȳ], in the units of the moments; R is triangular."""
    source = as_source(X, Y, WEIGHT)
    about = moments(source)
    R = triangular_factor(source, about, intercept=True).R
    Z = (np.column_stack([X, Y]) - about.mean) / about.unit
    Z = np.column_stack([np.ones(len(Y)), Z]) * np.sqrt(WEIGHT)[:, None]
    np.testing.assert_allclose(gram(R), Z.T @ Z, rtol=1e-9, atol=1e-6)
    np.testing.assert_array_equal(np.tril(R, -1), 0.0)


def test_right_hand_side_is_carried_along():
    """The last column of R is Qᵀy: back substitution gives β̂, what is left gives the residual."""
    source = as_source(X, Y)
    about = moments(source).about_zero()
    R = triangular_factor(source, about, intercept=False).R * about.unit
    beta = np.linalg.solve(R[:3, :3], R[:3, 3])
    expected, rss, *_ = np.linalg.lstsq(X, Y)
    np.testing.assert_allclose(beta, expected, rtol=1e-10)
    assert R[3, 3] ** 2 == pytest.approx(rss[0])


def test_merging_is_stacking():
    a, b, c = (TriangularFactor(np.linalg.qr(X[rows], mode="r")) for rows in np.split(
        np.arange(300), 3))  # fmt: skip
    whole = gram(X[:300])
    for merged in (a.merge(b).merge(c), a.merge(b.merge(c)), c.merge(a).merge(b)):
        np.testing.assert_allclose(gram(merged.R), whole, rtol=1e-10)


def test_fewer_rows_than_columns():
    short = TriangularFactor(np.linalg.qr(X[:2], mode="r"))
    assert short.R.shape == (2, 3)
    assert short.padded().shape == (3, 3)
    np.testing.assert_allclose(gram(short.padded()), gram(X[:2]), rtol=1e-10)


def test_sparse_rows_go_by_parts():
    random = np.random.default_rng(1)
    rows = sp.random_array((40_000, 6), density=0.1, format="csr", rng=random)
    y = random.standard_normal(40_000)
    factors = []
    for x in (rows, rows.toarray()):
        source = as_source(x, y)
        about = moments(source)
        R = triangular_factor(source, about, intercept=True).R[1:, 1:]
        factors.append(gram(R * about.unit))
    np.testing.assert_allclose(factors[0], factors[1], rtol=1e-8, atol=1e-8)
