"""Interface of smoothing kernels K(s) of the scaled distance s = d(x, x_i)/h.

A kernel is normalised on the line, ∫ K(|s|) ds = 1, and everything else follows from its radial
moments m_p = ∫₀^∞ s^p K(s) ds, which have a closed form:

==================  ============================================================================
integral            2·m₀ = 1
second moment       μ₂ = 2·m₂
mass in ℝ^d         m_{d−1}·2π^{d/2}/Γ(d/2), by which K(‖u‖) is divided to be a density
==================  ============================================================================
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cache
from math import gamma, inf, log, pi
from typing import Any, ClassVar

import numpy as np

from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array
from thetahat.mathematics.parts import Part

MOST_DIMENSIONS = 30
"""Dimensions up to which kernels are converted; those of more hardly differ."""


class SmoothingKernel(Part, ABC):
    """Base class of smoothing kernels; concrete kernels are frozen dataclasses."""

    support: ClassVar[float] = inf
    """The largest s at which the kernel is not 0."""
    code: ClassVar[int]
    """The number by which compiled code selects the formula."""
    nonnegative: ClassVar[bool] = True
    """Whether K(s) ≥ 0 everywhere, so that averages stay between the averaged values."""

    def value(self, s: Any) -> Array:
        """Compute K(s) for scaled distances. Cost: O(1) per number.

        Parameters
        ----------
        s : array-like
            Scaled distances d(x, x_i)/h; the sign does not matter. Infinity gives 0.

        Returns
        -------
        array of the shape of s
        """
        scaled = np.abs(np.asarray(s, dtype=np.float64))
        if np.isnan(scaled).any():
            raise DataError(f"{type(self).__name__}: a scaled distance is NaN; give numbers.")
        return np.asarray(np.where(scaled <= self.support, self._inside(scaled), 0.0))

    @abstractmethod
    def _inside(self, s: Array) -> Array:
        """K(s) for s ≥ 0 within the support; elsewhere any number without a warning."""

    @abstractmethod
    def radial_moment(self, power: int) -> float:
        """Compute m_p = ∫₀^∞ s^p K(s) ds in closed form. Cost: O(1).

        Parameters
        ----------
        power : int
            The power of s under the integral (p). Must not be negative.

        Returns
        -------
        float
        """

    def reach(self, share: float) -> float:
        """Return a distance s beyond which |K(s)| ≤ share·K(0). Cost: O(1).

        Parameters
        ----------
        share : float
            The share of the largest value below which the kernel counts as 0. With 0 the distance
            is the support.

        Returns
        -------
        float
        """
        return self.support if share <= 0 or self.support < inf else self._reach(min(share, 1.0))

    def _reach(self, share: float) -> float:
        """As `reach`, for a kernel without bounded support and a share above 0."""
        raise NotImplementedError

    @property
    @abstractmethod
    def roughness(self) -> float:
        """R(K) = ∫ K(s)² ds, to which the variance of an estimate is proportional."""

    @property
    def second_moment(self) -> float:
        """μ₂ = ∫ s² K(s) ds, to which the bias of an estimate is proportional."""
        return 2 * self.radial_moment(2)

    def canonical_bandwidth(self, n_columns: int = 1) -> float:
        """Compute δ = (d·R/μ₂²)^{1/(d+4)} of the density K(‖u‖)/mass on ℝ^d. Cost: one integral.

        R = ∫K(‖u‖)² du/mass² and μ₂ = ∫‖u‖²K(‖u‖) du/(d·mass). Bandwidths of two kernels in the
        ratio of their δ smooth equally. It is infinite for a kernel of higher order, whose second
        moment is 0.

        Parameters
        ----------
        n_columns : int, default=1
            The dimension (d). From 30 on, the value of 30 dimensions is returned.

        Returns
        -------
        float
        """
        d = min(int(n_columns), MOST_DIMENSIONS)
        moment = self.radial_moment(d + 1)
        if moment == 0:
            return inf
        surface = 2 * pi ** (d / 2) / gamma(d / 2)
        squares = _radial_squares(self, d - 1)
        return float((d**3 * squares / (surface * moment**2)) ** (1 / (d + 4)))

    def log_radial_moment(self, power: int) -> float:
        """Compute log m_p, also where m_p is too large for a number. Cost: O(1).

        Parameters
        ----------
        power : int
            The power of s under the integral (p). Must not be negative.

        Returns
        -------
        float
        """
        try:
            return log(self.radial_moment(power))
        except OverflowError:
            raise ParameterError(
                f"{type(self).__name__}: its moment of order {power} is too large for a number. "
                "Use Gaussian() or Exponential(), or fewer columns."
            ) from None

    def draw_radii(self, n: int, n_columns: int, rng: np.random.Generator) -> Array:
        """Draw lengths ‖u‖ of points u with the density K(‖u‖)/mass on ℝ^d. Cost: O(n).

        Parameters
        ----------
        n : int
            Number of lengths to draw. Must not be negative.
        n_columns : int
            The dimension (d), at least 1.
        rng : numpy Generator
            Generator of the random numbers that are used.

        Returns
        -------
        array of shape (n,)
        """
        found = np.empty(n)
        todo = np.arange(n)
        while todo.size:
            drawn, accepted = self._proposed_radii(todo.size, n_columns, rng)
            found[todo] = drawn
            todo = todo[rng.random(todo.size) > accepted]
        return found

    def _proposed_radii(
        self, n: int, n_columns: int, rng: np.random.Generator
    ) -> tuple[Array, Array]:
        """Draws from a density above s^{d−1}·K(s), and the probability to accept each."""
        raise ParameterError(
            f"{type(self).__name__} has negative values, so that it is not a density and cannot be "
            "drawn from. Use a kernel without negative values, such as Gaussian()."
        )

    def mass(self, n_columns: int) -> float:
        """Compute the integral of K(‖u‖) over ℝ^d. Cost: O(1).

        K(‖u‖/h)/(h^d·mass) is a density on ℝ^d.

        Parameters
        ----------
        n_columns : int
            The dimension (d), at least 1.

        Returns
        -------
        float
        """
        if isinstance(n_columns, bool) or not isinstance(n_columns, int | np.integer):
            raise ParameterError(f"mass: n_columns={n_columns!r} must be a whole number ≥ 1.")
        if not 1 <= n_columns <= 100:
            raise ParameterError(
                f"mass: n_columns={n_columns} must be a whole number from 1 to 100. Use a kernel "
                "of fewer columns, such as those of a principal component analysis."
            )
        d = int(n_columns)
        found = 2 * pi ** (d / 2) / gamma(d / 2) * self.radial_moment(d - 1)
        # A kernel with negative values may have no mass beyond some dimension.
        if not found > 0:
            raise ParameterError(
                f"{type(self).__name__}: its integral over {d} dimensions is not positive, so that "
                "it cannot be normalised there. Use a kernel without negative values, such as "
                "Gaussian()."
            )
        return float(found)


@cache
def _radial_squares(kernel: SmoothingKernel, power: int) -> float:
    """∫₀^∞ s^p K(s)² ds, numerically."""
    from scipy.integrate import quad

    far = kernel.reach(1e-30)
    return float(quad(lambda s: s**power * float(kernel.value(s)) ** 2, 0, far, limit=200)[0])
