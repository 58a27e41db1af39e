"""Kernels of the distance ‖x − z‖: Gaussian, Laplacian, Matérn and rational quadratic."""

from __future__ import annotations

import math
import sys
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from array_api_compat import array_namespace, is_array_api_obj

from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.kernels.base import Kernel, Pullback
from thetahat.mathematics.kernels.bessel import matern_slope, matern_values
from thetahat.mathematics.kernels.hyperparameters import Hyperparameter
from thetahat.mathematics.kernels.length_scales import (
    divided,
    lengths,
    pulled_to_lengths,
    require_lengths,
)
from thetahat.mathematics.kernels.pairs import (
    exact_distances,
    fallen_distances,
    gaussian_values,
    squared_distances,
    squared_norms,
)
from thetahat.mathematics.parts import number, require_number


class Stationary(Kernel):
    """A kernel that depends on the difference x − z alone, with k(x, x) = 1."""

    @abstractmethod
    def with_bandwidth(self, bandwidth: float) -> Self:
        """The same kernel with this length in the units of X."""

    def diagonal(self, X: Matrix) -> Array:
        """1 for every row."""
        if type(X) is np.ndarray or not is_array_api_obj(X):
            return np.ones(X.shape[0], dtype=X.dtype)
        squares = squared_norms(X[:, :1])
        return array_namespace(squares).ones_like(squares)

    def paired(self, X: Matrix, Z: Matrix) -> Array:
        """k(xᵢ − zᵢ, 0) for every i."""
        gaps = X - Z
        return self.block(gaps, gaps[:1] * 0.0)[:, 0]


@dataclass(frozen=True, repr=False)
class RBF(Stationary):
    """The Gaussian kernel (radial basis function) k(x, z) = exp(−‖x − z‖²/(2σ²)).

    It has four usual parametrisations, of which at most one may be given: σ (`sigma`) and the
    length scale h (`length_scale`) with exp(−‖x − z‖²/(2σ²)) and exp(−‖x − z‖²/(2h²)), γ (`gamma`)
    with exp(−γ‖x − z‖²), and c (`c`) with exp(−‖x − z‖²/c). They describe the same kernel if
    γ = 1/(2σ²) = 1/(2h²) = 1/c. With one length scale hⱼ for each column it is
    exp(−Σⱼ (xⱼ − zⱼ)²/(2hⱼ²)); a fit then finds which columns matter. Cost: O(n m d).

    Parameters
    ----------
    sigma : float, optional
        The distance over which the kernel falls to exp(−1/2) = 0.61 (σ). Larger values give
        smoother functions. Must be positive. If no parameter is given, it is 1.
    length_scale : float or tuple of float, optional
        Another name of sigma, used for Gaussian processes (h), or one for each column. A large
        length scale means that the column has little effect. Must be positive.
    gamma : float, optional
        The inverse squared width (γ). Larger values give rougher functions. Must be positive.
    c : float, optional
        The divisor of the squared distance (c). Larger values give smoother functions. Must be
        positive.

    Examples
    --------
    >>> import thetahat as th
    >>> th.kernels.RBF(gamma=1.0)([[0.0]], [[0.0], [1.0]]).round(4).tolist()
    [[1.0, 0.3679]]
    >>> th.kernels.RBF(sigma=2.0).exponent == th.kernels.RBF(c=8.0).exponent
    True
    """

    sigma: float | None = None
    length_scale: Any = None
    gamma: float | None = None
    c: float | None = None

    name = "rbf"
    aliases = ("gaussian",)

    def __post_init__(self) -> None:
        given = [name for name in _WIDTHS if getattr(self, name) is not None]
        if len(given) > 1:
            raise ParameterError(
                f"RBF takes one of sigma, length_scale, gamma and c, but {' and '.join(given)} are "
                "given. They are different units of the same bandwidth: give one of them."
            )
        for name in given:
            if name == "length_scale":
                require_lengths(self)
            else:
                require_number(self, name, above=0)

    @property
    def hyperparameters(self) -> tuple[Hyperparameter, ...]:
        """The bandwidth in the parametrisation that was given."""
        given = [name for name in _WIDTHS if getattr(self, name) is not None]
        return (Hyperparameter(given[0], getattr(self, given[0])),) if given else (_UNIT_WIDTH,)

    def __repr__(self) -> str:
        given = (f"{name}={getattr(self, name)!r}" for name in _WIDTHS if getattr(self, name))
        return f"RBF({', '.join(given)})"

    def set_params(self, **params: Any) -> Self:
        """Return a copy with another bandwidth, which replaces the one given before."""
        if any(params.get(name) is not None for name in _WIDTHS):
            params = dict.fromkeys(_WIDTHS) | params
        return super().set_params(**params)

    @property
    def exponent(self) -> float:
        """The factor γ of the squared distance, k(x, z) = exp(−γ‖x − z‖²)."""
        if self.gamma is not None:
            return self.gamma
        if self.c is not None:
            return min(1.0 / self.c, sys.float_info.max)
        length = self.sigma if self.sigma is not None else self.length_scale
        if isinstance(length, tuple):
            return 0.5  # of rows that have been divided by their lengths
        return 0.5 if length is None else min(0.5 / length / length, sys.float_info.max)

    @property
    def _width(self) -> float:
        """σ, or 1 for rows that have been divided by their lengths."""
        if self.gamma is not None:
            return math.sqrt(0.5) / math.sqrt(self.gamma)
        if self.c is not None:
            return math.sqrt(0.5) * math.sqrt(self.c)
        length = self.sigma if self.sigma is not None else self.length_scale
        return 1.0 if length is None or isinstance(length, tuple) else float(length)

    def with_bandwidth(self, bandwidth: float) -> Self:
        """The kernel with σ equal to this length."""
        return self.set_params(sigma=bandwidth)

    def block(self, X: Matrix, Z: Matrix) -> Array:
        """exp(−γ‖x − z‖²)."""
        if isinstance(self.length_scale, tuple):
            X, Z = divided(X, self.length_scale), divided(Z, self.length_scale)
        return gaussian_values(X, Z, self._width, self.exponent)

    def linearised(self, X: Matrix, Z: Matrix, same: bool) -> tuple[Array, Pullback]:
        """The derivative by log hⱼ is (xⱼ − zⱼ)²/hⱼ² times the kernel."""
        scales, _ = lengths(self.length_scale)
        X, Z = divided(X, scales), divided(Z, scales)
        if scales is not None:
            values = gaussian_values(X, Z, self._width, self.exponent)
            return values, lambda W: pulled_to_lengths(W * values, X, Z, values, scales)
        squares = squared_distances(X, Z, self._width)
        values = _exponential(-0.5 * squares)
        # γ = 1/(2h²) and c = 2h², so that their logarithms change twice as fast.
        unit = -0.5 if self.gamma is not None else 0.5 if self.c is not None else 1.0
        return values, lambda W: unit * pulled_to_lengths(W * values, X, Z, squares, scales)


