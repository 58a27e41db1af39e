"""Places for the nodes of a drawing: neighbours near each other, all others apart."""

from __future__ import annotations

import numpy as np

from thetahat.foundation.types import Array

STEPS = 200


def spring_layout(strength: Array) -> Array:
    """Coordinates of shape (d, 2): edges attract as springs, all nodes repel each other.

    Formula: forces l²·s/k along edges of strength s and k²/l between all nodes at the distance l,
    with k = √(1/d), from a circle (Fruchterman and Reingold, 1991). Steps become shorter, so that
    the drawing settles. It is the same for the same graph. Cost: O(d²) per step.
    """
    d = len(strength)
    angle = 2.0 * np.pi * np.arange(d) / d
    at = np.column_stack([np.cos(angle), np.sin(angle)])
    if d < 2:
        return at
    k = np.sqrt(1.0 / d)
    pull = np.where(strength > 0, 0.3 + 0.7 * strength / max(float(strength.max()), 1e-300), 0.0)
    for step in range(STEPS):
        apart = at[:, None, :] - at[None, :, :]
        length = np.maximum(np.sqrt((apart**2).sum(axis=2)), 1e-3)
        force = k * k / length**2 - pull * length / k - 0.1 * length / d
        moves = (apart * force[:, :, None]).sum(axis=1)
        size = np.maximum(np.sqrt((moves**2).sum(axis=1)), 1e-12)
        at = at + moves / size[:, None] * np.minimum(size, 0.2 * (1.0 - step / STEPS))[:, None]
    return at - at.mean(axis=0)
