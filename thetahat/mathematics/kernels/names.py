"""Kernels by name, and those of ``sklearn.gaussian_process``: converted, or called as they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from thetahat.data.source import row_weights
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.kernels.bandwidth import deviation
from thetahat.mathematics.kernels.base import Constant, Kernel, Product, Pullback, Sum
from thetahat.mathematics.kernels.bounded import Bounded
from thetahat.mathematics.kernels.compact import Wendland
from thetahat.mathematics.kernels.given import Precomputed
from thetahat.mathematics.kernels.histograms import AdditiveChi2, Chi2
from thetahat.mathematics.kernels.hyperparameters import Hyperparameter
from thetahat.mathematics.kernels.noise import White
from thetahat.mathematics.kernels.pairs import dense
from thetahat.mathematics.kernels.periodic import Periodic
from thetahat.mathematics.kernels.polynomial import (
    Cosine,
    DotProduct,
    Linear,
    Polynomial,
    Sigmoid,
)
from thetahat.mathematics.kernels.stationary import (
    RBF,
    Laplacian,
    Matern,
    RationalQuadratic,
    Stationary,
)
from thetahat.mathematics.parts import part_named

THEIRS = "sklearn.gaussian_process.kernels"


def named(kernel: str | Kernel) -> Kernel:
    """Return the kernel with this name and its default parameters.

    Formula: "rbf" ↦ ``RBF()``. scikit-learn's names are accepted, and a kernel is returned
    unchanged. A kernel of ``sklearn.gaussian_process.kernels`` becomes one of this library with the
    same values. Cost: O(1).

    Parameters
    ----------
    kernel : str or Kernel
        The name of a kernel, one of its aliases, a kernel, or a kernel of scikit-learn's Gaussian
        processes.

    Returns
    -------
    Kernel

    Examples
    --------
    >>> import thetahat as th
    >>> th.kernels.named("poly")
    Polynomial(degree=2, coef0=1.0, gamma=1.0)
    """
    if is_scikit_learns(kernel):
        return as_kernel(kernel)
    return part_named("kernel", kernel, Kernel, _BY_NAME)  # type: ignore[type-abstract]


def suited(kernel: str | Kernel, X: Matrix, weight: Array | None = None) -> Kernel:
    """The kernel by this name, with a bandwidth that suits these rows if it is given by name."""
    found = named(kernel)
    if isinstance(kernel, str) and isinstance(found, Stationary):
        weight = row_weights(weight, X.shape[0])
        # Equal rows have no spread, and every bandwidth gives them the same kernel.
        return found.with_bandwidth(deviation(X, weight) or 1.0)
    return found


_BY_NAME: dict[str, type[Kernel]] = {
    part.name: part
    for part in (
        RBF,
        AdditiveChi2,
        Chi2,
        Cosine,
        DotProduct,
        Laplacian,
        Linear,
        Matern,
        Periodic,
        Polynomial,
        Precomputed,
        RationalQuadratic,
        Sigmoid,
        Wendland,
    )
}
"""Kernels that a name describes; the others are made of functions or of other kernels."""


def is_scikit_learns(kernel: Any) -> bool:
    """Whether it is a kernel of scikit-learn's Gaussian processes; imports nothing."""
    return any(
        each.__module__ == THEIRS and each.__name__ == "Kernel" for each in type(kernel).__mro__
    )


def as_kernel(kernel: Any) -> Kernel:
    """The kernel with the same values and the same θ, derivatives included."""
    return converted(kernel) or ScikitLearnKernel(kernel)


def converted(kernel: Any) -> Kernel | None:
    """The same kernel of this library; None if there is none, or if it is of a derived class."""
    if type(kernel).__module__ != THEIRS:
        return None
    kind = type(kernel).__name__
    if kind in _COMPOSED:
        first, second = converted(kernel.k1), converted(kernel.k2)
        return None if first is None or second is None else _COMPOSED[kind](first, second)
    if kind not in _SIMPLE:
        return None
    make, names = _SIMPLE[kind]
    values = kernel.get_params()
    length = values.get("length_scale")
    if np.ndim(length) == 1:
        values["length_scale"] = tuple(length) if len(length) > 1 else length[0]
    try:
        made = make(**{ours: values[theirs] for ours, theirs in names.items()})
        limits = {each.name: values[f"{names[each.name]}_bounds"] for each in made.hyperparameters}
        return Bounded(made, limits)
    except ParameterError:  # such as a constant of 0, which has no logarithm
        return None