_WIDTHS = ("sigma", "length_scale", "gamma", "c")
_UNIT_WIDTH = Hyperparameter("sigma", 1.0)


@dataclass(frozen=True)
class Laplacian(Stationary):
    """The Laplacian kernel k(x, z) = exp(−‖x − z‖/h), with a kink at x = z.

    Its functions are continuous but rough. It is the Matérn kernel with ν = 1/2. Cost: O(n m d).

    Parameters
    ----------
    length_scale : float, default=1.0
        The distance over which the kernel falls to 1/e (h). Larger values give smoother functions.
        Must be positive.
    norm : {"l2", "l1"}, default="l2"
        The norm of the difference: the Euclidean norm ("l2"), or the sum of absolute differences
        ("l1"), which is scikit-learn's Laplacian kernel with gamma = 1/h.

    Examples
    --------
    >>> import thetahat as th
    >>> th.kernels.Laplacian(2.0)([[0.0]], [[2.0]]).round(4).tolist()
    [[0.3679]]
    """

    length_scale: float = number(1.0, above=0)
    norm: str = "l2"

    name = "laplacian"
    tunable = ("length_scale",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.norm not in ("l1", "l2"):
            raise ParameterError(f"Laplacian(norm={self.norm!r}): norm must be 'l2' or 'l1'.")

    def with_bandwidth(self, bandwidth: float) -> Self:
        """The kernel with h equal to this length."""
        return self.set_params(length_scale=bandwidth)

    def block(self, X: Matrix, Z: Matrix) -> Array:
        """exp(−‖x − z‖/h)."""
        return fallen_distances(X, Z, 1 / self.length_scale, manhattan=self.norm == "l1")

    def linearised(self, X: Matrix, Z: Matrix, same: bool) -> tuple[Array, Pullback]:
        """The derivative by log h is ‖x − z‖/h times the kernel."""
        r = exact_distances(X, Z, manhattan=self.norm == "l1") / self.length_scale
        values = _exponential(-r)
        return values, lambda W: np.array([(W * values * r).sum()])


@dataclass(frozen=True)
class Matern(Stationary):
    """The Matérn kernel, between the Laplacian (ν = 1/2) and the Gaussian kernel (ν = ∞).

    Formula: with r = √(2ν)·‖x − z‖/h, k(x, z) = e^{−r} for ν = 1/2, (1 + r)e^{−r} for ν = 3/2,
    (1 + r + r²/3)e^{−r} for ν = 5/2, and 2^{1−ν}/Γ(ν)·r^ν·K_ν(r) with the Bessel function K_ν for
    any other ν, which is slower. Its functions can be differentiated fewer than ν times.
    Cost: O(n m d).

    Parameters
    ----------
    length_scale : float or tuple of float, default=1.0
        The distance over which the kernel falls (h), or one for each column, by which the column is
        divided. Larger values give smoother functions. Must be positive.
    nu : float, default=1.5
        The smoothness of the functions (ν). Larger values give smoother functions; infinity gives
        the Gaussian kernel. Must be positive; 0.5, 1.5, 2.5 and infinity are fast.

    Examples
    --------
    >>> import thetahat as th
    >>> th.kernels.Matern(nu=2.5)([[0.0]], [[1.0]]).round(4).tolist()
    [[0.524]]
    """

    length_scale: Any = 1.0
    nu: float = 1.5

    name = "matern"
    tunable = ("length_scale",)

    def __post_init__(self) -> None:
        require_lengths(self)
        if self.nu != math.inf:
            require_number(self, "nu", above=0)

    def with_bandwidth(self, bandwidth: float) -> Self:
        """The kernel with h equal to this length."""
        return self.set_params(length_scale=bandwidth)

    def block(self, X: Matrix, Z: Matrix) -> Array:
        """A polynomial in r times e^{−r}, or a Bessel function."""
        if self.nu == math.inf:
            return RBF(length_scale=self.length_scale).block(X, Z)
        scales, length = lengths(self.length_scale)
        X, Z = divided(X, scales), divided(Z, scales)
        factor = math.sqrt(2) * math.sqrt(self.nu) / length
        if self.nu in (0.5, 1.5, 2.5):
            return fallen_distances(X, Z, factor, degree=int(self.nu))
        return matern_values(self.nu, exact_distances(X, Z) * factor)

    def linearised(self, X: Matrix, Z: Matrix, same: bool) -> tuple[Array, Pullback]:
        """The derivative by log hⱼ is −(dk/dr)/r · 2ν(xⱼ − zⱼ)²/hⱼ²."""
        if self.nu == math.inf:
            return RBF(length_scale=self.length_scale).linearised(X, Z, same)
        scales, length = lengths(self.length_scale)
        X, Z = divided(X, scales), divided(Z, scales)
        r = exact_distances(X, Z) * (math.sqrt(2) * math.sqrt(self.nu) / length)
        if self.nu not in (0.5, 1.5, 2.5):
            values, slope = matern_values(self.nu, r), matern_slope(self.nu, r)
        else:
            values, slope = self._closed_form(r)
        squares, slope = r * r / (2 * self.nu), 2 * self.nu * slope
        return values, lambda W: pulled_to_lengths(W * slope, X, Z, squares, scales)

    def _closed_form(self, r: Array) -> tuple[Array, Array]:
        """k and −(dk/dr)/r for ν = 1/2, 3/2 and 5/2."""
        decay = _exponential(-r)
        if self.nu == 0.5:
            return decay, decay / np.where(r > 0, r, np.inf)
        if self.nu == 1.5:
            return (1 + r) * decay, decay
        return (1 + r + r * r / 3) * decay, (1 + r) * decay / 3


@dataclass(frozen=True)
class RationalQuadratic(Stationary):
    """The rational quadratic kernel k(x, z) = (1 + ‖x − z‖²/(2a·h²))^{−a}.

    It is a mixture of Gaussian kernels of many widths, and the Gaussian kernel of width h for
    a = ∞. Cost: O(n m d).

    Parameters
    ----------
    length_scale : float or tuple of float, default=1.0
        The typical width of the mixture (h), or one for each column, by which the column is
        divided. Larger values give smoother functions. Must be positive.
    alpha : float, default=1.0
        The exponent (a). Smaller values mix more different widths. Must be positive.

    Examples
    --------
    >>> import thetahat as th
    >>> th.kernels.RationalQuadratic()([[0.0]], [[2.0]]).round(4).tolist()
    [[0.3333]]
    """

    length_scale: Any = 1.0
    alpha: float = number(1.0, above=0)

    name = "rational_quadratic"
    tunable = ("alpha", "length_scale")

    def __post_init__(self) -> None:
        super().__post_init__()
        require_lengths(self)

    def with_bandwidth(self, bandwidth: float) -> Self:
        """The kernel with h equal to this length."""
        return self.set_params(length_scale=bandwidth)

    def block(self, X: Matrix, Z: Matrix) -> Array:
        """(1 + ‖x − z‖²/(2a·h²))^{−a}."""
        scales, length = lengths(self.length_scale)
        width = math.sqrt(2) * math.sqrt(self.alpha) * length
        squares = squared_distances(divided(X, scales), divided(Z, scales), width)
        return (1 + squares) ** -self.alpha

    def linearised(self, X: Matrix, Z: Matrix, same: bool) -> tuple[Array, Pullback]:
        """The derivatives by log a and log hⱼ."""
        scales, length = lengths(self.length_scale)
        X, Z = divided(X, scales), divided(Z, scales)
        squares = squared_distances(X, Z, length)
        base = 1 + squares / (2 * self.alpha)
        values = base**-self.alpha
        by_alpha = values * (squares / (2 * base) - self.alpha * np.log(base))
        slope = values / base
        return values, lambda W: np.append(
            (W * by_alpha).sum(), pulled_to_lengths(W * slope, X, Z, squares, scales)
        )


def _exponential(values: Array) -> Array:
    xp: Any = array_namespace(values)
    return xp.exp(values)
