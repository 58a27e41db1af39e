"""Parts shared by density trees and forests: parameters, log densities and samples."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Source
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.density import DensityModel, require_sample_count
from thetahat.estimator.parameters import (
    LARGEST_FACTOR,
    MOST_MEMBERS,
    Range,
    at_least,
    from_to,
    infinity,
    more_than,
    none,
    one_of,
    whole,
)
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.randomness import RandomState, generator
from thetahat.foundation.types import Array
from thetahat.models.density.growing import CRITERIA, UNBOUNDED, Plan, default_leaves


@with_parameters
class CellModel(DensityModel):
    """A density that consists of cells; subclasses grow the trees.

    Parameters
    ----------
    criterion : {"ise", "uniformity", "entropy"}, default="ise"
        Gain that splits maximise: "ise" is the decrease of the integrated squared error,
        "uniformity" the distance from a uniform distribution of the rows in the cell, "entropy" the
        information gain of Gaussians.
    leaf : {"uniform", "gaussian"}, default="uniform"
        Density inside a leaf: constant ("uniform"), or a Gaussian fitted to its rows and truncated
        to the cell ("gaussian").
    splitter : {"best", "random", "oblique"}, default="best"
        How splits are searched. "best" tries all thresholds of all columns. "random" tries
        ``n_candidates`` random thresholds of random columns. "oblique" tries random directions; it
        requires ``criterion="entropy"`` and ``leaf="gaussian"``, and the masses of the Gaussians in
        the cells are then simulated.
    tau : float, default=2.0
        Factor of the default number of leaves of a tree, τ·N^⅓ with N the total weight of the rows
        it is grown on. Used only if ``max_leaf_nodes`` is None. Must be positive.
    max_leaf_nodes : int or None, default=None
        Maximum number of leaves. More leaves give a more detailed density and a higher variance.
        None uses ``tau``.
    max_depth : int or None, default=None
        Maximum number of splits between the whole box and a leaf. None means no limit.
    min_samples_leaf : float, default=5
        Minimum total weight of the rows in a leaf. 0 allows empty cells, in which the density is 0.
    min_gain : float, default=0.0
        Minimum gain of a split. With ``criterion="ise"`` the gain is multiplied by the volume of
        the box, so that it has no units. Must be at least 0.
    covariance_type : {"full", "diag"}, default="full"
        Covariance of Gaussian leaves and of the entropy gain: full matrices, or diagonal ones,
        which are faster.
    n_candidates : int, default=20
        Number of random candidates per split, with ``splitter`` "random" or "oblique". More
        candidates give better splits and take longer.
    prior_weight : float, default=1.0
        Weight, in rows, of the covariance of the whole data (diagonal) that is mixed into every
        covariance. Larger values give smoother densities. Must be positive.
    margin : float, default=0.0
        Margin of the box around the rows, as a multiple of the range of each column. With ``inf``
        the outer cells are unbounded, so that the density is positive everywhere; this requires
        ``criterion="entropy"`` and ``leaf="gaussian"``.
    bounds : array-like of shape (d, 2) or None, default=None
        Lower and upper bound of each column, if the range is known. They replace the box around the
        rows.

    Attributes
    ----------
    box_ : ndarray of shape (2, d)
        Lower and upper bounds of the box outside of which the density is 0.
    """

    _ranges: ClassVar[dict[str, Range]] = {
        "criterion": one_of(*CRITERIA),
        "leaf": one_of("uniform", "gaussian"),
        "splitter": one_of("best", "random", "oblique"),
        "covariance_type": one_of("full", "diag"),
        "tau": more_than(0, LARGEST_FACTOR),
        "max_leaf_nodes": none | whole(1),
        "max_depth": none | whole(0),
        "min_samples_leaf": at_least(0),
        "min_gain": at_least(0),
        "n_candidates": whole(1, MOST_MEMBERS),
        "prior_weight": from_to(1 / LARGEST_FACTOR, LARGEST_FACTOR),
        "margin": at_least(0) | infinity,
    }

    _: KW_ONLY
    criterion: str = "ise"
    leaf: str = "uniform"
    splitter: str = "best"
    tau: float = 2.0
    max_leaf_nodes: int | None = None
    max_depth: int | None = None
    min_samples_leaf: float = 5
    min_gain: float = 0.0
    covariance_type: str = "full"
    n_candidates: int = 20
    prior_weight: float = 1.0
    margin: float = 0.0
    bounds: Any = None
    random_state: RandomState = None

    @abstractmethod
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Grow the tree, or the trees of a forest.

        Cost: for each tree O(n·d·log n) for sorting and O(n·d) per level; with random candidates
        only O(n·candidates) per level.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Training rows with finite numbers. Every column needs two different values unless
            ``bounds`` are given.
        y : None
            Has no effect. Accepted for compatibility with scikit-learn.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.

        Returns
        -------
        self
            The fitted estimator.
        """

    def _plan(self, total: float) -> Plan:
        """Settings to grow a tree on rows of this total weight, validated."""
        if self.criterion != "entropy" or self.leaf != "gaussian":
            self._require_volumes()
        return Plan(
            criterion=self.criterion,
            leaf=self.leaf,
            splitter=self.splitter,
            full=self.covariance_type == "full",
            n_candidates=self.n_candidates,
            prior=self.prior_weight,
            min_weight=self.min_samples_leaf,
            min_gain=self.min_gain,
            max_leaves=self.max_leaf_nodes or default_leaves(self.tau, total),
            max_depth=UNBOUNDED if self.max_depth is None else self.max_depth,
        )

    def _require_volumes(self) -> None:
        rule = (
            f"{type(self).__name__}: criterion={self.criterion!r} with leaf={self.leaf!r} needs "
            "the volumes of the cells, but"
        )
        remedy = "Use criterion='entropy' and leaf='gaussian', or"
        if self.splitter == "oblique":
            raise ParameterError(
                f"{rule} they are unknown with splitter='oblique'. {remedy} splitter='random'."
            )
        if self.margin == np.inf:
            raise ParameterError(
                f"{rule} margin=inf makes unbounded cells. {remedy} a finite margin."
            )

    def log_density(self, X: Any) -> Array:
        """Compute the natural logarithm of the density for each row.

        Cost: O(n · trees · depth), with Gaussian leaves O(d²) more per row and tree.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows to evaluate, with the same columns as in `fit`.

        Returns
        -------
        ndarray of shape (n,)
            log p(x); −inf outside the box and in empty cells.
        """
        source = self._open_again(X)
        logs = [self.density_.log_density(rows) for rows in parts_of(source)]
        return np.concatenate(logs).astype(source.dtype, copy=False)

    def sample(self, n_samples: int = 1, random_state: RandomState = None) -> Array:
        """Draw independent rows from the density: first a cell by its mass, then a point inside it.

        Cost: O(n_samples · d), with full Gaussian leaves O(n_samples · d²).

        Parameters
        ----------
        n_samples : int, default=1
            Number of rows to draw. Must be at least 1.
        random_state : int, Generator or None, default=None
            Seed for drawing the rows. Pass an int for the same rows on every call.

        Returns
        -------
        ndarray of shape (n_samples, d)
            The drawn rows.
        """
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        require_sample_count(n_samples, type(self).__name__, self.n_features_in_)
        rows = self.density_.sample(int(n_samples), generator(random_state))
        return rows.astype(self._dtype, copy=False)


def parts_of(source: Source) -> Iterator[Array]:
    """The rows: all at once if they are in memory, otherwise in blocks."""
    for part in [source] if isinstance(source, InMemory) else source.blocks():
        yield np.ascontiguousarray(part.X)
