"""Sums of losses over rows in one pass, against their plain twins."""

import numpy as np
import pytest
import scipy.sparse

import thetahat as th
from tests.mathematics.losses.loss_cases import loss_classes
from tests.reference.losses import row_losses as twin
from thetahat import _native
from thetahat.mathematics.losses.base import Curved, Targets
from thetahat.mathematics.losses.compiled import compiled

LOSSES = {kind.__name__: kind() for kind in loss_classes() if compiled(kind()) is not None}
CURVED = {name: loss for name, loss in LOSSES.items() if isinstance(loss, Curved)}
ALL = np.empty(0, dtype=np.int64)
SHAPES = [(1, 1), (3, 0), (4, 2), (5, 8), (130, 9), (257, 31), (1000, 3), (700, 40), (40, 600)]


def rows(loss, n, d, *, weighted=False, dtype=np.float64):
    """x as a slice of wider rows, y of the loss's kind, and weights, some of them 0."""
    random = np.random.default_rng(n + d)
    x = random.standard_normal((n, d + 3)).astype(dtype)[:, 1 : d + 1]
    match loss.targets:
        case Targets.SIGNS:
            y = random.choice([-1.0, 1.0], n)
        case Targets.BINARY:
            y = random.integers(0, 2, n).astype(float)
        case Targets.NONNEGATIVE:
            y = random.poisson(2.0, n).astype(float)
        case Targets.POSITIVE:
            y = random.gamma(2.0, size=n)
        case _:
            y = random.standard_normal(n)
    weight = random.integers(0, 3, n).astype(float) if weighted else np.empty(0)
    return x, y, weight, random.standard_normal(d + 1) / np.sqrt(d + 1)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n", "d"), SHAPES)
