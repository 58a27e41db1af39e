"""Sums of bent lines reach their optimum, and the duality gap proves it."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import linprog

import thetahat as th
from thetahat.foundation.watch import Watch
from thetahat.mathematics.losses.base import PiecewiseLinear, Targets

opt = th.optimizers
LOSSES = [
    th.losses.Absolute(),
    th.losses.Quantile(0.2),
    th.losses.EpsilonInsensitive(0.3),
    th.losses.EpsilonInsensitive(0.0),
    th.losses.Hinge(),
]


def lines(n=60, p=4, *, below=-1.0, above=1.0, l1=0.0, l2=0.0, seed=0, integer=False):
    random = np.random.default_rng(seed)
    A = np.column_stack([random.standard_normal((n, p - 1)), np.ones(n)])
    y = A @ random.standard_normal(p) + random.standard_t(2, n)
    if integer:
        A, y = np.round(A), np.round(y)
    problem = opt.PiecewiseLinearSum.of_matrix(A, y, below=below, above=above)
    free = np.append(np.ones(p - 1), 0.0)
    return replace(problem, weight=np.full(n, 1.0 / n), l1=l1 * free, l2=l2 * free), A, y


def by_linprog(A, y, below, above, l1):
    """The optimum of the same linear program, in SciPy's standard form."""
    n = len(A)
    cost = np.concatenate([l1, l1, np.full(n, above / n), np.full(n, -below / n)])
    program = np.hstack([A, -A, -np.eye(n), np.eye(n)])
    return linprog(cost, A_eq=program, b_eq=y, bounds=(0, None)).fun


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_bends_sum_up_to_the_loss(loss):
    random = np.random.default_rng(1)
    assert isinstance(loss, PiecewiseLinear)
    y, z = random.standard_normal((2, 200))
    y = np.sign(y) if loss.targets is Targets.SIGNS else y
    total = 0.0
    for bend in loss.bends(y):
        assert np.all(np.less_equal(bend.below, 0))
        assert np.all(np.greater_equal(bend.above, 0))
        total = total + np.maximum(bend.below * (z - bend.kink), bend.above * (z - bend.kink))
    np.testing.assert_allclose(total, loss.value(y, z), atol=1e-15)


@pytest.mark.parametrize("slopes", [(-1.0, 1.0), (-0.1, 0.9), (-0.75, 0.25)], ids=str)
@pytest.mark.parametrize("l1", [0.0, 0.05, 10.0])
@pytest.mark.parametrize("integer", [False, True], ids=["generic", "degenerate"])
def test_the_optimum_is_that_of_linear_programming(slopes, l1, integer):
    problem, A, y = lines(below=slopes[0], above=slopes[1], l1=l1, integer=integer)
    solution = th.minimise(problem, opt.InteriorPoint())
    assert solution.outcome is th.results.Outcome.CONVERGED
    assert solution.gap < 1e-12
    expected = by_linprog(A, y, *slopes, problem.l1)
    assert solution.value == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert solution.value == pytest.approx(problem.value(solution.theta), rel=1e-14)


def test_a_large_penalty_gives_exact_zeros():
    problem, _, y = lines(n=61, l1=1e6)
    theta = th.minimise(problem, opt.InteriorPoint()).theta
    np.testing.assert_array_equal(theta[:-1], 0.0)
    assert np.median(y) == pytest.approx(theta[-1])


@pytest.mark.parametrize("l1", [0.0, 0.1])
def test_a_quadratic_term_is_optimal_too(l1):
    """No small move lowers F, and the gap says so."""
    random = np.random.default_rng(2)
    problem, *_ = lines(l2=0.5, l1=l1)
    solution = th.minimise(problem, opt.InteriorPoint(), tolerance=1e-11)
    assert solution.outcome is th.results.Outcome.CONVERGED
    for _ in range(200):
        move = random.standard_normal(4) * 10 ** random.uniform(-6, -1)
        assert problem.value(solution.theta + move) >= solution.value - 1e-11


def test_the_gap_bounds_the_distance_from_the_optimum_all_the_way():
    problem, *_ = lines(n=200)
    best = th.minimise(problem, opt.InteriorPoint()).value
    unit = problem.value(problem.start())
    seen = []
    method = opt.InteriorPoint()
    state = method.start(problem, problem.start())
    while state.gap > 1e-12:
        state = method.advance(problem, state)
        seen.append(state.gap)
        # the pulls are in balance from the start, so the bound holds at every step
        assert state.value - best <= state.gap * unit * (1 + 1e-6) + 1e-14
    assert len(seen) < 25


