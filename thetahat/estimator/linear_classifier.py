"""Shared by all linear classifiers: scores z = xᵀβ + b; the largest one gives the class.

Two classes share one score, positive for the second class; more classes have one score each. Labels
may be text, numbers or Booleans; internally they are the codes 0, 1, …, C−1 of ``classes_``.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from thetahat.data.on_device import OnDevice
from thetahat.data.source import Block, Source
from thetahat.estimator.classifier import Classifier
from thetahat.estimator.linear import Linear
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array
from thetahat.mathematics.losses.families import family_of
from thetahat.mathematics.penalties.norms import NoPenalty
from thetahat.objective.empirical_risk import EmpiricalRisk


class LinearClassifier(Classifier, Linear):
    """A linear classifier: ``coef_`` has shape (1 or C, d), ``intercept_`` (1 or C,).

    Parameters
    ----------
    class_weight : dict, "balanced" or None, default=None
        Weight of each class, as ``{label: weight}``; multiplies `sample_weight`. "balanced" sets
        the weights inversely proportional to the class frequencies, so that all classes have the
        same total weight. None gives every class weight 1.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The class labels, in sorted order.
    coef_ : array of shape (1, d) or (n_classes, d)
        Estimated coefficients (β̂): one row for two classes, otherwise one row per class.
    intercept_ : array of shape (1,) or (n_classes,)
        Estimated intercepts (b̂), one for each row of ``coef_``; 0 if ``fit_intercept=False``.
    """

    @abstractmethod
    def fit(self, X: Any, *data: Any, **params: Any) -> Any:
        """Fit the classifier.

        Parameters
        ----------
        y : array-like of shape (n,), optional
            Class labels: text, numbers or Booleans. Leave it out if X is a `Source`.
        """

    def _open_classes(self, *data: Any, **options: Any) -> Source:
        """As for all classifiers; classes that occur only in rows of weight 0 do not count."""
        source = super()._open_classes(*data, **options)
        require_two_weighted_classes(source, self.classes_, type(self).__name__)
        return source

    def decision_function(self, X: Any) -> Array:
        """Compute the scores z = Xβ + b. Cost: O(n d k) for k classes.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Rows to classify, with the same columns as in `fit`.

        Returns
        -------
        scores : array of shape (n,) or (n, n_classes)
            For two classes, one score per row, positive for ``classes_[1]``. For more classes, one
            score per row and class.
        """
        z = self._raw(X)
        return z[:, 0] if z.shape[1] == 1 else z

    def predict(self, X: Any) -> Array:
        """Predict the class with the largest score. Cost: O(n d k) for k classes.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Rows to classify, with the same columns as in `fit`.

        Returns
        -------
        labels : array of shape (n,)
            Predicted labels, of the type of the labels given to `fit`.
        """
        z = self._raw(X)
        codes = (z[:, 0] > 0).view(np.int8) if z.shape[1] == 1 else z.argmax(axis=1)
        return self.classes_[codes]

    def _attributes(self, theta: Array, risk: EmpiricalRisk) -> dict[str, Array]:
        found = super()._attributes(theta, risk)
        return {
            "coef_": np.atleast_2d(found["coef_"]),
            "intercept_": np.atleast_1d(found["intercept_"]),
        }


def require_two_weighted_classes(source: Source, classes: Array, who: str) -> None:
    """Refuse rows of which all that have a positive weight are of one class.

    Blocks are read until two classes are found, which is usually in the first one.
    """
    if not source.has_weight or isinstance(source, OnDevice):
        return
    first = None
    for counted in source.map_blocks(_counted_classes):
        if counted.size:
            first = counted[0] if first is None else first
            if (counted != first).any():
                return
    if first is not None:
        raise DataError(
            f"{who}: all rows of positive weight belong to one class, "
            f"{classes.tolist()[int(first)]!r}, but at least two classes are needed. Give "
            "rows of another class a positive weight."
        )


def _counted_classes(block: Block) -> Array:
    return np.unique(np.asarray(block.y)[np.asarray(block.row_weights) > 0])


def without_common_scores(found: dict[str, Array], risk: EmpiricalRisk) -> dict[str, Array]:
    """Coefficients and intercepts that sum to zero over the classes, where the loss leaves it open.

    A constant added to all scores of a row does not change the softmax. A penalty determines the
    constant in the coefficients, but never in the intercepts.
    """
    family = family_of(risk.loss)
    if family is None or not family.symmetric:
        return found
    free = found if isinstance(risk.penalty, NoPenalty) else ("intercept_",)
    return found | {name: found[name] - found[name].mean(axis=0) for name in free}
