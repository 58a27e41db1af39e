"""What all linear classifiers share: scores z = xᵀβ + b, and the label with the largest.

Two classes have one score, the second class's against the first's; more have one each. Labels may
be text, numbers or Booleans; inside, they are the codes 0, 1, …, C−1 of ``classes_``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Source
from thetahat.estimator.classifier import Classifier
from thetahat.estimator.linear import Linear
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array
from thetahat.objective.empirical_risk import EmpiricalRisk


class LinearClassifier(Classifier, Linear):
    """Fitted ``classes_``, ``coef_`` of shape (1 or C, d) and ``intercept_`` of shape (1 or C,)."""

    def _open_classes(self, *data: Any, **options: Any) -> Source:
        """As for all classifiers; rows of weight 0 are not there, and bring no class."""
        source = super()._open_classes(*data, **options)
        if isinstance(source, InMemory) and source.weight is not None:
            counted = np.asarray(source.y)[np.asarray(source.weight) > 0]
            if counted.size and (counted == counted[0]).all():
                label = self.classes_.tolist()[int(counted[0])]
                raise DataError(
                    f"{type(self).__name__}: all rows of positive weight are of one class, "
                    f"{label!r}; telling classes apart takes at least two. Weigh rows of another "
                    "class too."
                )
        return source

    def decision_function(self, X: Any) -> Array:
        """The scores z = Xβ + b. Cost: O(n d C).

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            The rows to judge.

        Returns
        -------
        array of shape (n,) for two classes, positive for ``classes_[1]``; else (n, C)
        """
        z = self._raw(X)
        return z[:, 0] if z.shape[1] == 1 else z

    def predict(self, X: Any) -> Array:
        """The label of the largest score. Cost: O(n d C).

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            The rows to judge.

        Returns
        -------
        array of shape (n,), of the type of the labels given to `fit`
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