def test_dependent_columns_and_fewer_rows_than_parameters():
    random = np.random.default_rng(3)
    problem, A, y = lines(n=3, p=6)
    solution = th.minimise(problem, opt.InteriorPoint())
    assert solution.outcome is th.results.Outcome.CONVERGED
    np.testing.assert_allclose(A @ solution.theta, y, atol=1e-8)
    B = random.standard_normal((50, 2))
    B = np.column_stack([B, B.sum(axis=1)])
    target = random.standard_normal(50)
    problem = opt.PiecewiseLinearSum.of_matrix(B, target)
    solution = th.minimise(problem, opt.InteriorPoint())
    fewer = th.minimise(opt.PiecewiseLinearSum.of_matrix(B[:, :2], target), opt.InteriorPoint())
    assert solution.value == pytest.approx(fewer.value, rel=1e-10)


def test_a_weight_counts_rows_and_zero_leaves_them_out():
    random = np.random.default_rng(4)
    problem, A, y = lines(n=40)
    weight = random.integers(0, 3, 40).astype(float)
    weighted = th.minimise(replace(problem, weight=weight), opt.InteriorPoint())
    rows = np.repeat(np.arange(40), weight.astype(int))
    repeated = th.minimise(opt.PiecewiseLinearSum.of_matrix(A[rows], y[rows]), opt.InteriorPoint())
    np.testing.assert_allclose(weighted.theta, repeated.theta, rtol=1e-10)


def test_time_limit_steps_and_callbacks():
    problem, *_ = lines(n=300)
    late = th.minimise(problem, opt.InteriorPoint(), watch=Watch(max_time=0.0))
    assert (late.outcome, late.steps) == (th.results.Outcome.OUT_OF_TIME, 1)
    short = th.minimise(problem, opt.InteriorPoint(), max_steps=2)
    assert (short.outcome, short.steps) == (th.results.Outcome.STEPS_EXHAUSTED, 2)
    assert short.value <= problem.value(problem.start())
    stop = Watch(on_step=lambda step, theta, value: step == 3)
    assert th.minimise(problem, opt.InteriorPoint(), watch=stop).steps == 3


def test_other_objectives_are_refused_with_a_way_out():
    class Bowl:
        def value_and_gradient(self, theta):
            return float(theta @ theta), 2 * theta

    with pytest.raises(
        th.errors.CapabilityError, match="InteriorPoint needs a piecewise linear objective"
    ):
        th.minimise(Bowl(), opt.InteriorPoint(), np.ones(2))
    with pytest.raises(
        th.errors.CapabilityError, match="needs a piecewise linear loss; Huber is not"
    ):
        th.LinearModel("huber", "none", solver="interior_point").fit(np.eye(3), np.ones(3))
    with pytest.raises(th.errors.CapabilityError, match=r"made of .* NonNegative is not"):
        th.LinearModel("absolute", "non_negative", solver="interior_point").fit(
            np.eye(3), np.ones(3)
        )


@pytest.mark.parametrize("units", [(1.0, 1.0, 1.0), (1e3, 1e-3, 1.0)], ids=str)
@pytest.mark.parametrize("alpha", [0.002, 0.05])
def test_hinge_with_l1_is_minimised_in_any_units(units, alpha):
    random = np.random.default_rng(2)
    X = random.standard_normal((120, 3)) * units
    y = np.where(X @ (np.array([1.0, -1.0, 0.5]) / units) + random.standard_normal(120) > 0, 1, -1)
    model = th.LinearModel("hinge", th.penalties.L1(alpha)).fit(X, y)
    assert model.solution_.solver == "interior_point"
    assert model.solution_.outcome is th.results.Outcome.CONVERGED
    # β = u − v and b = p − q, all ≥ 0; each row has a slack ≥ 1 − y·z.
    rows = y[:, None] * np.column_stack([X, -X, np.ones(120), -np.ones(120)])
    cost = np.concatenate([np.full(6, alpha), np.zeros(2), np.full(120, 1 / 120)])
    program = -np.hstack([rows, np.eye(120)])
    least = linprog(cost, A_ub=program, b_ub=-np.ones(120), bounds=(0, None)).fun
    np.testing.assert_allclose(model.solution_.value, least, rtol=1e-7)
