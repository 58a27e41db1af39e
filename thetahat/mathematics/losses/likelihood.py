"""Negative log-likelihoods of 0/1 labels and of counts.

ℓ(y, z) = A(z) − y·z + (a constant of y), where A′(z) is the mean: A = log(1 + e^z) for Bernoulli
labels and A = e^z for Poisson counts. So the gradient is mean − y, and both losses are convex.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thetahat import _native
from thetahat.foundation.threads import n_threads
from thetahat.foundation.types import Array
from thetahat.mathematics.losses.alignment import aligned, in_floats, is_compiled
from thetahat.mathematics.losses.base import (
    Compiled,
    Curved,
    Deviance,
    Loss,
    Targets,
    UnboundedLikelihood,
)
from thetahat.mathematics.losses.constants import weighted_mean
from thetahat.mathematics.losses.families import BERNOULLI, POISSON
from thetahat.mathematics.losses.links import Link, capped_exponential, link, odds
from thetahat.mathematics.losses.margin import SignLogistic
from thetahat.mathematics.losses.multiclass.class_scores import SoftmaxCrossEntropy


@dataclass(frozen=True)
class Logistic(Curved, UnboundedLikelihood):
    """The logistic loss for labels 0 and 1, ℓ(y, z) = log(1 + e^z) − y·z.

    This is the negative log-likelihood −y log p − (1 − y) log(1 − p) with p = σ(z). If all labels
    are equal, the best constant is ±∞ and a large finite value (about ±36 in float64) is returned
    instead. Cost: O(n).

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> th.losses.Logistic().value(np.array([1.0, 0.0]), np.array([0.0, 1000.0])).round(6)
    array([6.93147e-01, 1.00000e+03])
    """

    name = "logistic"
    aliases = ("log_loss", "binomial_deviance", "binary_cross_entropy")
    targets = Targets.BINARY
    link = Link.LOGIT
    family = BERNOULLI
    compiled_as = Compiled(9)
    steady_curvature = True
    deviance_factor = 2.0

    def value(self, y: Array, z: Array) -> Array:
        # For a correct label the first two terms cancel exactly, before the small one is added.
        xp, y, z = aligned(y, z)
        if type(z) is np.ndarray:  # several times faster than xp.clip on batches
            return np.maximum(z, 0) - y * z + np.log1p(np.exp(-np.abs(z)))
        return xp.clip(z, 0, None) - y * z + xp.log1p(xp.exp(-xp.abs(z)))

    def gradient(self, y: Array, z: Array) -> Array:
        # One common denominator keeps the digits of small gradients σ(z) − y.
        _, y, z = aligned(y, z)
        up, down = odds(z)
        return ((1 - y) * up - y * down) / (up + down)

    def curvature(self, y: Array, z: Array) -> Array:
        if is_compiled(z) and z.ndim == 1:
            return self.gradient_and_curvature(y, z)[1]
        up, down = odds(aligned(y, z)[2])
        return up * down / (up + down) ** 2

    def gradient_and_curvature(self, y: Array, z: Array) -> tuple[Array, Array]:
        if not is_compiled(z) or z.ndim != 1:
            return super().gradient_and_curvature(y, z)
        slope, curvature = np.empty_like(z), np.empty_like(z)
        _native.logistic_slopes(in_floats(y), z, slope, curvature, n_threads())
        return slope, curvature

    def best_constant(self, y: Array, weight: Array | None = None) -> Array:
        return link(Link.LOGIT, weighted_mean(y, weight))

    def multiclass(self) -> Loss:
        return SoftmaxCrossEntropy()

    def with_signs(self) -> Loss:
        return SignLogistic()


@dataclass(frozen=True)
class Poisson(Deviance, UnboundedLikelihood):
    """The Poisson loss for counts with a log link, ℓ(y, z) = e^z − y·z.

    This is the negative log-likelihood of a Poisson distribution with rate e^z, without the
    constant log y!. Beyond z ≈ 354 (44 in float32) it continues as its second-order expansion, so
    that nothing overflows. If every count is 0, the best constant is −∞ and a large finite negative
    value is returned instead. Cost: O(n).

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> th.losses.Poisson().value(np.array([2.0]), np.array([0.0]))
    array([1.])
    """

    name = "poisson"
    targets = Targets.NONNEGATIVE
    link = Link.LOG
    family = POISSON
    compiled_as = Compiled(10)
    steady_curvature = True

    def value(self, y: Array, z: Array) -> Array:
        _, y, z = aligned(y, z)
        rate, excess = capped_exponential(z)
        return rate * (1 + excess + excess * excess / 2) - y * z

    def gradient(self, y: Array, z: Array) -> Array:
        _, y, z = aligned(y, z)
        rate, excess = capped_exponential(z)
        return rate * (1 + excess) - y

    def value_and_gradient(self, y: Array, z: Array) -> tuple[Array, Array]:
        """Value and gradient together: they share the exponential."""
        _, y, z = aligned(y, z)
        rate, excess = capped_exponential(z)
        return rate * (1 + excess + excess * excess / 2) - y * z, rate * (1 + excess) - y

    def curvature(self, y: Array, z: Array) -> Array:
        return capped_exponential(aligned(y, z)[2])[0]

    def best_constant(self, y: Array, weight: Array | None = None) -> Array:
        return link(Link.LOG, weighted_mean(y, weight))

    def saturated(self, y: Array) -> Array:
        return POISSON.saturated(np.asarray(y, dtype=np.float64))

    def margins(self, y: Array, z: Array) -> Array:
        """−z if y = 0, where the best rate is 0; −|z| if y > 0, where it is positive."""
        xp, y, z = aligned(y, z)
        return xp.where(y > 0, -xp.abs(z), -z)[:, None]
