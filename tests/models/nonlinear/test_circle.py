"""Circles: exact where the points are, unbiased on arcs, refused on lines."""

import numpy as np
import pytest
from scipy.optimize import least_squares

import thetahat as th

METHODS = ("geometric", "algebraic")


def arc(angle, noise, n=60, center=(1.0, -3.0), radius=2.0, seed=5):
    random = np.random.default_rng(seed)
    turn = random.uniform(0.0, angle, n)
    points = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    return np.array(center) + radius * points + noise * random.standard_normal((n, 2))


@pytest.mark.parametrize("method", METHODS)
def test_exact_circle_is_recovered(method):
    circle = th.CircleFit(method).fit(arc(2 * np.pi, 0.0, n=12))
    np.testing.assert_allclose(circle.center_, [1.0, -3.0], rtol=1e-12)
    assert circle.radius_ == pytest.approx(2.0, rel=1e-12)
    np.testing.assert_allclose(circle.beta_, [2.0, -6.0, -6.0], rtol=1e-12)
    # r = √(β̃₃ + cᵀc); with a minus and a square under the root it would be √26
    assert np.sqrt(circle.beta_[-1] + circle.center_ @ circle.center_) == pytest.approx(2.0)


def test_algebraic_fit_is_the_linear_regression():
    points = arc(4.0, 0.1)
    line = th.LinearRegression().fit(points, np.sum(points**2, axis=1))
    circle = th.CircleFit("algebraic").fit(points)
    np.testing.assert_allclose(circle.beta_, [*line.coef_, line.intercept_], rtol=1e-10)
    assert circle.radius_ == pytest.approx(np.sqrt(circle.beta_[-1] + np.sum(circle.center_**2)))


@pytest.mark.parametrize("angle", [6.28, 1.5, 0.7])
def test_geometric_fit_is_the_least_squares_of_distances(angle):
    points = arc(angle, 0.02)
    circle = th.CircleFit().fit(points)

    def distances(theta):
        return np.linalg.norm(points - theta[:2], axis=1) - theta[2]

    start = [*circle.center_ + 0.1, circle.radius_]
    peer = least_squares(distances, start, xtol=1e-15, ftol=1e-15, gtol=1e-15)
    assert circle.solution_.outcome.success
    np.testing.assert_allclose([*circle.center_, circle.radius_], peer.x, rtol=1e-5)
    assert circle.solution_.value <= peer.cost * (1 + 1e-10)
    assert circle.sigma_ == pytest.approx(np.sqrt(2 * peer.cost / 57), rel=1e-6)


def test_both_agree_on_a_whole_circle_and_the_algebraic_is_biased_on_a_short_arc():
    def radii(angle):
        fits = [arc(angle, 0.02, seed=seed) for seed in range(40)]
        return [
            np.median([th.CircleFit(method).fit(x).radius_ for x in fits]) for method in METHODS
        ]

    geometric, algebraic = radii(2 * np.pi)
    assert geometric == pytest.approx(algebraic, abs=1e-3)
    geometric, algebraic = radii(1.0)
    assert geometric == pytest.approx(2.0, abs=0.05)
    assert algebraic < 1.92
    geometric, algebraic = radii(0.5)
    assert geometric == pytest.approx(2.0, abs=0.4)
    assert algebraic < 1.2


def test_shift_and_scale_go_along():
    points = arc(1.2, 0.02)
    plain, moved = th.CircleFit().fit(points), th.CircleFit().fit(1e-5 * points + 1e3)
    np.testing.assert_allclose((moved.center_ - 1e3) * 1e5, plain.center_, rtol=1e-5)
    assert moved.radius_ * 1e5 == pytest.approx(plain.radius_, rel=1e-5)


def test_sphere_in_three_dimensions():
    random = np.random.default_rng(501)
    points = random.standard_normal((50, 3))
    points = 4 * points / np.linalg.norm(points, axis=1, keepdims=True) + [1.0, 2.0, 3.0]
    for method in METHODS:
        sphere = th.CircleFit(method).fit(points)
        np.testing.assert_allclose(sphere.center_, [1.0, 2.0, 3.0], rtol=1e-10)
        assert sphere.radius_ == pytest.approx(4.0)


