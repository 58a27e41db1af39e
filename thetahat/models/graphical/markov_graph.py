"""The Markov graph of a Gaussian: an edge for each entry of the precision matrix that is not zero.

q_ij = 0  ⇔  x_i ⟂ x_j, given all other columns;  x_A ⟂ x_B | x_C if C separates A from B
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from thetahat.estimator.parameters import at_least, check_value
from thetahat.foundation.cached import cached_property
from thetahat.foundation.drawing import draws
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.mathematics.linalg.square import as_symmetric
from thetahat.models.graphical.layout import spring_layout
from thetahat.models.graphical.precision_block import inverse_of
from thetahat.models.graphical.reachable import connected_components, reachable

Edge = tuple[Any, Any]
MOST_LISTED = 20
"""Most edges that are printed."""


class MarkovGraph:
    """Markov graph of a Gaussian: which columns depend on each other, given all others.

    Columns i and j are neighbours if the partial correlation ρ_ij = −q_ij/√(q_ii q_jj) is not zero,
    where Q = Σ⁻¹ is the precision matrix. Sets of columns that the graph separates are independent:
    x_A ⟂ x_B | x_C if every path from A to B passes through C. The covariance graph, which has an
    edge where σ_ij ≠ 0, shows marginal dependence instead and usually has many more edges.

    Formula: edge i — j ⇔ |ρ_ij| > tol. Cost: O(d³) for checking the matrix and for the covariance
    graph; O(d²) for each query.

    Parameters
    ----------
    precision : array-like of shape (d, d) or fitted model
        The precision matrix (Q), symmetric and positive definite, or a fitted model with
        ``get_precision``, such as `GraphicalLasso`.
    names : sequence of str, optional
        Names of the columns. By default those of the fitted model, or the numbers 0, 1, ...
    tol : float, default=1e-8
        Partial correlations up to this size count as zero. Larger values leave out weak edges. Must
        be at least 0.

    Attributes
    ----------
    precision : ndarray of shape (d, d)
        The precision matrix (Q) of the columns.
    names : tuple
        The name of each column.
    partial_correlations : ndarray of shape (d, d)
        Partial correlation ρ_ij of each pair of columns, given all others; 1 on the diagonal.
    adjacency : ndarray of bool of shape (d, d)
        Whether two columns are neighbours in the graph.

    Examples
    --------
    >>> import thetahat as th
    >>> Q = [[2.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 1.0]]
    >>> graph = th.MarkovGraph(Q, names=["rain", "traffic", "delay"])
    >>> graph.neighbors("traffic")
    ['rain', 'delay']
    >>> graph.is_separated("rain", "delay", given="traffic")
    True
    >>> graph.covariance_edges
    [('rain', 'traffic'), ('rain', 'delay'), ('traffic', 'delay')]
    """

    def __init__(
        self, precision: Any, *, names: Sequence[str] | None = None, tol: float = 1e-8
    ) -> None:
        check_value(tol, at_least(0), "tol", "MarkovGraph")
        if hasattr(precision, "get_precision"):
            check_is_fitted(precision)
            names = getattr(precision, "feature_names_in_", None) if names is None else names
            precision = precision.get_precision()
        elif hasattr(precision, "fit"):
            raise ParameterError(
                f"MarkovGraph: precision={precision!r:.80} has no get_precision. Pass a precision "
                "matrix, or a fitted model of one covariance, such as th.GraphicalLasso()."
            )
        self.precision = as_symmetric(precision, who="MarkovGraph")
        self.tol = float(tol)
        d = len(self.precision)
        self.names: tuple[Any, ...] = tuple(range(d)) if names is None else _names(names, d)
        variances = np.einsum("ii->i", self.precision)
        if not (variances > 0).all():
            worst = int(np.argmin(variances))
            raise DataError(
                f"MarkovGraph: entry ({worst}, {worst}) of the precision matrix is "
                f"{variances[worst]:g}, but the diagonal must be positive. Pass the inverse of a "
                "covariance matrix."
            )
        scale = np.sqrt(variances)
        scaled = self.precision / scale / scale[:, None]
        _require_semidefinite(scaled)
        self.partial_correlations = -scaled
        np.fill_diagonal(self.partial_correlations, 1.0)
        self.adjacency = np.abs(self.partial_correlations) > self.tol
        np.fill_diagonal(self.adjacency, False)

    @property
    def n_edges(self) -> int:
        """Number of edges."""
        return int(np.count_nonzero(self.adjacency)) // 2

    @property
    def edges(self) -> list[Edge]:
        """The pairs of neighbouring columns, by name."""
        return self._pairs(self.adjacency)

    @cached_property
    def covariance_edges(self) -> list[Edge]:
        """The pairs of columns with a correlation above `tol`: the edges of the covariance graph.

        A missing edge means σ_ij = 0 ⇔ x_i ⟂ x_j, without any other column given.
        """
        found = inverse_of(self.precision)
        if found is None:
            raise DataError(
                "MarkovGraph.covariance_edges: the precision matrix is not positive definite, so "
                "that it has no covariance matrix. Pass the inverse of a covariance matrix."
            )
        scale = np.sqrt(np.einsum("ii->i", found[1]))
        return self._pairs(np.abs(found[1] / scale / scale[:, None]) > self.tol)

    def neighbors(self, column: Any) -> list[Any]:
        """Return the columns that share an edge with a column. Cost: O(d).

        Parameters
        ----------
        column : str or int
            Name or number of the column.

        Returns
        -------
        neighbors : list
            Names of its neighbours, in the order of the columns.
        """
        return self._named(self.adjacency[self._place(column)])

    def markov_blanket(self, column: Any) -> list[Any]:
        """Return the smallest set that makes a column independent of all others. Cost: O(d).

        In an undirected graph the Markov blanket is the set of neighbours.

        Parameters
        ----------
        column : str or int
            Name or number of the column.

        Returns
        -------
        blanket : list
            Names of the columns, in the order of the columns.
        """
        return self.neighbors(column)

    def is_separated(self, first: Any, second: Any, given: Any = ()) -> bool:
        """Return whether x_A ⟂ x_B | x_C follows from the graph. Cost: O(d²).

        Parameters
        ----------
        first : str, int or iterable of them
            One column, or a set of columns (A).
        second : str, int or iterable of them
            One column, or a set of columns (B).
        given : str, int or iterable of them, default=()
            The columns whose values are known (C). Without any, A and B are separated if no path
            connects them.

        Returns
        -------
        separated : bool
            True if every path from A to B passes through C.
        """
        A, B, C = (self._set(each) for each in (first, second, given))
        if not A.any() or not B.any():
            raise ParameterError(
                "MarkovGraph.is_separated: first and second must name at least one column each."
            )
        common = (A & B) | (A & C) | (B & C)
        if common.any():
            raise ParameterError(
                f"MarkovGraph.is_separated: column {self.names[int(np.argmax(common))]!r} is in "
                "two of the sets first, second and given, which must be disjoint. Remove it from "
                "one of them."
            )
        return not bool((reachable(self.adjacency, A, blocked=C) & B).any())

    def connected_components(self) -> list[list[Any]]:
        """Return the sets of columns that are connected by paths. Cost: O(d²).

        Returns
        -------
        components : list of list
            Names of the columns of each component. Different components are independent.
        """
        return [
            [self.names[place] for place in part] for part in connected_components(self.adjacency)
        ]

    def partial_correlation(self, first: Any, second: Any) -> float:
        """Return the correlation of two columns, given all others. Cost: O(1).

        Formula: ρ_ij = −q_ij/√(q_ii q_jj).

        Parameters
        ----------
        first : str or int
            Name or number of a column.
        second : str or int
            Name or number of another column.

        Returns
        -------
        correlation : float
            The partial correlation, in [−1, 1].
        """
        return float(self.partial_correlations[self._place(first), self._place(second)])

    @draws
    def plot(self, axes: Any = None) -> None:
        """Draw the graph: wide edges are strong, blue ones positive and red ones negative.

        Cost: O(d²) for each of 200 steps that arrange the columns.
        """
        at = spring_layout(np.where(self.adjacency, np.abs(self.partial_correlations), 0.0))
        for i, j in np.argwhere(np.triu(self.adjacency)):
            strength = self.partial_correlations[i, j]
            axes.plot(
                *at[[i, j]].T,
                color="tab:blue" if strength > 0 else "tab:red",
                linewidth=0.5 + 5.0 * abs(strength),
                alpha=0.6,
                solid_capstyle="round",
                zorder=1,
            )
        axes.scatter(*at.T, s=60, color="white", edgecolors="black", zorder=2)
        for name, (x, y) in zip(self.names, at, strict=True):
            axes.annotate(
                str(name), (x, y), xytext=(0, 8), textcoords="offset points", ha="center", zorder=3
            )
        axes.margins(0.15)
        axes.set_aspect("equal")
        axes.set_axis_off()

    def __repr__(self) -> str:
        return f"MarkovGraph({len(self.names)} columns, {self.n_edges} edges)".replace(
            "(1 columns", "(1 column"
        ).replace(" 1 edges", " 1 edge")

    def __str__(self) -> str:
        """The edges with their partial correlations, strongest first."""
        pairs = np.argwhere(np.triu(self.adjacency))
        strength = self.partial_correlations[pairs[:, 0], pairs[:, 1]]
        order = np.argsort(-np.abs(strength), kind="stable")
        lines = [repr(self)]
        for at in order[:MOST_LISTED]:
            i, j = pairs[at]
            lines.append(f"  {self.names[i]} — {self.names[j]}  {strength[at]:+.3f}")
        if len(order) > MOST_LISTED:
            lines.append(f"  and {len(order) - MOST_LISTED} more")
        return "\n".join(lines)

    def _pairs(self, linked: Array) -> list[Edge]:
        return [(self.names[i], self.names[j]) for i, j in np.argwhere(np.triu(linked, 1))]

    def _named(self, which: Array) -> list[Any]:
        return [self.names[place] for place in np.flatnonzero(which)]

    def _place(self, column: Any) -> int:
        is_single = isinstance(column, Hashable) and not isinstance(column, bool | np.bool_)
        if is_single and column in self.names:
            return self.names.index(column)
        if is_single and isinstance(column, int | np.integer) and 0 <= column < len(self.names):
            return int(column)
        known = ", ".join(map(repr, self.names[:10]))
        raise ParameterError(
            f"MarkovGraph: there is no column {column!r:.80}; the columns are {known}"
            + (", ... ." if len(self.names) > 10 else ".")
        )

    def _set(self, columns: Any) -> Array:
        single = isinstance(columns, str) or not isinstance(columns, Iterable)
        found = np.zeros(len(self.names), dtype=bool)
        for column in [columns] if single else columns:
            found[self._place(column)] = True
        return found


def _names(names: Any, d: int) -> tuple[Any, ...]:
    found = tuple(names) if isinstance(names, Iterable) else ()
    is_sound = len(found) == d and all(isinstance(name, Hashable) for name in found)
    if not is_sound or len(set(found)) != d:
        raise ParameterError(
            f"MarkovGraph: names={names!r:.80} must be {d} different names, one per column."
        )
    return found


def _require_semidefinite(scaled: Array) -> None:
    """Refuse a matrix with unit diagonal that has a negative eigenvalue beyond rounding."""
    d = len(scaled)
    slack = 1e-10 * d
    with one_blas_thread():
        try:
            np.linalg.cholesky(scaled + slack * np.eye(d))
        except np.linalg.LinAlgError:
            least = float(np.linalg.eigvalsh(scaled)[0])
            raise DataError(
                "MarkovGraph: the precision matrix must be positive definite, but scaled to a unit "
                f"diagonal it has the eigenvalue {least:.4g}. Pass the inverse of a covariance "
                "matrix."
            ) from None
