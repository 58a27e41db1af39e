"""Compiled sums over rows agree with the formulas of the losses."""

import numpy as np
import pytest
import scipy.sparse as sp

import thetahat as th
from thetahat.data.source import Block
from thetahat.objective.predictor import LinearPredictor
from thetahat.objective.row_losses import FEW, curved_gram, in_rows, loss_and_slope

LOSSES = {
    "logistic": lambda z: (z > 0).astype(float),
    "squared": lambda z: z + 1.0,
    "huber": lambda z: z - 2.0,
    "sign_logistic": np.sign,
    "poisson": lambda z: np.round(np.exp(np.clip(z, None, 2.0))),
}


def block_of(name, d=4, n=30):
    random = np.random.default_rng(0)
    X = random.standard_normal((n, d))
    y = LOSSES[name](X @ random.standard_normal(d) + random.standard_normal(n))
    return Block(X=X, y=y, weight=random.random(n)), 0.3 * random.standard_normal(d + 1)


@pytest.mark.parametrize("name", LOSSES)
def test_value_and_slope(name):
    block, theta = block_of(name)
    loss, predictor = th.losses.named(name), LinearPredictor(4)
    value, slope = loss_and_slope(block, predictor, loss, theta)
    z = predictor.raw(block.X, theta)
    np.testing.assert_allclose(value, block.weight @ loss.value(block.y, z), rtol=1e-12)
    expected = predictor.pullback(block.X, block.weight * loss.gradient(block.y, z))
    np.testing.assert_allclose(slope, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", LOSSES)
def test_curvature(name):
    d = 4
    block, theta = block_of(name, d)
    loss, predictor = th.losses.named(name), LinearPredictor(d)
    z = predictor.raw(block.X, theta)
    expected = predictor.gram(block.X, block.weight * loss.curvature(block.y, z))
    found = curved_gram(block, predictor, loss, theta)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-11)
    entries = np.array([0, 2, d])
    part = curved_gram(block, predictor, loss, theta, entries)
    np.testing.assert_allclose(part, expected[np.ix_(entries, entries)], rtol=1e-9, atol=1e-11)
    many, more = block_of(name, FEW + 5)
    assert curved_gram(many, LinearPredictor(FEW + 5), loss, more) is None


def test_sparse_rows_have_the_sums_of_dense_rows():
    block, theta = block_of("squared")
    sparse = Block(X=sp.csr_array(block.X), y=block.y, weight=block.weight)
    given = (LinearPredictor(4), th.losses.Squared(), theta)
    value, slope = loss_and_slope(block, *given)
    found, found_slope = loss_and_slope(sparse, *given)
    assert found == pytest.approx(value, rel=1e-13)
    np.testing.assert_allclose(found_slope, slope, rtol=1e-12)


def test_parts_that_the_kernels_do_not_know_give_none():
    block, theta = block_of("squared")
    columns = Block(X=sp.csc_array(block.X), y=block.y)
    assert loss_and_slope(columns, LinearPredictor(4), th.losses.Squared(), theta) is None
    assert loss_and_slope(block, LinearPredictor(4), th.losses.Tukey(), theta) is None
    assert in_rows(block.X)
    assert not in_rows(np.asfortranarray(block.X))
