"""Parameters that kernel estimators share: a kernel by name, in scikit-learn's parametrisation."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from thetahat.data.extremes import require_squares_of_rows
from thetahat.data.in_memory import InMemory
from thetahat.data.source import Source
from thetahat.estimator.base import Estimator
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, at_least, more_than, none, real
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.kernels import named as named_kernel
from thetahat.mathematics.kernels.base import Kernel
from thetahat.mathematics.kernels.given import FromFunction, Precomputed
from thetahat.mathematics.kernels.histograms import Chi2
from thetahat.mathematics.kernels.names import is_scikit_learns
from thetahat.mathematics.kernels.pairs import dense
from thetahat.mathematics.kernels.polynomial import Linear, LinearAround, Polynomial, Sigmoid
from thetahat.mathematics.kernels.stationary import RBF, Laplacian
from thetahat.objective.predictor import in_double


class OfKernel(Estimator):
    """An estimator with a `kernel`, whose rows stay in memory."""

    _accepts_sparse = True
    _streams = False
    _instead_of_blocks = (
        "fit LinearModel to the features of th.Nystroem: both read blocks, as in "
        "make_pipeline(th.Nystroem(n_components=1000), th.LinearModel())"
    )
    _for_few_rows = True

    kernel: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        precomputed = is_name(self.kernel, "precomputed") or isinstance(self.kernel, Precomputed)
        tags.input_tags.pairwise = precomputed
        return tags

    def _expand(self, X: Any, expansion: Callable[[Any], Array]) -> Array:
        """Σⱼ αⱼ k(x, xⱼ) + b of every row, in the precision of X."""
        source = self._open_again(X)
        if isinstance(source, InMemory):
            return expansion(source.X).astype(source.dtype, copy=False)
        return source.map_rows(lambda block: expansion(block.X).astype(block.X.dtype, copy=False))


@with_parameters
class NamedKernel(OfKernel):
    """The parameters with which scikit-learn names a kernel.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="linear"
        The kernel: "linear", "polynomial" (or "poly"), "rbf", "laplacian", "cosine", "sigmoid",
        "chi2", "additive_chi2", "matern", "rational_quadratic", or a value such as
        ``th.kernels.RBF(sigma=2.0)`` or a sum of kernels. "precomputed" means that X is a kernel
        matrix, dense or sparse. A function takes two single rows and returns a number;
        ``th.kernels.FromFunction`` takes whole matrices, which is faster. Kernels of
        ``sklearn.gaussian_process.kernels`` are accepted as well.
    gamma : float or None, default=None
        The factor γ of a kernel that is given by name: exp(−γ‖x − z‖²) for "rbf", exp(−γ‖x − z‖₁)
        for "laplacian", (γ·xᵀz + coef0)^degree for "polynomial", tanh(γ·xᵀz + coef0) for "sigmoid",
        exp(−γ·Σ(x − z)²/(x + z)) for "chi2". Larger values give rougher functions. None means 1/d
        for d columns, and 1 for "chi2".
    degree : float, default=3
        The degree of the "polynomial" kernel, a whole number. Other kernels ignore it.
    coef0 : float, default=1
        The constant term of the "polynomial" and "sigmoid" kernels. Other kernels ignore it.
    kernel_params : dict or None, default=None
        Further arguments of a kernel that is given as a function. None means no arguments.
    """

    kernel: Any = "linear"
    gamma: Any = None
    degree: Any = 3
    coef0: Any = 1
    kernel_params: Any = None

    _ranges: ClassVar[dict[str, Range]] = {
        "gamma": more_than(0) | none,
        "degree": at_least(0),
        "coef0": real,
        "kernel_params": Range(lambda value: value is None or isinstance(value, dict), "a dict"),
    }

    def _kernel(self, source: Source) -> Kernel:
        return kernel_of(
            self.kernel, source.n_features, self.gamma, self.degree, self.coef0, self.kernel_params
        )


def kernel_of(
    kernel: Any,
    n_features: int,
    gamma: float | None,
    degree: float,
    coef0: float,
    kernel_params: dict[str, Any] | None = None,
) -> Kernel:
    """The kernel that scikit-learn's parameters describe."""
    if isinstance(kernel, Kernel) or is_scikit_learns(kernel):
        return named_kernel(kernel)
    if callable(kernel) and not isinstance(kernel, type):
        return FromFunction(_with_arguments(kernel, kernel_params or {}), of_pairs=True)
    if not isinstance(kernel, str):  # arrays would be compared with names entry by entry
        return named_kernel(kernel)
    width = 1.0 / n_features if gamma is None else float(gamma)
    if kernel == "rbf":
        return RBF(gamma=width)
    if kernel == "laplacian":
        return Laplacian(length_scale=1.0 / width, norm="l1")
    if kernel in ("poly", "polynomial"):
        if not (1 <= degree < math.inf and int(degree) == degree):
            raise ParameterError(
                f"degree={degree!r} must be a whole number ≥ 1 for a polynomial kernel."
            )
        return Polynomial(degree=int(degree), coef0=coef0, gamma=width)
    if kernel == "sigmoid":
        return Sigmoid(gamma=width, coef0=coef0)
    if kernel == "chi2":
        return Chi2(1.0 if gamma is None else float(gamma))
    return named_kernel(kernel)


def is_name(kernel: Any, name: str) -> bool:
    """Whether the kernel is given by this name; arrays are compared with it entry by entry."""
    return isinstance(kernel, str) and kernel == name


def _with_arguments(function: Any, arguments: dict[str, Any]) -> Any:
    if not arguments:
        return function

    def kernel(x: Array, z: Array) -> Any:
        return function(x, z, **arguments)

    return kernel


def in_memory(source: Source, who: str) -> InMemory:
    """The source, whose rows are in memory because `_open` accepts no others."""
    assert isinstance(source, InMemory)
    require_squares_of_rows(source, who=who)
    return source


def kept_rows(kernel: Kernel, X: Matrix, which: Array | None = None) -> Matrix:
    """The rows to compare new rows with: in float64, or numbers for a precomputed kernel."""
    return kernel.rows(in_double(X), np.arange(X.shape[0]) if which is None else which)


FAR = 1e4
"""Squared length of the mean of the rows over their variance from which they are centred."""


def far_middle(kernel: Kernel, X: Matrix) -> Array | None:
    """The mean of rows far from 0 under the linear kernel, and None otherwise. Cost: O(n d).

    Functions with an intercept, and components around the mean, do not depend on the origin of the
    rows, but the rounding errors of their inner products grow with the distance to it.
    """
    if type(kernel) is not Linear or type(X) is not np.ndarray or not len(X):
        return None
    rows = in_double(X)
    middle = rows[0] + (rows - rows[0]).mean(axis=0)
    gaps = rows - middle
    variance = float(np.einsum("ij,ij->", gaps, gaps)) / len(rows)
    return middle if float(middle @ middle) > FAR * variance > 0 else None


def around(middle: Array | None, X: Matrix) -> Matrix:
    """The rows minus this middle, if there is one."""
    return X if middle is None else dense(X) - middle


def near_rows(kernel: Kernel, X: Matrix) -> Kernel:
    """The kernel whose functions with an intercept are the same, with smaller rounding errors."""
    middle = far_middle(kernel, X)
    return kernel if middle is None else LinearAround(tuple(middle.tolist()))
