"""Sums over the rows around queries, weighted by a smoothing kernel.

A = Σ_i g_i φ_i φ_iᵀ and B = Σ_i g_i φ_i v_iᵀ with g_i = w_i·K(d(x, x_i)/h), or w_i·K² if squared.
φ_i holds monomials of the differences of columns from a centre, the constant 1 first.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np

from thetahat import _native
from thetahat.foundation.cached import cached_property
from thetahat.foundation.threads import n_threads, parallel_for
from thetahat.foundation.types import Array
from thetahat.mathematics.distances import Minkowski
from thetahat.mathematics.distances.base import Distance, Termwise
from thetahat.mathematics.distances.minkowski import RootOfSquares
from thetahat.mathematics.smoothing import Gaussian
from thetahat.mathematics.smoothing.base import SmoothingKernel

QUERIES, ROWS = 128, 2048
"""Size of a block of products, which stays in the cache until it is added."""
LEAST_PAIRS = 20_000


@dataclass(frozen=True)
class Terms:
    """The monomials φ of the columns, up to a degree: each is an earlier one times a column."""

    n_columns: int
    degree: int

    @cached_property
    def powers(self) -> list[tuple[int, ...]]:
        """The columns in every monomial; none for the constant."""
        columns = range(self.n_columns)
        return [
            some
            for degree in range(self.degree + 1)
            for some in combinations_with_replacement(columns, degree)
        ]

    @property
    def n_terms(self) -> int:
        return len(self.powers)

    @cached_property
    def recipe(self) -> tuple[Array, Array]:
        """For every monomial the number of an earlier one, and the column that multiplies it."""
        place = {some: i for i, some in enumerate(self.powers)}
        parent = [place[some[:-1]] if some else 0 for some in self.powers]
        column = [some[-1] if some else 0 for some in self.powers]
        return np.array(parent, dtype=np.int64), np.array(column, dtype=np.int64)

    def of(self, differences: Array) -> Array:
        """The monomials of some rows, (n, n_terms)."""
        parent, column = self.recipe
        phi = np.ones((differences.shape[0], self.n_terms))
        for k in range(1, self.n_terms):
            phi[:, k] = phi[:, parent[k]] * differences[:, column[k]]
        return phi


@dataclass(frozen=True)
class Around:
    """The sums that are wanted, for some queries."""

    kernel: SmoothingKernel
    widths: Array
    """The bandwidth h of every query, (m,)."""
    reach: float
    """The largest d/h of a row with a positive weight."""
    weights: Array
    """(n,)."""
    values: Array
    """v, (n, t)."""
    terms: Terms
    features: Array
    """The columns whose monomials are taken, (n, n_columns)."""
    centres: Array
    """What is subtracted from them, (m, n_columns)."""
    squared: bool = False

    def empty(self) -> tuple[Array, Array]:
        """A and B without any row, (m, p·p) and (m, p·t)."""
        m, p = self.widths.shape[0], self.terms.n_terms
        return np.zeros((m, p * p)), np.zeros((m, p * self.values.shape[1]))

    def add_compiled(
        self, tree: _native.NearestRows, points: Array, distance: Termwise, n_columns: int,
        sums: tuple[Array, Array], some: slice,
    ) -> None:  # fmt: skip
        """Add all rows in the support of the kernel at some queries, found by the tree."""
        power = 1.0
        if isinstance(distance, RootOfSquares):
            power = 0.5
        elif isinstance(distance, Minkowski):
            power = 1 / distance.p
        factor = float(distance.from_reduced(np.ones(1), n_columns)[0])
        widths = np.ascontiguousarray(self.widths[some])
        with np.errstate(over="ignore", invalid="ignore"):
            limits = (self.reach * widths / factor) ** (1 / power)
            limits = np.where(np.isnan(limits), np.inf, limits * (1 + 1e-12))
        a, b = sums
        tree.moments(
            points, limits, widths, np.ascontiguousarray(self.centres[some]), self.features,
            self.weights, self.values, *self.terms.recipe, self.kernel.code, power, factor,
            self.squared, a[some], b[some], n_threads(),
        )  # fmt: skip

    def is_gaussian_sum(self, distance: Distance | None) -> bool:
        """Whether the sums are those of exp(−‖x − x_i‖²/(2h²)) alone."""
        return (
            isinstance(self.kernel, Gaussian)
            and (isinstance(distance, RootOfSquares) or distance == Minkowski(2))
            and self.terms.n_terms == 1
            and not self.squared
        )

    def loads(self) -> Array:
        """w_i·K(0)·(1, v_i) of every row, whose Gaussian sums are A and B, (n, 1 + t)."""
        loads = self.weights[:, None] * np.column_stack([np.ones(len(self.weights)), self.values])
        return loads * float(self.kernel.value(0.0))

    def suits_products(self, points: Array, queries: Array, distance: Termwise) -> bool:
        """Whether most rows are in the support of the kernel, so that matrix products are faster
        than a tree.

        Distances from products are off by rounding of the spread, which is negligible then.
        """
        if not self.is_gaussian_sum(distance) or len(points) * len(queries) < LEAST_PAIRS:
            return False
        width = float(self.widths.min())
        with np.errstate(over="ignore", invalid="ignore"):
            spread = float(np.linalg.norm(np.ptp(points, axis=0)))
        return width * self.reach > 0.5 * spread and 100 * width > spread

    def add_products(self, points: Array, queries: Array, sums: tuple[Array, Array]) -> None:
        """Add all rows to the sums of Gaussian weights, by products of blocks.

        A block is computed by one thread, and blocks do not depend on the number of threads.
        """
        a, b = sums
        centre = points.mean(axis=0)
        points, queries = points - centre, queries - centre
        square = np.einsum("ij,ij->i", points, points)
        loads = self.loads()

        def add(start: int) -> None:
            some = slice(start, min(start + QUERIES, len(queries)))
            q = queries[some]
            length = np.einsum("ij,ij->i", q, q)[:, None]
            rate = (-0.5 / self.widths[some] ** 2)[:, None]
            total = np.zeros((len(q), loads.shape[1]))
            for first in range(0, len(points), ROWS):
                g = q @ points[first : first + ROWS].T
                g *= -2
                g += square[first : first + ROWS]
                g += length
                np.maximum(g, 0.0, out=g)
                g *= rate
                np.exp(g, out=g)
                total += g @ loads[first : first + ROWS]
            a[some] += total[:, :1]
            b[some] += total[:, 1:]

        parallel_for(add, range(0, len(queries), QUERIES))

    def add_pairs(self, distances: Array, sums: tuple[Array, Array], first: int) -> None:
        """Add the rows of a block of all distances, queries × rows."""
        a, b = sums
        for place, line in enumerate(distances, first):
            g, rows = self.weights_of(line, place)
            phi = self.terms.of(self.features[rows] - self.centres[place])
            a[place] += np.einsum("ik,i,il->kl", phi, g, phi).ravel()
            b[place] += np.einsum("ik,i,it->kt", phi, g, self.values[rows]).ravel()

    def weights_of(self, distances: Array, query: int) -> tuple[Array, Array]:
        """The positive weights g of the rows at a query, and the numbers of these rows."""
        with np.errstate(divide="ignore", invalid="ignore"):
            scaled = np.where(distances == 0, 0.0, distances / self.widths[query])
        rows = np.flatnonzero(scaled <= self.reach)
        value = self.kernel.value(scaled[rows])
        return self.weights[rows] * (value * value if self.squared else value), rows
