"""Interface of kernels k(x, z), and their algebra: sums, products and positive multiples.

A kernel is a frozen value, as losses and penalties are. ``kernel(X, Z)`` is the matrix of k(xᵢ, zⱼ)
for all rows of X and Z, and ``kernel(X)`` the Gram matrix of X, which is positive semi-definite.
Sums, products, powers and positive multiples are kernels: ``0.5 * RBF() + Linear() ** 2``.

A kernel defines ``block``, the formula for a few rows, written against the array API: rows of torch
or CuPy give a matrix on their device. `gram_matrix` computes large matrices tile by tile.

Kernels with `tunable` parameters also define ``linearised``: the values of a block, and the
pullback W ↦ Σᵢⱼ Wᵢⱼ ∂k(xᵢ, zⱼ)/∂θ for the logarithms θ of these parameters. Sums, products and
multiples pass it on by the rules of differentiation, so that no matrix of derivatives is stored.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from array_api_compat import array_namespace, device, is_array_api_obj

from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.kernels.gram import gram_matrix, rows_as_matrix
from thetahat.mathematics.kernels.hyperparameters import Hyperparameter
from thetahat.mathematics.parts import Part, number, whole_exponent

Pullback: TypeAlias = Callable[[Array], Array]
"""W ↦ Σᵢⱼ Wᵢⱼ ∂k(xᵢ, zⱼ)/∂θ, one number per element of the hyper-parameters."""


class Kernel(Part, ABC):
    """Base class of kernels k(x, z); concrete kernels are frozen dataclasses."""

    tunable: ClassVar[tuple[str, ...]] = ()
    """Names of the positive parameters whose logarithms Gaussian processes fit."""

    @abstractmethod
    def block(self, X: Matrix, Z: Matrix) -> Array:
        """k(x, z) for all rows of X and Z, of shape (n, m)."""

    @abstractmethod
    def diagonal(self, X: Matrix) -> Array:
        """k(x, x) for every row of X, of shape (n,)."""

    def __call__(self, X: Any, Z: Any = None) -> Array:
        """The matrix k(xᵢ, zⱼ), or the Gram matrix of X if there is no Z. Cost: O(n m d)."""
        rows = rows_as_matrix(X, f"{self!r}: X")
        others = rows if Z is X else None if Z is None else rows_as_matrix(Z, f"{self!r}: Z")
        return self.gram(rows, others)

    def gram(self, X: Matrix, Z: Matrix | None = None) -> Array:
        """As calling the kernel, for rows that have been validated."""
        return gram_matrix(self, X, Z)

    @property
    def reach(self) -> float:
        """The Euclidean distance beyond which k(x, z) = 0; infinity for most kernels."""
        return math.inf

    def paired(self, X: Matrix, Z: Matrix) -> Array:
        """k(xᵢ, zᵢ) for row i of X and of Z, of shape (n,)."""
        parts = [
            np.einsum("ii->i", self.block(X[start : start + 16], Z[start : start + 16]))
            for start in range(0, X.shape[0], 16)
        ]
        return np.concatenate(parts) if parts else np.empty(0, dtype=X.dtype)

    def rows(self, X: Matrix, which: Array) -> Matrix:
        """Some rows of X in the form in which they are passed as Z."""
        return X[which]

    @property
    def hyperparameters(self) -> tuple[Hyperparameter, ...]:
        """The parameters that can be fitted, with their bounds."""
        return tuple(Hyperparameter(name, getattr(self, name)) for name in self.tunable)

    @property
    def theta(self) -> Array:
        """The logarithms of the hyper-parameters that are not fixed."""
        free = [each.logarithms for each in self.hyperparameters if not each.fixed]
        return np.concatenate(free) if free else np.empty(0)

    @property
    def bounds(self) -> Array:
        """The bounds of `theta`, of shape (n, 2)."""
        free = [each.log_bounds for each in self.hyperparameters if not each.fixed]
        return np.concatenate(free) if free else np.empty((0, 2))

    def with_theta(self, theta: Array) -> Self:
        """Return a copy with these logarithms of the hyper-parameters that are not fixed."""
        theta = np.asarray(theta, dtype=np.float64).reshape(-1)
        free = [each for each in self.hyperparameters if not each.fixed]
        if len(theta) != (needed := sum(each.n_elements for each in free)):
            raise ParameterError(
                f"{self!r} has {needed} hyper-parameters that are not fixed, but theta "
                f"has {len(theta)} entries. Give one logarithm for each."
            )
        found, start = {}, 0
        for each in free:
            found[each.name] = each.with_logarithms(theta[start : start + each.n_elements])
            start += each.n_elements
        return self.set_params(**found) if found else self

    def linearised(self, X: Matrix, Z: Matrix, same: bool) -> tuple[Array, Pullback]:
        """The values k(x, z), and the pullback of their derivatives by all hyper-parameters.

        `same` says that row i of X and of Z are the same row, not only equal ones.
        """
        values = self.block(X, Z)
        if same:
            np.einsum("ii->i", values)[:] = self.diagonal(X)
        return values, lambda W: np.empty(0)

    def __add__(self, other: Kernel | float) -> Kernel:
        """The kernel k₁ + k₂; a number stands for a constant kernel."""
        return Sum(self, _as_kernel(other))

    def __radd__(self, other: float) -> Kernel:
        return Sum(_as_kernel(other), self)

    def __mul__(self, other: Kernel | float) -> Kernel:
        """The kernel k₁·k₂, or a positive multiple of the kernel."""
        return Scaled(self, other) if isinstance(other, Real) else Product(self, _as_kernel(other))

    def __rmul__(self, other: float) -> Kernel:
        return Scaled(self, other)

    def __pow__(self, exponent: int) -> Kernel:
        """The product of several equal kernels, whose parameters are independent of each other."""
        return math.prod([self] * (whole_exponent(self, exponent) - 1), start=self)


class Composed(Kernel):
    """A kernel made of others, whose parameters are searched as ``first__gamma``."""

    @property
    def hyperparameters(self) -> tuple[Hyperparameter, ...]:
        """Its own parameters that can be fitted, then those of its parts."""
        of_parts = (
            replace(each, name=f"{name}__{each.name}")
            for name, part in self.get_params(deep=False).items()
            if isinstance(part, Kernel)
            for each in part.hyperparameters
        )
        return (*super().hyperparameters, *of_parts)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name, with those of the parts as ``<part>__<name>``."""
        own = super().get_params()
        return own | {
            f"{name}__{inner}": value
            for name, part in own.items()
            if deep and isinstance(part, Part)
            for inner, value in part.get_params().items()
        }

    def set_params(self, **params: Any) -> Self:
        """Return a copy with some parameters replaced, those of the parts included."""
        own = {name: value for name, value in params.items() if "__" not in name}
        found = super().set_params(**own) if own else self
        of_parts: dict[str, dict[str, Any]] = {}
        for name, value in params.items():
            owner, _, inner = name.partition("__")
            if inner:
                if not isinstance(getattr(found, owner, None), Part):
                    raise ParameterError(
                        f"{type(self).__name__} has no parameter {name!r}; "
                        f"it has {', '.join(self.get_params())}."
                    )
                of_parts.setdefault(owner, {})[inner] = value
        parts = {name: getattr(found, name).set_params(**of_parts[name]) for name in of_parts}
        return replace(found, **parts) if parts else found  # type: ignore[type-var]


