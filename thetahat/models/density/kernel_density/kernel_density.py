"""Kernel density estimation: p(x) = Σ_i w_i K(d(x, x_i)/h) / (h^d·mass·Σ_i w_i)."""

from __future__ import annotations

from dataclasses import KW_ONLY
from math import log
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from thetahat.data.row_subset import target_arrays
from thetahat.data.source import Block, Source
from thetahat.data.validation import as_weight
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.density import DensityModel, require_sample_count
from thetahat.estimator.parameters import Range, at_least, boolean, more_than, none, one_of, whole
from thetahat.foundation.errors import CapabilityError, ParameterError
from thetahat.foundation.randomness import RandomState, generator
from thetahat.foundation.types import Array
from thetahat.mathematics.distances.base import Distance, Termwise
from thetahat.mathematics.smoothing.base import SmoothingKernel
from thetahat.models.density.kernel_density.leave_one_out import best_bandwidth
from thetahat.models.neighbors.search.index import NeighborIndex
from thetahat.models.neighbors.search.kd_tree import BallTree, KDTree
from thetahat.models.neighbors.search.kernel_sums import (
    KernelSums,
    density_kernel,
    require_width,
)
from thetahat.models.neighbors.search.metric import named_distance

LARGEST_BANDWIDTH = 1e100


