"""Histograms: p(x) = N_l/(N·V_l) in the cell l of a grid that contains x, and 0 outside."""

from __future__ import annotations

from dataclasses import KW_ONLY
from functools import partial
from math import prod
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from thetahat.data.source import Block
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.density import DensityModel, require_sample_count
from thetahat.estimator.parameters import LARGEST_FACTOR, Range, at_least, boolean
from thetahat.foundation.arguments import numbers
from thetahat.foundation.errors import CapabilityError, DataError, ParameterError
from thetahat.foundation.memory import require_memory
from thetahat.foundation.randomness import RandomState, generator
from thetahat.foundation.types import Array
from thetahat.models.density.box import box_around
from thetahat.models.density.histogram.bins import edges_of, whole_number_edges
from thetahat.models.density.histogram.grid import Grid, bin_indices
from thetahat.models.density.single_rows import HistogramTable, SingleRows


@with_parameters
class Histogram(DensityModel, SingleRows):
    """Histogram: a density that is constant in every cell of a grid.

    Formula: p(x) = N_l/(N·V_l) in the cell l that contains x, with V_l its volume, and 0 outside
    the grid. In one dimension l = ⌊(x − x_min)/Δx⌋ and p̂_l = N_l/(N·Δx); these heights minimise the
    integrated squared error among all densities that are constant in the bins. The error is
    Err = ∫p*² − Σ_l p̂_l²V_l, up to the unknown first term.

    With several columns the cells are all combinations of bins: 10 bins in each of d columns make
    10^d cells, and most of them are empty (``emptiness_``). ``factorised=True`` uses one histogram
    per column instead, p(x) = Π_j p_j(x_j), with 10·d bins; `DensityTree` adapts its cells to the
    data. Only occupied cells are kept in memory.

    Cost: O(n d log(bins)); memory O(n d).

    Parameters
    ----------
    bins : int, str, array-like or list of them, default="freedman_diaconis"
        How the range of each column is divided. A number of equally wide bins; more bins give a
        more detailed density and a higher variance. A rule: "scott", "freedman_diaconis",
        "shimazaki_shinomoto" or "cross_validation" (see ``th.binning``); the last two choose one
        number of bins for all columns of a grid. An array of edges, if there is one column. A list
        with one of these for each column.
    discrete : bool, default=False
        If True, all rows must be whole numbers, such as those of dice; every whole number of the
        range is a bin, p(x) is its share N_l/N, and `bins` is not used.
    factorised : bool, default=False
        If True, the columns are treated as independent: p is the product of one histogram per
        column.
    smoothing : float, default=0.0
        Weight that is added to every cell (α), so that p̂_l = (N_l + α)/((N + α·L)·V_l). With 0,
        empty cells have density 0, and their log-density is −inf. Must be at least 0.
    margin : float, default=0.0
        Margin of the grid on both sides of the rows, as a multiple of the range of each column.
        Must be at least 0.
    bounds : array-like of shape (d, 2) or None, default=None
        Lower and upper bound of each column. By default those of the rows. Columns with given edges
        do not use them.

    Attributes
    ----------
    bin_edges_ : list of ndarray
        Edges of the bins of each column.
    n_cells_ : int
        Number of cells of the grid; with ``factorised=True`` the sum of the bins of all columns.
    emptiness_ : float
        Share of the cells that contain no row.
    error_score_ : float
        −Σ_l p̂_l²V_l, the integrated squared error up to the constant ∫p*². Smaller values fit the
        training rows better; use `th.binning.leave_one_out_cost` to compare numbers of bins.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : array of shape (d,)
        Names of the columns seen in `fit`. Defined only when X has column names that are all
        strings.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> model = th.Histogram(bins=2, bounds=[(0, 1)]).fit([[0.1], [0.2], [0.3], [0.9]])
    >>> model.heights()
    array([1.5, 0.5])
    >>> model.log_density([[0.4], [2.0]]).round(3)
    array([0.405,  -inf])
    >>> dice = th.Histogram(discrete=True).fit([[1], [3], [3], [6]])
    >>> np.exp(dice.log_density([[3], [4]]))
    array([0.5, 0. ])
    """

    bins: Any = "freedman_diaconis"
    _: KW_ONLY
    discrete: bool = False
    factorised: bool = False
    smoothing: float = 0.0
    margin: float = 0.0
    bounds: Any = None

    _ranges: ClassVar[dict[str, Range]] = {
        "discrete": boolean,
        "factorised": boolean,
        "smoothing": at_least(0, LARGEST_FACTOR),
        "margin": at_least(0, LARGEST_FACTOR),
    }

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Histogram:
        """Choose the bins and count the rows. Cost: O(n d log(bins)).

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
        who = type(self).__name__
        if self.discrete:
            edges = whole_number_edges(source, self.bounds, not self.factorised, who)
        else:
            box = partial(box_around, source, self.bounds, self.margin, who)
            edges = edges_of(self.bins, source, weight, box, not self.factorised, who)
        rows = np.asarray(source.X, dtype=np.float64)
        alone = [[j] for j in range(len(edges))]
        self._grids: list[Grid] = [
            Grid.of(rows[:, some], weight, tuple(edges[j] for j in some), float(self.smoothing))
            for some in (alone if self.factorised else [list(range(len(edges)))])
        ]
        self._dtype = source.dtype
        self.bin_edges_ = list(edges)
        self.n_cells_ = sum(grid.n_cells for grid in self._grids)
        self.emptiness_ = 1 - sum(len(grid.counts) for grid in self._grids) / self.n_cells_
        self.error_score_ = -prod(grid.sum_of_squares() for grid in self._grids)
        return self

    def log_density(self, X: Any) -> Array:
        """Compute the natural logarithm of the density for each row. Cost: O(n d log(bins)).

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows to evaluate, with the same columns as in `fit`.

        Returns
        -------
        ndarray of shape (n,)
            log p(x); −inf outside the grid and in empty cells.
        """
        return self._open_again(X).map_rows(self._log_block)

    def _log_block(self, block: Block) -> Array:
        rows = np.asarray(block.X, dtype=np.float64)
        logs = np.zeros(len(rows))
        for grid, columns in zip(self._grids, self._columns(), strict=True):
            logs += grid.log_density(rows[:, columns])
        if self.discrete:
            logs[(rows != np.rint(rows)).any(axis=1)] = -np.inf
        return logs.astype(block.X.dtype, copy=False)

    def _row_table(self) -> HistogramTable | None:
        """The same for single rows."""
        return HistogramTable.of(self._grids, self._columns(), discrete=self.discrete)

    def _columns(self) -> list[list[int]]:
        every = list(range(self.n_features_in_))
        return [[j] for j in every] if len(self._grids) > 1 else [every]

    def bin_index(self, X: Any) -> Array:
        """Return the bin of each entry. Cost: O(n d log(bins)).

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows to look up, with the same columns as in `fit`.

        Returns
        -------
        ndarray of shape (n, d)
            Number of the bin, from 0; −1 for values outside the range of the column.
        """
        rows = np.asarray(self._open_again(X).X, dtype=np.float64)  # type: ignore[attr-defined]
        return bin_indices(rows, tuple(self.bin_edges_))

    def counts(self) -> Array:
        """Return the weight of the rows in every cell, empty ones included. Cost: O(cells).

        Returns
        -------
        ndarray of shape (bins of column 0, bins of column 1, ...)
            The counts N_l, without ``smoothing``. Not available with ``factorised=True`` and
            several columns.
        """
        grid = self._only_grid("counts")
        require_memory(
            8 * grid.n_cells,
            f"Histogram.counts: an array of {grid.n_cells:.3g} cells",
            "Use log_density for the cells of some rows.",
        )
        found = np.zeros(grid.shape)
        found[tuple(grid.bins_of(np.arange(len(grid.counts))).T)] = grid.counts
        return found

    def heights(self) -> Array:
        """Return the density in every cell, empty ones included. Cost: O(cells).

        Returns
        -------
        ndarray of shape (bins of column 0, bins of column 1, ...)
            The heights p̂_l. Not available with ``factorised=True`` and several columns.
        """
        found, grid = self.counts(), self._only_grid("heights")
        found += grid.smoothing
        found /= grid.total
        for j, edges in enumerate(grid.edges):
            found /= np.diff(edges).reshape([-1 if k == j else 1 for k in range(found.ndim)])
        return found

    def cdf(self, x: Any) -> Array:
        """Compute P(X ≤ x) of a histogram of one column. Cost: O(log(bins)) per number.

        Parameters
        ----------
        x : array-like
            Numbers at which to evaluate the distribution function.

        Returns
        -------
        ndarray of the shape of x
        """
        edges, reached = self._cumulative("cdf")
        at = np.asarray(x, dtype=np.float64)
        if self.discrete:
            at = np.floor(at) + 0.5
        return np.asarray(np.interp(at, edges, reached))

    def quantile(self, q: Any) -> Array:
        """Compute the smallest x with P(X ≤ x) ≥ q, of a histogram of one column.

        Cost: O(log(bins)) per number.

        Parameters
        ----------
        q : array-like
            Probabilities of the quantiles, in [0, 1].

        Returns
        -------
        ndarray of the shape of q
        """
        edges, reached = self._cumulative("quantile")
        wanted = numbers(q, "q", "Histogram.quantile")
        if ((wanted < 0) | (wanted > 1)).any():
            raise ParameterError(f"Histogram.quantile: q={q!r:.60} must lie in [0, 1].")
        # The first bin in which the probability is reached; empty bins in front are skipped.
        bin_ = np.clip(np.searchsorted(reached, wanted * (1 - 1e-15)), 1, len(edges) - 1) - 1
        rise = np.diff(reached)[bin_]
        share = np.divide(wanted - reached[bin_], rise, out=np.zeros_like(rise), where=rise > 0)
        found = edges[bin_] + np.clip(share, 0, 1) * np.diff(edges)[bin_]
        return np.asarray(edges[bin_] + 0.5 if self.discrete else found)

    def sample(self, n_samples: int = 1, random_state: RandomState = None) -> Array:
        """Draw independent rows: first a cell by its share of the rows, then a point inside it.

        Cost: O(occupied cells + n_samples·d).

        Parameters
        ----------
        n_samples : int, default=1
            Number of rows to draw. Must be at least 1.
        random_state : int, Generator or None, default=None
            Seed for drawing the rows. Pass an int for the same rows on every call.

        Returns
        -------
        ndarray of shape (n_samples, d)
            The drawn rows; whole numbers with ``discrete=True``.
        """
        check_is_fitted(self)
        require_sample_count(n_samples, type(self).__name__, self.n_features_in_)
        rng = generator(random_state)
        drawn = np.hstack([grid.sample(int(n_samples), rng) for grid in self._grids])
        if self.discrete:
            low = np.array([each[0] for each in self.bin_edges_])
            drawn = np.floor(drawn - low) + low + 0.5
        return np.asarray(drawn.astype(self._dtype, copy=False))

    def _only_grid(self, method: str) -> Grid:
        check_is_fitted(self)
        if len(self._grids) > 1:
            raise CapabilityError(
                f"Histogram.{method}: with factorised=True there is one histogram per column and "
                "no joint grid. Fit a histogram to one column."
            )
        return self._grids[0]

    def _cumulative(self, method: str) -> tuple[Array, Array]:
        """The edges, and the probability below each."""
        check_is_fitted(self)
        if self.n_features_in_ > 1:
            raise DataError(
                f"Histogram.{method} is for one column, but this histogram has "
                f"{self.n_features_in_}. Fit a histogram to one column."
            )
        mass = (self.counts() + self._grids[0].smoothing) / self._grids[0].total
        return self.bin_edges_[0], np.minimum(np.concatenate([[0.0], np.cumsum(mass)]), 1.0)
