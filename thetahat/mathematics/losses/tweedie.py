"""Losses of positive amounts with a log link: Gamma and Tweedie.

Half the deviance of a distribution with mean μ = e^z and variance φ·μ^p, up to terms of y. p = 1 is
`Poisson` (counts), p = 2 is `Gamma` (the standard deviation is proportional to the mean), and
between them lie sums of a Poisson number of Gamma amounts, which are 0 with positive probability.

Exponentials beyond the square root of the largest number continue as their second-order expansion
(`capped_exponential`), so that nothing overflows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thetahat.foundation.types import Array
from thetahat.mathematics.losses.alignment import aligned
from thetahat.mathematics.losses.base import Compiled, Deviance, Targets
from thetahat.mathematics.losses.constants import weighted_mean
from thetahat.mathematics.losses.links import Link, capped_exponential, link
from thetahat.mathematics.parts import number


@dataclass(frozen=True)
class Gamma(Deviance):
    """The Gamma loss for positive amounts with a log link, ℓ(y, z) = z + y·e^{−z}.

    Half the deviance y/μ − log(y/μ) − 1 of a Gamma distribution with mean μ = e^z, up to a term of
    y. It depends on y/μ only, so that an error of 10% costs the same for small and large amounts.
    Cost: O(n).

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> th.losses.Gamma().value(np.array([2.0]), np.array([0.0]))
    array([2.])
    """

    name = "gamma"
    targets = Targets.POSITIVE
    link = Link.LOG
    compiled_as = Compiled(11)

    def value(self, y: Array, z: Array) -> Array:
        _, y, z = aligned(y, z)
        inverse, excess = capped_exponential(-z)
        return z + y * inverse * (1 + excess + excess * excess / 2)

    def gradient(self, y: Array, z: Array) -> Array:
        _, y, z = aligned(y, z)
        inverse, excess = capped_exponential(-z)
        return 1 - y * inverse * (1 + excess)

    def value_and_gradient(self, y: Array, z: Array) -> tuple[Array, Array]:
        """Value and gradient together: they share the exponential."""
        _, y, z = aligned(y, z)
        inverse, excess = capped_exponential(-z)
        return (
            z + y * inverse * (1 + excess + excess * excess / 2),
            1 - y * inverse * (1 + excess),
        )

    def curvature(self, y: Array, z: Array) -> Array:
        _, y, z = aligned(y, z)
        return y * capped_exponential(-z)[0]

    def best_constant(self, y: Array, weight: Array | None = None) -> Array:
        return link(Link.LOG, weighted_mean(y, weight))

    def saturated(self, y: Array) -> Array:
        return np.log(np.asarray(y, dtype=np.float64)) + 1.0


@dataclass(frozen=True)
class Tweedie(Deviance):
    """The Tweedie loss with a log link, ℓ(y, z) = y·e^{(1−p)z}/(p − 1) + e^{(2−p)z}/(2 − p).

    Half the deviance of a Tweedie distribution with mean μ = e^z and variance φ·μ^p, up to a term
    of y, for 1 < p < 2: amounts that are often 0 and positive otherwise, such as rainfall or the
    claims of an insured. p = 1 is `Poisson` and p = 2 is `Gamma`. Cost: O(n).

    Parameters
    ----------
    power : float, default=1.5
        Power of the mean in the variance (p). Larger values give large amounts less influence.
        Must be between 1 and 2.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> th.losses.Tweedie(power=1.5).value(np.array([0.0, 1.0]), np.array([0.0, 0.0]))
    array([2., 4.])
    """

    power: float = number(1.5, above=1, below=2)

    name = "tweedie"
    targets = Targets.NONNEGATIVE
    link = Link.LOG
    compiled_as = Compiled(12, "power")

    def value(self, y: Array, z: Array) -> Array:
        _, y, z = aligned(y, z)
        p = self.power
        near, near_excess = capped_exponential((1 - p) * z)
        far, far_excess = capped_exponential((2 - p) * z)
        return y / (p - 1) * near * (1 + near_excess + near_excess * near_excess / 2) + far / (
            2 - p
        ) * (1 + far_excess + far_excess * far_excess / 2)

    def gradient(self, y: Array, z: Array) -> Array:
        _, y, z = aligned(y, z)
        near, near_excess = capped_exponential((1 - self.power) * z)
        far, far_excess = capped_exponential((2 - self.power) * z)
        return far * (1 + far_excess) - y * near * (1 + near_excess)

    def curvature(self, y: Array, z: Array) -> Array:
        _, y, z = aligned(y, z)
        near, _ = capped_exponential((1 - self.power) * z)
        far, _ = capped_exponential((2 - self.power) * z)
        return (self.power - 1) * y * near + (2 - self.power) * far

    def best_constant(self, y: Array, weight: Array | None = None) -> Array:
        return link(Link.LOG, weighted_mean(y, weight))

    def saturated(self, y: Array) -> Array:
        p = self.power
        return np.asarray(y, dtype=np.float64) ** (2 - p) * (1 / (p - 1) + 1 / (2 - p))