@dataclass(frozen=True)
class Sum(Composed):
    """The sum of two kernels, k(x, z) = k₁(x, z) + k₂(x, z), which ``k1 + k2`` makes.

    Its features are those of both kernels side by side. Cost: that of both kernels.

    Parameters
    ----------
    first, second : Kernel
        The kernels that are added to each other.

    Examples
    --------
    >>> import thetahat as th
    >>> kernel = th.kernels.Linear() + th.kernels.Polynomial(degree=2)
    >>> kernel([[1.0]], [[2.0]]).tolist()
    [[11.0]]
    """

    first: Kernel
    second: Kernel
    name = "sum"

    def __post_init__(self) -> None:
        _require_of_rows(self)

    def block(self, X: Matrix, Z: Matrix) -> Array:
        """k₁(x, z) + k₂(x, z)."""
        return self.first.block(X, Z) + self.second.block(X, Z)

    def diagonal(self, X: Matrix) -> Array:
        """k₁(x, x) + k₂(x, x)."""
        return self.first.diagonal(X) + self.second.diagonal(X)

    @property
    def reach(self) -> float:
        """The larger one of the two."""
        return max(self.first.reach, self.second.reach)

    def paired(self, X: Matrix, Z: Matrix) -> Array:
        """k₁(x, z) + k₂(x, z)."""
        return self.first.paired(X, Z) + self.second.paired(X, Z)

    def linearised(self, X: Matrix, Z: Matrix, same: bool) -> tuple[Array, Pullback]:
        """Both derivatives side by side."""
        first, of_first = self.first.linearised(X, Z, same)
        second, of_second = self.second.linearised(X, Z, same)
        return first + second, lambda W: np.concatenate([of_first(W), of_second(W)])


