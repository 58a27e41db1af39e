"""What a prediction by neighbours keeps beside the rows: class labels, or targets."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin

from thetahat.data.in_memory import InMemory
from thetahat.estimator.classifier import Classifier
from thetahat.estimator.parameters import Range
from thetahat.models.neighbors.base import NeighborModel
from thetahat.models.neighbors.queries import Weighted


class NeighborsClassifier(Classifier, Weighted, NeighborModel):
    """A classifier by votes of neighbours.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The class labels, in sorted order.
    outputs_2d_ : bool
        Always False: there is one label per row.
    """

    _ranges: ClassVar[dict[str, Range]] = NeighborModel._ranges | Weighted._ranges

    def fit(self, X: Any, y: Any = None) -> Any:
        """Keep the rows and build the search structure. Cost: O(n log n · d) with a kd-tree.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            Training rows, or all their distances if ``metric="precomputed"``.
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
        self._keep_rows(source)
        self._codes = source.y.astype(np.intp)
        self.outputs_2d_ = False
        return self


class NeighborsRegressor(RegressorMixin, Weighted, NeighborModel):
    """A regressor by averages over neighbours, of one target or several."""

    _ranges: ClassVar[dict[str, Range]] = NeighborModel._ranges | Weighted._ranges
    _multi_output = True

    def fit(self, X: Any, y: Any = None) -> Any:
        """Keep the rows and build the search structure. Cost: O(n log n · d) with a kd-tree.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            Training rows, or all their distances if ``metric="precomputed"``.
        y : array-like of shape (n,) or (n, n_targets)
            Target of each training row.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        source = self._open(X, y)
        assert isinstance(source, InMemory)
        assert source.y is not None
        self._keep_rows(source)
        self._targets = np.array(source.y, dtype=np.float64)
        return self
