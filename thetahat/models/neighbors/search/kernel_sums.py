"""Sums of a smoothing kernel over all rows, as densities: Σ_i w_i K(d(x, x_i)/h)/(h^d·mass).

Distances that are norms of differences (Minkowski, also of mapped rows) are normalised exactly: the
mass is d·m_{d−1} times the volume of their unit ball, V_p = (2Γ(1 + 1/p))^d/Γ(1 + d/p), and a
linear map A of the rows multiplies the density by |det A|. Under other distances the mass is that
of the Euclidean distance, and the result is a density up to a factor.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, lgamma, log, pi
from typing import Any

import numpy as np

from thetahat import _native
from thetahat.foundation.cached import cached_property
from thetahat.foundation.checked_value import CheckedValue, check_arrays, check_rule
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.threads import n_threads
from thetahat.foundation.types import Array
from thetahat.mathematics import smoothing
from thetahat.mathematics.distances import Chebyshev, Euclidean, Manhattan, Minkowski
from thetahat.mathematics.distances.base import Distance
from thetahat.mathematics.distances.minkowski import RootOfSquares
from thetahat.mathematics.smoothing.base import SmoothingKernel
from thetahat.models.neighbors.search.index import NeighborIndex
from thetahat.models.neighbors.search.index_checks import require_visible_differences

SMALLEST_WIDTH = 1e-150
"""Smallest bandwidth; the squares of smaller ones, and of distances of that size, underflow."""
PAIRS_AT_ONCE = 1 << 26
"""Pairs of a query and a row in one compiled call; between two calls, an interrupt is noticed."""
WORTH_THREADS = 1 << 13
"""Pairs from which starting threads takes less time than they save."""
TAIL = 600.0
"""Scaled distances beyond which kernels are computed as logarithms."""
TAILS = {"exponential": 0.5, "logistic": 1.0, "sigmoid": 2 / pi}
"""c of the kernels that tend to c·e^{−s}."""


@dataclass(frozen=True, eq=False)
class KernelSums(CheckedValue):
    """Rows with weights, whose kernels are summed."""

    index: NeighborIndex
    weight: Array
    """(n,), positive."""

    def __post_init__(self) -> None:
        check_rule(self, isinstance(self.index, NeighborIndex), "the index is not an index")
        check_arrays(self, {"weight": (np.float64, (self.index.n_rows,))})
        check_rule(
            self,
            bool((np.isfinite(self.weight) & (self.weight > 0)).all()),
            "weights must be positive numbers",
        )

    def log_density(
        self, queries: Array, kernel: SmoothingKernel, width: float, atol: float, rtol: float
    ) -> Array:
        """The logarithms of the sums; a sum is off by at most atol + rtol·sum."""
        scale = self.log_scale(kernel, width)
        absolute = min(atol * np.exp(min(-scale, 700.0)), 1e300) if atol > 0 else 0.0
        found = self.log_sums(queries, kernel, width, absolute, rtol)
        found += scale
        return found

    def log_sums(
        self, queries: Array, kernel: SmoothingKernel, width: float, atol: float, rtol: float
    ) -> Array:
        """log Σ_i w_i K(d(x, x_i)/h), which is not normalised to a density."""
        power = self._power
        if power is None or kernel.code not in COMPILED:
            return self._of_pairs(queries, kernel, width)
        points = np.ascontiguousarray(self.index._embed(queries), dtype=np.float64)
        found = np.empty(points.shape[0])
        given = (kernel.code, power, 1.0, width, atol, rtol)
        if points.shape[0] * self.index.n_rows <= WORTH_THREADS:
            self._compiled.logs(points, *given, found, 1)
            return found
        step = max(16, PAIRS_AT_ONCE // self.index.n_rows)
        for start in range(0, len(points), step):
            some = slice(start, start + step)
            self._compiled.logs(points[some], *given, found[some], n_threads())
        return found

    def can_sum_few(self, kernel: SmoothingKernel) -> bool:
        """Whether `sum_few` can be used: the rows are compared as they are, in compiled code."""
        plain = isinstance(self.index.distance, Euclidean | Manhattan | Chebyshev)
        return plain and kernel.code in COMPILED

    def sum_few(
        self, queries: Array, kernel: SmoothingKernel, width: float, rtol: float, out: Array
    ) -> None:
        """`log_sums` of few queries in float64, in fewer steps."""
        power = self._power
        assert power is not None
        self._compiled.logs(queries, kernel.code, power, 1.0, width, 0.0, rtol, out, 1)

    def log_scale(self, kernel: SmoothingKernel, width: float) -> float:
        """−log(h^d·mass), by which the logarithm of a sum becomes that of a density."""
        d = int(self.index.rows.shape[1])
        p, map_ = self.norm or (2.0, None)
        ball = d * (log(2) + lgamma(1 + 1 / p)) - lgamma(1 + d / p) if p < inf else d * log(2)
        mass = log(d) + ball + kernel.log_radial_moment(d - 1)
        stretched = 0.0 if map_ is None else float(np.linalg.slogdet(map_)[1])
        return stretched - d * log(width) - mass

    @cached_property
    def total(self) -> float:
        """The sum of the weights."""
        return float(self.weight.sum())

    @cached_property
    def norm(self) -> tuple[float, Array | None] | None:
        """p and A of a distance ‖A(x − y)‖_p, where A is None for the identity; None for others."""
        return norm_of(self.index.distance, int(self.index.rows.shape[1]))

    @cached_property
    def _power(self) -> float | None:
        return _power(self.index)

    @cached_property
    def _compiled(self) -> _native.DensitySums:
        return self.index._compiled.density_sums(self.weight)

    def _of_pairs(self, queries: Array, kernel: SmoothingKernel, width: float) -> Array:
        """The same from all distances, for any distance."""
        parts = []
        for _, block in self.index._pairs(queries):
            logs = log_kernel(kernel, block / width) + np.log(self.weight)
            top = np.maximum(logs.max(axis=1, keepdims=True), np.finfo(np.float64).min)
            with np.errstate(divide="ignore"):
                parts.append(top[:, 0] + np.log(np.exp(logs - top).sum(axis=1)))
        return np.concatenate(parts)


COMPILED = {
    smoothing.named(name).code
    for name in (
        "uniform", "triangular", "epanechnikov", "quartic", "triweight", "tricube", "cosine",
        "gaussian", "logistic", "sigmoid", "exponential",
    )
}  # fmt: skip
"""Kernels that decrease, so that they are bounded on a box by its nearest and farthest points."""


class KernelDensities:
    """Kernel densities at queries, for trees that have an index of their rows."""

    @property
    def _index(self) -> NeighborIndex:
        raise NotImplementedError

    def _queries(self, X: Any) -> Array:
        raise NotImplementedError

    def kernel_density(
        self,
        X: Any,
        h: float,
        kernel: str | SmoothingKernel = "gaussian",
        atol: float = 0,
        rtol: float = 1e-8,
        breadth_first: bool = True,
        return_log: bool = False,
    ) -> Array:
        """Sum normalised kernels of all rows at every query: Σ_i K(d(x, x_i)/h)/(h^d·mass).

        Divide by the number of rows for a density; `KernelDensity` does. Nodes of the tree on which
        the kernel hardly varies are summed at once, with an error that is bounded.

        Cost: O(log n + rows in the support of the kernel) per query for few columns.

        Parameters
        ----------
        X : array-like of shape (m, d)
            The queries, with the columns of the rows.
        h : float
            The bandwidth of the kernel. Larger values give smoother sums. Must be positive.
        kernel : str or SmoothingKernel, default="gaussian"
            The smoothing kernel: a name or a value of ``th.smoothing`` without negative values.
        atol : float, default=0
            Largest absolute error of a sum. Larger values are faster. Must be at least 0.
        rtol : float, default=1e-8
            Largest relative error of a sum, in addition. With 0 sums are exact to rounding. Must
            be at least 0.
        breadth_first : bool, default=True
            Has no effect. Accepted for compatibility with scikit-learn.
        return_log : bool, default=False
            Whether to return logarithms, which are finite also where the sum underflows.

        Returns
        -------
        density : array of shape (m,)
            The sums, or their logarithms.
        """
        who = f"{type(self).__name__}.kernel_density"
        for name, value in (("h", h), ("atol", atol), ("rtol", rtol)):
            good = isinstance(value, int | float | np.number) and 0 <= value < inf
            if not good or (name == "h" and value == 0):
                rule = "positive" if name == "h" else "at least 0"
                raise ParameterError(f"{who}: {name}={value!r} must be a finite number, {rule}.")
        require_width(float(h), "h", who)
        require_visible_differences(self._index.rows, self._index.distance)
        shape = density_kernel(kernel, who)
        queries = self._queries(X)
        logs = self._kernel_sums.log_density(queries, shape, float(h), float(atol), float(rtol))
        return logs if return_log else np.exp(logs)

    @cached_property
    def _kernel_sums(self) -> KernelSums:
        return KernelSums(self._index, np.ones(self._index.n_rows))


def require_width(width: float, name: str, who: str) -> None:
    """Refuse a bandwidth whose square underflows."""
    if width < SMALLEST_WIDTH:
        raise ParameterError(
            f"{who}: {name}={width:g} is too small: it must be at least {SMALLEST_WIDTH:g}, "
            f"because squared distances underflow below it. Multiply X and {name} by the same "
            "factor."
        )


def density_kernel(kernel: Any, who: str) -> SmoothingKernel:
    """The smoothing kernel with this name, if it can be the density of a distribution."""
    given = smoothing.named(kernel) if not isinstance(kernel, smoothing.Nearest) else kernel
    if isinstance(given, smoothing.Nearest) or not given.nonnegative:
        reason = (
            "its width differs from query to query"
            if isinstance(given, smoothing.Nearest)
            else "it has negative values"
        )
        raise ParameterError(
            f"{who}: kernel={kernel!r} gives no density, because {reason}. Use another kernel of "
            "th.smoothing, such as 'gaussian'."
        )
    return given


def norm_of(distance: Distance | None, n_columns: int) -> tuple[float, Array | None] | None:
    """As `KernelSums.norm`."""
    if isinstance(distance, RootOfSquares):
        p = 2.0
    elif isinstance(distance, Minkowski | Manhattan | Chebyshev):
        p = float(distance.order)
    else:
        return None
    if isinstance(distance, Euclidean | Manhattan | Chebyshev):
        return p, None
    unit = np.eye(n_columns)
    map_ = np.asarray(distance.embedded(unit)) - np.asarray(distance.embedded(0 * unit))
    if np.array_equal(map_, unit):
        return p, None
    # Rows are mapped, so that the matrix is transposed.
    if map_.shape != unit.shape or not np.linalg.slogdet(map_)[0]:
        return None
    return p, map_.T


def _power(index: NeighborIndex) -> float | None:
    """The power of the reduced distance that the distance is; None if it is another function."""
    distance = index.distance
    if isinstance(distance, RootOfSquares):
        return 0.5
    if isinstance(distance, Minkowski):
        return 1 / distance.p
    return 1.0 if isinstance(distance, Manhattan | Chebyshev) else None


def log_kernel(kernel: SmoothingKernel, s: Array) -> Array:
    """log K(s), also where K(s) underflows."""
    if isinstance(kernel, smoothing.Gaussian):
        return np.asarray(-0.5 * np.square(np.minimum(s, 1e150)) - 0.5 * log(2 * pi))
    with np.errstate(divide="ignore"):
        logs = np.log(kernel.value(np.minimum(s, TAIL) if kernel.name in TAILS else s))
    if kernel.name in TAILS:
        logs = np.where(s > TAIL, log(TAILS[kernel.name]) - s, logs)
    return np.asarray(logs)
