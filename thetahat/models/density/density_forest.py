"""Density forests: the average of density trees that differ by the rows and splits they drew."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.callback import with_callbacks
from sklearn.exceptions import ConvergenceWarning

from thetahat.data.resampling import subset_rows, weighted_indices
from thetahat.estimator.parameters import Range, boolean, more_than, none, whole
from thetahat.estimator.watching import Watched
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.randomness import RandomState, generator
from thetahat.foundation.threads import ordered_map
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Verdict
from thetahat.models.density.average import AverageDensity
from thetahat.models.density.box import Box, box_around
from thetahat.models.density.cell_model import CellModel
from thetahat.models.density.growing import CellDensity, Plan, answer, grow_cells


class DensityForest(Watched, CellModel):
    """Many density trees on random rows with random splits, averaged: smoother than any of them.

    Formula: p(x) = (1/M) Σ_m p_m(x); a sample chooses a tree, then a leaf, then a point.

    Every tree grows in the same box (by default one without borders, so that p > 0 everywhere), on
    rows drawn with replacement or on a part of them, and takes the best of some random thresholds.
    See `DensityTree` for the gains; those of volumes and uniform leaves need a finite `margin`.

    Cost: M times that of a tree with `n_candidates` candidates, O(n·candidates) per level (the
    entropy gain: times d², or d with diagonal covariances). Trees grow side by side.

    Parameters
    ----------
    n_estimators : int
        M, the number of trees.
    criterion : {"ise", "uniformity", "entropy"}
        What a split gains.
    leaf : {"uniform", "gaussian"}
        What a leaf answers.
    splitter : {"best", "random", "oblique"}
        As of `DensityTree`.
    bootstrap : bool
        Draw rows with replacement, in proportion to their weights; else a part of them without.
    max_samples : float, optional
        Rows drawn for each tree, as a part of all; all by default.
    tau : float
        Leaves of a tree are τ·N^⅓ unless `max_leaf_nodes` is given, N what it has drawn.
    max_leaf_nodes, max_depth, min_samples_leaf, min_gain, covariance_type, n_candidates, \
prior_weight, margin, bounds
        As of `DensityTree`.
    random_state : int, Generator or None
        Same seed, same forest.

    Attributes
    ----------
    trees_ : list of Tree
        Their nodes.
    box_ : ndarray of shape (2, d)
        Lower and upper ends of the box.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 1)) + rng.choice([-3.0, 3.0], size=(500, 1))
    >>> forest = th.DensityForest(n_estimators=20, random_state=0).fit(X)
    >>> bool(forest.novelty([[0.0]])[0] > forest.novelty([[3.0]])[0])
    True
    >>> forest.sample(2, random_state=0).shape
    (2, 1)
    """

    _draws_rows = True
    _ranges: ClassVar[dict[str, Range]] = CellModel._ranges | {
        "n_estimators": whole(1),
        "bootstrap": boolean,
        "max_samples": none | more_than(0),
    }

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "entropy",
        leaf: str = "gaussian",
        splitter: str = "random",
        bootstrap: bool = True,
        max_samples: float | None = None,
        tau: float = 2.0,
        max_leaf_nodes: int | None = None,
        max_depth: int | None = None,
        min_samples_leaf: float = 5,
        min_gain: float = 0.0,
        covariance_type: str = "full",
        n_candidates: int = 20,
        prior_weight: float = 1.0,
        margin: float = np.inf,
        bounds: Any = None,
        random_state: RandomState = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.leaf = leaf
        self.splitter = splitter
        self.bootstrap = bootstrap
        self.max_samples = max_samples
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
        self.random_state = random_state

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> DensityForest:
        """Grow the trees.

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
        box = box_around(source, self.bounds, self.margin, type(self).__name__)
        plan = self._plan(weight.sum() * (self.max_samples or 1.0))
        self.box_ = np.stack([box.low, box.high])
        self._dtype = source.dtype
        seeds = generator(self.random_state).integers(2**63, size=self.n_estimators)

        def grow(seed: int) -> CellDensity:
            return self._grow(source.X, weight, box, plan, int(seed))

        trees: list[CellDensity] = []
        verdict = Verdict.GO_ON
        with self._watching(self.n_estimators, _attributes, X, y) as watch:
            try:
                for tree in ordered_map(grow, seeds):
                    trees.append(tree)
                    verdict = watch(len(trees), trees, float("nan"))
                    if verdict is not Verdict.GO_ON:
                        break
            finally:  # Ctrl-C included: what has grown is a forest
                self.__dict__.update(_attributes(trees))
        if verdict is Verdict.OUT_OF_TIME:
            warn(
                f"DensityForest: out of time after {len(trees)} of {self.n_estimators} trees, "
                "which are kept. Raise th.config(max_time=...), or ask for fewer trees.",
                ConvergenceWarning,
            )
        return self

    def _grow(self, X: Array, weight: Array, box: Box, plan: Plan, seed: int) -> CellDensity:
        """One tree on rows of its own."""
        rng = np.random.default_rng(seed)
        part = self.max_samples or 1.0
        if self.bootstrap:
            draws = max(1, round(part * weight.sum()))
            counts = np.bincount(
                weighted_indices(weight, size=draws, random_state=rng), minlength=weight.size
            )
            rows = np.flatnonzero(counts)
            weight = counts[rows].astype(np.float64)
        else:
            rows = subset_rows(np.arange(weight.size), size=min(part, 1.0), random_state=rng)
            weight = weight[rows]
        cells = grow_cells(X[rows], weight, box, plan, seed, threads=1)
        return answer(cells, X[rows], weight, plan)


def _attributes(trees: list[CellDensity]) -> dict[str, Any]:
    if not trees:
        return {}
    return {
        "density_": AverageDensity(tuple(trees)),
        "trees_": [part.cells.tree for part in trees],
    }
