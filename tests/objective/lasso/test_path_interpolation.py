"""Legs of a path: the points between two solutions, and what certifies them."""

import numpy as np
import pytest
import scipy.sparse as sp

import thetahat as th
from tests.reference.sparse import coordinate_descent as twin
from thetahat.data.validation import as_source
from thetahat.objective.lasso.l1_least_squares import L1Rows
from thetahat.objective.lasso.l1_path import alpha_grid, alpha_max, path
from thetahat.objective.lasso.path_interpolation import (
    Milestone,
    between,
    next_length,
    slopes_ahead,
)

RANDOM = np.random.default_rng(7)
X = np.asfortranarray(RANDOM.standard_normal((60, 900)))
X[np.abs(X) < 0.5] = 0.0
Y = X[:, :8] @ RANDOM.standard_normal(8) + 0.3 * RANDOM.standard_normal(60)
KINDS = {"dense": np.asarray, "rows": np.ascontiguousarray, "sparse": sp.csc_array}


def problem(kind, intercept=False):
    return L1Rows(as_source(KINDS[kind](X), Y), intercept=intercept).problem()


def walk(kind, tol=1e-3, **options):
    found = problem(kind, options.pop("intercept", False))
    options = {"l1_ratio": 1.0, "positive": False, "max_iter": 1000} | options
    largest = alpha_max(found.design.start, found.total, options["l1_ratio"], options["positive"])
    return path(found, alpha_grid(largest, 1e-2, 40), tol=tol, **options)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_a_point_between_stands_where_a_pass_says(kind, intercept, share):
    random = np.random.default_rng(701)
    found = problem(kind, intercept)
    ends = []
    for place, alpha in enumerate((0.4, 0.2)):
        beta = random.standard_normal(900) * (random.random(900) < 0.02)
        ends.append(Milestone(place, alpha, beta, found.design.begin(beta)))
    beta, residual_state = between(*ends, 0.4 - 0.2 * share)
    right = found.design.begin(beta)
    np.testing.assert_allclose(residual_state.slopes, right.slopes, atol=1e-9)
    assert residual_state.squared == pytest.approx(right.squared)
    assert residual_state.with_target == pytest.approx(right.with_target)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("l1_ratio", [1.0, 0.7])
def test_every_penalty_is_certified(kind, positive, l1_ratio):
    """The gap that is reported is one that the coefficients have, worked out from X and y alone."""
    found = walk(kind, positive=positive, l1_ratio=l1_ratio)
    for alpha, beta, solution in zip(found.alphas, found.coefs.T, found.solutions, strict=True):
        gap = duality_gap(beta, alpha * l1_ratio, alpha * (1 - l1_ratio), positive)
        assert gap <= 1e-3 * np.mean(Y**2) * (1 + 1e-9)
        assert gap <= solution.gap + 1e-9
        assert (beta >= 0).all() or not positive


def duality_gap(beta, l1, l2, positive):
    n, residual = len(Y), Y - X @ beta
    terms = (np.full(900, n * term) for term in (l1, l2))
    lower = np.full(900, 0.0 if positive else -np.inf)
    squares = residual @ residual, Y @ residual
    return twin.lasso_gap(beta, X.T @ residual, 0.0, *terms, lower, *squares)[0] / n


@pytest.mark.parametrize("kind", KINDS)
def test_most_penalties_need_few_steps_and_their_coefficients_are_accurate(kind):
    loose, tight = walk(kind), walk(kind, tol=1e-12)
    # all but those on a straight piece of the path
    assert sum(solution.steps == 0 for solution in tight.solutions) < 8
    apart = np.abs(loose.coefs - tight.coefs).sum(axis=0) / np.abs(tight.coefs).sum(axis=0).max()
    assert apart.max() < 0.03


def test_no_two_penalties_share_a_solution_where_that_is_asked():
    found = walk("dense", once=True)
    assert all(solution.steps for solution in found.solutions[1:])


def test_threads_change_no_bit():
    def coefficients(threads):
        with th.config(threads=threads):
            return th.lasso_path(X, Y, eps=1e-2, alphas=30)[1]

    np.testing.assert_array_equal(coefficients(1), coefficients(2))


def test_repeated_penalties():
    alphas, coefs, _ = th.lasso_path(X, Y, alphas=[0.3, 0.3, 0.3, 0.1, 0.1, 0.1, 0.1], tol=1e-6)
    np.testing.assert_array_equal(alphas, [0.3] * 3 + [0.1] * 4)
    np.testing.assert_allclose(coefs[:, 0], coefs[:, 2], atol=1e-2)
    np.testing.assert_allclose(coefs[:, 3], coefs[:, 6], atol=1e-2)


def test_a_leg_is_longer_after_small_gaps_and_shorter_after_large_ones():
    assert next_length(1, []) == 2
    assert next_length(4, [0.0, 0.0, 0.0]) == 8
    assert next_length(4, [0.1, 0.5, 0.1]) == 4
    assert next_length(8, [2.0] * 7) == 4
    assert next_length(2, [2.0]) == 2


def test_slopes_go_half_as_far_as_they_went():
    ends = [
        Milestone(0, 3.0, None, residual_state(6.0)),
        Milestone(1, 2.0, None, residual_state(4.0)),
    ]
    np.testing.assert_array_equal(slopes_ahead(*ends, 1.0), [3.0])
    assert slopes_ahead(ends[1], ends[1], 1.0) is None


def residual_state(slope):
    from thetahat.mathematics.optimizers.coordinate.column_designs import ResidualState

    return ResidualState(np.array([slope]), 1.0, 1.0)
