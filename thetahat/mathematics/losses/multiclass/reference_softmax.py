"""The softmax with a reference class: C − 1 free scores, and score 0 for the reference class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thetahat.foundation.types import Array
from thetahat.mathematics.losses.base import Curved, Targets, UnboundedLikelihood
from thetahat.mathematics.losses.families import CATEGORICAL
from thetahat.mathematics.losses.links import Link
from thetahat.mathematics.losses.multiclass.class_scores import SoftmaxCrossEntropy

_SOFTMAX = SoftmaxCrossEntropy()


@dataclass(frozen=True)
class ReferenceSoftmax(Curved, UnboundedLikelihood):
    """ℓ(y, z) = log(1 + Σ_{c≠r} e^{z_c}) − z_y with z_r = 0, and z of C − 1 columns without r's.

    p_c = e^{z_c}/(1 + Σ e^z) for c ≠ r, and 1/(1 + Σ e^z) for the reference class r. Adding a
    constant to all scores changes the loss, so the coefficients are unique without a penalty. It
    equals `SoftmaxCrossEntropy` with a column of zeros inserted. Cost: O(n·C).
    """

    reference: int = 0
    """Index of the reference class, whose score is 0 (r)."""

    name = "reference_softmax"
    targets = Targets.CLASSES
    link = Link.SOFTMAX
    columns = "per class"
    family = CATEGORICAL

    def n_scores(self, n_classes: int) -> int:
        return n_classes - 1

    def all_scores(self, z: Array) -> Array:
        """z with a column of zeros inserted for the reference class."""
        return np.insert(np.asarray(z), self.reference, 0.0, axis=-1)

    def free_scores(self, z: Array) -> Array:
        """The scores of the other classes, less the reference's."""
        return self._without(z - z[..., self.reference, None])

    def margins(self, y: Array, z: Array) -> Array:
        return _SOFTMAX.margins(y, self.all_scores(z))

    def value(self, y: Array, z: Array) -> Array:
        return _SOFTMAX.value(y, self.all_scores(z))

    def gradient(self, y: Array, z: Array) -> Array:
        return self._without(_SOFTMAX.gradient(y, self.all_scores(z)))

    def value_and_gradient(self, y: Array, z: Array) -> tuple[Array, Array]:
        value, slope = _SOFTMAX.value_and_gradient(y, self.all_scores(z))
        return value, self._without(slope)

    def curvature(self, y: Array, z: Array) -> Array:
        return self._without(_SOFTMAX.curvature(y, self.all_scores(z)))

    def curvature_product(self, y: Array, z: Array, direction: Array) -> Array:
        along = self.all_scores(direction)
        return self._without(_SOFTMAX.curvature_product(y, self.all_scores(z), along))

    def best_constant(
        self, y: Array, weight: Array | None = None, *, n_classes: int | None = None
    ) -> Array:
        """Log odds of each class relative to the reference class."""
        scores = _SOFTMAX.best_constant(y, weight, n_classes=n_classes)
        return self._without(scores - scores[self.reference])

    def mean(self, z: Array) -> Array:
        return _SOFTMAX.mean(self.all_scores(z))

    def _without(self, scores: Array) -> Array:
        return np.delete(scores, self.reference, axis=-1)
