"""The curse of dimensionality: what a grid, a neighbourhood and a ball become in D dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, expm1, lgamma, log, log1p, log2, pi
from typing import Any

import numpy as np

from thetahat.foundation.drawing import draws
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array
from thetahat.theory.requirements import computable, probability, whole


@dataclass(frozen=True)
class Dimensionality:
    """How a unit cube with n uniform rows looks in each number of dimensions; prints as a table.

    Formula: see `curse_of_dimensionality`. Cost: O(number of dimensions).

    Attributes
    ----------
    dimensions : tuple of int
        The numbers of dimensions (D).
    cells : tuple of int
        For each D, the number of cells of the grid, B^D.
    filled : array of shape (n_dimensions,)
        For each D, the expected share of the cells that hold a row.
    edge : array of shape (n_dimensions,)
        For each D, the edge of a cube that holds the given share of the rows.
    shell : array of shape (n_dimensions,)
        For each D, the share of the cube that is within 0.05 of its surface.
    ball : array of shape (n_dimensions,)
        For each D, the share of the cube that the largest ball inside it fills.

    Examples
    --------
    >>> import thetahat as th
    >>> print(th.theory.curse_of_dimensionality([1, 2, 6], n=1000))
           D        cells   filled     edge    shell     ball
           1           10        1     0.01      0.1        1
           2          100        1      0.1     0.19   0.7854
           6      1000000 0.0009995   0.4642   0.4686  0.08075
    """

    dimensions: tuple[int, ...]
    cells: tuple[int, ...]
    filled: Array
    edge: Array
    shell: Array
    ball: Array

    def __str__(self) -> str:
        lines = [f"{'D':>8} {'cells':>12} {'filled':>8} {'edge':>8} {'shell':>8} {'ball':>8}"]
        rows = zip(
            self.dimensions, self.cells, self.filled, self.edge, self.shell, self.ball, strict=True
        )
        for d, cells, *shares in rows:
            count = f"{cells:>12}" if cells < 10**12 else f"{f'10^{log(cells) / log(10):.4g}':>12}"
            lines.append(f"{d:>8} {count} " + " ".join(f"{share:>8.4g}" for share in shares))
        return "\n".join(lines)

    @draws
    def plot(self, axes: Any = None) -> None:
        """Plot the four shares over the number of dimensions. Cost: O(number of dimensions)."""
        for label, shares in (
            ("cells that hold a row", self.filled),
            ("edge of a cube with the given share of the rows", self.edge),
            ("volume within 0.05 of the surface", self.shell),
            ("volume of the largest ball inside", self.ball),
        ):
            axes.plot(self.dimensions, shares, "o-", ms=3, label=label)
        axes.set(xlabel="dimensions", ylabel="share of the unit cube", ylim=(-0.05, 1.05))
        axes.legend(frameon=False)


def curse_of_dimensionality(
    dimensions: Sequence[int] = (1, 2, 3, 5, 10, 20),
    *,
    bins: int = 10,
    n: int = 1000,
    share: float = 0.01,
) -> Dimensionality:
    """Show how a grid, a neighbourhood and a ball change with the number of dimensions.

    Formula: B bins per axis make B^D cells, of which n uniform rows fill the expected share
    1 − (1 − B^{−D})ⁿ. A cube that holds the share p of the rows has the edge p^{1/D}, so
    neighbourhoods are no longer local. 1 − 0.9^D of the cube is within 0.05 of its surface, and the
    largest ball inside it has the volume π^{D/2}/(2^D Γ(D/2 + 1)). A classifier that keeps one
    label per cell therefore needs about B^D rows. Cost: O(number of dimensions).

    Parameters
    ----------
    dimensions : sequence of int, default=(1, 2, 3, 5, 10, 20)
        The numbers of dimensions to compare (D), each at least 1.
    bins : int, default=10
        The number of bins per axis (B), at least 1. More bins make more cells.
    n : int, default=1000
        The number of uniform rows, at least 0. More rows fill more cells.
    share : float, default=0.01
        The share of the rows in a neighbourhood (p), between 0 and 1.

    Returns
    -------
    Dimensionality

    Examples
    --------
    >>> import thetahat as th
    >>> found = th.theory.curse_of_dimensionality([1, 3, 10])
    >>> found.cells
    (10, 1000, 10000000000)
    >>> found.edge.round(2).tolist()
    [0.01, 0.22, 0.63]
    """
    who = "curse_of_dimensionality"
    sizes = tuple(dimensions)
    if not sizes:
        raise ParameterError(f"{who}: dimensions is empty. Use dimensions=[1, 2, 10].")
    for each in sizes:
        whole(each, "dimensions", who, low=1)
    whole(bins, "bins", who, low=1)
    whole(n, "n", who, low=0)
    probability(share, "share", who)
    for d in sizes:
        computable(log2(int(bins)) * int(d), f"the number of cells in {d} dimensions", who)
    cells = tuple(int(bins) ** int(d) for d in sizes)
    return Dimensionality(
        tuple(map(int, sizes)),
        cells,
        np.array([_filled(count, int(n)) for count in cells]),
        np.array([share ** (1 / d) for d in sizes]),
        np.array([1 - 0.9**d for d in sizes]),
        np.array([exp(d / 2 * log(pi) - d * log(2) - lgamma(d / 2 + 1)) for d in sizes]),
    )


def _filled(cells: int, n: int) -> float:
    """1 − (1 − 1/cells)ⁿ, also for more cells than a float can count."""
    if cells == 1:
        return float(n > 0)
    inverse = exp(-log(cells))
    return -expm1(n * log1p(-inverse))
