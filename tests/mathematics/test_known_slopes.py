"""Slopes without reading X again: right in the span of what is known, bounded outside."""

import numpy as np

from thetahat.mathematics.optimizers.column_designs import DenseDesign
from thetahat.mathematics.optimizers.gram_descent import Limits, Terms
from thetahat.mathematics.optimizers.known_slopes import KnownSlopes

RANDOM = np.random.default_rng(5)
X = np.asfortranarray(RANDOM.standard_normal((80, 500)))
LENGTHS = np.sqrt((X**2).sum(axis=0))


def known(residuals):
    memory = KnownSlopes(LENGTHS, 80)
    for residual in residuals:
        _, rest, _ = memory.split(residual)
        memory.learn(rest, X.T @ rest)
    return memory


def test_slopes_in_the_span_are_right():
    residuals = RANDOM.standard_normal((6, 80))
    slopes, rest, slack = known(residuals).split(residuals.T @ np.arange(1.0, 7.0))
    np.testing.assert_allclose(slopes, X.T @ (residuals.T @ np.arange(1.0, 7.0)), rtol=1e-9)
    assert np.abs(rest).max() < 1e-12
    assert slack.max() < 1e-8


def test_slopes_outside_are_within_their_slack():
    residuals = RANDOM.standard_normal((6, 80))
    memory = known(residuals)
    for size in (1e-6, 1e-2, 1.0):
        residual = residuals.sum(axis=0) + size * RANDOM.standard_normal(80)
        slopes, rest, slack = memory.split(residual)
        assert (np.abs(X.T @ residual - slopes) <= slack).all()
        np.testing.assert_allclose(slopes + X.T @ rest, X.T @ residual, atol=1e-9)


def test_a_full_memory_is_emptied():
    residuals = RANDOM.standard_normal((25, 80))
    for count in range(1, 25):  # ten of them fill it
        slopes, rest, slack = known(residuals[:count]).split(residuals[count])
        assert (np.abs(X.T @ residuals[count] - slopes) <= slack).all()
        assert np.linalg.norm(rest) > 1e-3


def test_nothing_is_learned_from_no_residual_or_from_what_is_not_finite():
    memory = known([np.zeros(80)])
    memory.learn(np.ones(80), np.full(500, np.nan))
    slopes, rest, _ = memory.split(X[:, 0])
    assert not slopes.any()
    np.testing.assert_array_equal(rest, X[:, 0])


def test_a_standing_may_be_off_only_where_it_does_not_matter():
    y = X[:, :3] @ [2.0, -1.0, 1.0] + 0.1 * RANDOM.standard_normal(80)
    design = DenseDesign(X, y, np.zeros(500), np.ones(80))
    skipped = 0
    for share in (0.9, 0.85, 0.8, 0.75):
        l1 = np.full(500, share * np.abs(design.start).max())
        beta = np.zeros(500)
        terms = Terms(l1, np.zeros(500), np.full(500, -np.inf))
        design.descend(beta, np.arange(40), terms, Limits(1e-10, 0.0, 100))
        standing = design.standing(l1)
        right = X.T @ (y - X @ beta)
        off = np.abs(standing.slopes - right)
        assert (off <= standing.slack + 1e-9).all()
        assert (off[np.abs(right) >= l1] < 1e-9).all()
        skipped += np.count_nonzero(standing.slack)
    assert skipped > 500
