"""Soft k-means: every row belongs to all clusters, in shares that fall with the distance."""

from __future__ import annotations

import math
from functools import reduce
from typing import Any, ClassVar

import numpy as np

from thetahat.data.source import Block
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, more_than
from thetahat.estimator.watching import with_callbacks
from thetahat.foundation.memory import require_memory
from thetahat.foundation.types import Array, Matrix
from thetahat.models.cluster.lloyd import Rows
from thetahat.models.cluster.nearest import PAIRS_AT_ONCE, require_measured, squares_between
from thetahat.models.cluster.restarts import RestartedCentres
from thetahat.models.cluster.sums import ClusterSums


@with_parameters
class SoftKMeans(RestartedCentres):
    """Soft k-means clustering: rows belong to clusters in shares that fall with the distance.

    Each step computes the shares of every row and moves every centre to the mean of all rows,
    weighted by their shares. The loss never rises. As the temperature falls to 0, the shares become
    0 and 1, and the result that of `KMeans`. At high temperatures, centres coincide.

    Formula: p(z = k | x) = e^{−‖x − μ_k‖²/λ} / Σ_l e^{−‖x − μ_l‖²/λ} and μ_k = Σᵢ wᵢp_{ik}xᵢ / Σᵢ
    wᵢp_{ik}, which minimise F(μ) = −λ Σᵢ wᵢ log Σ_k e^{−‖xᵢ − μ_k‖²/λ}. It is the EM algorithm for
    Gaussians of equal weight and variance λ/2.

    Cost: O(n k d) time per iteration, and O(n + k d) memory beside the rows, which may be in
    memory, sparse, memory-mapped or in a file.

    Parameters
    ----------
    temperature : float, default=1.0
        How soft the assignment is (λ), in squared units of the columns. Small values assign each
        row to its nearest centre, large ones to all centres alike. Must be positive.

    Attributes
    ----------
    labels_ : array of shape (n,)
        The number of the cluster with the largest share, for each training row.
    loss_ : float
        The loss F of the centres.

    Examples
    --------
    >>> import thetahat as th
    >>> X = [[0.0], [1.0], [9.0], [10.0]]
    >>> model = th.SoftKMeans(2, temperature=4.0, init=[[0.0], [10.0]]).fit(X)
    >>> model.cluster_centers_.round(3).ravel().tolist()
    [0.5, 9.5]
    >>> model.soft_assignment([[5.0], [4.5]]).round(3).tolist()
    [[0.5, 0.5], [0.905, 0.095]]
    """

    temperature: float = 1.0

    _ranges: ClassVar[dict[str, Range]] = RestartedCentres._ranges | {
        "temperature": more_than(0, 1e300)
    }

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> SoftKMeans:
        """Find the centres. Cost: O(n k d) per iteration and start."""
        self._fit_from_starts(X, y, sample_weight)
        self.loss_ = self.solution_.value
        self._warn_unless_converged()
        return self

    def _problem(self, rows: Rows) -> SoftPartition:
        return SoftPartition(rows, float(self.temperature))

    def soft_assignment(self, X: Any) -> Array:
        """Compute the share of every cluster in every row, p(z = k | x). Cost: O(n k d).

        Parameters
        ----------
        X : array-like, table or Source of shape (n, d)
            Rows with the same columns as in `fit`.

        Returns
        -------
        array of shape (n, n_clusters)
            Shares between 0 and 1, which sum to 1 in each row.
        """
        source = self._open_again(X)
        centres, size = self._double_centres(), 2 * np.dtype(source.dtype).itemsize
        require_memory(
            source.n_rows * len(centres) * size,
            f"{type(self).__name__}: {source.n_rows} rows of {len(centres)} shares",
            "Use fewer rows at a time.",
        )

        def of_block(block: Block) -> Array:
            squares = squares_between(block.X, centres)
            require_measured(squares)
            return shares(squares, float(self.temperature))[0].astype(source.dtype)

        return source.map_rows(of_block)


def shares(squares: Array, temperature: float) -> tuple[Array, Array]:
    """e^{−s/λ} divided by its sum in each row, and −λ log of the sum."""
    least = squares.min(axis=1)
    with np.errstate(over="ignore"):
        found = np.exp((least[:, None] - squares) / temperature)
    total = found.sum(axis=1)
    found /= total[:, None]
    return found, least - temperature * np.log(total)


def shared_sums(X: Matrix, share: Array, centres: Array) -> ClusterSums:
    """Sums of the rows about the centres, by weighted shares: μ = c + Σ p(x − c)/Σ p."""
    total = share.sum(axis=0)
    if isinstance(X, np.ndarray):
        middle = centres.mean(axis=0)
        sums = share.T @ (X - middle) - total[:, None] * (centres - middle)
    else:
        sums = np.asarray((X.T @ share).T) - total[:, None] * centres
    return ClusterSums(sums, total, np.ones(len(centres), dtype=np.int64), 0.0)


class SoftPartition:
    """The problem of one start: shares of the rows, and centres at their weighted means."""

    convex = False

    def __init__(self, rows: Rows, temperature: float) -> None:
        self.rows, self.temperature = rows, temperature
        self.centres: Array | None = None
        self.shift = math.inf
        self._state = rows.source.row_state(label=np.int32(0))

    @property
    def label(self) -> Array:
        """The cluster in which each row has its largest share."""
        return self._state.values("label")

    def assign(self, centres: Array) -> ClusterSums:
        """The sums of the rows, by their shares in each cluster. Cost: O(n k d)."""
        if self.centres is not None:
            moved = centres - self.centres
            self.shift = float(np.einsum("ij,ij->", moved, moved))
        self.centres = centres
        found = self._state.reduce(_assign_block, centres, self.temperature)
        rounding = 8.0 * np.finfo(self.rows.source.dtype).eps
        if self.shift <= rounding**2 * float(np.einsum("ij,ij->", centres, centres)):
            found.changed = 0
        return found

    def update(self, centres: Array, sums: ClusterSums) -> Array:
        """Move the centres to the means; a cluster without any share keeps its centre."""
        return sums.means(centres).astype(self.rows.source.dtype).astype(np.float64)


def _assign_block(
    block: Block, rows: dict[str, Array], centres: Array, temperature: float
) -> ClusterSums:
    step = max(1, PAIRS_AT_ONCE // len(centres))
    parts = (
        slice(start, min(start + step, block.n_rows)) for start in range(0, block.n_rows, step)
    )
    found = (_assign_rows(block.take(part), rows["label"][part], centres, temperature)
             for part in parts)  # fmt: skip
    return reduce(ClusterSums.absorb, found)


def _assign_rows(block: Block, label: Array, centres: Array, temperature: float) -> ClusterSums:
    share, losses = shares(squares_between(block.X, centres), temperature)
    label[:] = share.argmax(axis=1)
    if block.weight is not None:
        share *= block.weight[:, None]
        losses *= block.weight
    found = shared_sums(block.X, share, centres)
    found.loss, found.changed = float(losses.sum()), block.n_rows
    return found
