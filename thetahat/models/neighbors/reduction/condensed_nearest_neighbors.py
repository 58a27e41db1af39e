"""Condensed nearest neighbours: a subset of the rows that classifies all of them."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.estimator.declaration import with_parameters
from thetahat.foundation.randomness import generator
from thetahat.foundation.types import Array
from thetahat.mathematics.distances.base import Distance
from thetahat.models.neighbors.reduction.base import NearestPrototype
from thetahat.models.neighbors.search.metric import fitted_distance


@with_parameters
class CondensedNearestNeighbors(NearestPrototype):
    """Classification by the nearest row of a subset that makes no error on the training rows.

    Rows are visited in random order, and a row is kept if the rows kept so far give it another
    class. This is repeated until no row is added (Hart). The rows that are kept lie near the
    borders between classes; rows with wrong labels are kept as well.

    Formula: f(x) = y_i with i = argmin_{i ∈ S} d(x, x_i), where S is such that f(x_i) = y_i for all
    training rows, unless equal rows have different labels.

    Cost: O(n·|S|·d) for `fit`, O(|S|·d) per prediction. Memory: O(n · n_classes).

    Parameters
    ----------
    metric : str, Distance or callable, default="euclidean"
        The distance between rows: a name or a value of ``th.distances``, or a function of two rows.
    random_state : int, Generator or None, default=None
        Seed for the order of the rows. Another order gives another subset. Pass an int for the same
        result on every call.

    Attributes
    ----------
    sample_indices_ : array of shape (n_prototypes,)
        Numbers of the training rows that are kept, in the order in which they were added.
    n_iter_ : int
        Number of passes over the training rows, the last of which added none.

    Examples
    --------
    >>> import thetahat as th
    >>> X, y = [[0.0], [1.0], [2.0], [7.0], [8.0], [9.0]], list("aaabbb")
    >>> model = th.CondensedNearestNeighbors(random_state=0).fit(X, y)
    >>> len(model.sample_indices_), model.score(X, y)
    (2, 1.0)
    """

    _: KW_ONLY
    metric: Any = "euclidean"
    random_state: Any = None

    _draws_rows = True

    def fit(self, X: Any, y: Any = None) -> CondensedNearestNeighbors:
        """Select the rows that are kept. Cost: O(n·|S|·d).

        Parameters
        ----------
        X : array-like or table of shape (n, d)
            Training rows, one per label.
        y : array-like of shape (n,)
            Class label of each training row.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        source = self._open_classes(X, y, least=1)
        assert isinstance(source, InMemory)
        assert source.y is not None
        rows, codes = np.array(source.X, order="C"), source.y.astype(np.intp)
        distance = fitted_distance(self.metric, None, 2, rows, type(self).__name__)
        order = generator(self.random_state).permutation(rows.shape[0])
        self.sample_indices_, self.n_iter_ = condensed(rows, codes, distance, order)
        self._keep(rows[self.sample_indices_], codes[self.sample_indices_], distance)
        return self


def condensed(rows: Array, codes: Array, distance: Distance, order: Array) -> tuple[Array, int]:
    """The rows that are kept in this order of visits, and the number of passes.

    The distance of every row to the nearest kept row of each class is brought up to date when a row
    is kept, so that a visit costs nothing.
    """
    nearest = np.full((rows.shape[0], int(codes.max()) + 1), np.inf)
    kept: list[int] = []
    waiting, passes = order, 0
    while True:
        before, passes = len(kept), passes + 1
        for i in waiting.tolist():
            near = nearest[i]
            # The first row is kept, and so is a row at infinite distance from all others.
            if near.argmin() == codes[i] and near[codes[i]] < np.inf:
                continue
            kept.append(i)
            between = distance._between_all(rows, rows[i : i + 1])[:, 0]
            np.minimum(nearest[:, codes[i]], between, out=nearest[:, codes[i]])
        if len(kept) == before:
            return np.array(kept, dtype=np.int64), passes
        is_kept = np.zeros(rows.shape[0], dtype=bool)
        is_kept[kept] = True
        waiting = waiting[~is_kept[waiting]]
