"""Links between raw predictions and means, computed so that no z overflows.

=========  ==================  =========================
link       mean = link⁻¹(z)    z = link(mean)
=========  ==================  =========================
identity   z                   mean
logit      σ(z)                log(p / (1 − p))
log        e^z                 log(rate)
softmax    e^{z_c} / Σ e^{z}   log(p_c), centred over c
sign       −1 or +1            none: a sign has no size
=========  ==================  =========================

Every exponential here has an exponent ≤ 0 or is capped at the largest number of the dtype.
"""

from __future__ import annotations

import math
from enum import Enum
from functools import reduce
from typing import Any

import numpy as np
from array_api_compat import device

from thetahat.foundation.errors import CapabilityError
from thetahat.foundation.types import Array
from thetahat.mathematics.losses.alignment import floating


class Link(Enum):
    """How a raw prediction z is converted to a mean: E[y | x] = link⁻¹(z)."""

    IDENTITY = "identity"
    LOGIT = "logit"
    LOG = "log"
    SOFTMAX = "softmax"
    SIGN = "sign"


LARGEST_EXPONENT = {"d": 709.0, "f": 88.0}
"""⌊log⌋ of the largest number in double and single precision; larger z would overflow."""

FEW_COLUMNS = 16


def sigmoid(z: Array) -> Array:
    """The logistic function σ(z) = 1/(1 + e^{−z}), without overflow for any z.

    σ(−z) = 1 − σ(z) and σ′ = σ(1 − σ). Cost: O(size of z).

    Parameters
    ----------
    z : array
        Raw predictions (log odds) of any shape.

    Returns
    -------
    array
        Probabilities in [0, 1], in the dtype of z.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> th.losses.sigmoid(np.array([-1000.0, 0.0, 1000.0]))
    array([0. , 0.5, 1. ])
    """
    up, down = odds(z)
    return up / (up + down)


def softmax(z: Array) -> Array:
    """Class probabilities softmax(z)_c = e^{z_c} / Σ_j e^{z_j} along the last axis.

    The result does not change when a constant is added to all scores of a row. Cost: O(size of z).

    Parameters
    ----------
    z : array of shape (..., C)
        Raw predictions, with one score for each class along the last axis.

    Returns
    -------
    array
        Probabilities that sum to one along the last axis, in the dtype of z.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> th.losses.softmax(np.array([[1000.0, 1000.0], [0.0, np.log(3.0)]]))
    array([[0.5 , 0.5 ],
           [0.25, 0.75]])
    """
    xp, z = floating(z)
    grown = xp.exp(z - _largest(xp, z)[..., None])
    return grown / row_sums(xp, grown)[..., None]


def log_sum_exp(z: Array) -> Array:
    """log Σ_c e^{z_c} along the last axis; the largest score is subtracted before exp."""
    xp, z = floating(z)
    largest = _largest(xp, z)
    return largest + xp.log(row_sums(xp, xp.exp(z - largest[..., None])))


def odds(z: Array) -> tuple[Array, Array]:
    """Two numbers in (0, 1], the larger of them 1, in the ratio σ(z) : σ(−z) = e^z : 1."""
    xp, z = floating(z)
    if type(z) is np.ndarray:  # several times faster than xp.clip on single rows
        return np.exp(np.minimum(z, 0)), np.exp(-np.maximum(z, 0))
    return xp.exp(xp.clip(z, None, 0)), xp.exp(-xp.clip(z, 0, None))


def softplus(z: Array) -> Array:
    """log(1 + e^z) = max(z, 0) + log(1 + e^{−|z|})."""
    xp, z = floating(z)
    return xp.clip(z, 0, None) + xp.log1p(xp.exp(-xp.abs(z)))


def capped_exponential(t: Array) -> tuple[Array, Array]:
    """e^{min(t, cap)} and the excess s = max(t − cap, 0); the square of e^cap does not overflow.

    Beyond the cap (about 354 in float64, 44 in float32) a loss with e^t continues as its
    second-order expansion e^cap·(1 + s + s²/2): convex, twice differentiable and finite.
    """
    xp, t = floating(t)
    cap = math.log(float(xp.finfo(t.dtype).max)) / 2
    if type(t) is np.ndarray:  # several times faster than xp.clip on few rows
        return np.exp(np.minimum(t, cap)), np.maximum(t - cap, 0)
    return xp.exp(xp.clip(t, None, cap)), xp.clip(t - cap, 0, None)


def inverse_link(kind: Link, z: Array) -> Array:
    """The mean that belongs to the raw prediction z."""
    xp, z = floating(z)
    match kind:
        case Link.IDENTITY:
            return z
        case Link.LOGIT:
            return sigmoid(z)
        case Link.LOG:
            if type(z) is np.ndarray and z.dtype.char in LARGEST_EXPONENT:
                return np.exp(np.minimum(z, LARGEST_EXPONENT[z.dtype.char]))
            largest = math.log(float(xp.finfo(z.dtype).max))
            return xp.exp(xp.clip(z, None, math.floor(largest)))
        case Link.SOFTMAX:
            return softmax(z)
        case Link.SIGN:
            return xp.where(z >= 0, xp.ones_like(z), -xp.ones_like(z))


def link(kind: Link, mean: Array) -> Array:
    """The raw prediction z that belongs to a mean.

    Probabilities are first clipped to [ε, 1 − ε], where ε is the rounding unit of the dtype, and
    rates to the smallest normal number. So a class that never occurs gets a large finite z (about
    ∓36 in float64) instead of ∓∞.
    """
    xp, mean = floating(mean)
    limits = xp.finfo(mean.dtype)
    tiny = float(limits.eps)
    match kind:
        case Link.IDENTITY:
            return mean
        case Link.LOGIT:
            p = xp.clip(mean, tiny, 1 - tiny)
            return xp.log(p) - xp.log1p(-p)
        case Link.LOG:
            return xp.log(xp.clip(mean, float(limits.smallest_normal), None))
        case Link.SOFTMAX:
            scores = xp.log(xp.clip(mean, tiny, None))
            return scores - xp.mean(scores, axis=-1, keepdims=True)
        case Link.SIGN:
            raise CapabilityError(
                "The sign link has no inverse: a label does not determine a score. Use a loss with "
                "a logit link, such as SignLogistic."
            )


def row_sums(xp: Any, a: Array) -> Array:
    """Sums along the last axis, as a matrix product: much faster than a sum over short rows."""
    return a @ xp.ones(a.shape[-1], dtype=a.dtype, device=device(a))


def _largest(xp: Any, z: Array) -> Array:
    """Maxima along the last axis; with few columns it is faster to go column by column."""
    if z.shape[-1] > FEW_COLUMNS:
        return xp.max(z, axis=-1)
    return reduce(xp.maximum, (z[..., column] for column in range(z.shape[-1])))
