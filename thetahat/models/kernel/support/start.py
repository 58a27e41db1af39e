"""A feasible start where a sum of dual variables is fixed."""

from __future__ import annotations

import numpy as np

from thetahat.foundation.types import Array


def filled(limits: Array, total: float) -> Array:
    """Numbers from 0 to their limits, of which the first are full, with this sum."""
    before = np.cumsum(limits) - limits
    return np.clip(total - before, 0.0, limits)
