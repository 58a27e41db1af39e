"""Density trees: p(x) = (N_l/N)·p_l(x) in the cell l that holds x; splits of a box make cells."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from thetahat.estimator.parameters import Range, none, one_of, whole
from thetahat.foundation.errors import DataError
from thetahat.foundation.randomness import RandomState, generator
from thetahat.foundation.types import Array
from thetahat.models.density.box import box_around
from thetahat.models.density.cell_model import CellModel, parts_of
from thetahat.models.density.growing import CellDensity, answer, grow_cells
from thetahat.models.density.pruning import choose_leaves, merging, with_leaves
from thetahat.models.tree.structure import Tree


class DensityTree(CellModel):
    """A histogram whose cells fit the data: the box around the rows, split where p is least flat.

    Formula: p(x) = N_l / (N·V_l) in the cell l that holds x, 0 outside the box. Best first, the
    cell and threshold with the largest gain are divided, with a = N_λ/N_l and p̂ = N/(ΣN·V):

    ============  ===============================================================
    criterion     gain of dividing cell l into λ and ρ
    ============  ===============================================================
    "ise"         p̂_λ²V_λ + p̂_ρ²V_ρ − p̂_l²V_l, the drop of the integrated
                  squared error
    "uniformity"  the distance of a from V_λ/V_l, cells taken by their gain × N_l
    "entropy"     H_l − a·H_λ − (1 − a)·H_ρ, H = ½ log det(2πeΣ) of a Gaussian,
                  cells taken by their gain × N_l
    ============  ===============================================================

    Thresholds are the middles between neighbouring values, the borders of the cell among them,
    where they leave both sides a volume. Leaves answer with the constant N_l/(N·V_l) or with a
    Gaussian fitted to their rows, cut to the cell and renormalised. Weights count rows: N is their
    sum, in `min_samples_leaf` too.

    Cost: O(n·d·log n) to sort and O(n·d) per level; the entropy gain O(n·d³) per level, O(n·d²)
    with diagonal covariances. Memory O(n·d). A prediction costs O(depth), a Gaussian one O(d²).

    Parameters
    ----------
    criterion : {"ise", "uniformity", "entropy"}
        What a split gains.
    leaf : {"uniform", "gaussian"}
        What a leaf answers.
    splitter : {"best", "random", "oblique"}
        All thresholds of all columns; or `n_candidates` drawn between the smallest and largest
        value of a random column; or along random directions, whose cells have no known volume:
        only with the entropy gain and Gaussian leaves, the masses of which are then simulated.
    tau : float
        The number of leaves is τ·N^⅓ unless `max_leaf_nodes` is given.
    max_leaf_nodes : int, optional
        How many leaves to grow at most.
    max_depth : int, optional
        How many splits lie between box and leaf at most.
    min_samples_leaf : float
        The least sum of weights in a leaf; 0 allows empty cells, where p = 0.
    min_gain : float
        A split must gain more ("ise": times the volume of the box, so that it has no units).
    covariance_type : {"full", "diag"}
        Of Gaussian leaves and of the entropy gain.
    n_candidates : int
        Random candidates per split.
    prior_weight : float
        Rows' worth of the whole data's spread (one variance per column) mixed into every Σ.
    margin : float
        The box is wider than the rows by margin × width on each side. With ``inf`` the outer cells
        are open, as Gaussian leaves with the entropy gain allow: p > 0 everywhere.
    bounds : array-like of shape (d, 2), optional
        The box, where the range of the columns is known.
    pruned_leaf_nodes : int or "cv", optional
        Merge leaves again, the least loss first, until this many are left; "cv" takes the number
        with the best log-likelihood on held-out folds.
    cv : int, splitter or iterable of (train, test)
        Folds for "cv"; a number of them is cut at random.
    random_state : int, Generator or None
        For random candidates and folds.

    Attributes
    ----------
    tree_ : Tree
        The nodes; ``gain`` as in the formulas, ``values`` the log density of uniform leaves.
    box_ : ndarray of shape (2, d)
        Its lower and upper ends.
    n_leaves_ : int
    pruning_counts_, pruning_scores_ : ndarray
        After pruning by "cv": the numbers of leaves compared, and their held-out log-likelihood.

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

    _ranges: ClassVar[dict[str, Range]] = CellModel._ranges | {
        "pruned_leaf_nodes": none | one_of("cv") | whole(1),
    }

    def __init__(
        self,
        criterion: str = "ise",
        *,
        leaf: str = "uniform",
        splitter: str = "best",
        tau: float = 2.0,
        max_leaf_nodes: int | None = None,
        max_depth: int | None = None,
        min_samples_leaf: float = 5,
        min_gain: float = 0.0,
        covariance_type: str = "full",
        n_candidates: int = 20,
        prior_weight: float = 1.0,
        margin: float = 0.0,
        bounds: Any = None,
        pruned_leaf_nodes: int | str | None = None,
        cv: Any = 5,
        random_state: RandomState = None,
    ) -> None:
        self.criterion = criterion
        self.leaf = leaf
        self.splitter = splitter
        self.tau = tau
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.min_gain = min_gain
        self.covariance_type = covariance_type
        self.n_candidates = n_candidates
        self.prior_weight = prior_weight
        self.margin = margin
        self.bounds = bounds
        self.pruned_leaf_nodes = pruned_leaf_nodes
        self.cv = cv
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> DensityTree:
        """Grow the tree.

        Parameters
        ----------
        X : array of shape (n, d)
            Finite numbers; every column needs two different values unless `bounds` are given.
        y : ignored
        sample_weight : array of shape (n,), optional
            How often each row counts.

        Returns
        -------
        self
        """
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
        """The rows to learn from and to judge by, per fold."""
        from sklearn.model_selection import KFold, check_cv

        cv = self.cv
        if whole(2).holds(cv):
            if X.shape[0] < cv:
                raise DataError(
                    f"DensityTree: cv={cv} folds need as many rows, and there are {X.shape[0]}. "
                    "Lower cv, or give pruned_leaf_nodes a number."
                )
            cv = KFold(cv, shuffle=True, random_state=int(rng.integers(2**31)))
        return list(check_cv(cv).split(X))

    def apply(self, X: Any) -> Array:
        """The number of the node that holds each row; −1 outside the box.

        Parameters
        ----------
        X : array of shape (n, d)
            The rows.

        Returns
        -------
        ndarray of shape (n,)
        """
        source = self._open_again(X)
        cells = self.density_.cells
        leaf = np.concatenate([cells.leaf_of(rows) for rows in parts_of(source)])
        return np.where(leaf < 0, -1, cells.leaves[leaf])

    def cells(self) -> tuple[Array, Array]:
        """Lower and upper ends of the cell of every leaf; oblique cells have none.

        Returns
        -------
        low, high : ndarray of shape (n_leaves, d)
            In the order of the leaves among the nodes.
        """
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        if self.splitter == "oblique":
            raise DataError("Cells behind oblique splits are no boxes. Use splitter='random'.")
        low, high = self.density_.cells.bounds()
        leaves = self.density_.cells.leaves
        return low[leaves], high[leaves]
