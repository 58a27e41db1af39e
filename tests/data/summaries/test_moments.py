"""The moments summary: its laws, its precision, and what it is a summary of."""

import numpy as np
import pytest
import scipy.sparse as sp

import thetahat as th
from thetahat.data.source import Block
from thetahat.data.summaries.frame import Frame
from thetahat.data.summaries.means import means
from thetahat.data.summaries.moments import moments, summarise_moments
from thetahat.data.validation import as_source

RANDOM = np.random.default_rng(1)
X = RANDOM.standard_normal((300, 4)) * [1, 10, 0.1, 5] + [0, 100, -3, 1]
Y = X @ [1.0, 0.2, 3.0, -1.0] + RANDOM.standard_normal(300)
WEIGHT = RANDOM.integers(0, 4, 300).astype(float)
JOINT = np.column_stack([X, Y])
FRAME = Frame.of(JOINT)


def part(rows):
    return summarise_moments(Block(X=X[rows], y=Y[rows], weight=WEIGHT[rows]), FRAME)


def assert_same(a, b, rtol=1e-10):
    assert a.weight == pytest.approx(b.weight)
    assert a.n_rows == b.n_rows
    np.testing.assert_allclose(a.mean, b.mean, rtol=rtol, atol=1e-12)
    scale = np.sqrt(np.outer(np.diagonal(b.covariance()), np.diagonal(b.covariance())))
    np.testing.assert_allclose(a.covariance() / scale, b.covariance() / scale, atol=rtol)


def test_equals_numpy():
    found = moments(as_source(X, Y, WEIGHT))
    np.testing.assert_allclose(found.mean, np.average(JOINT, axis=0, weights=WEIGHT))
    expected = np.cov(JOINT.T, fweights=WEIGHT.astype(int))
    np.testing.assert_allclose(found.covariance(unbiased=True), expected, rtol=1e-10)
    assert found.n_rows == np.count_nonzero(WEIGHT)


def test_merge_is_associative_and_commutative():
    a, b, c = part(slice(0, 50)), part(slice(50, 170)), part(slice(170, 300))
    whole = part(slice(0, 300))
    assert_same(a.merge(b).merge(c), whole)
    assert_same(a.merge(b.merge(c)), whole)
    assert_same(c.merge(a).merge(b), whole)


def test_rows_of_weight_zero_are_the_empty_element():
    empty = summarise_moments(Block(X=X[:9], y=Y[:9], weight=np.zeros(9)), FRAME)
    whole = part(slice(0, 300))
    assert_same(empty.merge(whole), whole, rtol=0)
    assert_same(whole.merge(empty), whole, rtol=0)


def test_summaries_in_different_units_merge():
    a, b = part(slice(0, 100)), part(slice(100, 300))
    assert_same(a.merge(b.in_units(b.unit * 8)), a.merge(b))


def test_weight_two_is_a_row_twice():
    repeated = np.repeat(np.arange(300), WEIGHT.astype(int))
    weighted, again = moments(as_source(X, Y, WEIGHT)), moments(as_source(X[repeated], Y[repeated]))
    np.testing.assert_allclose(weighted.covariance(), again.covariance(), rtol=1e-10)


def test_sparse_is_dense():
    random = np.random.default_rng(101)
    rows = sp.random_array((5000, 30), density=0.05, format="csr", rng=random)
    y = random.standard_normal(5000)
    weight = random.random(5000)
    dense, sparse = (moments(as_source(x, y, weight)) for x in (rows.toarray(), rows))
    np.testing.assert_allclose(sparse.covariance(), dense.covariance(), rtol=1e-9, atol=1e-14)
    np.testing.assert_allclose(sparse.mean, dense.mean, rtol=1e-10)


def test_large_means_cost_no_digits():
    shifted = moments(as_source(X + 1e9, Y))
    # x itself was rounded to 1e9·ε; nothing is lost beyond that.
    np.testing.assert_allclose(
        shifted.covariance()[:4, :4], moments(as_source((X + 1e9) - 1e9, Y)).covariance()[:4, :4],
        rtol=1e-9,
    )  # fmt: skip


@pytest.mark.parametrize("scale", [1e150, 1e-150, 1e300])
def test_huge_scales_neither_overflow_nor_vanish(scale):
    found = moments(as_source(X * scale, Y))
    assert found.is_finite
    expected = moments(as_source(X, Y))
    ratio = (found.unit[:4] / scale)[:, None] * (found.unit[:4] / scale)
    np.testing.assert_allclose(
        found.scatter[:4, :4] * ratio / found.weight, expected.covariance()[:4, :4], rtol=1e-8
    )


