"""Classes with densities that are Gaussians or mixtures of them, all scored in one pass."""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat import _native
from thetahat.foundation.types import Array

NO_VECTOR, NO_MATRIX = np.empty(0), np.empty((0, 0))
NO_LABELS = np.empty(0, dtype=np.int64)

Stack = tuple[Array, Array, Array, Array]
"""Log-scales, centres and factors of all components, and the first component of each class."""


def stacked_components(densities: list[Any], log_priors: Array) -> Stack | None:
    """The components of all classes, with the priors; None if a density has none."""
    found = []
    for density in densities:
        known = type(density).__module__.startswith("thetahat.")  # no subclass of a user
        components = getattr(density, "_gaussian_components", lambda: None)() if known else None
        if components is None:
            return None
        found.append(components)
    forms = {len(factors) == len(scale) for scale, _, factors in found}
    if len(forms) > 1 and found[0][1].shape[1] > 1:  # diagonal factors beside full ones
        return None
    sizes = [len(scale) for scale, _, _ in found]
    scales = [scale + prior for (scale, _, _), prior in zip(found, log_priors, strict=True)]
    return (
        np.concatenate(scales),
        np.concatenate([centres for _, centres, _ in found]),
        np.concatenate([factors for _, _, factors in found]),
        np.concatenate([[0], np.cumsum(sizes[:-1])]).astype(np.int64),
    )


def joint_of_components(rows: Array, stack: Stack) -> Array:
    """log π_c + log p(x | c) of every row and class, (n, C)."""
    scale, centres, factors, first = stack
    joint = np.empty((len(rows), len(scale)))
    _native.mixture_pass(
        rows, NO_VECTOR, NO_LABELS, NO_MATRIX, scale, centres, factors,
        NO_VECTOR, NO_MATRIX, NO_MATRIX, np.empty(len(rows)), joint, False,
    )  # fmt: skip
    if len(first) == len(scale):
        return joint
    with np.errstate(invalid="ignore"):
        return np.asarray(np.logaddexp.reduceat(joint, first, axis=1))
