"""Every penalty: its prox is the minimiser, its gap says so, its terms give its value."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.base import clone

import thetahat as th
from thetahat._native import quadratic_sweeps
from thetahat.foundation.errors import CapabilityError, ParameterError
from thetahat.mathematics.penalties.base import Penalty, Proximable, Separable, SmoothPenalty
from thetahat.mathematics.penalties.coordinatewise import Coordinatewise

D = 6
ELSEWHERE = {
    "L2": [{"alpha": 0.0}],
    "L1": [{"alpha": 0.3}],
    "ElasticNet": [{"alpha": 0.7, "l1_ratio": 0.2}, {"l1_ratio": 0.0}, {"l1_ratio": 1.0}],
    "L0": [{"alpha": 0.2}, {"alpha": 0.0}],
    "Box": [
        {"lower": -0.5, "upper": 0.25},
        {"lower": 0.5, "upper": 2.0},
        {"lower": [-math.inf, 0.0, 0.1, -1.0, -1.0, 0.3], "upper": [1.0, 0.2, 0.1, 1.0, 0.0, 0.9]},
    ],
    "L1Ball": [{"radius": 0.3}, {"radius": 2.5}, {"radius": 100.0}],
    "L2Ball": [{"radius": 0.3}, {"radius": 100.0}],
    "GroupLasso": [{"alpha": 0.4, "groups": [0, 1, 1, 7, 0, 1]}, {"groups": [2] * D}],
    "Combined": [
        {"parts": (th.penalties.L1(0.3), th.penalties.NonNegative())},
        {"parts": (th.penalties.ElasticNet(0.5), th.penalties.Box(-0.4, [0.1] * D))},
        {"parts": (th.penalties.L2(2.0), th.penalties.L1(0.1), th.penalties.Box(0.2, 0.7))},
    ],
}


def penalty_classes():
    return [
        part
        for name, part in sorted(vars(th.penalties).items())
        if name in th.penalties.__all__ and isinstance(part, type) and issubclass(part, Penalty)
    ]


def penalties(kind=Penalty, *, where=lambda penalty: True):
    """Parameters for a test over all penalties of one kind."""
    found = []
    for part in penalty_classes():
        if issubclass(part, kind):
            default = [] if part is th.penalties.Combined else [{}]
            found += [part(**params) for params in [*default, *ELSEWHERE.get(part.__name__, [])]]
    return pytest.mark.parametrize(
        "penalty", [pytest.param(one, id=repr(one)) for one in found if where(one)]
    )


def coefficients(penalty, seed=0):
    """Vectors, and matrices with a column for each output, for this penalty."""
    rng = np.random.default_rng(seed)
    if isinstance(penalty, th.penalties.OffDiagonalL1):
        return [rng.normal(size=(4, 4))]
    return [rng.normal(size=D), rng.normal(size=(D, 3))]


def feasible(penalty, theta):
    return penalty.prox(theta, 1e-9)


@penalties()
def test_every_penalty_is_proximable(penalty):
    assert isinstance(penalty, Proximable)


def test_values_are_their_formulas():
    theta = np.array([[1.0, -2.0], [0.0, 3.0]])
    count, absolute, square = 3, 6.0, 14.0
    parts = th.penalties
    assert parts.NoPenalty().value(theta) == 0
    assert parts.L0(0.5).value(theta) == 0.5 * count
    assert parts.L1(0.5).value(theta) == 0.5 * absolute
    assert parts.L2(0.5).value(theta) == 0.5 / 2 * square
    expected = 2.0 * (0.25 * absolute + 0.75 / 2 * square)
    assert parts.ElasticNet(2.0, l1_ratio=0.25).value(theta) == pytest.approx(expected)
    assert parts.OffDiagonalL1(0.5).value(theta) == 0.5 * 2
    assert parts.NonNegative().value(theta) == math.inf
    assert parts.NonNegative().value(np.abs(theta)) == 0
    assert parts.Box(-2, 3).value(theta) == 0
    assert parts.Box(-1, 3).value(theta) == parts.Box(-2, 2).value(theta) == math.inf
    assert (parts.L1(0.5) & parts.L2(1.0)).value(theta) == 0.5 * absolute + square / 2


@penalties(SmoothPenalty)
def test_gradient_and_curvature_are_derivatives(penalty):
    for theta in coefficients(penalty):
        for entry in np.ndindex(theta.shape):
            step = np.zeros_like(theta)
            step[entry] = 1e-4
            slope = (penalty.value(theta + step) - penalty.value(theta - step)) / 2e-4
            assert penalty.gradient(theta)[entry] == pytest.approx(slope, abs=1e-8)
            change = (penalty.gradient(theta + step) - penalty.gradient(theta - step)) / 2e-4
            assert penalty.curvature(theta)[entry] == pytest.approx(change[entry], abs=1e-8)


def proximal_objective(penalty, theta, step, u):
    return np.sum((u - theta) ** 2) / 2 + step * penalty.value(u)


@penalties(where=lambda penalty: penalty.convex)
@pytest.mark.parametrize("step", [0.1, 1.0, 3.0])
def test_prox_of_a_convex_penalty_is_the_minimiser(penalty, step):
    """F(u) = ½‖u − θ‖² + step·R(u) is strongly convex: p minimises it exactly when
    F(u) ≥ F(p) + ½‖u − p‖² for all u."""
    rng = np.random.default_rng(1)
    for theta in coefficients(penalty):
        p = penalty.prox(theta, step)
        assert p.shape == theta.shape
        lowest = proximal_objective(penalty, theta, step, p)
        assert np.isfinite(lowest)
        others = [theta, np.zeros_like(theta)]
        others += [p + rng.normal(scale=s, size=p.shape) for s in np.repeat([1e-3, 0.1, 1], 8)]
        for entry in np.ndindex(p.shape):  # one coordinate at a time, zeros and bounds included
            for value in [-1.0, 0.0, 1.0, p[entry] - 1e-4, p[entry] + 1e-4]:
                other = p.copy()
                other[entry] = value
                others.append(other)
        for u in others:
            u = feasible(penalty, u)
            bound = lowest + np.sum((u - p) ** 2) / 2
            assert proximal_objective(penalty, theta, step, u) >= bound - 1e-8


@penalties(Separable)
@pytest.mark.parametrize("step", [0.1, 1.0])
def test_prox_of_a_separable_penalty_by_brute_force(penalty, step):
    theta = coefficients(penalty, seed=2)[0]
    p = penalty.prox(theta, step)
    best = proximal_objective(penalty, theta, step, p)
    for entry in np.ndindex(p.shape):
        for value in [0.0, theta[entry], *np.linspace(-2, 2, 81)]:
            other = p.copy()
            other[entry] = value
            assert best <= proximal_objective(penalty, theta, step, other) + 1e-12


def test_prox_of_groups_by_a_general_minimiser():
    penalty = th.penalties.GroupLasso(alpha=0.3, groups=[0, 1, 0, 1])
    theta = np.array([2.0, 0.2, -1.0, 0.1])
    found = minimize(
        lambda u: proximal_objective(penalty, theta, 1.0, u),
        theta,
        method="Nelder-Mead",
        options={"xatol": 1e-10, "fatol": 1e-14, "maxiter": 20_000, "maxfev": 20_000},
    )
    np.testing.assert_allclose(penalty.prox(theta, 1.0), found.x, atol=1e-6)
    np.testing.assert_array_equal(penalty.prox(theta, 1.0)[[1, 3]], 0.0)


def test_group_lasso_worked_numbers():
    penalty = th.penalties.GroupLasso(alpha=2.0, groups=[0, 0, 1])
    assert penalty.value(np.array([3.0, 4.0, -1.0])) == pytest.approx(2 * (math.sqrt(2) * 5 + 1))
    rows = th.penalties.GroupLasso(alpha=1.0)
    assert rows.value(np.array([[3.0, 4.0], [0.0, 0.0]])) == pytest.approx(math.sqrt(2) * 5)


def test_groups_of_one_are_the_lasso():
    theta = np.random.default_rng(0).normal(size=D)
    group, lasso = th.penalties.GroupLasso(0.4), th.penalties.L1(0.4)
    assert group.value(theta) == pytest.approx(lasso.value(theta))
    np.testing.assert_allclose(group.prox(theta, 0.7), lasso.prox(theta, 0.7), atol=1e-15)
    slope = np.random.default_rng(1).normal(size=D)
    theta[:3] = 0
    assert group.optimality_gap(theta, slope) == pytest.approx(lasso.optimality_gap(theta, slope))


def test_unused_groups_and_single_coefficients_agree_in_every_order():
    """Relabelling groups and permuting coefficients permutes the prox."""
    theta = np.random.default_rng(0).normal(size=D)
    labels = np.array([0, 1, 1, 7, 0, 1])
    order = np.random.default_rng(1).permutation(D)
    straight = th.penalties.GroupLasso(0.4, labels).prox(theta, 1.0)
    permuted = th.penalties.GroupLasso(0.4, 5 - labels[order]).prox(theta[order], 1.0)
    np.testing.assert_allclose(permuted, straight[order], atol=1e-15)


@penalties()
def test_gap_is_zero_at_the_prox_and_positive_elsewhere(penalty):
    """p = prox(θ) solves min ½‖u − θ‖² + R(u), whose smooth gradient at u is u − θ."""
    rng = np.random.default_rng(3)
    for theta in coefficients(penalty):
        p = penalty.prox(theta, 1.0)
        assert penalty.optimality_gap(p, p - theta) == pytest.approx(0, abs=1e-12)
        moved = feasible(penalty, p + 0.1 * rng.normal(size=p.shape))
        if np.max(np.abs(moved - p)) > 1e-3:
            assert penalty.optimality_gap(moved, moved - theta) > 1e-3


@penalties(where=lambda penalty: penalty.convex)
def test_gap_is_the_distance_to_the_subdifferential(penalty):
    """Every g with gap 0 is a subgradient, −g: R(u) ≥ R(θ) − g·(u − θ) for all u."""
    rng = np.random.default_rng(4)
    for theta in coefficients(penalty):
        for scale in (0.3, 1.0, 3.0):
            p = penalty.prox(theta, scale)
            slope = (p - theta) / scale
            assert penalty.optimality_gap(p, slope) == pytest.approx(0, abs=1e-12)
            for _ in range(20):
                u = feasible(penalty, p + rng.normal(size=p.shape))
                line = penalty.value(p) - np.sum(slope * (u - p))
                assert penalty.value(u) >= line - 1e-8
            noise = rng.normal(scale=0.01, size=p.shape)
            assert penalty.optimality_gap(p, slope + noise) <= np.linalg.norm(noise)


@penalties(SmoothPenalty)
def test_gap_of_a_smooth_penalty_is_the_largest_slope(penalty):
    for theta in coefficients(penalty):
        slope = np.cos(theta)
        expected = np.max(np.abs(slope + penalty.gradient(theta)))
        assert penalty.optimality_gap(theta, slope) == pytest.approx(expected)


@penalties(where=lambda penalty: math.isinf(penalty.value(np.full((D, D), -1e3))))
def test_outside_the_box_nothing_is_optimal(penalty):
    theta = np.full(D, -1e3)
    theta[0] = 0.5
    assert penalty.value(theta) == math.inf
    assert penalty.optimality_gap(theta, np.zeros(D)) == math.inf


@penalties(Coordinatewise)
def test_kernel_terms_give_the_value(penalty):
    for theta in coefficients(penalty):
        theta = feasible(penalty, theta)
        l1, l2, lower, upper = terms = penalty.kernel_terms(theta.shape)
        assert all(term.dtype == np.float64 and term.shape == theta.shape for term in terms)
        assert all(term.flags.c_contiguous and term.flags.writeable for term in terms)
        assert np.all((lower <= theta) & (theta <= upper))
        expected = np.sum(l1 * np.abs(theta) + l2 / 2 * theta**2)
        assert penalty.value(theta) == pytest.approx(expected)


@penalties(Coordinatewise, where=lambda one: not isinstance(one, th.penalties.OffDiagonalL1))
def test_compiled_sweeps_reach_a_point_without_gap(penalty):
    """min ½θᵀGθ − cᵀθ + R(θ) by coordinate descent; with G = I it is the prox of c."""
    rng = np.random.default_rng(5)
    root = rng.normal(size=(20, D))
    linear = rng.normal(size=D)
    for gram in (np.eye(D), root.T @ root / 20):
        theta = np.clip(np.zeros(D), *penalty.kernel_terms(D)[2:])
        gradient = gram @ theta - linear
        quadratic_sweeps(gram, *penalty.kernel_terms(D), theta, gradient, 2000)
        assert penalty.optimality_gap(theta, gram @ theta - linear) < 1e-10
        if np.array_equal(gram, np.eye(D)):
            np.testing.assert_allclose(theta, penalty.prox(linear, 1.0), atol=1e-12)


@penalties()
def test_float32_stays_float32(penalty):
    wide = {
        name: np.float64(value) if isinstance(value, float) else value
        for name, value in penalty.get_params().items()
    }
    for theta in coefficients(penalty):
        narrow = penalty.set_params(**wide).prox(theta.astype(np.float32), np.float64(0.5))
        assert narrow.dtype == np.float32
        np.testing.assert_allclose(narrow, penalty.prox(theta, 0.5), atol=1e-6)
        assert math.isfinite(penalty.value(narrow))
        assert math.isfinite(penalty.optimality_gap(narrow, narrow))
        assert isinstance(penalty.value(narrow), float)
        if isinstance(penalty, SmoothPenalty):
            assert penalty.gradient(narrow).dtype == penalty.curvature(narrow).dtype == np.float32


@penalties()
@pytest.mark.parametrize("namespace", ["array_api_strict", "torch"])
def test_other_array_libraries_give_the_same_numbers(penalty, namespace):
    xp = pytest.importorskip(namespace)
    for theta in coefficients(penalty):
        slope = np.cos(theta)
        p = penalty.prox(theta, 0.5)
        theirs = penalty.prox(xp.asarray(theta), 0.5)
        np.testing.assert_allclose(np.asarray(theirs), p, rtol=1e-12)
        assert penalty.value(theirs) == pytest.approx(penalty.value(p))
        gap = penalty.optimality_gap(theirs, xp.asarray(slope))
        assert gap == pytest.approx(penalty.optimality_gap(p, slope))


@penalties()
def test_parameters_make_the_value(penalty):
    twin = type(penalty)(**penalty.get_params())
    assert twin == penalty
    assert hash(twin) == hash(penalty)
    assert clone(penalty) == penalty
    for name, value in penalty.get_params().items():
        if isinstance(value, float):
            changed = penalty.set_params(**{name: 0.37 * value + 0.11})
            assert changed != penalty
            assert getattr(changed, name) == 0.37 * value + 0.11
        with pytest.raises(AttributeError):
            setattr(penalty, name, value)
    with pytest.raises(ParameterError, match="has no parameter 'sharpness'"):
        penalty.set_params(sharpness=1.0)


@penalties(where=lambda penalty: hasattr(penalty, "alpha"))
@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf, "1", None])
def test_bad_parameters_are_refused_when_made(penalty, bad):
    for name, value in penalty.get_params().items():
        if isinstance(value, float):
            with pytest.raises(ParameterError, match=rf"\({name}=.*must be a finite number"):
                penalty.set_params(**{name: bad})


@pytest.mark.parametrize(
    ("make", "rule"),
    [
        (lambda: th.penalties.ElasticNet(l1_ratio=1.5), "≤ 1"),
        (lambda: th.penalties.Box(1.0, 0.0), "is empty"),
        (lambda: th.penalties.Box(math.nan, 0.0), "is empty"),
        (lambda: th.penalties.Box(math.inf, math.inf), "is empty"),
        (lambda: th.penalties.Box("a", 0.0), "must be a number"),
        (lambda: th.penalties.Box(0.0, [[1.0, 2.0], [3.0, 4.0]]), "must be a number"),
        (lambda: th.penalties.Box([0.0, 1.0], [2.0]), "2 lower and 1 upper"),
        (lambda: th.penalties.Box([0.0, 1.0]).prox(np.ones(3), 1.0), "2 bounds for 3 coeff"),
        (lambda: th.penalties.L1Ball(radius=0.0), "> 0"),
        (lambda: th.penalties.L2Ball(radius=-1.0), "> 0"),
        (lambda: th.penalties.GroupLasso(groups=[]), "one whole number"),
        (lambda: th.penalties.GroupLasso(groups=[0.5]), "one whole number"),
        (lambda: th.penalties.GroupLasso(groups=[0, 1]).value(np.ones(3)), "2 group labels for 3"),
        (lambda: th.penalties.OffDiagonalL1().value(np.ones(3)), "square matrix"),
        (
            lambda: (th.penalties.Box(0, 1) & th.penalties.Box(2, 3)).value(np.ones(3)),
            "No θ satisfies all constraints",
        ),
    ],
)
def test_impossible_parameters_are_refused(make, rule):
    with pytest.raises(ParameterError, match=rule):
        make()


def test_combinations_add_up_and_stay_flat():
    l1, box, positive = th.penalties.L1(0.3), th.penalties.Box(-1, 2), th.penalties.NonNegative()
    joint = l1 & box & positive
    assert joint.parts == (l1, box, positive)
    assert joint == l1 & (box & positive)
    theta = np.array([0.5, 1.0])
    assert joint.value(theta) == pytest.approx(l1.value(theta))
    assert joint.value(-theta) == math.inf
    np.testing.assert_allclose(joint.prox(np.array([-3.0, 1.0, 9.0]), 1.0), [0.0, 0.7, 2.0])


@penalties(where=lambda penalty: not isinstance(penalty, Coordinatewise))
def test_combinations_without_an_exact_prox_are_refused(penalty):
    with pytest.raises(CapabilityError, match=r"cannot be combined.*Only NoPenalty"):
        penalty & th.penalties.NonNegative()
    with pytest.raises(CapabilityError, match=type(penalty).__name__):
        th.penalties.NonNegative() & penalty


@pytest.mark.parametrize("radius", [0.2, 1.0, 2.5])
def test_projection_on_the_l1_ball_by_brute_force(radius):
    """In two dimensions the boundary is a curve: walk it, and take its nearest point."""
    t = np.linspace(-1, 1, 20_001)
    upper = np.column_stack([t, 1 - np.abs(t)])
    boundary = radius * np.vstack([upper, -upper])
    ball = th.penalties.L1Ball(radius)
    for theta in np.random.default_rng(6).normal(scale=2.0, size=(20, 2)):
        nearest = boundary[((boundary - theta) ** 2).sum(axis=1).argmin()]
        expected = theta if np.abs(theta).sum() <= radius else nearest
        np.testing.assert_allclose(ball.prox(theta, 1.0), expected, atol=3e-4)
        assert np.abs(ball.prox(theta, 1.0)).sum() <= radius * (1 + 1e-12)


@pytest.mark.parametrize("ball", [th.penalties.L1Ball(0.8), th.penalties.L2Ball(0.8)])
def test_the_step_does_not_matter_to_a_constraint(ball):
    theta = np.random.default_rng(7).normal(size=D)
    np.testing.assert_array_equal(ball.prox(theta, 0.0), ball.prox(theta, 9.0))
    np.testing.assert_allclose(ball.prox(ball.prox(theta, 1.0), 1.0), ball.prox(theta, 1.0))


def test_l0_keeps_what_is_worth_its_cost():
    penalty = th.penalties.L0(alpha=0.5)
    assert penalty.value(np.array([0.0, 2.0, -1e-30])) == 1.0
    np.testing.assert_array_equal(penalty.prox(np.array([1.01, -0.99]), 1.0), [1.01, 0.0])
    assert penalty.optimality_gap(np.array([1.0, 0.0]), np.array([0.0, 9.0])) == 0.0
    assert penalty.optimality_gap(np.array([1.0, 0.0]), np.array([2.0, 9.0])) == 2.0
    free = th.penalties.L0(alpha=0.0)
    assert free.optimality_gap(np.array([1.0, 0.0]), np.array([2.0, 9.0])) == 9.0


@pytest.mark.parametrize("part", penalty_classes())
def test_names_and_aliases_make_the_penalty(part):
    for name in (part.name, *part.aliases):
        if part is th.penalties.Combined:
            with pytest.raises(ParameterError, match="needs a value for parts"):
                th.penalties.named(name)
        else:
            assert th.penalties.named(name) == part()
    assert th.penalties.named(None) == th.penalties.NoPenalty()


def test_unknown_names_are_answered_with_the_known_ones():
    with pytest.raises(ParameterError, match="Did you mean 'group_lasso'") as error:
        th.penalties.named("grouplasso")
    assert all(part.name in str(error.value) for part in penalty_classes())