@dataclass(frozen=True)
class Product(Composed):
    """The product of two kernels, k(x, z) = k₁(x, z)·k₂(x, z), which ``k1 * k2`` makes.

    Its features are all products of a feature of one and a feature of the other. Cost: that of both
    kernels.

    Parameters
    ----------
    first, second : Kernel
        The kernels that are multiplied with each other.

    Examples
    --------
    >>> import thetahat as th
    >>> square = th.kernels.Linear() * th.kernels.Linear()
    >>> square([[3.0]], [[2.0]]).tolist()
    [[36.0]]
    """

    first: Kernel
    second: Kernel
    name = "product"

    def __post_init__(self) -> None:
        _require_of_rows(self)

    def block(self, X: Matrix, Z: Matrix) -> Array:
        """k₁(x, z)·k₂(x, z)."""
        return self.first.block(X, Z) * self.second.block(X, Z)

    def diagonal(self, X: Matrix) -> Array:
        """k₁(x, x)·k₂(x, x)."""
        return self.first.diagonal(X) * self.second.diagonal(X)

    @property
    def reach(self) -> float:
        """The smaller one of the two."""
        return min(self.first.reach, self.second.reach)

    def paired(self, X: Matrix, Z: Matrix) -> Array:
        """k₁(x, z)·k₂(x, z)."""
        return self.first.paired(X, Z) * self.second.paired(X, Z)

    def linearised(self, X: Matrix, Z: Matrix, same: bool) -> tuple[Array, Pullback]:
        """The product rule."""
        first, of_first = self.first.linearised(X, Z, same)
        second, of_second = self.second.linearised(X, Z, same)
        return first * second, lambda W: np.concatenate(
            [of_first(W * second), of_second(W * first)]
        )


@dataclass(frozen=True)
class Scaled(Composed):
    """A multiple of a kernel, c·k(x, z) with c > 0, which ``c * kernel`` makes.

    Its features are those of the kernel times √c. Cost: that of the kernel.

    Parameters
    ----------
    kernel : Kernel
        The kernel that is multiplied by the factor.
    factor : float, default=1.0
        The positive number that multiplies the kernel (c). Larger values weaken a penalty on the
        same function.

    Examples
    --------
    >>> import thetahat as th
    >>> (2 * th.kernels.Linear())([[3.0]], [[1.0]]).tolist()
    [[6.0]]
    """

    kernel: Kernel
    factor: float = number(1.0, above=0)
    name = "scaled"
    tunable = ("factor",)

    def __post_init__(self) -> None:
        super().__post_init__()
        _require_of_rows(self)

    def block(self, X: Matrix, Z: Matrix) -> Array:
        """c·k(x, z)."""
        return self.factor * self.kernel.block(X, Z)

    def diagonal(self, X: Matrix) -> Array:
        """c·k(x, x)."""
        return self.factor * self.kernel.diagonal(X)

    @property
    def reach(self) -> float:
        """That of the kernel."""
        return self.kernel.reach

    def paired(self, X: Matrix, Z: Matrix) -> Array:
        """c·k(x, z)."""
        return self.factor * self.kernel.paired(X, Z)

    def linearised(self, X: Matrix, Z: Matrix, same: bool) -> tuple[Array, Pullback]:
        """The derivative by log c is the kernel itself."""
        inner, of_inner = self.kernel.linearised(X, Z, same)
        values = self.factor * inner
        return values, lambda W: np.append((W * values).sum(), self.factor * of_inner(W))


@dataclass(frozen=True)
class Constant(Kernel):
    """The constant kernel k(x, z) = c, whose single feature is √c.

    Added to another kernel, it gives the function a penalised intercept. Cost: O(n m).

    Parameters
    ----------
    value : float, default=1.0
        The positive value of the kernel for every pair of rows (c).

    Examples
    --------
    >>> import thetahat as th
    >>> (th.kernels.Linear() + 1)([[3.0]], [[2.0]]).tolist()
    [[7.0]]
    """

    value: float = number(1.0, above=0)
    name = "constant"
    tunable = ("value",)

    def block(self, X: Matrix, Z: Matrix) -> Array:
        """c for every pair."""
        shape = (X.shape[0], Z.shape[0])
        if not is_array_api_obj(X):
            return np.full(shape, self.value, dtype=X.dtype)
        return array_namespace(X).full(shape, self.value, dtype=X.dtype, device=device(X))

    def diagonal(self, X: Matrix) -> Array:
        """c for every row."""
        return self.block(X, X[:1, :])[:, 0]

    def linearised(self, X: Matrix, Z: Matrix, same: bool) -> tuple[Array, Pullback]:
        """The derivative by log c is c."""
        return self.block(X, Z), lambda W: np.array([self.value * W.sum()])


def _as_kernel(value: Any) -> Kernel:
    if isinstance(value, Kernel):
        return value
    if isinstance(value, Real) and not isinstance(value, bool):
        return Constant(float(value))
    raise ParameterError(
        f"{value!r} is neither a kernel nor a positive number. Combine kernels with kernels, such "
        "as th.kernels.RBF() + th.kernels.Linear()."
    )


def _require_of_rows(composed: Composed) -> None:
    for part in composed.get_params(deep=False).values():
        if isinstance(part, Real):
            continue
        if not isinstance(part, Kernel):
            raise ParameterError(
                f"{type(composed).__name__} combines kernels, but one part is {part!r}. Pass "
                "values such as th.kernels.RBF()."
            )
        if type(part).rows is not Kernel.rows:
            raise ParameterError(
                f"{part!r} is given by its matrix and cannot be combined with other kernels. "
                "Combine the matrices, and pass the result as precomputed."
            )
