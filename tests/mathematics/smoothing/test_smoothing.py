"""Smoothing kernels: closed forms against quadrature, textbook constants, values, and refusals."""

from math import gamma, inf, pi, sqrt

import numpy as np
import pytest
from scipy.integrate import quad

import thetahat as th
from thetahat.mathematics.smoothing.base import SmoothingKernel

KERNELS = [
    getattr(th.smoothing, name)()
    for name in th.smoothing.__all__
    if isinstance(getattr(th.smoothing, name), type)
    and issubclass(getattr(th.smoothing, name), SmoothingKernel)
]


def integral(kernel, function):
    """∫₀^∞ of a function of s and K(s), by quadrature."""
    end = min(kernel.support, 80.0)
    return quad(
        lambda s: function(s, float(kernel.value(s))), 0, end, epsabs=1e-10, epsrel=1e-10, limit=400
    )[0]


def test_all_kernels_of_the_course_are_here():
    assert len(KERNELS) == 12
    assert len({kernel.code for kernel in KERNELS}) == 12


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_integrates_to_one(kernel):
    assert 2 * integral(kernel, lambda s, value: value) == pytest.approx(1.0, abs=1e-10)
    assert 2 * kernel.radial_moment(0) == pytest.approx(1.0, abs=1e-14)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_moments_and_roughness_are_those_of_quadrature(kernel):
    for power in range(1, 9):
        expected = integral(kernel, lambda s, value, p=power: s**p * value)
        assert kernel.radial_moment(power) == pytest.approx(expected, rel=1e-9, abs=1e-8)
    assert kernel.roughness == pytest.approx(2 * integral(kernel, lambda s, v: v * v), rel=1e-10)
    expected = 2 * integral(kernel, lambda s, value: s * s * value)
    assert kernel.second_moment == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("kernel", [k for k in KERNELS if k.nonnegative], ids=repr)
@pytest.mark.parametrize("d", [1, 2, 3, 6])
def test_mass_makes_it_a_density_in_d_dimensions(kernel, d):
    """The integral over shells of radius s, whose area is 2π^{d/2}/Γ(d/2)·s^{d−1}."""
    area = 2 * pi ** (d / 2) / gamma(d / 2)
    expected = area * integral(kernel, lambda s, value: s ** (d - 1) * value)
    assert kernel.mass(d) == pytest.approx(expected, rel=1e-9)
    if d == 2:  # and over a grid of the plane
        side = np.linspace(-1, 1, 801) * min(kernel.support, 30.0)
        grid = np.hypot(*np.meshgrid(side, side))
        step = side[1] - side[0]
        assert kernel.value(grid).sum() * step**2 == pytest.approx(kernel.mass(2), rel=5e-3)


@pytest.mark.parametrize(
    ("kernel", "moment", "roughness"),
    [
        (th.smoothing.Uniform(), 1 / 3, 1 / 2),
        (th.smoothing.Triangular(), 1 / 6, 2 / 3),
        (th.smoothing.Epanechnikov(), 1 / 5, 3 / 5),
        (th.smoothing.Quartic(), 1 / 7, 5 / 7),
        (th.smoothing.Triweight(), 1 / 9, 350 / 429),
        (th.smoothing.Tricube(), 35 / 243, 175 / 247),
        (th.smoothing.Gaussian(), 1.0, 1 / (2 * sqrt(pi))),
        (th.smoothing.Cosine(), 1 - 8 / pi**2, pi**2 / 16),
        (th.smoothing.Logistic(), pi**2 / 3, 1 / 6),
        (th.smoothing.Sigmoid(), pi**2 / 4, 2 / pi**2),
        (th.smoothing.Silverman(), 0.0, 3 * sqrt(2) / 16),
    ],
    ids=repr,
)
def test_constants_of_the_textbooks(kernel, moment, roughness):
    assert kernel.second_moment == pytest.approx(moment, rel=1e-13)
    assert kernel.roughness == pytest.approx(roughness, rel=1e-13)


def test_epanechnikov_is_the_formula_of_the_course():
    s = np.array([0.0, 0.3, 1.0, 1.0001, -0.5])
    expected = [0.75, 0.75 * (1 - 0.09), 0.0, 0.0, 0.75 * 0.75]
    np.testing.assert_allclose(th.smoothing.Epanechnikov().value(s), expected, rtol=1e-15)


def test_epanechnikov_is_the_most_efficient():
    """R(K)·√μ₂ is smallest for it, of all kernels without negative values."""
    product = {repr(k): k.roughness * sqrt(k.second_moment) for k in KERNELS if k.nonnegative}
    assert min(product, key=product.get) == "Epanechnikov()"


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_values_at_the_ends(kernel):
    far = kernel.value([1e4, 1e200, inf])
    assert not far.any()
    assert kernel.value(-0.4) == kernel.value(0.4)
    if kernel.support == 1.0:
        assert kernel.value(np.nextafter(1.0, 2.0)) == 0
    with pytest.raises(th.errors.DataError, match="NaN"):
        kernel.value(np.nan)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("share", [0.5, 1e-3, 1e-12])
def test_beyond_its_reach_a_kernel_is_small(kernel, share):
    reach = kernel.reach(share)
    beyond = reach * (1 + 1e-9) + np.linspace(0, 40, 4000)
    assert np.abs(kernel.value(beyond)).max() <= share * float(kernel.value(0.0)) * (1 + 1e-9)
    assert reach <= kernel.reach(share / 10) <= kernel.support
    assert kernel.reach(0.0) == kernel.support


def test_silverman_has_no_mass_in_three_dimensions():
    assert th.smoothing.Silverman().canonical_bandwidth() == inf
    assert th.smoothing.Silverman().mass(2) > 0
    for d in (3, 4):
        with pytest.raises(th.errors.ParameterError, match="cannot be normalised"):
            th.smoothing.Silverman().mass(d)


def test_canonical_bandwidths_of_epanechnikov_and_gaussian():
    """15^{1/5} = 1.7188 and (1/(4π))^{1/10} = 0.7764 (Marron and Nolan)."""
    assert th.smoothing.Epanechnikov().canonical_bandwidth() == pytest.approx(15**0.2)
    assert th.smoothing.Gaussian().canonical_bandwidth() == pytest.approx((4 * pi) ** -0.1)


def test_names_values_and_refusals():
    assert th.smoothing.named("biweight") == th.smoothing.Quartic()
    assert th.smoothing.named(th.smoothing.Cosine()) == th.smoothing.Cosine()
    with pytest.raises(th.errors.ParameterError, match="Did you mean 'tricube'"):
        th.smoothing.named("tricub")
    with pytest.raises(th.errors.ParameterError, match="whole number ≥ 1"):
        th.smoothing.Nearest(0)
    with pytest.raises(th.errors.ParameterError, match="shape must be"):
        th.smoothing.Nearest(3, shape=3)
    for given in (0, 1.5, True, 101):
        with pytest.raises(th.errors.ParameterError, match="n_columns"):
            th.smoothing.Gaussian().mass(given)
    assert th.smoothing.Nearest(3).set_params(k=5) == th.smoothing.Nearest(5)
