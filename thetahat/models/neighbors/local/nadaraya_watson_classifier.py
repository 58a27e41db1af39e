"""Classification by kernel weights: f(x) = argmax_c Σ_i g_i·1[y_i = c]."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np

from thetahat.estimator.classifier import Classifier
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, one_of
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array
from thetahat.models.neighbors.local.base import LocalModel
from thetahat.models.neighbors.local.nadaraya_watson import KernelAverage


@with_parameters
class NadarayaWatsonClassifier(Classifier, KernelAverage):
    """Classification by a vote of the training rows, weighted by their distance.

    Formula: P(y = c | x) = Σ_i g_i·1[y_i = c]/Σ_i g_i with g_i = w_i·K(d(x, x_i)/h), where K is a
    smoothing kernel and h the bandwidth; the label is the class with the largest share, and the
    first one in ``classes_`` in case of ties.

    Cost: `fit` takes O(n log n · d) to build a kd-tree. A prediction takes O(n d), less where a
    kd-tree of few columns excludes rows outside the support of the kernel. Memory: two copies of
    the rows, and n times the number of classes.

    Parameters
    ----------
    outside : {"nearest", "error"}, default="nearest"
        What is predicted for a query without a training row in the support of the kernel: the class
        of the nearest rows, or nothing with an error.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The class labels, in sorted order.

    Examples
    --------
    >>> import thetahat as th
    >>> model = th.NadarayaWatsonClassifier(bandwidth=2.0, kernel="triangular")
    >>> model = model.fit([[0.0], [1.0], [3.0]], ["a", "a", "b"])
    >>> model.predict([[0.0], [2.5]]).tolist(), model.predict_proba([[2.0]]).tolist()
    (['a', 'b'], [[0.5, 0.5]])
    """

    bandwidth: Any = "scott"
    kernel: Any = "gaussian"
    _: KW_ONLY
    metric: Any = "euclidean"
    outside: str = "nearest"
    tolerance: float = 1e-8

    _accepts_sparse = True
    _ranges: ClassVar[dict[str, Range]] = {
        **LocalModel._ranges,
        "outside": one_of("nearest", "error"),
    }

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> NadarayaWatsonClassifier:
        """Keep the rows and choose the bandwidth. Cost: O(n log n · d), more for leave-one-out.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            Training rows, one per label.
        y : array-like of shape (n,)
            Class label of each training row.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows, also as neighbours and for the
            bandwidth rules, in which the sum of the weights is the number of rows; scale other
            weights to mean 1. Leave-one-out leaves out a row with its whole weight, not one of its
            repetitions. None gives every row weight 1.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        codes, scale = self._keep_rows(self._open_classes(X, y, sample_weight, least=1))
        if not self._shape.nonnegative:
            raise ParameterError(
                f"NadarayaWatsonClassifier: {self._shape!r} has negative values, which give "
                "negative probabilities. Use another kernel, such as 'gaussian'."
            )
        codes = (codes * scale).astype(np.intp)
        self._votes = np.eye(self.classes_.shape[0])[codes]
        self._choose_bandwidth(self._votes)
        return self

    def predict_proba(self, X: Any) -> Array:
        """Compute the weighted shares of the classes. Cost: O(n d) per row at most.

        Parameters
        ----------
        X : array-like, sparse or table of shape (m, d)
            Rows to predict, with the same columns as in `fit`.

        Returns
        -------
        probabilities : array of shape (m, n_classes)
            Probabilities in the order of ``classes_``.
        """
        source = self._open_again(X)
        found = self._map_queries(source, lambda rows: self._averages(rows, self._votes))
        return np.asarray(found.astype(source.dtype, copy=False))

    def predict(self, X: Any) -> Array:
        """Predict the class with the largest share. Cost: that of `predict_proba`.

        Parameters
        ----------
        X : array-like, sparse or table of shape (m, d)
            Rows to predict, with the same columns as in `fit`.

        Returns
        -------
        labels : array of shape (m,)
            The predicted class labels.
        """
        source = self._open_again(X)
        shares = self._map_queries(source, lambda rows: self._averages(rows, self._votes))
        return self.classes_[np.argmax(shares, axis=1)]
