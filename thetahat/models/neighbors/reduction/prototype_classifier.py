"""Prototypes: the centres of clusters of each class, one mean per class as the extreme."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, whole
from thetahat.foundation.errors import DataError
from thetahat.foundation.randomness import generator
from thetahat.foundation.types import Array
from thetahat.mathematics.distances import Euclidean
from thetahat.models.cluster.k_means import KMeans
from thetahat.models.neighbors.reduction.base import NearestPrototype

STARTS = 3


@with_parameters
class PrototypeClassifier(NearestPrototype):
    """Classification by the nearest prototype, a centre of a cluster of one class.

    With one prototype per class these are the class means, and borders between two classes are
    hyperplanes (nearest centroid). More prototypes are the centres found by k-means among the rows
    of each class, from which curved borders are composed.

    Formula: f(x) = argmin_c min_k ‖x − p_ck‖, where p_ck minimise Σ_{y_i = c} w_i·min_k ‖x_i −
    p_ck‖².

    Cost: O(n d) for one prototype per class, else O(n·k·d) per step of k-means. O(n_prototypes · d)
    per prediction.

    Parameters
    ----------
    n_prototypes : int, default=1
        Number of prototypes of each class (k). Larger values follow the classes more closely. A
        class with fewer different rows has one prototype for each. Must be at least 1.
    random_state : int, Generator or None, default=None
        Seed for the starts of k-means; not used for one prototype per class. Pass an int for the
        same result on every call.

    Attributes
    ----------
    prototypes_ : array of shape (n_prototypes, d)
        The prototypes of all classes, in the order of the classes.

    Examples
    --------
    >>> import thetahat as th
    >>> X, y = [[0.0], [2.0], [4.0], [6.0]], ["a", "a", "b", "b"]
    >>> model = th.PrototypeClassifier().fit(X, y)
    >>> model.prototypes_.tolist(), model.predict([[2.9], [3.1]]).tolist()
    ([[1.0], [5.0]], ['a', 'b'])
    """

    _parametric = True

    n_prototypes: int = 1
    random_state: Any = None

    _ranges: ClassVar[dict[str, Range]] = {"n_prototypes": whole(1)}

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> PrototypeClassifier:
        """Find the prototypes of each class. Cost: O(n d) for one, else O(n·k·d) per step.

        Parameters
        ----------
        X : array-like or table of shape (n, d)
            Training rows, one per label.
        y : array-like of shape (n,)
            Class label of each training row.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        source = self._open_classes(X, y, sample_weight, least=1)
        assert isinstance(source, InMemory)
        assert source.y is not None
        rows, codes = np.asarray(source.X), source.y.astype(np.intp)
        weight = np.array(source.row_weights, dtype=np.float64)
        weight = weight / weight.max()
        random = generator(self.random_state)
        centres = []
        for code in range(self.classes_.shape[0]):
            some = np.flatnonzero((codes == code) & (weight > 0))
            if not some.size:
                raise DataError(
                    f"PrototypeClassifier: all rows of class {self.classes_.tolist()[code]!r} have "
                    "the weight 0, so that it has no mean. Leave these rows out."
                )
            group = rows[some].astype(np.float64)
            centres.append(cluster_centres(group, weight[some], int(self.n_prototypes), random))
        labels = np.repeat(np.arange(len(centres)), [len(each) for each in centres])
        prototypes = np.concatenate(centres)
        if not np.isfinite(prototypes).all():
            raise DataError(
                "PrototypeClassifier: means of the columns are too large for floating-point "
                "numbers. Scale the columns first, for example with th.Standardizer."
            )
        self._keep(prototypes.astype(source.dtype, copy=False), labels, Euclidean())
        return self


def cluster_centres(rows: Array, weight: Array, k: int, random: np.random.Generator) -> Array:
    """The k-means centres of some rows, the best of a few starts; the mean for k = 1."""
    share = weight / weight.sum()
    origin = rows[0]
    with np.errstate(over="ignore", invalid="ignore"):
        if k == 1:
            return np.asarray(origin + share @ (rows - origin))[None]
        distinct, inverse = np.unique(rows, axis=0, return_inverse=True)
        if len(distinct) <= k:
            return distinct
        share = np.bincount(inverse.ravel(), share)
        scale = float(np.abs(distinct - origin).max())
        points = (distinct - origin) / (scale if 0 < scale < np.inf else 1.0)
        model = KMeans(k, n_init=STARTS, tol=0, random_state=random)
        return np.asarray(origin + scale * model.fit(points, sample_weight=share).cluster_centers_)