@pytest.mark.parametrize("name", LOSSES)
def test_loss_sums(name, n, d, weighted, dtype):
    loss = LOSSES[name]
    x, y, weight, theta = rows(loss, n, d, weighted=weighted, dtype=dtype)
    for parameters, constant in ((theta, 1.0), (theta, 2.5), (theta[:d], 1.0)):
        slope = np.full(len(parameters), np.nan)
        value = _native.loss_sums(x, y, weight, parameters, constant, *compiled(loss), slope)
        expected = twin.loss_sums(x, y, weight, parameters, constant, loss)
        assert value == pytest.approx(expected[0], rel=1e-12, abs=1e-12)
        np.testing.assert_allclose(slope, expected[1], rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(("dtype", "index"), [(np.float64, np.int32), (np.float32, np.int64)])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n", "d"), SHAPES)
@pytest.mark.parametrize("name", LOSSES)
def test_sparse_loss_sums(name, n, d, weighted, dtype, index):
    loss = LOSSES[name]
    x, y, weight, theta = rows(loss, n, d, weighted=weighted, dtype=dtype)
    x = np.where(np.abs(x) > 0.8, x, 0)
    compressed = scipy.sparse.csr_array(x)
    entries = (compressed.data, compressed.indices.astype(index), compressed.indptr.astype(index))
    for parameters, constant in ((theta, 1.0), (theta, 2.5), (theta[:d], 1.0)):
        slope = np.full(len(parameters), np.nan)
        value = _native.sparse_loss_sums(
            *entries, d, y, weight, parameters, constant, *compiled(loss), slope
        )
        expected = twin.loss_sums(x, y, weight, parameters, constant, loss)
        assert value == pytest.approx(expected[0], rel=1e-12, abs=1e-12)
        np.testing.assert_allclose(slope, expected[1], rtol=1e-10, atol=1e-10)


def test_sparse_sizes_are_checked():
    x, y, none, theta = scipy.sparse.csr_array(np.ones((3, 2))), np.ones(3), np.empty(0), np.ones(3)

    def sums(indices=x.indices, columns=2, y=y, weight=none, theta=theta, loss=5, slope=theta):
        rest = (y, weight, theta, 1.0, loss, 0.0, slope.copy())
        return _native.sparse_loss_sums(x.data, indices, x.indptr, columns, *rest)

    with pytest.raises(ValueError, match="column index is out of range"):
        sums(indices=x.indices + 1)
    with pytest.raises(ValueError, match="y must have one entry per row"):
        sums(y=np.ones(2))
    with pytest.raises(ValueError, match="weight must be empty"):
        sums(weight=np.ones(2))
    with pytest.raises(ValueError, match="theta must have"):
        sums(theta=np.ones(4))
    with pytest.raises(ValueError, match="no loss"):
        sums(loss=1 + max(compiled(loss)[0] for loss in LOSSES.values()))
    with pytest.raises(ValueError, match="slope must have"):
        sums(slope=np.ones(2))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n", "d"), SHAPES)
@pytest.mark.parametrize("name", CURVED)
def test_curved_gram(name, n, d, weighted):
    loss = CURVED[name]
    x, y, weight, theta = rows(loss, n, d, weighted=weighted)
    for parameters, constant in ((theta, 1.0), (theta, 2.5), (theta[:d], 1.0)):
        size = len(parameters)
        given = (x, y, weight, parameters, constant, *compiled(loss))
        expected = twin.curved_gram(x, y, weight, parameters, constant, loss)
        gram = np.full((size, size), np.nan)
        _native.curved_gram(*given, ALL, gram)
        np.testing.assert_allclose(gram, expected, rtol=1e-10, atol=1e-10)
        np.testing.assert_array_equal(gram, gram.T)
        if size:
            some = np.array([size - 1, 0, size // 2])
            part = np.empty((3, 3))
            _native.curved_gram(*given, some, part)
            np.testing.assert_allclose(part, expected[np.ix_(some, some)], rtol=1e-10, atol=1e-10)


def one_row(loss, y, z):
    slope = np.empty(1)
    value = _native.loss_sums(
        np.ones((1, 1)), np.array([y]), np.empty(0), np.array([z]), 1.0, *compiled(loss), slope
    )
    return value, slope[0]


def test_small_losses_keep_their_digits():
    loss = th.losses.Logistic()
    for z in np.concatenate([np.linspace(-700, 700, 1401), np.linspace(-1, 1, 301)]):
        for y in (0.0, 1.0):
            value, slope = one_row(loss, y, z)
            assert value == pytest.approx(float(loss.value(y, np.array(z))), rel=4e-15, abs=0)
            assert slope == pytest.approx(float(loss.gradient(y, np.array(z))), rel=4e-15, abs=0)


@pytest.mark.parametrize("z", [-1e308, -1000.0, 354.0, 355.0, 1000.0, 1e100])
@pytest.mark.parametrize("name", ["Logistic", "SignLogistic", "Poisson", "Gamma", "Tweedie"])
def test_large_scores_stay_finite(name, z):
    loss = LOSSES[name]
    value, slope = one_row(loss, 1.0, z)
    with np.errstate(over="ignore"):
        assert value == pytest.approx(float(loss.value(1.0, np.array(z))), rel=1e-13)
        assert slope == pytest.approx(float(loss.gradient(1.0, np.array(z))), rel=1e-13)


@pytest.mark.parametrize("name", LOSSES)
def test_what_is_not_a_number_stays_so(name):
    assert np.isnan(one_row(LOSSES[name], 1.0, np.nan)[0])


def test_a_derived_loss_is_not_taken_for_its_base():
    class Doubled(th.losses.Squared):
        def value(self, y, z):
            return 2 * super().value(y, z)

    assert compiled(Doubled()) is None


def test_sizes_are_checked():
    x, y, none, theta = np.ones((3, 2)), np.ones(3), np.empty(0), np.ones(3)

    def sums(x=x, y=y, weight=none, theta=theta, loss=5, slope=theta):
        return _native.loss_sums(x, y, weight, theta, 1.0, loss, 0.0, slope.copy())

    with pytest.raises(ValueError, match="follow one another"):
        sums(x=np.asfortranarray(np.ones((3, 2))))
    with pytest.raises(ValueError, match="y must have one entry per row"):
        sums(y=np.ones(2))
    with pytest.raises(ValueError, match="weight must be empty"):
        sums(weight=np.ones(2))
    with pytest.raises(ValueError, match="theta must have"):
        sums(theta=np.ones(4))
    with pytest.raises(ValueError, match="no loss"):
        sums(loss=1 + max(compiled(loss)[0] for loss in LOSSES.values()))
    with pytest.raises(ValueError, match="slope must have"):
        sums(slope=np.ones(2))
    given = (x, y, none, theta, 1.0, 5, 0.0)
    with pytest.raises(ValueError, match="a row and a column for each entry"):
        _native.curved_gram(*given, ALL, np.empty((2, 2)))
    with pytest.raises(ValueError, match="entries must be those of theta"):
        _native.curved_gram(*given, np.array([3]), np.empty((1, 1)))
