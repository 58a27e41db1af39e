"""Sums over the rows around queries, weighted by a smoothing kernel.

A = Σ_i g_i φ_i φ_iᵀ and B = Σ_i g_i φ_i v_iᵀ with g_i = w_i·K(d(x, x_i)/h), or w_i·K² if squared.
φ_i holds monomials of the differences of columns from a centre, the constant 1 first.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement

import numpy as np

from thetahat import _native
from thetahat.foundation.threads import n_threads
from thetahat.foundation.types import Array
from thetahat.mathematics.distances import Minkowski
from thetahat.mathematics.distances.base import Termwise
from thetahat.mathematics.distances.minkowski import RootOfSquares
from thetahat.mathematics.smoothing.base import SmoothingKernel


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
    """The largest d/h of a row that counts."""
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
        """Add all rows within reach of some queries, found by the tree."""
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

    def add_pairs(self, distances: Array, sums: tuple[Array, Array], first: int) -> None:
        """Add the rows of a block of all distances, queries × rows."""
        a, b = sums
        for place, line in enumerate(distances, first):
            g, rows = self.weights_of(line, place)
            phi = self.terms.of(self.features[rows] - self.centres[place])
            a[place] += np.einsum("ik,i,il->kl", phi, g, phi).ravel()
            b[place] += np.einsum("ik,i,it->kt", phi, g, self.values[rows]).ravel()

    def weights_of(self, distances: Array, query: int) -> tuple[Array, Array]:
        """The weights g of the rows that count for a query, and the numbers of these rows."""
        with np.errstate(divide="ignore", invalid="ignore"):
            scaled = np.where(distances == 0, 0.0, distances / self.widths[query])
        rows = np.flatnonzero(scaled <= self.reach)
        value = self.kernel.value(scaled[rows])
        return self.weights[rows] * (value * value if self.squared else value), rows