def test_a_column_that_grows_after_the_first_block():
    x = np.zeros((40_000, 1))
    x[-5:] = 1e200
    found = moments(as_source(x, x[:, 0] / 1e200))
    assert found.is_finite
    assert found.mean[0] == pytest.approx(5e200 / 40_000)


def test_a_constant_column_has_no_deviations():
    """The mean of three times 0.1 is not 0.1 in floating point."""
    values = np.random.default_rng(0).standard_normal(50)
    for n in (3, 5, 7, 10, 49):
        np.testing.assert_array_equal(Frame.of(np.tile(values, (n, 1))).centre, values)


def test_non_finite_rows_are_named():
    bad = X.copy()
    bad[17, 2] = np.nan
    with pytest.raises(th.errors.DataError, match=r"NaN: column 2 .*row 17"):
        moments(as_source(bad, Y, check_finite=False))


def test_means_are_the_first_moments():
    np.testing.assert_allclose(
        means(as_source(X, Y, WEIGHT)).mean, moments(as_source(X, Y, WEIGHT)).mean
    )


def test_about_zero():
    found = moments(as_source(X, Y)).about_zero()
    np.testing.assert_allclose(found.covariance(), JOINT.T @ JOINT / 300, rtol=1e-10)


def test_cancellation_of_sparse_rows_is_reported():
    """Sparse rows are squared before they are centred: a large mean costs digits and warns."""
    random = np.random.default_rng(102)
    rows = sp.csr_array(1e4 + random.standard_normal((500, 2)))
    found = moments(as_source(rows, random.standard_normal(500)))
    assert 1e7 < found.cancellation < 1e9
    assert moments(as_source(rows.toarray(), random.standard_normal(500))).cancellation < 10
    y = rows @ [1.0, 2.0]
    model = th.LinearRegression().fit(rows, y)
    np.testing.assert_allclose(model.coef_, [1.0, 2.0], rtol=1e-9)
    assert "κ" in model.solution_.reason


@pytest.mark.parametrize("weight", [0.0, 1e-20])
@pytest.mark.parametrize("stray", [1, 100, 700])
def test_first_rows_that_hardly_count_cost_no_digits(stray, weight):
    """The provisional centre is theirs, at 1e9, or near it."""
    random = np.random.default_rng(5)
    rows, weights = random.standard_normal((2000, 3)), np.ones(2000)
    rows[:stray], weights[:stray] = 1e9, weight
    found = moments(as_source(rows, None, weights))
    if weight == 0.0:
        expected = np.cov(rows[stray:].T, bias=True)
        np.testing.assert_allclose(found.covariance(), expected, rtol=1e-10, atol=1e-12)
    assert not found.lost_digits


@pytest.mark.filterwarnings("ignore")  # the fit to all rows, with columns of two levels
def test_folds_far_from_the_first_rows_cost_no_digits():
    random = np.random.default_rng(6)
    rows = random.standard_normal((1000, 5))
    y = rows @ [1.0, 2.0, 3.0, 0.0, 0.0] + 0.1 * random.standard_normal(1000)
    rows[:400] += 1e7
    train, test = np.arange(400, 800), np.arange(800, 1000)
    found = th.LassoCV(alphas=[0.01], cv=[(train, test)], tol=1e-10).fit(rows, y).mse_path_
    model = th.Lasso(0.01, tol=1e-10).fit(rows[train], y[train])
    assert found.item() == pytest.approx(np.mean((model.predict(rows[test]) - y[test]) ** 2))


@pytest.mark.parametrize("kind", [th.EmpiricalCovariance, th.LedoitWolf, th.OAS])
def test_covariances_without_the_rows_of_weight_zero(kind):
    random = np.random.default_rng(7)
    rows, weights = random.standard_normal((900, 4)), np.ones(900)
    rows[:600], weights[:600] = -9999999.0, 0.0
    found = kind().fit(rows, sample_weight=weights).covariance_
    np.testing.assert_allclose(found, kind().fit(rows[600:]).covariance_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", [th.EmpiricalCovariance, th.LedoitWolf, th.OAS])
def test_covariances_of_sparse_rows_far_from_zero(kind):
    """They are not centred, so that their sums are those about zero."""
    random = np.random.default_rng(8)
    rows = random.standard_normal((800, 3)) * (random.random((800, 3)) < 0.5)
    rows[:, 0] += 1e5
    dense, sparse = kind().fit(rows), kind().fit(sp.csr_array(rows))
    np.testing.assert_allclose(sparse.location_, dense.location_, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(sparse.covariance_, dense.covariance_, rtol=1e-3, atol=1e-3)
