"""Classification losses φ(m) of the margin m = y·z, with labels y = ±1 and raw score z.

=============  ===========================  ==========================
loss           φ(m)                         best constant, q = P(y=+1)
=============  ===========================  ==========================
ZeroOne        1[m ≤ 0]                     sign(2q − 1)
SignLogistic   log(1 + e^{−m})              log(q/(1 − q))
Hinge          [1 − m]₊                     sign(2q − 1)
SquaredHinge   [1 − m]₊²                    2q − 1
ClassHuber     −4m if m ≤ −1, else [1−m]₊²  2q − 1
Exponential    e^{−m}                       ½·log(q/(1 − q))
Perceptron     [−m]₊                        0
=============  ===========================  ==========================

All losses but ZeroOne are convex. Divided by φ(0), all but ZeroOne and Perceptron are upper bounds
of ZeroOne, so a small value implies few errors. ∂ℓ/∂z = y·φ′(m), and the curvature is φ″(m) because
y² = 1. Cost: O(n) for each.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from thetahat.foundation.types import Array
from thetahat.mathematics.losses.alignment import floating, margins
from thetahat.mathematics.losses.base import (
    Bend,
    Compiled,
    Curved,
    Loss,
    PiecewiseLinear,
    Subdifferentiable,
    Targets,
    UnboundedLikelihood,
)
from thetahat.mathematics.losses.box_dual import BoxDual, DualBox
from thetahat.mathematics.losses.constants import weighted_mean
from thetahat.mathematics.losses.links import (
    Link,
    capped_exponential,
    inverse_link,
    link,
    odds,
    sigmoid,
    softplus,
)
from thetahat.mathematics.losses.multiclass.class_scores import SoftmaxCrossEntropy


@dataclass(frozen=True)
class ZeroOne(Loss):
    """The zero-one loss ℓ(y, z) = 1[y·z ≤ 0], which counts the errors of a classifier.

    Its gradient is zero almost everywhere, and minimising it over linear classifiers is NP-hard, so
    models are trained with another loss of this module. A score of 0 counts as an error.
    Cost: O(n).

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> th.losses.ZeroOne().value(np.array([1.0, 1.0, -1.0]), np.array([0.1, -3.0, -2.0]))
    array([0., 1., 0.])
    """

    name = "zero_one"
    targets = Targets.SIGNS
    link = Link.SIGN
    convex = False

    def value(self, y: Array, z: Array) -> Array:
        xp, _, m = margins(y, z)
        return xp.astype(m <= 0, m.dtype)

    def gradient(self, y: Array, z: Array) -> Array:
        """∂ℓ/∂z = 0 wherever it exists, so no solver takes it as a direction."""
        xp, _, m = margins(y, z)
        return xp.zeros_like(m)

    def best_constant(self, y: Array, weight: Array | None = None) -> Array:
        return inverse_link(Link.SIGN, weighted_mean(y, weight))

    def kinks(self, y: Array) -> tuple[Array, ...]:
        xp, y = floating(y)
        return (xp.zeros_like(y),)


@dataclass(frozen=True)
class SignLogistic(Curved, UnboundedLikelihood):
    """The logistic loss (binomial deviance) for labels ±1, ℓ(y, z) = log(1 + e^{−y·z}).

    It gives the same numbers as `Logistic` with labels (y + 1)/2; the mean is P(y = +1) = σ(z). If
    all labels are equal, the best constant is a large finite log odds. Cost: O(n).

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> th.losses.SignLogistic().value(np.array([1.0, -1.0]), np.zeros(2)).round(6)
    array([0.693147, 0.693147])
    """

    name = "sign_logistic"
    targets = Targets.SIGNS
    link = Link.LOGIT
    compiled_as = Compiled(2)
    steady_curvature = True

    def value(self, y: Array, z: Array) -> Array:
        return softplus(-margins(y, z)[2])

    def gradient(self, y: Array, z: Array) -> Array:
        _, y, m = margins(y, z)
        return -y * sigmoid(-m)

    def curvature(self, y: Array, z: Array) -> Array:
        up, down = odds(margins(y, z)[2])
        return up * down / (up + down) ** 2

    def best_constant(self, y: Array, weight: Array | None = None) -> Array:
        return link(Link.LOGIT, (1 + weighted_mean(y, weight)) / 2)

    def multiclass(self) -> Loss:
        return SoftmaxCrossEntropy()


@dataclass(frozen=True)
class Hinge(BoxDual, PiecewiseLinear):
    """The hinge loss of support vector machines, ℓ(y, z) = [1 − y·z]₊.

    Rows with a margin y·z above 1 have zero loss and zero gradient. Cost: O(n).

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> th.losses.Hinge().value(np.ones(3), np.array([0.5, 2.0, -1.0]))
    array([0.5, 0. , 2. ])
    """

    name = "hinge"
    targets = Targets.SIGNS
    link = Link.SIGN
    compiled_as = Compiled(0)

    def value(self, y: Array, z: Array) -> Array:
        xp, _, m = margins(y, z)
        return xp.clip(1 - m, 0, None)

    def gradient(self, y: Array, z: Array) -> Array:
        xp, y, m = margins(y, z)
        return -y * xp.astype(m < 1, m.dtype)

    def dual_box(self, y: Array) -> DualBox:
        xp, y = floating(y)
        return DualBox(xp.clip(y, None, 0), xp.clip(y, 0, None))

    def best_constant(self, y: Array, weight: Array | None = None) -> Array:
        # With equal weight in both classes every c in [−1, 1] is best; this is the middle.
        xp, y = floating(y)
        return xp.sign(weighted_mean(y, weight))

    def kinks(self, y: Array) -> tuple[Array, ...]:
        return (floating(y)[1],)

    def bends(self, y: Array) -> tuple[Bend, ...]:
        xp, y = floating(y)
        return (Bend(y, xp.clip(-y, None, 0), xp.clip(-y, 0, None)),)


@dataclass(frozen=True)
class SquaredHinge(Curved, BoxDual):
    """The squared hinge loss ℓ(y, z) = [1 − y·z]₊².

    Rows with a margin y·z above 1 have zero loss. Unlike the hinge loss it has a continuous
    gradient, but it grows faster for rows far on the wrong side. Cost: O(n).

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> th.losses.SquaredHinge().value(np.ones(3), np.array([0.5, 2.0, -1.0]))
    array([0.25, 0.  , 4.  ])
    """

    name = "squared_hinge"
    targets = Targets.SIGNS
    link = Link.SIGN
    compiled_as = Compiled(1)

    def value(self, y: Array, z: Array) -> Array:
        xp, _, m = margins(y, z)
        return xp.clip(1 - m, 0, None) ** 2

    def gradient(self, y: Array, z: Array) -> Array:
        xp, y, m = margins(y, z)
        return -2 * y * xp.clip(1 - m, 0, None)

    def value_and_gradient(self, y: Array, z: Array) -> tuple[Array, Array]:
        """Value and gradient together: they share the shortfall of the margin."""
        xp, y, m = margins(y, z)
        missing = xp.clip(1 - m, 0, None)
        return missing * missing, -2 * y * missing

    def curvature(self, y: Array, z: Array) -> Array:
        xp, _, m = margins(y, z)
        return 2 * xp.astype(m < 1, m.dtype)

    def dual_box(self, y: Array) -> DualBox:
        xp, y = floating(y)
        none, all_ = xp.zeros_like(y), xp.full_like(y, math.inf)
        return DualBox(xp.where(y < 0, -all_, none), xp.where(y > 0, all_, none), curvature=0.5)

    def best_constant(self, y: Array, weight: Array | None = None) -> Array:
        return weighted_mean(y, weight)

    def kinks(self, y: Array) -> tuple[Array, ...]:
        return (floating(y)[1],)


@dataclass(frozen=True)
class ClassHuber(Curved):
    """The modified Huber loss for margins m = y·z: −4m if m ≤ −1, else [1 − m]₊².

    It equals the squared hinge loss, except that it grows only linearly for rows far on the wrong
    side, so outliers have less influence. Cost: O(n).

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> th.losses.ClassHuber().value(np.ones(4), np.array([-1.0, 0.0, 0.5, 1.0]))
    array([4.  , 1.  , 0.25, 0.  ])
    """

    name = "class_huber"
    aliases = ("modified_huber",)
    targets = Targets.SIGNS
    link = Link.SIGN
    compiled_as = Compiled(3)
    linear_in_parts = True
    linear_probability = True

    def value(self, y: Array, z: Array) -> Array:
        # With h = min([1 − m]₊, 2), −4m beyond m = −1 is h² + 4·(−1 − m).
        xp, _, m = margins(y, z)
        return xp.clip(1 - m, 0, 2) ** 2 + 4 * xp.clip(-1 - m, 0, None)

    def gradient(self, y: Array, z: Array) -> Array:
        xp, y, m = margins(y, z)
        return -2 * y * xp.clip(1 - m, 0, 2)

    def curvature(self, y: Array, z: Array) -> Array:
        xp, _, m = margins(y, z)
        return 2 * xp.astype(xp.abs(m) < 1, m.dtype)

    def best_constant(self, y: Array, weight: Array | None = None) -> Array:
        return weighted_mean(y, weight)

    def kinks(self, y: Array) -> tuple[Array, ...]:
        _, y = floating(y)
        return y, -y


@dataclass(frozen=True)
class Exponential(Curved):
    """The exponential loss of AdaBoost, ℓ(y, z) = e^{−y·z}.

    Beyond −y·z ≈ 354 (44 in float32) it continues as its second-order expansion, so that nothing
    overflows. The best constant score is half the log odds. Cost: O(n).

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> th.losses.Exponential().value(np.ones(2), np.array([0.0, -1.0])).round(6)
    array([1.      , 2.718282])
    """

    name = "exponential"
    targets = Targets.SIGNS
    link = Link.SIGN
    steady_curvature = True
    half_logit = True

    def value(self, y: Array, z: Array) -> Array:
        growth, excess = capped_exponential(-margins(y, z)[2])
        return growth * (1 + excess + excess * excess / 2)

    def gradient(self, y: Array, z: Array) -> Array:
        _, y, m = margins(y, z)
        growth, excess = capped_exponential(-m)
        return -y * (growth * (1 + excess))

    def curvature(self, y: Array, z: Array) -> Array:
        return capped_exponential(-margins(y, z)[2])[0]

    def best_constant(self, y: Array, weight: Array | None = None) -> Array:
        return link(Link.LOGIT, (1 + weighted_mean(y, weight)) / 2) / 2


@dataclass(frozen=True)
class Perceptron(Subdifferentiable):
    """The perceptron loss ℓ(y, z) = [−y·z]₊, whose stochastic steps are the perceptron rule.

    It is the hinge loss with margin 0 instead of 1. The gradient at a score of 0 is −y, so that the
    algorithm can leave the start w = 0. Since z = 0 has zero loss for every row, θ = 0 is a minimum
    of every sum of this loss, and `LinearModel` returns it unless it meets a separating plane. Use
    the estimator `Perceptron`, which keeps making steps as long as it makes mistakes, and another
    loss to measure how well a model fits. Cost: O(n).

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> th.losses.Perceptron().value(np.ones(3), np.array([0.5, 0.0, -2.0]))
    array([0., 0., 2.])
    >>> th.losses.Perceptron().gradient(np.ones(3), np.array([0.5, 0.0, -2.0]))
    array([-0., -1., -1.])
    """

    name = "perceptron"
    targets = Targets.SIGNS
    link = Link.SIGN
    compiled_as = Compiled(4)
    smallest_at_zero = True

    def value(self, y: Array, z: Array) -> Array:
        xp, _, m = margins(y, z)
        return xp.clip(-m, 0, None)

    def gradient(self, y: Array, z: Array) -> Array:
        xp, y, m = margins(y, z)
        return -y * xp.astype(m <= 0, m.dtype)

    def best_constant(self, y: Array, weight: Array | None = None) -> Array:
        # With both classes only c = 0 has zero loss; with one class every score of its sign does.
        xp, y = floating(y)
        return (xp.min(y) + xp.max(y)) / 2

    def kinks(self, y: Array) -> tuple[Array, ...]:
        xp, y = floating(y)
        return (xp.zeros_like(y),)