_COMPOSED: dict[str, Callable[..., Kernel]] = {"Sum": Sum, "Product": Product}
_SIMPLE: dict[str, tuple[Callable[..., Kernel], dict[str, str]]] = {
    "ConstantKernel": (Constant, {"value": "constant_value"}),
    "WhiteKernel": (White, {"noise_level": "noise_level"}),
    "RBF": (RBF, {"length_scale": "length_scale"}),
    "Matern": (Matern, {"length_scale": "length_scale", "nu": "nu"}),
    "RationalQuadratic": (
        RationalQuadratic,
        {"alpha": "alpha", "length_scale": "length_scale"},
    ),
    "ExpSineSquared": (
        Periodic,
        {"length_scale": "length_scale", "periodicity": "periodicity"},
    ),
    "DotProduct": (DotProduct, {"sigma_0": "sigma_0"}),
}


AT_ONCE = 64
"""Rows of the Gram matrices from which a diagonal is taken."""


@dataclass(frozen=True, eq=False)
class ScikitLearnKernel(Kernel):
    """A kernel of scikit-learn, with its own values and derivatives."""

    kernel: Any

    name = "scikit_learn"

    @property
    def hyperparameters(self) -> tuple[Hyperparameter, ...]:
        """One hyper-parameter that stands for all that are not fixed."""
        theta = np.asarray(self.kernel.theta, dtype=np.float64)
        if not theta.size:
            return ()
        pairs = np.exp(np.asarray(self.kernel.bounds, dtype=np.float64))
        return (Hyperparameter("theta", tuple(np.exp(theta)), tuple(map(tuple, pairs))),)

    @property
    def theta(self) -> Array:
        """The logarithms as the kernel has them."""
        return np.asarray(self.kernel.theta, dtype=np.float64)

    @property
    def bounds(self) -> Array:
        """Their bounds as the kernel has them."""
        return np.asarray(self.kernel.bounds, dtype=np.float64).reshape(-1, 2)

    def with_theta(self, theta: Array) -> Self:
        """Return a copy with these logarithms."""
        return type(self)(self.kernel.clone_with_theta(np.asarray(theta, dtype=np.float64)))

    def block(self, X: Matrix, Z: Matrix) -> Array:
        """The values of the kernel."""
        return np.asarray(self.kernel(dense(X), dense(Z)), dtype=X.dtype)

    def diagonal(self, X: Matrix) -> Array:
        """The diagonal of the kernel."""
        rows: Any = dense(X)
        parts = [self.kernel, *self.kernel.get_params().values()]
        if any(type(part).__name__ == "PairwiseKernel" for part in parts):
            # Its own method calls the kernel once per row; small Gram matrices take less time.
            starts = range(0, len(rows), AT_ONCE)
            pieces = [np.diagonal(self.kernel(rows[at : at + AT_ONCE])) for at in starts]
            return np.concatenate(pieces).astype(X.dtype)
        return np.array(self.kernel.diag(rows), dtype=X.dtype)

    def linearised(self, X: Matrix, Z: Matrix, same: bool) -> tuple[Array, Pullback]:
        """The derivatives that the kernel computes, for the Gram matrix of both sets of rows."""
        if same:
            values, slopes = self.kernel(X, eval_gradient=True)
        else:  # it has derivatives of Gram matrices only
            n = X.shape[0]
            values, slopes = self.kernel(np.concatenate([X, Z]), eval_gradient=True)
            values, slopes = values[:n, n:], slopes[:n, n:]
        return values, lambda W: np.tensordot(W, slopes, axes=2)
