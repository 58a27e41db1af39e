"""Unsupervised search for neighbours: argmin_i d(x, x_i), and all i with d(x, x_i) ≤ r."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.devices.routing import on_devices
from thetahat.estimator.parameters import Range, none
from thetahat.models.neighbors import search_on_device
from thetahat.models.neighbors.queries import POSITIVE, InRadius, KNearest


@on_devices("_device_rows", fit=search_on_device.fit, kneighbors=search_on_device.kneighbors)
@with_parameters
class NearestNeighbors(KNearest, InRadius):
    """Search for the nearest training rows of new rows.

    Formula: the k rows with the smallest d(x, x_i), or all rows with d(x, x_i) ≤ r. Of two rows at
    the same distance, the one with the smaller number comes first, so results depend neither on the
    algorithm nor on the number of threads.

    Cost: a kd-tree takes O(n log n · d) to build and O(log n) per query on average for few columns;
    brute force takes O(n d) per query. Memory: two copies of the rows.

    Parameters
    ----------
    n_neighbors : int or None, default=5
        Number of neighbours (k) of queries that do not give it themselves. Must be at least 1, and
        at most the number of training rows in a query. With None every query for nearest rows must
        give it.
    radius : float or None, default=1.0
        Radius of queries that do not give it themselves. Rows at exactly this distance are
        neighbours. Must not be negative. With None every query within a radius must give it.

    Examples
    --------
    >>> import thetahat as th
    >>> search = th.NearestNeighbors(n_neighbors=2).fit([[0.0], [1.0], [5.0]])
    >>> search.kneighbors([[1.2]])
    (array([[0.2, 1.2]]), array([[1, 0]]))
    >>> search.radius_neighbors([[0.5]], radius=1.0, return_distance=False)[0].tolist()
    [0, 1]
    """

    _ranges: ClassVar[dict[str, Range]] = {
        **KNearest._ranges,
        **InRadius._ranges,
        "n_neighbors": POSITIVE | none,
        "radius": InRadius._ranges["radius"] | none,
    }

    _: KW_ONLY
    n_neighbors: int | None = 5
    radius: float | None = 1.0

    def fit(self, X: Any, y: Any = None) -> NearestNeighbors:
        """Keep the rows and build the search structure. Cost: O(n log n · d) with a kd-tree.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            Rows that are searched, or all their distances if ``metric="precomputed"``.
        y : None
            Ignored, present for compatibility with scikit-learn.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._keep_rows(self._open(X, supervised=False))
        return self

    def _arrange_rows(self, place: str) -> None:
        """Search rows that `to_device` has moved."""
        search_on_device.arrange_rows(self, place)
