"""Density trees: p(x) = (N_l/N)·p_l(x) in the cell l that contains x; cells are made by splits."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.fold_routing import splits_of
from thetahat.estimator.parameters import Range, none, one_of, whole
from thetahat.foundation.errors import DataError
from thetahat.foundation.randomness import generator
from thetahat.foundation.types import Array
from thetahat.models.density.box import box_around
from thetahat.models.density.cell_model import CellModel, parts_of
from thetahat.models.density.growing import CellDensity, answer, grow_cells
from thetahat.models.density.pruning import choose_leaves, merging, with_leaves
from thetahat.models.density.single_rows import SingleRows, TreeTable
from thetahat.models.density.uniform_cells import UniformCells
from thetahat.models.tree.structure import Tree


@with_parameters
class DensityTree(CellModel, SingleRows):
    """Density tree: a histogram whose cells adapt to the data.

    The box around the rows is split repeatedly, best first, where the density is least uniform.

    Formula: p(x) = N_l / (N·V_l) in the cell l that contains x, with V_l its volume, and 0 outside
    the box. The cell and threshold with the largest gain are split first, with a = N_λ/N_l and p̂ =
    N/(ΣN·V):

    ============  ===============================================================
    criterion     gain of dividing cell l into λ and ρ
    ============  ===============================================================
    "ise"         p̂_λ²V_λ + p̂_ρ²V_ρ − p̂_l²V_l, the decrease of the integrated
                  squared error
    "uniformity"  the distance of a from V_λ/V_l; cells are ordered by gain × N_l
    "entropy"     H_l − a·H_λ − (1 − a)·H_ρ, H = ½ log det(2πeΣ) of a Gaussian;
                  cells are ordered by gain × N_l
    ============  ===============================================================

    Thresholds lie halfway between neighbouring values, including the borders of the cell, if both
    sides have a positive volume. Row weights count as numbers of rows: N is their sum, also for
    ``min_samples_leaf``.

    Cost: O(n·d·log n) for sorting and O(n·d) per level; the entropy gain costs O(n·d³) per level,
    O(n·d²) with diagonal covariances. Memory O(n·d). Prediction O(depth) per row, with Gaussian
    leaves O(d²) more.

    Parameters
    ----------
    pruned_leaf_nodes : int, "cv" or None, default=None
        Number of leaves after pruning, which merges leaves in the order of the smallest loss. "cv"
        chooses the number with the largest cross-validated log-likelihood. None does not prune.
    cv : int, splitter or iterable of (train, test), default=5
        Folds for ``pruned_leaf_nodes="cv"``. An int is a number of random folds.
    random_state : int, Generator or None, default=None
        Seed for random candidates and folds. Pass an int for the same result on every call.

    Attributes
    ----------
    tree_ : Tree
        The nodes of the tree. ``gain`` follows the formulas above, and ``values`` holds the log
        density of uniform leaves.
    n_leaves_ : int
        Number of leaves of the fitted tree.
    directions_ : ndarray of shape (n_directions, d)
        Coefficients of the oblique splits: ``direction_k`` of a split is the sum of the columns
        times row k, plus ``direction_offsets_[k]``. Without rows unless ``splitter="oblique"``.
    direction_offsets_ : ndarray of shape (n_directions,)
        The numbers that are added to the directions.
    pruning_counts_, pruning_scores_ : ndarray
        Numbers of leaves that were compared, and their cross-validated log-likelihoods. Defined
        with ``pruned_leaf_nodes="cv"``.

    Examples
    --------
    >>> import thetahat as th
    >>> model = th.DensityTree(min_samples_leaf=1, max_leaf_nodes=2)
    >>> model = model.fit([[0.1], [0.2], [0.3], [0.9]])
    >>> model.tree_.threshold[0].item(), round(model.tree_.gain[0], 6).item()
    (0.25, 0.801282)
    >>> model.log_density([[0.12], [2.0]]).round(3)
    array([1.204,  -inf])
    """

    criterion: str = "ise"
    _: KW_ONLY
    pruned_leaf_nodes: int | str | None = None
    cv: Any = 5

    _ranges: ClassVar[dict[str, Range]] = CellModel._ranges | {
        "pruned_leaf_nodes": none | one_of("cv") | whole(1),
    }

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> DensityTree:
        source, weight = self._counted(X, sample_weight)
        plan = self._plan(weight.sum())
        box = box_around(source, self.bounds, self.margin, type(self).__name__)
        rng = generator(self.random_state)
        cells = grow_cells(source.X, weight, box, plan, int(rng.integers(2**63)))
        if self.pruned_leaf_nodes is not None:
            count = self.pruned_leaf_nodes
            if count == "cv":
                folds = self._folds(source.X, rng)
                count, self.pruning_counts_, self.pruning_scores_ = choose_leaves(
                    source.X, weight, box, plan, folds, rng
                )
            cells = with_leaves(cells, merging(cells.tree, plan), int(count))
        self.density_: CellDensity = answer(cells, source.X, weight, plan)
        self.tree_: Tree = cells.tree
        self.n_leaves_ = cells.tree.n_leaves
        self.box_ = np.stack([box.low, box.high])
        self._dtype = source.dtype
        return self

    def _folds(self, X: Array, rng: np.random.Generator) -> list[tuple[Array, Array]]:
        """Training and held-out rows of each fold."""
        from sklearn.model_selection import KFold

        cv = self.cv
        if whole(2).holds(cv):
            if X.shape[0] < cv:
                raise DataError(
                    f"DensityTree: cv={cv} folds need at least {cv} rows, but X has {X.shape[0]}. "
                    "Reduce cv, or set pruned_leaf_nodes to a number."
                )
            cv = KFold(cv, shuffle=True, random_state=int(rng.integers(2**31)))
        return splits_of(cv, X, who=type(self).__name__)

    @property
    def directions_(self) -> Array:
        """Coefficients of the columns in the oblique splits, (n_directions, d)."""
        check_is_fitted(self)
        found = self.density_.cells.directions
        return np.zeros((0, self.box_.shape[1])) if found is None else found.coefficients

    @property
    def direction_offsets_(self) -> Array:
        """Numbers that are added to the directions, (n_directions,)."""
        check_is_fitted(self)
        found = self.density_.cells.directions
        return np.zeros(0) if found is None else found.offsets

    def _row_table(self) -> TreeTable | None:
        """Log-densities of single rows; None for Gaussian leaves."""
        density = self.density_
        return TreeTable.of(density) if isinstance(density, UniformCells) else None

    def apply(self, X: Any) -> Array:
        """Return the leaf that contains each row. Cost: O(n · depth).

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows to look up, with the same columns as in `fit`.

        Returns
        -------
        ndarray of shape (n,)
            Number of the node; −1 for rows outside the box.
        """
        source = self._open_again(X)
        cells = self.density_.cells
        leaf = np.concatenate([cells.leaf_of(rows) for rows in parts_of(source)])
        return np.where(leaf < 0, -1, cells.leaves[leaf])

    def cells(self) -> tuple[Array, Array]:
        """Return the bounds of the cells of all leaves. Not available for oblique splits.

        Returns
        -------
        low, high : ndarray of shape (n_leaves, d)
            Lower and upper bounds, in the order of the leaves among the nodes.
        """
        check_is_fitted(self)
        if self.splitter == "oblique":
            raise DataError("The cells of oblique splits are not boxes. Use splitter='random'.")
        low, high = self.density_.cells.bounds()
        leaves = self.density_.cells.leaves
        return low[leaves], high[leaves]