@pytest.mark.parametrize("method", METHODS)
def test_points_in_a_plane_have_the_circle_in_it(method):
    random = np.random.default_rng(502)
    flat = arc(5.0, 0.05)
    tilt = np.linalg.qr(random.standard_normal((3, 3)))[0]
    tilted = th.CircleFit(method).fit(np.column_stack([flat, np.zeros(60)]) @ tilt + 7.0)
    expected = th.CircleFit(method).fit(flat)
    np.testing.assert_allclose(tilted.center_, [*expected.center_, 0.0] @ tilt + 7.0, rtol=1e-8)
    assert tilted.radius_ == pytest.approx(expected.radius_)


def test_two_points_have_their_smallest_circle():
    circle = th.CircleFit().fit([[0.0, 0.0], [2.0, 0.0]])
    np.testing.assert_allclose(circle.center_, [1.0, 0.0], atol=1e-12)
    assert circle.radius_ == pytest.approx(1.0)


@pytest.mark.parametrize("method", METHODS)
def test_weight_two_is_a_row_twice(method):
    random = np.random.default_rng(503)
    points, weight = arc(2.0, 0.1), random.integers(0, 3, 60)
    weighted = th.CircleFit(method).fit(points, sample_weight=weight)
    repeated = th.CircleFit(method).fit(np.repeat(points, weight, axis=0))
    np.testing.assert_allclose(weighted.center_, repeated.center_, rtol=1e-8)
    assert weighted.sigma_ == pytest.approx(repeated.sigma_)


def test_signed_distance_score_and_projection():
    circle = th.CircleFit().fit(arc(6.28, 0.0))
    rows = np.array([[1.0, -3.0], [1.0, 0.0], [2.0, -3.0]])
    np.testing.assert_allclose(circle.transform(rows)[:, 0], [-2.0, 1.0, -1.0], atol=1e-12)
    assert circle.score(rows) == pytest.approx(-2.0)
    nearest = circle.project(rows)
    np.testing.assert_allclose(nearest[1:], [[1.0, -1.0], [3.0, -3.0]], atol=1e-12)
    np.testing.assert_allclose(circle.transform(nearest), 0, atol=1e-12)
    assert list(circle.get_feature_names_out()) == ["circlefit0"]


@pytest.mark.parametrize(
    ("points", "where"),
    [
        (np.stack([np.arange(6.0), 3 * np.arange(6.0) + 1], axis=1), "on a line"),
        (np.ones((5, 2)), "in one place"),
        ([[1.0, 2.0]], "n_samples = 1"),
    ],
    ids=["line", "place", "one"],
)
def test_points_without_a_circle_are_refused(points, where):
    with pytest.raises(th.errors.DataError, match=where):
        th.CircleFit().fit(points)


def test_method_is_checked():
    with pytest.raises(th.errors.ParameterError, match="Did you mean 'algebraic'"):
        th.CircleFit("algebra").fit(arc(6.0, 0.1))


@pytest.mark.parametrize("method", ["algebraic", "geometric"])
@pytest.mark.parametrize("unit", [1e-300, 1e-200, 1e-100, 1e100, 1e200, 1e300])
def test_the_unit_of_length_does_not_matter(method, unit):
    angles = np.linspace(0.0, 5.0, 9)
    points = np.column_stack([1 + 2 * np.cos(angles), -3 + 2.1 * np.sin(angles)])
    plain, scaled = th.CircleFit(method=method).fit(points), th.CircleFit(method=method)
    scaled.fit(points * unit)
    np.testing.assert_allclose(scaled.center_ / unit, plain.center_, rtol=1e-9)
    assert scaled.radius_ / unit == pytest.approx(plain.radius_, rel=1e-9)
    assert scaled.sigma_ / unit == pytest.approx(plain.sigma_, rel=1e-7)
    np.testing.assert_allclose(
        scaled.transform(points * unit) / unit, plain.transform(points), rtol=1e-6, atol=1e-12
    )
    np.testing.assert_allclose(
        scaled.project(points * unit) / unit, plain.project(points), rtol=1e-9
    )