@with_parameters
class KernelDensity(DensityModel):
    """Kernel density estimate: the average of kernels that are centred at the rows.

    Formula: p(x) = Σ_i w_i K(d(x, x_i)/h) / (h^d·m·Σ_i w_i), where m is the integral of K(‖u‖) over
    ℝ^d.

    With ``atol`` or ``rtol``, groups of rows on which the kernel hardly varies are summed at once:
    p(x) is off by at most atol + rtol·p(x). With both 0, only rows are left out that cannot change
    the sum by a rounding error. Log-densities stay finite far from all rows, where p(x) underflows,
    if the kernel is positive everywhere.

    Under a Minkowski distance, also of scaled or whitened columns, p integrates to 1, and samples
    follow p. Under other distances p is a density up to a factor.

    Cost: O(n log n · d) for the kd-tree; O(rows in the support of the kernel · d) per query. Memory
    O(n d).

    Parameters
    ----------
    bandwidth : float or {"scott", "silverman", "cross_validation"}, default=1.0
        The distance over which the kernel falls (h). Larger values give smoother densities. A
        positive number, or a rule. "scott" is n^{−1/(d+4)} and "silverman" is
        (n·(d + 2)/4)^{−1/(d+4)}, as in scikit-learn: both are for columns with standard deviation
        1, so standardise the columns first. "cross_validation" maximises the log-likelihood of
        each row under the density of all different rows. The rules take the sum of the row weights
        for n.
    algorithm : {"auto", "kd_tree", "ball_tree"}, default="auto"
        Has no influence on results. "kd_tree" requires a distance that is a sum or maximum over
        columns; the others accept any distance.
    kernel : str or SmoothingKernel, default="gaussian"
        The smoothing kernel: a name or a value of ``th.smoothing`` without negative values. The
        names of scikit-learn ("tophat", "linear", ...) are known.
    metric : str, Distance or callable, default="euclidean"
        The distance between rows: a name or a value of ``th.distances``, or a function of two rows.
    atol : float, default=0
        Largest absolute error of a density. Larger values are faster. Must be at least 0.
    rtol : float, default=0
        Largest relative error of a density, in addition. Larger values are faster; 1e-4 is enough
        for most purposes. Must be at least 0.
    breadth_first : bool, default=True
        Has no effect. Accepted for compatibility with scikit-learn.
    leaf_size : int, default=40
        Largest number of rows that the tree does not divide further. It has an influence on speed,
        and on results only within the tolerances. Must be at least 1.
    metric_params : dict or None, default=None
        Further parameters of the distance, such as ``{"p": 3}`` for "minkowski".

    Attributes
    ----------
    bandwidth_ : float
        The bandwidth that is used.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : array of shape (d,)
        Names of the columns seen in `fit`. Defined only when X has column names that are all
        strings.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.array([[-1.0], [0.0], [1.0]])
    >>> model = th.KernelDensity(bandwidth=1.0).fit(X)
    >>> np.exp(model.log_density([[0.0], [3.0]])).round(4)
    array([0.2943, 0.0195])
    >>> model.sample(2, random_state=0).shape
    (2, 1)
    """

    _: KW_ONLY
    bandwidth: Any = 1.0
    algorithm: str = "auto"
    kernel: Any = "gaussian"
    metric: Any = "euclidean"
    atol: float = 0
    rtol: float = 0
    breadth_first: bool = True
    leaf_size: int = 40
    metric_params: dict[str, Any] | None = None

    _ranges: ClassVar[dict[str, Range]] = {
        "bandwidth": one_of("scott", "silverman", "cross_validation")
        | more_than(0, LARGEST_BANDWIDTH),
        "algorithm": one_of("auto", "kd_tree", "ball_tree"),
        "atol": at_least(0),
        "rtol": at_least(0),
        "breadth_first": boolean,
        "leaf_size": whole(1),
        "metric_params": none | Range(lambda value: isinstance(value, dict), "a dict"),
    }

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> KernelDensity:
        """Keep the rows, build the tree and choose the bandwidth. Cost: O(n log n · d).

        Parameters
        ----------
        X : array-like of shape (n, d)
            Training rows with finite numbers.
        y : None
            Has no effect. Accepted for compatibility with scikit-learn.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.

        Returns
        -------
        self
            The fitted estimator.
        """
        source, weight = self._counted(X, sample_weight)
        self._shape: SmoothingKernel = density_kernel(self.kernel, type(self).__name__)
        rows = np.array(source.X, order="C")
        index = NeighborIndex(rows, *self._distance(rows), int(self.leaf_size))
        index.prepare()
        self._total = float(weight.sum())
        # Weights of any size give the same bits, up to a power of two.
        self._sums = KernelSums(index, weight / 2.0 ** np.frexp(weight.max())[1])
        self.bandwidth_ = self._width(rows)
        return self

    def _distance(self, rows: Array) -> tuple[Distance, str]:
        who = type(self).__name__
        parameters = dict(self.metric_params or {})
        p = parameters.pop("p", 2) if self.metric in ("minkowski", "p") else 2
        given = named_distance(self.metric, parameters, p, who).fitted(rows)
        has_tree = isinstance(given, Termwise) and given.order is not None
        if self.algorithm == "kd_tree" and not has_tree:
            raise ParameterError(
                f"{who}: invalid metric for algorithm='kd_tree': {self.metric!r} is not a sum or "
                "maximum over columns. Use algorithm='auto'."
            )
        return given, "kd_tree" if has_tree else "brute"

    def _width(self, rows: Array) -> float:
        n, d = self._total, rows.shape[1]
        if self.bandwidth == "scott":
            return float(n ** (-1 / (d + 4)))
        if self.bandwidth == "silverman":
            return float((n * (d + 2) / 4) ** (-1 / (d + 4)))
        if self.bandwidth == "cross_validation":
            return best_bandwidth(self._sums, self._shape, type(self).__name__)
        require_width(float(self.bandwidth), "bandwidth", type(self).__name__)
        return float(self.bandwidth)

    @property
    def tree_(self) -> KDTree | BallTree:
        """The training rows as a tree, for searches of neighbours."""
        check_is_fitted(self)
        index = self._sums.index
        kind = KDTree if index.algorithm == "kd_tree" else BallTree
        return kind(index.rows, leaf_size=index.leaf_size, metric=index.distance)

    def log_density(self, X: Any) -> Array:
        """Compute the natural logarithm of the density for each row.

        Cost: O(rows in the support of the kernel · d) per query; less with ``atol`` or ``rtol``.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows to evaluate, with the same columns as in `fit`.

        Returns
        -------
        ndarray of shape (n,)
            log p(x); −inf where no training row is in the support of the kernel.
        """
        if self._is_small_and_sound(X):
            return self._logs(X)
        return self._open_again(X).map_rows(self._log_block)

    def _log_block(self, block: Block) -> Array:
        return self._logs(np.asarray(block.X))

    def _logs(self, rows: Array) -> Array:
        sums = self._sums
        logs = sums.log_density(
            rows, self._shape, self.bandwidth_, float(self.atol) * sums.total, float(self.rtol)
        )
        logs -= log(sums.total)
        return logs.astype(rows.dtype, copy=False)

    def _few_level(self) -> float | None:
        """What `_few_sums` lack to be log-densities; None if they cannot be used."""
        if self.atol > 0 or not self._sums.can_sum_few(self._shape):
            return None
        return self._sums.log_scale(self._shape, self.bandwidth_) - log(self._sums.total)

    def _few_sums(self, rows: Array, out: Array) -> None:
        """Log-densities of few checked rows in float64 without their constant term."""
        self._sums.sum_few(rows, self._shape, self.bandwidth_, float(self.rtol), out)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Compute the total log-likelihood Σ_i w_i log p(x_i).

        This is the sum, as in scikit-learn's KernelDensity; other density models return the mean.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows to evaluate, with the same columns as in `fit`.
        y : ignored
            Has no effect. Accepted for compatibility with scikit-learn.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.

        Returns
        -------
        score : float
            The total log-likelihood; −inf if a row of positive weight has density 0.
        """
        if isinstance(X, Source):  # it contains the weights
            sample_weight = target_arrays(X)[1]
        logs = self.log_density(X)
        if sample_weight is None:
            return float(logs.sum())
        weight = as_weight(sample_weight, logs.shape[0], type(self).__name__)
        return float(logs[weight > 0] @ weight[weight > 0])

    def sample(self, n_samples: int = 1, random_state: RandomState = None) -> Array:
        """Draw independent rows from the density: a training row, and a point of its kernel.

        Cost: O(n + n_samples·d). The distance must be a Minkowski distance, perhaps of mapped rows.

        Parameters
        ----------
        n_samples : int, default=1
            Number of rows to draw. Must be at least 1.
        random_state : int, Generator or None, default=None
            Seed for drawing the rows. Pass an int for the same rows on every call.

        Returns
        -------
        ndarray of shape (n_samples, d)
            The drawn rows.
        """
        check_is_fitted(self)
        require_sample_count(n_samples, type(self).__name__, self.n_features_in_)
        index, rng = self._sums.index, generator(random_state)
        d = index.rows.shape[1]
        norm = self._sums.norm
        if norm is None:
            raise CapabilityError(
                f"{type(self).__name__}.sample: not available with {index.distance!r}, because "
                "the kernel does not integrate to a known constant. Use a Minkowski distance, such "
                "as metric='euclidean'."
            )
        ends = np.cumsum(self._sums.weight)
        chosen = np.searchsorted(ends, rng.random(n_samples) * ends[-1], side="right")
        steps = _directions(n_samples, d, norm[0], rng)
        steps *= self._shape.draw_radii(n_samples, d, rng)[:, None] * self.bandwidth_
        if norm[1] is not None:
            steps = np.linalg.solve(norm[1], steps.T).T
        drawn = index.rows[np.minimum(chosen, len(ends) - 1)] + steps
        return np.asarray(drawn.astype(index.rows.dtype, copy=False))


def _directions(n: int, d: int, p: float, rng: np.random.Generator) -> Array:
    """Points on the unit sphere of the p-norm, by the share of the ball's volume below them."""
    if p == np.inf:
        drawn = rng.uniform(-1, 1, size=(n, d))
        return np.asarray(drawn / np.abs(drawn).max(axis=1, keepdims=True))
    if p == 2:
        drawn = rng.standard_normal((n, d))
        return np.asarray(drawn / np.linalg.norm(drawn, axis=1, keepdims=True))
    powers = rng.gamma(1 / p, size=(n, d))
    sign = rng.choice([-1.0, 1.0], size=(n, d))
    return np.asarray(sign * (powers / powers.sum(axis=1, keepdims=True)) ** (1 / p))
