"""Every penalty: values, derivatives, gaps, the terms of compiled code, and refusals."""

import math

import numpy as np
import pytest
from sklearn.base import clone

import thetahat as th
from tests.mathematics.penalties.penalty_cases import (
    D,
    coefficients,
    feasible,
    penalties,
    penalty_classes,
)
from thetahat._native import quadratic_sweeps
from thetahat.foundation.errors import ParameterError
from thetahat.mathematics.penalties.base import Proximable, SmoothPenalty
from thetahat.mathematics.penalties.coordinatewise import Coordinatewise


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
