"""Slopes of dense columns: right, or off by no more than is said, and only where it may be."""

import numpy as np
import pytest

import thetahat as th
from thetahat.mathematics.optimizers.coordinate.column_designs import DenseDesign
from thetahat.mathematics.optimizers.coordinate.column_slopes import CoarseSlopes, PlainSlopes
from thetahat.mathematics.optimizers.coordinate.gram_descent import Limits, Terms

RANDOM = np.random.default_rng(5)
X = np.asfortranarray(RANDOM.standard_normal((80, 2500)) + RANDOM.standard_normal(2500))
MEAN, WEIGHT = X.mean(axis=0), RANDOM.random(80)
RHO = RANDOM.standard_normal(80)
CENTRED = X - MEAN


@pytest.mark.parametrize("kind", [CoarseSlopes, PlainSlopes])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_survey_reads_what_the_columns_hold(kind, dtype):
    columns = kind(X.astype(dtype), MEAN)
    squares, slopes = columns.survey(WEIGHT, RHO)
    accuracy = {"rtol": 1e-9 if dtype is np.float64 else 1e-4, "atol": 1e-3}
    np.testing.assert_allclose(squares, WEIGHT @ CENTRED**2, **accuracy)
    np.testing.assert_allclose(slopes, CENTRED.T @ RHO, **accuracy)
    again, slack = columns.near(RHO, None)
    np.testing.assert_allclose(again, slopes, rtol=1e-9, atol=1e-12)
    assert not np.any(slack)


def test_slopes_are_within_their_slack_and_right_where_they_are_not_below():
    columns = CoarseSlopes(X, MEAN)
    columns.survey(WEIGHT, RHO)
    right = CENTRED.T @ RHO
    for share in (0.2, 0.5, 0.9, 2.0):
        near = np.full(2500, share * np.abs(right).max())
        slopes, slack = columns.near(RHO, near)
        assert (np.abs(slopes - right) <= slack + 1e-10).all()
        assert (np.abs(slopes) + slack < near)[slack > 0].all()
        assert not slack[np.abs(right) >= near].any()
        assert np.count_nonzero(slack) >= 0.7 * np.count_nonzero(np.abs(right) < near)


def test_the_number_of_threads_changes_nothing():
    found = []
    for threads in (1, 2):
        with th.config(threads=threads):
            columns = CoarseSlopes(X, MEAN)
            found.append([*columns.survey(WEIGHT, RHO), *columns.near(RHO, np.full(2500, 15.0))])
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


def test_bytes_are_for_contiguous_columns_that_fit():
    assert CoarseSlopes.suits(X)
    assert not CoarseSlopes.suits(np.ascontiguousarray(X))
    with th.config(memory=100_000):
        assert not CoarseSlopes.suits(X)


def test_a_standing_may_be_off_only_where_it_does_not_matter():
    random = np.random.default_rng(501)
    wide = np.asfortranarray(random.standard_normal((80, 4000)))
    y = wide[:, :3] @ [2.0, -1.0, 1.0] + 0.1 * random.standard_normal(80)
    design = DenseDesign(wide, y, np.zeros(4000), np.ones(80))
    skipped = 0
    for share in (0.9, 0.85, 0.8, 0.75):
        l1 = np.full(4000, share * np.abs(design.start).max())
        beta = np.zeros(4000)
        terms = Terms(l1, np.zeros(4000), np.full(4000, -np.inf))
        design.descend(beta, np.arange(40), terms, Limits(1e-10, 0.0, 100))
        residual_state = design.residual_state(l1)
        right = wide.T @ (y - wide @ beta)
        off = np.abs(residual_state.slopes - right)
        assert (off <= residual_state.slack + 1e-9).all()
        assert (off[np.abs(right) >= l1] < 1e-9).all()
        skipped += np.count_nonzero(residual_state.slack)
    assert skipped > 4000


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_few_numbers_are_packed_and_stand_for_the_same_columns(order, dtype):
    """Their slopes after sweeps over all of them are those of the sweeps."""
    few, weight = np.asarray(X[:, :60], dtype=dtype, order=order), WEIGHT + 0.1
    mean, root = np.average(few, axis=0, weights=weight), np.sqrt(weight)
    y = root * RHO
    design = DenseDesign(few, y, mean, root)
    columns = (few - mean) * root[:, None]
    np.testing.assert_allclose(design.squares, np.sum(columns**2, axis=0), rtol=1e-6)
    np.testing.assert_allclose(design.start, columns.T @ y, rtol=1e-5, atol=1e-5)
    beta, l1 = np.zeros(60), np.full(60, 0.2 * np.abs(design.start).max())
    design.descend_all(beta, Terms(l1, 0 * l1, l1 - np.inf), Limits(1e-10, 0.0, 500))
    assert 0 < np.count_nonzero(beta) < 60
    found, right = design.residual_state(l1), y - columns @ beta
    np.testing.assert_allclose(found.slopes, columns.T @ right, atol=1e-4)
    assert found.squared == pytest.approx(right @ right, rel=1e-6)
    again = design.begin(beta, l1)
    np.testing.assert_allclose(found.slopes, again.slopes, atol=1e-9)
