"""Tomography: the weights of pixels in rays, and three ways to solve for the pixels."""

import numpy as np
import pytest

import thetahat as th


@pytest.fixture(scope="module")
def ct(example):
    return example("tomography")


def test_weights_are_triangles_in_the_distance_of_pixel_and_ray(ct):
    side, rays, angles = 5, 7, 4
    X = ct.projection_matrix(side, rays, angles)
    assert X.shape == (rays * angles, side * side)
    for i_o in range(angles):
        normal = np.cos(np.pi * i_o / angles), np.sin(np.pi * i_o / angles)
        for i_p in range(rays):
            offset = (2 * i_p / (rays - 1) - 1) * np.sqrt(2) * 2
            for j_b in range(side):
                for j_a in range(side):
                    distance = abs((j_a - 2) * normal[0] + (j_b - 2) * normal[1] - offset)
                    weight = X[i_p + rays * i_o, j_a + side * j_b]
                    assert weight == pytest.approx(max(0.0, 1 - distance), abs=1e-12)


def test_rays_through_the_middle_measure_their_length(ct):
    X = ct.projection_matrix(9, 9, 4)
    middle = X.sum(axis=1).reshape(4, 9)[:, 4]
    np.testing.assert_allclose(middle[[0, 2]], 9, atol=1e-9)  # along rows and columns of pixels
    np.testing.assert_allclose(middle[[1, 3]], 9 * np.sqrt(2), rtol=0.1)  # along diagonals


def test_intensity_decays_with_the_absorption(ct):
    """I = I₀ exp(−∫ μ): fewer photons arrive than were sent, and y is the integral up to noise."""
    inside = ct.X @ ct.truth > 0.5
    assert np.all(ct.counts[inside] < ct.PHOTONS)
    np.testing.assert_allclose(ct.y[inside], (ct.X @ ct.truth)[inside], atol=0.02)


def test_rays_without_noise_give_the_body(ct):
    X, body = ct.projection_matrix(16, 24, 18), ct.body(16).ravel()
    y = X @ body
    ordinary = th.LinearRegression(fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(ordinary.coef_, body, atol=1e-8)
    matrix_free = th.linalg.lsqr(lambda u: X @ u, lambda v: X.T @ v, y, body.size)
    np.testing.assert_allclose(matrix_free.theta, body, atol=1e-6)


def test_solutions_satisfy_their_normal_equations(ct):
    gram, right = ct.X.T @ ct.X, ct.X.T @ ct.y
    np.testing.assert_allclose(gram @ ct.ordinary, right, atol=1e-7)
    ridge = ct.ridge.coef_
    np.testing.assert_allclose(gram @ ridge + ct.ridge.alpha_ * ridge, right, atol=1e-7)
    damped = th.Ridge(ct.ridge.alpha_, fit_intercept=False).fit(ct.X, ct.y)
    np.testing.assert_allclose(damped.coef_, ridge, atol=1e-7)


def test_damping_beats_ordinary_least_squares(ct):
    ordinary, ridge = ct.error(ct.ordinary), ct.error(ct.ridge.coef_)
    assert ridge < 0.5 * ordinary
    assert min(ct.errors.values()) < 1.1 * ridge
    assert ct.errors[max(ct.errors)] > 1.2 * min(ct.errors.values())  # later steps fit the noise
    assert f"ordinary least squares: {ordinary:.3f}." in ct.printed
    assert f"{ct.RAYS * ct.ANGLES} rays measure {ct.SIDE**2} pixels." in ct.printed
