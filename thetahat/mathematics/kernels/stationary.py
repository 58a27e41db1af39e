"""Kernels of the distance ‖x − z‖: Gaussian, Laplacian, Matérn and rational quadratic."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, Self

from array_api_compat import array_namespace

from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.kernels.base import Kernel
from thetahat.mathematics.kernels.pairs import exact_distances, squared_distances, squared_norms
from thetahat.mathematics.parts import number, require_number


class Stationary(Kernel):
    """A kernel that depends on the difference x − z alone, with k(x, x) = 1."""

    @abstractmethod
    def with_bandwidth(self, bandwidth: float) -> Self:
        """The same kernel with this length in the units of X."""

    def diagonal(self, X: Matrix) -> Array:
        """1 for every row."""
        squares = squared_norms(X[:, :1])
        return array_namespace(squares).ones_like(squares)


@dataclass(frozen=True, repr=False)
class RBF(Stationary):
    """The Gaussian kernel (radial basis function) k(x, z) = exp(−‖x − z‖²/(2σ²)).

    It has four usual parametrisations, of which at most one may be given: σ (`sigma`) and the
    length scale h (`length_scale`) with exp(−‖x − z‖²/(2σ²)) and exp(−‖x − z‖²/(2h²)), γ (`gamma`)
    with exp(−γ‖x − z‖²), and c (`c`) with exp(−‖x − z‖²/c). They describe the same kernel if
    γ = 1/(2σ²) = 1/(2h²) = 1/c. Cost: O(n m d).

    Parameters
    ----------
    sigma : float, optional
        The distance over which the kernel falls to exp(−1/2) = 0.61 (σ). Larger values give
        smoother functions. Must be positive. If no parameter is given, it is 1.
    length_scale : float, optional
        Another name of sigma, used for Gaussian processes (h). Must be positive.
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
    length_scale: float | None = None
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
            require_number(self, name, above=0)

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
            return 1.0 / self.c
        length = self.sigma if self.sigma is not None else self.length_scale
        return 0.5 if length is None else 0.5 / length / length

    def with_bandwidth(self, bandwidth: float) -> Self:
        """The kernel with σ equal to this length."""
        return self.set_params(sigma=bandwidth)

    def block(self, X: Matrix, Z: Matrix) -> Array:
        """exp(−γ‖x − z‖²)."""
        squares = squared_distances(X, Z)
        squares *= -self.exponent
        return _exponential(squares)


_WIDTHS = ("sigma", "length_scale", "gamma", "c")


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

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.norm not in ("l1", "l2"):
            raise ParameterError(f"Laplacian(norm={self.norm!r}): norm must be 'l2' or 'l1'.")

    def with_bandwidth(self, bandwidth: float) -> Self:
        """The kernel with h equal to this length."""
        return self.set_params(length_scale=bandwidth)

    def block(self, X: Matrix, Z: Matrix) -> Array:
        """exp(−‖x − z‖/h)."""
        return _exponential(exact_distances(X, Z, manhattan=self.norm == "l1") / -self.length_scale)


@dataclass(frozen=True)
class Matern(Stationary):
    """The Matérn kernel, between the Laplacian (ν = 1/2) and the Gaussian kernel (ν = ∞).

    Formula: with r = √(2ν)·‖x − z‖/h, k(x, z) = e^{−r} for ν = 1/2, (1 + r)e^{−r} for ν = 3/2, and
    (1 + r + r²/3)e^{−r} for ν = 5/2. Its functions can be differentiated fewer than ν times.
    Cost: O(n m d).

    Parameters
    ----------
    length_scale : float, default=1.0
        The distance over which the kernel falls (h). Larger values give smoother functions. Must be
        positive.
    nu : {0.5, 1.5, 2.5, inf}, default=1.5
        The smoothness of the functions (ν). Larger values give smoother functions; infinity gives
        the Gaussian kernel.

    Examples
    --------
    >>> import thetahat as th
    >>> th.kernels.Matern(nu=2.5)([[0.0]], [[1.0]]).round(4).tolist()
    [[0.524]]
    """

    length_scale: float = number(1.0, above=0)
    nu: float = 1.5

    name = "matern"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.nu not in (0.5, 1.5, 2.5, math.inf):
            raise ParameterError(
                f"Matern(nu={self.nu!r}): nu must be 0.5, 1.5, 2.5 or infinity, for which the "
                "kernel has a closed form."
            )

    def with_bandwidth(self, bandwidth: float) -> Self:
        """The kernel with h equal to this length."""
        return self.set_params(length_scale=bandwidth)

    def block(self, X: Matrix, Z: Matrix) -> Array:
        """A polynomial in r times e^{−r}."""
        if self.nu == math.inf:
            return RBF(sigma=self.length_scale).block(X, Z)
        r = exact_distances(X, Z) * (math.sqrt(2 * self.nu) / self.length_scale)
        decay = _exponential(-r)
        if self.nu == 0.5:
            return decay
        return (1 + r if self.nu == 1.5 else 1 + r + r * r / 3) * decay


@dataclass(frozen=True)
class RationalQuadratic(Stationary):
    """The rational quadratic kernel k(x, z) = (1 + ‖x − z‖²/(2a·h²))^{−a}.

    It is a mixture of Gaussian kernels of many widths, and the Gaussian kernel of width h for
    a = ∞. Cost: O(n m d).

    Parameters
    ----------
    length_scale : float, default=1.0
        The typical width of the mixture (h). Larger values give smoother functions. Must be
        positive.
    alpha : float, default=1.0
        The exponent (a). Smaller values mix more different widths. Must be positive.

    Examples
    --------
    >>> import thetahat as th
    >>> th.kernels.RationalQuadratic()([[0.0]], [[2.0]]).round(4).tolist()
    [[0.3333]]
    """

    length_scale: float = number(1.0, above=0)
    alpha: float = number(1.0, above=0)

    name = "rational_quadratic"

    def with_bandwidth(self, bandwidth: float) -> Self:
        """The kernel with h equal to this length."""
        return self.set_params(length_scale=bandwidth)

    def block(self, X: Matrix, Z: Matrix) -> Array:
        """(1 + ‖x − z‖²/(2a·h²))^{−a}."""
        scale = 2 * self.alpha * self.length_scale * self.length_scale
        return (1 + squared_distances(X, Z) / scale) ** -self.alpha


def _exponential(values: Array) -> Array:
    xp: Any = array_namespace(values)
    return xp.exp(values)
