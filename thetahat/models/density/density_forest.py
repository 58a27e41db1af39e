"""Density forests: averages of randomised density trees."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from thetahat.data.resampling import subset_rows, weighted_indices
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import (
    MOST_DRAWS,
    MOST_MEMBERS,
    Range,
    boolean,
    more_than,
    none,
    whole,
)
from thetahat.estimator.watching import Watched, keep_so_far, with_callbacks
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.randomness import generator
from thetahat.foundation.threads import ordered_map
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Verdict
from thetahat.models.density.average import AverageDensity
from thetahat.models.density.box import Box, box_around
from thetahat.models.density.cell_model import CellModel
from thetahat.models.density.growing import CellDensity, Plan, answer, grow_cells


@with_parameters
class DensityForest(Watched, CellModel):
    """Density forest: the average of many randomised density trees.

    The average is smoother than a single tree. Every tree is grown in the same box, on rows drawn
    with replacement or on a fraction of them, and takes the best of some random thresholds. By
    default the box is unbounded, so that p > 0 everywhere. See `DensityTree` for the criteria;
    those based on volumes, and uniform leaves, need a finite ``margin``.

    Formula: p(x) = (1/M) Σ_m p_m(x). A sample is drawn by choosing a tree, then a leaf, then a
    point.

    Cost: M times that of a tree with ``n_candidates`` candidates, O(n·candidates) per level (times
    d² for the entropy gain, or d with diagonal covariances). Trees are grown in parallel.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees in the forest (M). More trees give a smoother density and take
        proportionally longer. Must be at least 1.
    bootstrap : bool, default=True
        If True, each tree is grown on rows drawn with replacement, in proportion to their weights.
        If False, rows are drawn without replacement.
    max_samples : float or None, default=None
        Fraction of the rows drawn for each tree. None draws as many as there are rows.
    random_state : int, Generator or None, default=None
        Seed for drawing rows and candidates. Pass an int for the same result on every call.

    Attributes
    ----------
    trees_ : list of Tree
        The nodes of each tree.

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

    n_estimators: int = 100
    _: KW_ONLY
    criterion: str = "entropy"
    leaf: str = "gaussian"
    splitter: str = "random"
    bootstrap: bool = True
    max_samples: float | None = None
    margin: float = np.inf

    _draws_rows = True
    _ranges: ClassVar[dict[str, Range]] = CellModel._ranges | {
        "n_estimators": whole(1, MOST_MEMBERS),
        "bootstrap": boolean,
        "max_samples": none | more_than(0, MOST_DRAWS),
    }

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> DensityForest:
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
            except KeyboardInterrupt as interrupt:
                if trees:  # they form a forest
                    keep_so_far(self, interrupt, **_attributes(trees))
                raise
        self.__dict__.update(_attributes(trees))
        if verdict is Verdict.OUT_OF_TIME:
            warn(
                f"DensityForest: out of time after {len(trees)} of {self.n_estimators} trees, "
                "which are kept. Increase th.config(max_time=...), or reduce n_estimators.",
                ConvergenceWarning,
            )
        return self

    def _grow(self, X: Array, weight: Array, box: Box, plan: Plan, seed: int) -> CellDensity:
        """One tree on its own sample of rows."""
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
